//! `[candidate]`: requests change a configuration that takes effect when it is committed.

use super::control_request::ControlRequest;
use crate::document::Table;
use crate::operation::Request;

/// How a device commits a candidate configuration, and discards it.
#[derive(Clone, Debug)]
pub(crate) struct RestCandidateRules {
    check: Option<ControlRequest>,
    commit: ControlRequest,
    abort: ControlRequest,
}

/// The placeholder of the user.
const USER: &str = "{user}";

impl RestCandidateRules {
    /// Reads `[candidate]`.
    pub(crate) fn read(table: &Table<'_>) -> Option<Self> {
        let check = ControlRequest::read(table, "check");
        let commit = ControlRequest::required(table, "commit");
        let abort = ControlRequest::required(table, "abort");
        table.finish();
        Some(Self {
            check,
            commit: commit?,
            abort: abort?,
        })
    }

    /// The requests that end a change: the check, if there is one, and the commit.
    pub(crate) fn commit(&self, user: &str) -> Vec<Request> {
        let requests = self.check.iter().chain([&self.commit]);
        requests.map(|request| request.with(USER, user)).collect()
    }

    pub(crate) fn abort(&self, user: &str) -> Request {
        self.abort.with(USER, user)
    }
}
