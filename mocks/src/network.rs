//! The TCP stream between a mock and its client, with network latency and cuts.
//!
//! Output is queued and delivered later, so bursts and handshakes are delayed once and
//! the device does not wait. Independent of SSH and HTTP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use crate::clock;
use crate::fault::{FaultDecision, FaultKind, garbage, write_endlessly};
use crate::task;

const CUT_AFTER_WRITE: u8 = 1;
const CUT: u8 = 2;

/// Cuts a connection from inside a protocol library. The states are open (0) and the two above.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionCutter(Arc<AtomicU8>);

impl ConnectionCutter {
    /// Cuts the connection after the next write.
    pub(crate) fn cut_after_next_write(&self) {
        self.0.store(CUT_AFTER_WRITE, Ordering::SeqCst);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::SeqCst) == CUT
    }
}

/// The connection, unless a fault affects it before the first byte. Ends when the peer disconnects.
pub(crate) async fn unaffected(
    mut stream: TcpStream,
    decision: &FaultDecision,
) -> Option<TcpStream> {
    if decision.has(FaultKind::DropAfter) {
        return None;
    }
    if let Some(output) = decision.endless() {
        write_endlessly(stream, output).await;
        return None;
    }
    if decision.has(FaultKind::GarbageAfter) {
        // The peer may have disconnected.
        let _ = stream.write_all(&garbage()).await;
    } else if !decision.has(FaultKind::StallAfter) {
        return Some(stream);
    }
    let mut ignored = [0; 512];
    while matches!(stream.read(&mut ignored).await, Ok(length) if length > 0) {}
    None
}

/// A TCP connection whose writes arrive with a delay.
#[derive(Debug)]
pub(crate) struct DelayedStream {
    reader: OwnedReadHalf,
    line: Option<UnboundedSender<(Instant, Vec<u8>)>>,
    latency: Duration,
    cutter: ConnectionCutter,
}

impl DelayedStream {
    /// Wraps a connection. The writer task ends with this stream or its peer.
    pub(crate) fn new(
        stream: TcpStream,
        latency: Duration,
        cutter: ConnectionCutter,
    ) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (reader, writer) = stream.into_split();
        let (line, queue) = unbounded_channel();
        task::spawn(deliver(queue, writer));
        Ok(DelayedStream {
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
    // The peer may have disconnected.
    let _ = writer.shutdown().await;
}

impl AsyncRead for DelayedStream {
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

impl AsyncWrite for DelayedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let at = Instant::from_std(clock::instant()) + self.latency;
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
