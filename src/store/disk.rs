//! Turns at the disk, for all devices of a process.

use tokio::sync::Semaphore;

/// A few at once, each of which takes a thread; others get theirs in the order in which they asked.
static TURNS: Semaphore = Semaphore::const_new(16);

/// Writes files in a turn at the disk. They wait for it on a thread of their own, so that other
/// devices need not.
///
/// # Cancellation
/// What was begun is written; what had no turn yet is not.
pub async fn write<T: Send + 'static>(write: impl FnOnce() -> T + Send + 'static) -> T {
    let _turn = TURNS.acquire().await.expect("never closed");
    let written = tokio::task::spawn_blocking(write).await;
    written.expect("writing files does not panic")
}
