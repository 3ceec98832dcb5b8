//! Tasks: each one ends with its owner.

use std::pin::Pin;

use tokio_util::task::AbortOnDropHandle;

/// Starts a task that is aborted when its handle is dropped.
#[expect(
    clippy::disallowed_methods,
    reason = "the only module that starts tasks"
)]
pub fn spawn<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> AbortOnDropHandle<T> {
    // Boxed, so that the code of a task is compiled once for each `T`.
    let work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
    AbortOnDropHandle::new(tokio::spawn(work))
}
