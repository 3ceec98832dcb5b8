//! Copies the audit log of this node to the store, where the pages of all hubs find it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::access::{AuditEntry, AuditError, AuditFilter};
use super::run_store::RunStoreError;
use super::service::Service;
use crate::error_chain::chain;
use crate::history::audit_copies::{AuditCopyFilter, AuditLine};
use crate::history::{HistoryError, HistoryStore, HistoryWriter};
use crate::store::blocking_io;

/// Interval between copies.
const INTERVAL: Duration = Duration::from_secs(2);

/// The last copy of a process that stops. The next start copies the rest.
const LAST_COPY: Duration = Duration::from_secs(5);

/// An entry, with the node that has it in its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct NodeAuditEntry {
    #[serde(flatten)]
    pub(crate) entry: AuditEntry,
    /// `None`: there is only this process.
    pub(crate) node: Option<String>,
}

/// A part of the log of a node, with its place in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AuditPart {
    pub(crate) entries: Vec<AuditEntry>,
    /// The end of what the store has before.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The end in bytes of what the store has of the log of a node.
///
/// # Errors
/// The store cannot be read.
pub(crate) async fn audit_end(history: &HistoryStore, node: &str) -> Result<u64, HistoryError> {
    let name = node.to_owned();
    history.query(move |reader| reader.audit_end(&name)).await
}

/// Adds a part of the log of a node. A part that is sent again is added once.
///
/// # Errors
/// The store cannot be written.
pub(crate) async fn add_audit_part(
    history: &HistoryStore,
    node: &str,
    part: AuditPart,
) -> Result<(), HistoryError> {
    let to_line = |entry: &AuditEntry| AuditLine {
        time: entry.time,
        entry: serde_json::to_string(entry).expect("an entry is JSON"),
    };
    let lines: Vec<AuditLine> = part.entries.iter().map(to_line).collect();
    let node = node.to_owned();
    let write = move |writer: &HistoryWriter<'_>| {
        if writer.reader().audit_end(&node)? == part.start {
            writer.add_audit_lines(&node, &lines, part.end)?;
        }
        Ok(())
    };
    history.write(write).await
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
            drop(tokio::time::timeout(LAST_COPY, self.copy_new_entries(&node)).await);
        }
    }

    async fn copy_new_entries(&self, node: &str) -> Result<(), String> {
        loop {
            let start = match &self.inner.link {
                Some(link) => link.audit_end().await,
                None => audit_end(self.history(), node)
                    .await
                    .map_err(RunStoreError::from),
            };
            let start = start.map_err(|error| error.text)?;
            let log = self.inner.audit.clone();
            let new = blocking_io::run(move || log.after(start)).await;
            let (entries, end) = new.map_err(|error| chain(&error))?;
            if entries.is_empty() {
                return Ok(());
            }
            let part = AuditPart {
                entries,
                start,
                end,
            };
            let added = match &self.inner.link {
                Some(link) => link.add_audit_part(part).await,
                None => {
                    let added = add_audit_part(self.history(), node, part).await;
                    added.map_err(RunStoreError::from)
                }
            };
            added.map_err(|error| error.text)?;
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
