//! File access off the async threads.

use tokio::sync::oneshot;

/// Runs file access on a thread of its own, so that other devices do not wait for the disk.
///
/// # Cancellation
/// Access that has begun is completed.
///
/// # Panics
/// If `access` panics.
pub(crate) async fn run<T: Send + 'static>(access: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = oneshot::channel();
    // Boxed, so that the code of a task is compiled once, not for each access.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || {
        let _ = sender.send(access());
    });
    tokio::task::spawn_blocking(work);
    result.await.expect("file access does not panic")
}
