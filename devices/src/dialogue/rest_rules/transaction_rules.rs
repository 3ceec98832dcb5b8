//! `[candidate]` with `begin`: several requests that a device applies together.

use serde_json::Value as Json;
use switchtender_outline::CandidateShape;

use super::control_request::ControlRequest;
use crate::operation::Request;
use crate::read::field_path::{FieldPath, scalar_text};

/// How a device applies several requests together.
#[derive(Clone, Debug)]
pub(crate) struct TransactionRules {
    pub(super) begin: ControlRequest,
    /// The identifier of the transaction in the answer.
    pub(super) id: FieldPath,
    /// The header of the requests of the transaction; `None`: it is a parameter.
    pub(crate) header: Option<String>,
    pub(super) query: Option<String>,
    pub(super) commit: ControlRequest,
    /// The field of the answer to the commit that shows success, and its value.
    pub(super) committed: Option<(FieldPath, String)>,
    pub(super) abort: ControlRequest,
    /// Changes of several resources are one transaction.
    pub(super) spans_run: bool,
}

/// The placeholder of the identifier.
pub(super) const ID: &str = "id";

impl TransactionRules {
    /// The requests, for a mock; `done` is the body of the answer to a change.
    pub(super) fn outline(&self, done: &Json) -> CandidateShape {
        let mut committed = done.clone();
        if let Some((path, value)) = &self.committed {
            path.put(&mut committed, value.as_str().into());
        }
        CandidateShape {
            begin: Some(self.begin.outline(ID)),
            id: self.id.outline(),
            header: self.header.clone(),
            parameter: self.query.clone(),
            check: None,
            commit: self.commit.outline(ID),
            abort: self.abort.outline(ID),
            committed,
        }
    }

    pub(crate) fn begin(&self) -> Request {
        self.begin.with(ID, "")
    }

    pub(crate) fn commit(&self, id: &str) -> Request {
        self.commit.with(ID, id)
    }

    pub(crate) fn abort(&self, id: &str) -> Request {
        self.abort.with(ID, id)
    }

    /// The identifier in the answer to the first request.
    pub(crate) fn id_in(&self, answer: &str) -> Option<String> {
        let answer: Json = serde_json::from_str(answer).ok()?;
        let id = scalar_text(self.id.get(&answer)?)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        (!id.is_empty() && id.chars().all(is_name)).then_some(id)
    }

    /// A request of the transaction: with the parameter, if it is not a header that names it.
    pub(crate) fn member(&self, request: &Request, id: &str) -> Request {
        let mut member = request.clone();
        // Sent twice, it would be in the transaction twice.
        member.idempotent = false;
        if let Some(query) = &self.query {
            let separator = if member.path.contains('?') { '&' } else { '?' };
            member.path.push_str(&format!("{separator}{query}={id}"));
        }
        member
    }

    /// Whether the answer to the commit is that of success.
    pub(crate) fn is_committed(&self, answer: &str) -> bool {
        let Some((path, value)) = &self.committed else {
            return true;
        };
        let answer: Json = serde_json::from_str(answer).unwrap_or_default();
        path.get(&answer).and_then(scalar_text).as_ref() == Some(value)
    }
}
