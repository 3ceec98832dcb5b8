//! `[candidate]`: requests change a configuration that takes effect when it is committed.

use serde_json::Value as Json;
use switchtender_outline::{CandidateShape, JsonPath};

use super::TransactionRules;
use super::control_request::ControlRequest;
use super::transaction_rules::ID;
use crate::dialogue::candidate_rules::CandidateScope;
use crate::document::{Item, SectionForm, keys};
use crate::operation::Request;
use crate::read::field_path::FieldPath;

/// The kind of candidate that requests change.
#[derive(Clone, Debug)]
pub(crate) enum RestCandidateRules {
    /// One of the user, for all requests.
    OfUser(UserCandidateRules),
    /// One for each change, which a request begins, and which the others name.
    OfChange(TransactionRules),
}

/// Whether a request begins a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateForm {
    OfUser,
    OfChange,
}

impl SectionForm for CandidateForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Self::OfUser, "a candidate of the user"),
        (Self::OfChange, "`begin`"),
    ];
}

keys! {
    /// Requests change a configuration that takes effect when it is committed.
    pub(crate) struct RestCandidateKeys at CandidateForm {
        /// Request that begins a transaction for each change.
        begin: Option<ControlRequest> where [CandidateForm::OfChange],
        /// Path of its identifier in the answer.
        id: Option<FieldPath> where [CandidateForm::OfChange],
        /// Header that names the transaction in its requests.
        header: Option<String> where [CandidateForm::OfChange],
        /// Parameter that names the transaction in its requests.
        query: Option<String> where [CandidateForm::OfChange],
        /// Request that checks the candidate before the commit.
        check: Option<ControlRequest> where [CandidateForm::OfUser],
        /// Request that commits.
        commit: ControlRequest,
        /// Field of the answer to the commit that shows success.
        committed: Option<CommittedKeys> where [CandidateForm::OfChange],
        /// Request that discards the candidate.
        abort: ControlRequest,
        /// `resource` (default), or `run`: resources of a run are committed together.
        scope: CandidateScope = CandidateScope::Resource,
    }
}

keys! {
    /// The field that shows success.
    pub(crate) struct CommittedKeys {
        /// Path of the field.
        path: FieldPath,
        /// Its value after success.
        value: String,
    }
}

impl RestCandidateRules {
    /// Reads `[candidate]`.
    pub(crate) fn read(item: &Item<'_>) -> Option<Self> {
        let table = item.table()?;
        let keys = RestCandidateKeys::of(&table);
        let form = match table.get("begin") {
            Some(_) => CandidateForm::OfChange,
            None => CandidateForm::OfUser,
        };
        RestCandidateKeys::KEYS.check(form, &table);
        table.finish();
        let keys = keys?;
        let placeholder = match form {
            CandidateForm::OfUser => USER,
            CandidateForm::OfChange => ID,
        };
        let requests = [&keys.begin, &keys.check].into_iter().flatten();
        for request in requests.chain([&keys.commit, &keys.abort]) {
            request.check(placeholder, table.findings);
        }
        let spans_run = keys.scope == CandidateScope::Run;
        let Some(begin) = keys.begin else {
            return Some(Self::OfUser(UserCandidateRules {
                check: keys.check,
                commit: keys.commit,
                abort: keys.abort,
                spans_run,
            }));
        };
        if keys.header.is_some() == keys.query.is_some() {
            let message = "[candidate] with `begin` requires either `header` or `query`";
            item.error("candidate", message);
        }
        let Some(id) = keys.id else {
            table.missing("id");
            return None;
        };
        Some(Self::OfChange(TransactionRules {
            begin,
            id,
            header: keys.header,
            query: keys.query,
            commit: keys.commit,
            committed: keys.committed.map(|keys| (keys.path, keys.value)),
            abort: keys.abort,
            spans_run,
        }))
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
