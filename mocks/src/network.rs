//! The TCP stream between a mock and its client, with network latency and cuts.
//!
//! Output is queued and delivered later, so bursts and handshakes are delayed once and
//! the device does not wait while the queue has room. Independent of SSH and HTTP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::Instant;
use tokio_util::sync::PollSender;

use crate::clock;
use crate::fault::{FaultDecision, FaultKind, garbage, write_endlessly};
use crate::task;

/// Longest piece of output in bytes.
const PIECE: usize = 16 << 10;
/// Pieces in the queue; the device then waits.
const CAPACITY: usize = 1024;

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
    line: Option<PollSender<(Instant, Vec<u8>)>>,
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
        let (line, queue) = channel(CAPACITY);
        task::spawn(deliver(queue, writer));
        Ok(DelayedStream {
            reader,
            line: Some(PollSender::new(line)),
            latency,
            cutter,
        })
    }
}

async fn deliver(
    mut queue: Receiver<(Instant, Vec<u8>)>,
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
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let latency = self.latency;
        let Some(line) = &mut self.line else {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        };
        let piece = &bytes[..bytes.len().min(PIECE)];
        let sent = ready!(line.poll_reserve(context)).and_then(|()| {
            let at = Instant::from_std(clock::instant()) + latency;
            line.send_item((at, piece.to_vec()))
        });
        if sent.is_err() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if self.cutter.0.load(Ordering::SeqCst) == CUT_AFTER_WRITE {
            self.cutter.0.store(CUT, Ordering::SeqCst);
            self.line = None;
        }
        Poll::Ready(Ok(piece.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.line = None;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn delayed_output_is_bounded() {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .unwrap();
        let _unread = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        let latency = Duration::from_secs(24 * 3600);
        let mut stream =
            DelayedStream::new(accepted, latency, ConnectionCutter::default()).unwrap();
        let output = vec![0; 2 * CAPACITY * PIECE];
        let mut written = 0;
        let writing = async {
            while written < output.len() {
                written += stream.write(&output[written..]).await.unwrap();
            }
        };
        let writing = tokio::task::unconstrained(writing);
        let waits = tokio::time::timeout(Duration::ZERO, writing).await;
        assert!(waits.is_err());
        // The task that delays the output holds one more piece.
        assert!((CAPACITY..=CAPACITY + 1).contains(&(written / PIECE)));
    }
}
