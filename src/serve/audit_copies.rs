//! Copies the audit log of this node to the store, where the pages of all hubs find it.

use std::time::Duration;

use super::access::{AuditEntry, AuditError, AuditFilter};
use super::service::Service;
use crate::error_chain::chain;
use crate::history::audit_copies::{AuditCopyFilter, AuditLine};
use crate::history::{HistoryError, HistoryWriter};
use crate::store::blocking_io;

/// Interval between copies.
const INTERVAL: Duration = Duration::from_secs(2);

/// An entry, with the node that has it in its log.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub(crate) struct NodeAuditEntry {
    #[serde(flatten)]
    pub(crate) entry: AuditEntry,
    /// `None`: there is only this process.
    pub(crate) node: Option<String>,
}

/// The entries cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditReadError {
    #[error(transparent)]
    Log(#[from] AuditError),
    #[error(transparent)]
    Store(#[from] HistoryError),
}

impl Service {
    /// Copies entries until the process stops.
    ///
    /// # Cancellation
    /// May be dropped at any time; the next start continues.
    pub(crate) async fn copy_audit_log(&self) {
        let Some(leases) = self.leases() else {
            return self.inner.stop.cancelled().await;
        };
        let node = leases.node();
        let mut is_reported = false;
        loop {
            // Another process can have the name: then its log is copied.
            let copied = if leases.has_name() {
                self.copy_new_entries(&node).await
            } else {
                Ok(())
            };
            match copied {
                Ok(()) => is_reported = false,
                Err(reason) if !is_reported => {
                    tracing::warn!("cannot copy the audit log to the store: {reason}");
                    is_reported = true;
                }
                Err(_) => {}
            }
            tokio::select! {
                () = self.inner.stop.cancelled() => break,
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
        // What happened at the end.
        if leases.has_name() {
            drop(self.copy_new_entries(&node).await);
        }
    }

    async fn copy_new_entries(&self, node: &str) -> Result<(), String> {
        let stored = |error: HistoryError| chain(&error);
        loop {
            let name = node.to_owned();
            let copied = self.history().query(move |reader| reader.audit_end(&name));
            let (log, start) = (self.inner.audit.clone(), copied.await.map_err(stored)?);
            let new = blocking_io::run(move || log.after(start)).await;
            let (entries, end) = new.map_err(|error| chain(&error))?;
            if entries.is_empty() {
                return Ok(());
            }
            let to_line = |entry: &AuditEntry| AuditLine {
                time: entry.time,
                entry: serde_json::to_string(entry).expect("an entry is JSON"),
            };
            let lines: Vec<AuditLine> = entries.iter().map(to_line).collect();
            let owner = node.to_owned();
            let write =
                move |writer: &HistoryWriter<'_>| writer.add_audit_lines(&owner, &lines, end);
            self.history().write(write).await.map_err(stored)?;
        }
    }

    /// The newest entries of a filter, newest first: of all nodes, or of this process if it is alone.
    ///
    /// # Errors
    /// The log or the store cannot be read.
    pub(crate) async fn audit_entries(
        &self,
        filter: AuditFilter,
        count: u32,
    ) -> Result<Vec<NodeAuditEntry>, AuditReadError> {
        if self.leases().is_none() {
            let log = self.inner.audit.clone();
            let most = usize::try_from(count).unwrap_or(usize::MAX);
            let newest = blocking_io::run(move || log.newest(&filter, most)).await?;
            let of_file = |entry| NodeAuditEntry { entry, node: None };
            return Ok(newest.into_iter().map(of_file).collect());
        }
        let desired = AuditCopyFilter {
            since: filter.since,
            until: filter.until,
            actor: filter.actor,
            action: filter.action,
            count,
        };
        let copies = self
            .history()
            .query(move |reader| reader.audit_copies(&desired));
        // A later program can have other entries.
        let entries = copies.await?.into_iter().filter_map(|(node, text)| {
            let entry = serde_json::from_str(&text).ok()?;
            let node = Some(node);
            Some(NodeAuditEntry { entry, node })
        });
        Ok(entries.collect())
    }
}
