//! File access off the async threads.

/// Runs file access on a thread of its own, so that other devices do not wait for the disk.
///
/// # Cancellation
/// Access that has begun is completed.
///
/// # Panics
/// If `access` panics.
pub(crate) async fn run<T: Send + 'static>(access: impl FnOnce() -> T + Send + 'static) -> T {
    let result = tokio::task::spawn_blocking(access).await;
    result.expect("file access does not panic")
}
