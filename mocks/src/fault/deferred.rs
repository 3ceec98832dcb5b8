//! Commands that a device executes later: after a time, or when a test resumes the device.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

use crate::control::lock;
use crate::task;

type Work = Box<dyn FnOnce() + Send>;

/// The deferred commands of a device. Clones share them. They do not depend on connections.
#[derive(Clone)]
pub(crate) struct DeferredWork(Arc<DeferredState>);

struct DeferredState {
    waiting: Mutex<Vec<Work>>,
    /// Number of commands that wait for [`DeferredWork::resume`].
    count: watch::Sender<usize>,
}

impl fmt::Debug for DeferredWork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = *self.0.count.borrow();
        write!(formatter, "DeferredWork({count})")
    }
}

impl Default for DeferredWork {
    fn default() -> Self {
        DeferredWork(Arc::new(DeferredState {
            waiting: Mutex::default(),
            count: watch::Sender::new(0),
        }))
    }
}

impl DeferredWork {
    /// Executes work after a delay; without one when the device is resumed.
    pub(crate) fn add(&self, delay: Option<Duration>, work: impl FnOnce() + Send + 'static) {
        if let Some(delay) = delay {
            task::spawn(async move {
                tokio::time::sleep(delay).await;
                work();
            });
            return;
        }
        let mut waiting = lock(&self.0.waiting);
        waiting.push(Box::new(work));
        self.0.count.send_replace(waiting.len());
    }

    /// Executes the waiting work in order and returns how much there was.
    pub(crate) fn resume(&self) -> usize {
        let waiting = std::mem::take(&mut *lock(&self.0.waiting));
        self.0.count.send_replace(0);
        let count = waiting.len();
        for work in waiting {
            work();
        }
        count
    }

    /// Waits until work waits.
    pub(crate) async fn wait(&self) {
        let mut count = self.0.count.subscribe();
        // The sender lives as long as this value.
        let _ = count.wait_for(|count| *count > 0).await;
    }
}
