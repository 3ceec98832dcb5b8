//! Tasks of mocks.

use std::pin::Pin;

/// Starts a task that ends by itself: with its connection, or with the token of its mock.
#[expect(
    clippy::disallowed_methods,
    reason = "the only module that starts tasks"
)]
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    // Boxed, so that the code of a task is compiled once.
    let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(work);
    tokio::spawn(work);
}
