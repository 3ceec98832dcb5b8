//! A response body that faults can slow down or cut. Used by all mocks that speak HTTP.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::Sleep;

use crate::fault::EndlessOutput;

/// Size of a chunk while the output is slowed down, in bytes.
const SLOW_CHUNK: usize = 16;

/// A fault closes the connection.
#[derive(Debug, thiserror::Error)]
#[error("connection closed by a fault")]
pub(crate) struct ConnectionCut;

/// A body that may arrive slowly, and may end before its announced length.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    chunks: VecDeque<Bytes>,
    cut: bool,
    flushed: bool,
    pause: Option<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
    endless: Option<EndlessOutput>,
}

impl ResponseBody {
    /// A body that ends after `cut` bytes, with this pause after each chunk.
    pub(crate) fn new(mut bytes: Vec<u8>, cut: Option<usize>, pause: Option<Duration>) -> Self {
        if let Some(length) = cut {
            bytes.truncate(length);
        }
        let size = if pause.is_some() {
            SLOW_CHUNK
        } else {
            bytes.len().max(1)
        };
        ResponseBody {
            chunks: bytes.chunks(size).map(Bytes::copy_from_slice).collect(),
            cut: cut.is_some(),
            flushed: false,
            pause,
            sleep: None,
            endless: None,
        }
    }

    /// A body without end.
    pub(crate) fn endless(output: EndlessOutput) -> Self {
        ResponseBody {
            endless: Some(output),
            ..Self::new(Vec::new(), None, Some(output.pause()))
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = ConnectionCut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionCut>>> {
        if let Some(sleep) = &mut self.sleep {
            std::task::ready!(sleep.as_mut().poll(context));
            self.sleep = None;
        }
        if let Some(endless) = self.endless {
            self.chunks.push_back(endless.piece().into());
        }
        if let Some(chunk) = self.chunks.pop_front() {
            self.sleep = self.pause.map(|pause| Box::pin(tokio::time::sleep(pause)));
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if !self.cut {
            return Poll::Ready(None);
        }
        // An error discards what hyper has buffered. It flushes its buffer when a body is pending.
        if !self.flushed {
            self.flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(ConnectionCut)))
    }
}
