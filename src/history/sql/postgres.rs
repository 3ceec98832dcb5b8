//! Connections to PostgreSQL for callers that block.
//!
//! One thread with a runtime of its own drives all connections of a store, so a caller can be within or outside of
//! another runtime. A lost connection is not opened again here: its owner drops it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak, mpsc};
use std::time::Duration;

use rusqlite::types::ToSql;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::sync::broadcast;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql as ToPostgres;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::value::PostgresValue;
use crate::error_chain::chain;
use crate::history::HistoryError;
use crate::history::notifications::StoreNotification;
use crate::history::server_address::ServerAddress;

/// The schema of the tables.
pub(in crate::history) const SCHEMA: &str = "switchtender";

/// How long an attempt to connect to a host and to log in may take, and how long unconfirmed bytes may be under way.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long an answer may take: a server that is stopped confirms bytes, but does not answer. Longer than a statement may
/// take.
pub(in crate::history) const ANSWER_LIMIT: Duration = Duration::from_secs(10 * 60 + 10);
const SILENCE_LIMIT: Duration = Duration::from_secs(30);

/// The pause before notifications are requested again.
const LISTEN_PAUSE: Duration = Duration::from_secs(2);

/// What each connection begins with. A write waits for those of other processes, but not for ever.
const SETTINGS: &str = "SET search_path = switchtender, public; SET lock_timeout = '30s';
    SET statement_timeout = '10min'; SET idle_in_transaction_session_timeout = '10min'; SET jit = off";

/// A server, and the thread that drives its connections.
pub(in crate::history) struct PostgresServer {
    address: ServerAddress,
    /// The number of the host that answered last.
    host: AtomicUsize,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

/// A connection.
pub(in crate::history) struct PostgresConnection {
    server: Arc<PostgresServer>,
    client: Arc<Client>,
    answer_limit: Cell<Duration>,
    /// An answer did not come in time.
    is_silent: Arc<AtomicBool>,
    prepared: RefCell<HashMap<String, tokio_postgres::Statement>>,
}

/// Whether a connection is open, for others than its owner. That of a file is never closed.
#[derive(Clone, Default)]
pub(in crate::history) struct OpenCheck(Option<(Weak<Client>, Arc<AtomicBool>)>);

impl OpenCheck {
    pub(in crate::history) fn is_open(&self) -> bool {
        self.0.as_ref().is_none_or(|(client, is_silent)| {
            let client = client.upgrade();
            client.is_some_and(|client| !client.is_closed()) && !is_silent.load(Ordering::Relaxed)
        })
    }
}

/// A statement of a connection. The server prepares it at its first use.
pub(in crate::history) struct PostgresStatement<'c> {
    connection: &'c PostgresConnection,
    text: String,
}

impl PostgresServer {
    pub(in crate::history) fn new(address: ServerAddress) -> Result<Arc<Self>, HistoryError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgresql")
            .enable_all()
            .build()
            .map_err(HistoryError::File)?;
        Ok(Arc::new(Self {
            address,
            host: AtomicUsize::default(),
            runtime: Some(runtime),
        }))
    }

    /// Opens a connection.
    pub(in crate::history) fn connect(
        self: &Arc<Self>,
    ) -> Result<PostgresConnection, HistoryError> {
        let tls = self.address.tls()?;
        let configs = configs(&self.address)?;
        let count = configs.len();
        let first = self.host.load(Ordering::Relaxed);
        let mut failure = None;
        for number in (first..count).chain(0..first) {
            match self.connect_to(configs[number].clone(), tls.clone()) {
                Ok(client) => {
                    self.host.store(number, Ordering::Relaxed);
                    return Ok(PostgresConnection {
                        server: Arc::clone(self),
                        client: Arc::new(client),
                        answer_limit: Cell::new(ANSWER_LIMIT),
                        is_silent: Arc::default(),
                        prepared: RefCell::default(),
                    });
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or(HistoryError::Silent))
    }

    fn connect_to(
        &self,
        config: Config,
        tls: Option<MakeRustlsConnect>,
    ) -> Result<Client, HistoryError> {
        let runtime = self.runtime().handle().clone();
        self.wait(CONNECT_LIMIT, async move {
            let client = if let Some(tls) = tls {
                let (client, connection) = config.connect(tls).await?;
                // Its error is also that of the statement that needs it.
                runtime.spawn(async { drop(connection.await) });
                client
            } else {
                let (client, connection) = config.connect(NoTls).await?;
                runtime.spawn(async { drop(connection.await) });
                client
            };
            client.batch_execute(SETTINGS).await?;
            Ok(client)
        })
    }

    /// Passes notifications on until this is dropped. A lost connection is opened again.
    pub(in crate::history) fn listen(&self, receivers: broadcast::Sender<StoreNotification>) {
        let address = self.address.clone();
        self.runtime().spawn(async move {
            loop {
                if let Err(error) = listen(&address, &receivers).await {
                    tracing::debug!("no notifications of the database: {}", chain(&error));
                }
                tokio::time::sleep(LISTEN_PAUSE).await;
            }
        });
    }

    fn runtime(&self) -> &Runtime {
        let runtime = self.runtime.as_ref();
        runtime.expect("a server has a runtime until it is dropped")
    }

    /// Waits for work that the thread of the connections does.
    fn wait<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let (sender, result) = mpsc::sync_channel(1);
        let task = self
            .runtime()
            .spawn(async move { drop(sender.send(work.await)) });
        match result.recv_timeout(limit) {
            Ok(result) => Ok(result?),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(HistoryError::Stopped),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                task.abort();
                Err(HistoryError::Silent)
            }
        }
    }
}

/// How a connection to each host is opened: one that is stopped does not keep the next one from being tried.
fn configs(address: &ServerAddress) -> Result<Vec<Config>, HistoryError> {
    let mut configs = address.configs()?;
    for config in &mut configs {
        config
            .connect_timeout(CONNECT_LIMIT)
            .tcp_user_timeout(SILENCE_LIMIT)
            .keepalives_idle(SILENCE_LIMIT)
            .keepalives_interval(SILENCE_LIMIT / 6)
            .keepalives_retries(3);
        if config.get_application_name().is_none() {
            config.application_name("switchtender");
        }
    }
    Ok(configs)
}

/// Passes notifications on until the connection ends.
async fn listen(
    address: &ServerAddress,
    receivers: &broadcast::Sender<StoreNotification>,
) -> Result<(), HistoryError> {
    let tls = address.tls()?;
    let mut failure = HistoryError::Silent;
    for config in configs(address)? {
        let received = match tls.clone() {
            Some(tls) => listen_at(&config, tls, receivers).await,
            None => listen_at(&config, NoTls, receivers).await,
        };
        match received {
            Ok(()) => return Ok(()),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

async fn listen_at<T>(
    config: &Config,
    tls: T,
    receivers: &broadcast::Sender<StoreNotification>,
) -> Result<(), HistoryError>
where
    T: MakeTlsConnect<Socket>,
{
    let connected = tokio::time::timeout(CONNECT_LIMIT, config.connect(tls)).await;
    let (client, connection) = connected.map_err(|_| HistoryError::Silent)??;
    Ok(receive(&client, connection, receivers).await?)
}

async fn receive<S, T>(
    client: &Client,
    mut connection: Connection<S, T>,
    receivers: &broadcast::Sender<StoreNotification>,
) -> Result<(), tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mut listens = std::pin::pin!(client.batch_execute("LISTEN switchtender"));
    let mut is_listening = false;
    loop {
        tokio::select! {
            listening = listens.as_mut(), if !is_listening => {
                listening?;
                is_listening = true;
                let _ = receivers.send(StoreNotification::Restored);
            }
            message = poll_fn(|context| connection.poll_message(context)) => match message {
                None => return Ok(()),
                Some(Ok(AsyncMessage::Notification(received))) => {
                    // Without a receiver, nobody needs it.
                    let _ = receivers.send(StoreNotification::of_payload(received.payload()));
                }
                Some(message) => drop(message?),
            }
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A plain drop waits, which a task must not.
            runtime.shutdown_background();
        }
    }
}

impl PostgresConnection {
    pub(super) fn statement(&self, text: &str) -> PostgresStatement<'_> {
        PostgresStatement {
            connection: self,
            text: text.to_owned(),
        }
    }

    pub(super) fn execute_batch(&self, text: &str) -> Result<(), HistoryError> {
        let (client, text) = (Arc::clone(&self.client), text.to_owned());
        self.wait(async move { client.batch_execute(&text).await })
    }

    /// Waits for an answer, and uses the connection no more if none comes.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let answered = self.server.wait(self.answer_limit.get(), work);
        if let Err(HistoryError::Silent) = answered {
            self.is_silent.store(true, Ordering::Relaxed);
        }
        answered
    }

    /// How long each of the next answers may take.
    pub(super) fn limit_answers(&self, limit: Duration) {
        self.answer_limit.set(limit);
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed() && !self.is_silent.load(Ordering::Relaxed)
    }

    pub(super) fn open_check(&self) -> OpenCheck {
        OpenCheck(Some((
            Arc::downgrade(&self.client),
            Arc::clone(&self.is_silent),
        )))
    }

    fn prepare(&self, text: &str) -> Result<tokio_postgres::Statement, HistoryError> {
        if let Some(prepared) = self.prepared.borrow().get(text) {
            return Ok(prepared.clone());
        }
        let (client, numbered) = (Arc::clone(&self.client), text.replace('?', "$"));
        let work = async move { client.prepare(&numbered).await };
        let prepared = self.wait(work)?;
        let mut all = self.prepared.borrow_mut();
        all.insert(text.to_owned(), prepared.clone());
        Ok(prepared)
    }

    fn query(&self, text: &str, values: &[&dyn ToSql]) -> Result<Vec<Row>, HistoryError> {
        let (prepared, values) = (self.prepare(text)?, PostgresValue::all(values)?);
        let client = Arc::clone(&self.client);
        self.wait(async move { client.query(&prepared, &references(&values)).await })
    }
}

impl PostgresStatement<'_> {
    pub(super) fn execute(&self, values: &[&dyn ToSql]) -> Result<usize, HistoryError> {
        let connection = self.connection;
        let (prepared, values) = (connection.prepare(&self.text)?, PostgresValue::all(values)?);
        let client = Arc::clone(&connection.client);
        let work = async move { client.execute(&prepared, &references(&values)).await };
        let count = connection.wait(work)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    pub(super) fn insert(&self, values: &[&dyn ToSql]) -> Result<i64, HistoryError> {
        let text = format!("{} RETURNING id", self.text);
        let rows = self.connection.query(&text, values)?;
        let row = rows.first().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(row.try_get(0)?)
    }

    pub(super) fn query(&self, values: &[&dyn ToSql]) -> Result<Vec<Row>, HistoryError> {
        self.connection.query(&self.text, values)
    }
}

fn references(values: &[PostgresValue]) -> Vec<&(dyn ToPostgres + Sync)> {
    let values = values.iter();
    values
        .map(|value| value as &(dyn ToPostgres + Sync))
        .collect()
}
