//! The check of the store at the start of the process: a damaged store is not served without a word.

use super::service::Service;
use crate::error_chain::chain;
use crate::history::HistoryCheck;
use crate::store::blocking_io;

impl Service {
    /// Logs the defects of the store. Runs beside the work, because a large store takes minutes.
    ///
    /// # Cancellation
    /// Ends soon after the process begins to stop.
    pub(crate) async fn check_store(&self) {
        let check = match HistoryCheck::begin(self.history().location()) {
            Ok(check) => check,
            Err(error) => {
                tracing::error!("cannot check the store: {}", chain(&error));
                return;
            }
        };
        let interrupt = check.interrupt();
        let work = blocking_io::run(move || check.finish());
        tokio::pin!(work);
        let result = tokio::select! {
            result = &mut work => result,
            () = self.inner.stop.cancelled() => {
                interrupt();
                work.await;
                return;
            }
        };
        for defect in &result.defects {
            tracing::error!("the store has a defect: {defect}");
        }
        if !result.defects.is_empty() {
            tracing::error!(
                "stop the process, and restore a copy of the store that `switchtender store check` accepts"
            );
        }
    }
}
