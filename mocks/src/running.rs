//! A running mock device: its listener, faults, log and tasks.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::control::{ExchangeLog, SharedWriter, lock};
use crate::fault::{DeferredWork, Fault, FaultPlan};

/// The port of a mock device is not available.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on port {port} of 127.0.0.1 for the mock device {name}")]
pub struct ListenError {
    /// Name of the device.
    pub name: String,
    /// The value of the option.
    pub port: u16,
    /// The reason.
    pub source: std::io::Error,
}

/// Options that all mock devices have.
pub(crate) struct ListenOptions<'a> {
    pub(crate) name: &'a str,
    /// A port of 127.0.0.1; 0 selects a free one.
    pub(crate) port: u16,
    pub(crate) faults: &'a [Fault],
    pub(crate) log: Option<SharedWriter>,
    pub(crate) exchanges_in_memory: usize,
}

/// The task of a connection.
pub(crate) type ServedConnection = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A running mock device. It accepts connections until it is stopped or dropped.
#[derive(Debug)]
pub struct RunningMock<D> {
    pub(crate) device: D,
    address: SocketAddr,
    pub(crate) deferred: DeferredWork,
    pub(crate) faults: Arc<Mutex<FaultPlan>>,
    pub(crate) log: ExchangeLog,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl<D> RunningMock<D> {
    /// Opens the port. Connections wait until [`RunningMock::accept`].
    pub(crate) async fn listen(
        device: D,
        options: ListenOptions<'_>,
    ) -> Result<(Self, TcpListener), ListenError> {
        let failed = |source| ListenError {
            name: options.name.to_owned(),
            port: options.port,
            source,
        };
        let listener = TcpListener::bind(("127.0.0.1", options.port)).await;
        let listener = listener.map_err(failed)?;
        let running = Self {
            device,
            address: listener.local_addr().map_err(failed)?,
            deferred: DeferredWork::default(),
            faults: Arc::new(Mutex::new(FaultPlan::new(options.faults))),
            log: ExchangeLog::new(options.name, options.log, options.exchanges_in_memory),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        Ok((running, listener))
    }

    /// Serves each connection in a task. `serve` ends when the token is cancelled.
    pub(crate) fn accept(
        &self,
        listener: TcpListener,
        serve: impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection + Send + 'static,
    ) {
        let (tasks, stop) = (self.tasks.clone(), self.stop.clone());
        let device = self.log.device().to_owned();
        self.tasks.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = stop.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                match accepted {
                    Ok((stream, peer)) => {
                        tasks.spawn(serve(stream, peer, stop.clone()));
                    }
                    // Out of file descriptors, for example: later connections may work again.
                    Err(error) => {
                        tracing::warn!(%device, %error, "cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        });
    }

    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The received commands or requests and their answers.
    pub fn log(&self) -> &ExchangeLog {
        &self.log
    }

    /// Removes all faults. Connections that a fault affects remain affected.
    pub fn clear_faults(&self) {
        lock(&self.faults).clear();
    }

    /// Number of times that a fault has fired. Faults that are always active are not counted.
    pub fn fired_faults(&self) -> u64 {
        lock(&self.faults).fired()
    }

    /// Number of bytes that the device has sent.
    pub fn sent_bytes(&self) -> u64 {
        lock(&self.faults).sent_bytes()
    }

    /// Executes the commands that the faults `busy` and `late-effect` have deferred without a time,
    /// and returns their number.
    pub fn resume(&self) -> usize {
        self.deferred.resume()
    }

    /// Waits until a fault has deferred a command without a time. The future does not borrow the mock.
    pub fn wait_for_deferred(&self) -> impl Future<Output = ()> + Send + use<D> {
        let deferred = self.deferred.clone();
        async move { deferred.wait().await }
    }

    /// Closes all connections and waits for them.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl<D> Drop for RunningMock<D> {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
