//! The audit log of a worker over the link: hubs show it with those of all nodes.

use super::client::HubLink;
use super::protocol::LinkCall;
use crate::serve::audit_copies::AuditPart;
use crate::serve::run_store::RunStoreError;

impl HubLink {
    /// The end in bytes of what the hubs have of the log.
    ///
    /// # Errors
    /// No hub answers.
    pub(crate) async fn audit_end(&self) -> Result<u64, RunStoreError> {
        self.of_store(LinkCall::AuditEnd).await
    }

    /// Adds entries at the end of what the hubs have.
    ///
    /// # Errors
    /// No hub answers. The entries can have been added.
    pub(crate) async fn add_audit_part(&self, part: AuditPart) -> Result<(), RunStoreError> {
        self.of_store(LinkCall::AddAuditPart(part)).await
    }
}
