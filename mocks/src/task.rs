//! Tasks of mocks.

/// Starts a task that ends by itself: with its connection, or with the token of its mock.
#[expect(
    clippy::disallowed_methods,
    reason = "the only module that starts tasks"
)]
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(work);
}
