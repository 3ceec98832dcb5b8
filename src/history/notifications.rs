//! Notifications between the processes of one database: what one of them announces, all receive within milliseconds.
//!
//! They are hints. One that is lost costs time, or a line of a run that a page of another node follows until its result
//! is stored. Who needs to know reads the tables after [`StoreNotification::Restored`], and from time to time. A file has
//! one process, and no notifications.

use tokio::sync::broadcast;

use super::engine::Engine;
use super::sql::Connection;
use super::{HistoryError, HistoryStore, HistoryWriter};

/// Notifications that a slow receiver may be behind. A receiver that lags reads the tables.
const BACKLOG: usize = 4096;

/// The longest body in bytes: PostgreSQL permits 8,000 with the topic.
pub(crate) const LONGEST_BODY: usize = 7_900;

const NOTIFY: &str = "SELECT pg_notify('switchtender', ?1)";

/// What a process with the same database announced. A process receives its own, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreNotification {
    /// Notifications arrive from now on. Earlier ones can be lost.
    Restored,
    Message {
        topic: String,
        body: String,
    },
}

/// The receivers of a process. The first one opens the connection.
pub(super) struct Notifications {
    sender: broadcast::Sender<StoreNotification>,
    listens: std::sync::Once,
}

impl Default for Notifications {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
            listens: std::sync::Once::new(),
        }
    }
}

impl StoreNotification {
    /// What the server passes on: the topic, a space, the body.
    pub(super) fn of_payload(payload: &str) -> Self {
        let (topic, body) = payload.split_once(' ').unwrap_or((payload, ""));
        Self::Message {
            topic: topic.to_owned(),
            body: body.to_owned(),
        }
    }
}

impl HistoryStore {
    /// Receives what processes with the same database announce from now on.
    pub(crate) fn notifications(&self) -> broadcast::Receiver<StoreNotification> {
        let Notifications { sender, listens } = &self.inner.notifications;
        let receiver = sender.subscribe();
        if let Engine::Postgres(server) = &self.inner.engine {
            listens.call_once(|| server.listen(sender.clone()));
        }
        receiver
    }
}

impl HistoryWriter<'_> {
    /// Announces something with the commit. `topic` is one word.
    pub(crate) fn notify(&self, topic: &str, body: &str) -> Result<(), HistoryError> {
        if let Connection::Postgres(_) = self.connection {
            let mut notify = self.connection.prepare_cached(NOTIFY)?;
            notify.execute([format!("{topic} {body}")])?;
        }
        Ok(())
    }
}
