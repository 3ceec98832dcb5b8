//! Turns at what devices of a run share besides the network: the processors and the disk.

use std::num::NonZero;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Who may be at work with a catalog, and who with files. Turns come in the order in which they
/// were asked for.
#[derive(Debug)]
pub struct Turns {
    processors: Semaphore,
    disk: Semaphore,
}

impl Default for Turns {
    /// Some more turns than processors, so that one that is free finds work; and a few at the
    /// disk, each of which takes a thread.
    fn default() -> Self {
        const DISK: usize = 16;
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            processors: Semaphore::new(4 * processors),
            disk: Semaphore::new(DISK),
        }
    }
}

impl Turns {
    /// A turn at the processors. Others wait for theirs, so that between two catalogs what devices
    /// have answered is heard.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn processor(&self) -> SemaphorePermit<'_> {
        let turn = self.processors.acquire().await.expect("never closed");
        // Whoever has been answered goes first.
        tokio::task::yield_now().await;
        turn
    }

    /// Writes files in a turn at the disk. They wait for it on a thread of their own, so that
    /// other devices need not.
    ///
    /// # Cancellation
    /// What was begun is written; what had no turn yet is not.
    pub async fn write<T: Send + 'static>(&self, write: impl FnOnce() -> T + Send + 'static) -> T {
        let _turn = self.disk.acquire().await.expect("never closed");
        let written = tokio::task::spawn_blocking(write).await;
        written.expect("writing files does not panic")
    }
}
