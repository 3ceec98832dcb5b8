//! `[candidate]`: requests change a configuration that takes effect when it is committed.

use serde_json::Value as Json;
use switchtender_outline::{CandidateShape, JsonPath};

use super::TransactionRules;
use super::control_request::ControlRequest;
use crate::dialogue::candidate_rules::spans_run;
use crate::document::Table;
use crate::operation::Request;

/// The kind of candidate that requests change.
#[derive(Clone, Debug)]
pub(crate) enum RestCandidateRules {
    /// One of the user, for all requests.
    OfUser(UserCandidateRules),
    /// One for each change, which a request begins, and which the others name.
    OfChange(TransactionRules),
}

impl RestCandidateRules {
    /// Reads `[candidate]`.
    pub(crate) fn read(table: &Table<'_>) -> Option<Self> {
        match table.get("begin") {
            Some(_) => TransactionRules::read(table).map(Self::OfChange),
            None => UserCandidateRules::read(table).map(Self::OfUser),
        }
    }

    /// The requests, for a mock; `done` is the body of the answer to a change.
    pub(crate) fn outline(&self, done: &Json) -> CandidateShape {
        match self {
            Self::OfUser(rules) => rules.outline(done),
            Self::OfChange(rules) => rules.outline(done),
        }
    }

    /// Whether changes of several resources are committed together.
    pub(crate) fn spans_run(&self) -> bool {
        match self {
            Self::OfUser(rules) => rules.spans_run,
            Self::OfChange(rules) => rules.spans_run,
        }
    }
}

/// How a device commits the candidate configuration of a user, and discards it.
#[derive(Clone, Debug)]
pub(crate) struct UserCandidateRules {
    check: Option<ControlRequest>,
    commit: ControlRequest,
    abort: ControlRequest,
    spans_run: bool,
}

/// The placeholder of the user.
const USER: &str = "user";

impl UserCandidateRules {
    fn read(table: &Table<'_>) -> Option<Self> {
        let check = ControlRequest::read(table, "check", USER);
        let commit = ControlRequest::required(table, "commit", USER);
        let abort = ControlRequest::required(table, "abort", USER);
        let spans_run = spans_run(table);
        table.finish();
        Some(Self {
            check,
            commit: commit?,
            abort: abort?,
            spans_run,
        })
    }

    /// The requests that end a change: the check, if there is one, and the commit.
    pub(crate) fn commit(&self, user: &str) -> Vec<Request> {
        let requests = self.check.iter().chain([&self.commit]);
        requests.map(|request| request.with(USER, user)).collect()
    }

    /// The requests, for a mock.
    fn outline(&self, done: &Json) -> CandidateShape {
        CandidateShape {
            begin: None,
            id: JsonPath::default(),
            header: None,
            parameter: None,
            check: self.check.as_ref().map(|check| check.outline(USER)),
            commit: self.commit.outline(USER),
            abort: self.abort.outline(USER),
            committed: done.clone(),
        }
    }

    pub(crate) fn abort(&self, user: &str) -> Request {
        self.abort.with(USER, user)
    }
}
