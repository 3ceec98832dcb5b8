//! The wire between a mock and its client: latency as a network has it, and a way to cut it.
//!
//! Whatever the device writes is put on a delay line, so bursts and handshakes are delayed as a whole and
//! nothing waits for anything else. Knows neither SSH nor HTTP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

const CUT_AFTER_WRITE: u8 = 1;
const CUT: u8 = 2;

/// Lets the device cut its connection from inside a protocol library: open (0), then the two states above.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cutter(Arc<AtomicU8>);

impl Cutter {
    /// The connection ends once the next write has been sent.
    pub(crate) fn cut_after_next_write(&self) {
        self.0.store(CUT_AFTER_WRITE, Ordering::SeqCst);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::SeqCst) == CUT
    }
}

/// A TCP connection whose writes arrive later.
#[derive(Debug)]
pub(crate) struct Wire {
    reader: OwnedReadHalf,
    line: Option<UnboundedSender<(Instant, Vec<u8>)>>,
    latency: Duration,
    cutter: Cutter,
}

impl Wire {
    /// Takes a connection over. The task that feeds the socket ends with the wire or the peer.
    pub(crate) fn new(stream: TcpStream, latency: Duration, cutter: Cutter) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (reader, writer) = stream.into_split();
        let (line, queue) = unbounded_channel();
        tokio::spawn(deliver(queue, writer));
        Ok(Wire {
            reader,
            line: Some(line),
            latency,
            cutter,
        })
    }
}

async fn deliver(
    mut queue: UnboundedReceiver<(Instant, Vec<u8>)>,
    mut writer: tokio::net::tcp::OwnedWriteHalf,
) {
    while let Some((at, bytes)) = queue.recv().await {
        tokio::time::sleep_until(at).await;
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
    }
    // The peer may be gone already; there is nobody left to tell.
    let _ = writer.shutdown().await;
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.cutter.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let at = Instant::now() + self.latency;
        let Some(line) = &self.line else {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        };
        if line.send((at, bytes.to_vec())).is_err() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if self.cutter.0.load(Ordering::SeqCst) == CUT_AFTER_WRITE {
            self.cutter.0.store(CUT, Ordering::SeqCst);
            self.line = None;
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.line = None;
        Poll::Ready(Ok(()))
    }
}
