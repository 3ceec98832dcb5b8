//! Leases of a worker over the link. The deadline of a lease is on the worker's own clock: a slow link adds no risk.

use async_trait::async_trait;

use super::client::HubLink;
use super::protocol::LinkCall;
use crate::history::leases::{LeaseAnswer, LeaseRequest};
use crate::serve::lease::lease_store::{LeaseStore, LeaseStoreError};

#[async_trait]
impl LeaseStore for HubLink {
    async fn exchange(&self, request: &LeaseRequest) -> Result<LeaseAnswer, LeaseStoreError> {
        // A release has the devices of all sites.
        let mut own = request.clone();
        own.sites.retain(|site, _| self.has_site(site));
        let answer = self.call(LinkCall::Exchange(own)).await;
        answer.map_err(|error| LeaseStoreError {
            reason: error.to_string(),
        })
    }
}
