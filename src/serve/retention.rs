//! Removes what is older than the settings say. It is apart from the main loop: with much to remove it takes minutes.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::MissedTickBehavior;

use super::service::Service;
use crate::clock;
use crate::error_chain::chain;
use crate::history::HistoryError;
use crate::history::leases::FleetTask;

/// Interval between removals.
const INTERVAL: Duration = Duration::from_secs(10 * 60);

impl Service {
    /// Removes old data until the process stops.
    ///
    /// # Cancellation
    /// May be dropped at any time: it removes in steps.
    pub(super) async fn remove_old_data(&self) {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                _ = interval.tick() => {}
                () = self.inner.retention.notified() => {}
            }
            let Some(_right) = self.task_right(FleetTask::Retention) else {
                continue;
            };
            let now = clock::timestamp();
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = self.remove_once(now) => {}
            }
        }
    }

    async fn remove_once(&self, now: Timestamp) {
        self.end_unclaimed_requests(now).await;
        let fleet = self.inner.fleet();
        let (settings, history) = (&fleet.settings, self.history());
        match history.fold_unchanged(settings.keep_unchanged, now).await {
            Ok(0) => {}
            Ok(folded) => tracing::info!(runs = folded, "old unchanged runs are folded"),
            Err(error) => tracing::error!("cannot fold unchanged runs: {}", chain(&error)),
        }
        let removed = history.retain(settings.retention(), now).await;
        match removed {
            Ok(removed) => {
                if removed.undelivered > 0 {
                    let count = removed.undelivered;
                    tracing::warn!(
                        "the store is full: {count} runs without webhook message removed"
                    );
                }
                tracing::info!(runs = removed.runs, "old runs are removed");
            }
            Err(error) => tracing::error!("cannot remove old runs: {}", chain(&error)),
        }
        let webhooks = settings.web.webhooks.iter();
        let webhooks: Vec<String> = webhooks.map(|webhook| webhook.name.clone()).collect();
        let removed = history.write(move |writer| {
            // The records of nodes name their webhooks.
            writer.remove_gone_nodes(now)?;
            writer.set_webhooks(&webhooks)
        });
        if let Err(error) = removed.await {
            tracing::error!("cannot remove old nodes: {}", chain(&error));
        }
    }

    /// Ends requests that no queue has: of a device that no node runs. Queues end their own.
    async fn end_unclaimed_requests(&self, now: Timestamp) {
        if let Err(error) = self.try_end_unclaimed_requests(now).await {
            tracing::error!("cannot end old requests: {}", chain(&error));
        }
    }

    async fn try_end_unclaimed_requests(&self, now: Timestamp) -> Result<(), HistoryError> {
        let limit = self.inner.fleet().settings.request_limit;
        let oldest = now.saturating_sub(limit).unwrap_or(now);
        let expired = self
            .history()
            .query(move |reader| reader.expired_requests(oldest));
        self.end_expired_runs(expired.await?).await;
        Ok(())
    }
}
