//! The store of leases, as nodes see it: a database, or the link to a node that has one.

use std::time::Duration;

use async_trait::async_trait;

use crate::error_chain::chain;
use crate::history::HistoryStore;
use crate::history::leases::{LeaseAnswer, LeaseRequest};
use crate::store::blocking_io;

/// The longest time that an exchange waits for others of the process, such as those of workers.
const PERMIT_LIMIT: Duration = Duration::from_secs(5);

/// Why an exchange has no answer. What it asked for can have happened.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct LeaseStoreError {
    pub(crate) reason: String,
}

/// Stores leases and nodes.
#[async_trait]
pub(crate) trait LeaseStore: Send + Sync {
    /// Does what a node asks for, in one transaction: its record, releases, renewals, and acquisitions with the end of
    /// the runs of former owners.
    ///
    /// # Errors
    /// There is no answer.
    ///
    /// # Cancellation
    /// May be dropped; what it asked for can happen later.
    async fn exchange(&self, request: &LeaseRequest) -> Result<LeaseAnswer, LeaseStoreError>;
}

#[async_trait]
impl LeaseStore for HistoryStore {
    async fn exchange(&self, request: &LeaseRequest) -> Result<LeaseAnswer, LeaseStoreError> {
        let permit = tokio::time::timeout(PERMIT_LIMIT, self.exchange_permit()).await;
        let permit = permit.map_err(|_| LeaseStoreError {
            reason: "the store is busy with the leases of other nodes".to_owned(),
        })?;
        let (history, request) = (self.clone(), request.clone());
        let answer = blocking_io::run(move || history.exchange_leases(&request, permit)).await;
        answer.map_err(|error| LeaseStoreError {
            reason: chain(&error),
        })
    }
}
