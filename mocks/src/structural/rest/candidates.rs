//! Configurations that take effect when they are committed.

use std::collections::BTreeMap;

use serde_json::Value;
use switchtender_outline::CandidateShape;

use super::{NOT_FOUND, RequestRefusal, RestContent, refuse};
use crate::json_path::Locate as _;
use crate::rest_request::{CompiledRequest, RestRequest};
use crate::shape_pattern::InvalidShape;

/// The candidate of a user, who has one, or of each transaction.
#[derive(Debug)]
pub(super) struct Candidates {
    shape: CandidateShape,
    begin: Option<CompiledRequest>,
    check: Option<CompiledRequest>,
    commit: CompiledRequest,
    abort: CompiledRequest,
    open: BTreeMap<String, RestContent>,
    /// Transactions so far.
    count: u64,
}

/// The name of the candidate of a user.
const OF_USER: &str = "";

/// A request about a candidate.
#[derive(Debug, PartialEq)]
pub(super) enum CandidateRequest {
    Begin,
    Check,
    Commit(String),
    Abort(String),
}

impl Candidates {
    pub(super) fn new(shape: &CandidateShape) -> Result<Self, InvalidShape> {
        let optional = |request: &Option<_>| request.as_ref().map(CompiledRequest::new).transpose();
        Ok(Self {
            begin: optional(&shape.begin)?,
            check: optional(&shape.check)?,
            commit: CompiledRequest::new(&shape.commit)?,
            abort: CompiledRequest::new(&shape.abort)?,
            shape: shape.clone(),
            open: BTreeMap::new(),
            count: 0,
        })
    }

    /// The meaning of a request about a candidate; `None` for another one.
    pub(super) fn meaning(
        &self,
        request: &RestRequest,
        common: &[String],
    ) -> Option<CandidateRequest> {
        let is = |shape: &Option<CompiledRequest>| {
            let names = shape.as_ref().map(|shape| shape.names(request, common));
            names.flatten().is_some()
        };
        let id = |shape: &CompiledRequest| {
            let mut names = shape.names(request, common)?;
            Some(names.remove("id").unwrap_or_else(|| OF_USER.to_owned()))
        };
        if let Some(id) = id(&self.commit) {
            return Some(CandidateRequest::Commit(id));
        }
        if let Some(id) = id(&self.abort) {
            return Some(CandidateRequest::Abort(id));
        }
        if is(&self.begin) {
            return Some(CandidateRequest::Begin);
        }
        is(&self.check).then_some(CandidateRequest::Check)
    }

    /// Begins a transaction. Returns the answer, with its identifier.
    pub(super) fn begin(&mut self, running: &RestContent, done: &Value) -> Value {
        self.count += 1;
        let id = self.count.to_string();
        self.open.insert(id.clone(), running.clone());
        let mut answer = done.clone();
        *self.shape.id.get_or_insert(&mut answer) = id.into();
        answer
    }

    /// The content that a request changes. `header` has the header of a request by its name.
    pub(super) fn content<'c>(
        &'c mut self,
        request: &RestRequest,
        header: impl Fn(&str) -> Option<String>,
        running: &'c mut RestContent,
    ) -> Result<&'c mut RestContent, RequestRefusal> {
        if self.begin.is_none() {
            let open = self.open.entry(OF_USER.to_owned());
            return Ok(open.or_insert_with(|| running.clone()));
        }
        let named = match (&self.shape.header, &self.shape.parameter) {
            (Some(name), _) => header(name),
            (None, Some(name)) => request.parameter(name).map(str::to_owned),
            (None, None) => None,
        };
        match named {
            None => Ok(running),
            Some(id) => match self.open.get_mut(&id) {
                Some(open) => Ok(open),
                None => refuse(NOT_FOUND, format!("there is no transaction {id}")),
            },
        }
    }

    /// Ends a candidate. Returns the content that takes effect with a commit.
    pub(super) fn end(&mut self, id: &str) -> Result<Option<RestContent>, RequestRefusal> {
        match self.open.remove(id) {
            None if id != OF_USER => refuse(NOT_FOUND, format!("there is no transaction {id}")),
            found => Ok(found),
        }
    }

    pub(super) fn committed(&self) -> &Value {
        &self.shape.committed
    }
}
