//! Turns at the processors, which devices of a run share.

use std::num::NonZero;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Who may be at work with a catalog. Turns come in the order in which they were asked for.
#[derive(Debug)]
pub struct Turns {
    processors: Semaphore,
}

impl Default for Turns {
    /// Some more turns than processors, so that one that is free finds work.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            processors: Semaphore::new(4 * processors),
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
}
