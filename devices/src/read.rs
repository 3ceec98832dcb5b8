//! Reads: the requests to a device, its answers as text, and the answers parsed for search and
//! change.
//!
//! A driver names its reads (`config`, `vlan_brief`, `GET /mgmt/tm/ltm/pool`). Each is sent at most
//! once per run, and [`Reads`] has its text. [`State`] has the parsed answers, shared by all types.
//! The driver converts them to instances without the device.

pub mod answer_rule;
pub(crate) mod columns;
pub(crate) mod csv;
mod derived;
pub mod field_path;
pub(crate) mod indent;
pub(crate) mod json_text;
pub(crate) mod number_list;
pub(crate) mod row;
pub mod rows;
pub(crate) mod stanzas;
pub(crate) mod xml;

use std::any::Any;
use std::sync::Arc;

use crate::map::IndexMap;

use crate::value::Attributes;
use answer_rule::AnswerRule;
use columns::Columns;
use derived::Derived;
use indent::Tree;
use row::Row;

/// The read whose tree is the configuration.
pub const CONFIG: &str = "config";

/// A read: one request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// The name in the platform definition, unique per platform.
    pub name: String,
    /// The command line (CLI) or the path with query (REST).
    pub command: String,
    /// JSON of a `POST` that reads (REST); `None`: the read is a `GET`.
    pub body: Option<String>,
    /// If the device rejects the command, the answer is empty text: it has no such objects.
    pub optional: bool,
    /// What a valid answer contains; the session checks it.
    pub answer: AnswerRule,
}

impl ReadRequest {
    /// The command line or path; for a read by `POST` the request.
    pub fn describe(&self) -> String {
        match &self.body {
            Some(body) => format!("POST {} {body}", self.command),
            None => self.command.clone(),
        }
    }
}

/// Answers by name of the read: device text without echo and prompt, with `\n` as line end.
pub type Reads = IndexMap<String, String>;

/// A parsed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Configuration lines, nested by indentation.
    Tree(Tree),
    /// A table with a header line.
    Columns(Columns),
    /// Stanzas of `key: value` lines, or records under a header, in the order of the device.
    Rows(Vec<Row>),
    /// A JSON document.
    Json(serde_json::Value),
    /// Text that is not parsed further.
    Text(String),
}

/// Predicted instances of a type, in the order of their first operation.
pub(crate) type Predicted = IndexMap<String, Option<Attributes>>;

/// State of a device: its parsed answers, with the predicted effect of later operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Shared between copies of a state until one of them changes.
    reads: IndexMap<String, Arc<Parsed>>,
    derived: Derived,
    /// Predicted instances by type and name, for objects that were read from a table. `None`:
    /// removed. The text of the table is not changed.
    predicted: IndexMap<String, Predicted>,
    /// Secrets in predicted operations, as they were sent.
    secrets: Vec<String>,
}

impl State {
    pub(crate) fn insert(&mut self, name: impl Into<String>, parsed: Parsed) {
        let name = name.into();
        self.derived.forget(&name);
        self.reads.insert(name, Arc::new(parsed));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.derived.forget(name);
        self.reads.shift_remove(name);
    }

    /// Copies the answers of another state.
    pub(crate) fn extend(&mut self, other: State) {
        for (name, parsed) in other.reads {
            self.derived.forget(&name);
            self.reads.insert(name, parsed);
        }
    }

    /// The answers to those reads that another state has, too.
    pub(crate) fn shared_with(&self, other: &State) -> State {
        let mut shared = self.clone();
        for name in self.reads.keys().filter(|name| other.get(name).is_none()) {
            shared.remove(name);
        }
        shared
    }

    /// The parsed answer of a read; `None` if it was not read.
    pub fn get(&self, name: &str) -> Option<&Parsed> {
        self.reads.get(name).map(Arc::as_ref)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Parsed> {
        self.derived.forget(name);
        self.reads.get_mut(name).map(Arc::make_mut)
    }

    /// All answers in the order in which they were read.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Parsed)> {
        self.reads
            .iter()
            .map(|(name, parsed)| (name.as_str(), parsed.as_ref()))
    }

    pub(crate) fn tree(&self, name: &str) -> Option<&Tree> {
        match self.get(name) {
            Some(Parsed::Tree(tree)) => Some(tree),
            _ => None,
        }
    }

    pub(crate) fn tree_mut(&mut self, name: &str) -> Option<&mut Tree> {
        match self.get_mut(name) {
            Some(Parsed::Tree(tree)) => Some(tree),
            _ => None,
        }
    }

    /// A value computed from the answer to one read, cached until the answer changes. `owner`
    /// distinguishes values of one Rust type: a resource type and a label. A state belongs to one
    /// device, so that each type has one implementation.
    pub(crate) fn derived<T: Any + Send + Sync>(
        &self,
        owner: (&str, &str),
        from: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.derived.get(owner, Some(from), make)
    }

    /// Like [`State::derived`], for a value computed from several answers.
    pub(crate) fn derived_from_all<T: Any + Send + Sync>(
        &self,
        owner: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.derived.get((owner, ""), None, make)
    }

    /// Predicted instances of a type, if any. `None` for an instance means that it was removed.
    pub(crate) fn predicted(&self, kind: &str) -> Option<&Predicted> {
        self.predicted.get(kind)
    }

    /// Secrets in the predicted state, to be masked in output.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    pub(crate) fn remember_secrets<'a>(&mut self, secrets: impl IntoIterator<Item = &'a str>) {
        for secret in secrets {
            if !self.secrets.iter().any(|stored| stored == secret) {
                self.secrets.push(secret.to_owned());
            }
        }
    }

    pub(crate) fn predict(&mut self, kind: &str, instance: &str, attributes: Option<Attributes>) {
        let of_kind = self.predicted.entry(kind.to_owned()).or_default();
        of_kind.insert(instance.to_owned(), attributes);
    }

    /// Drops the predicted instances of a type after the device was read again.
    pub(crate) fn forget_predicted(&mut self, kind: &str) {
        self.predicted.shift_remove(kind);
    }
}

/// An invalid answer of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse the answer to `{read}`: {message}")]
pub struct ReadError {
    /// Name of the read.
    pub read: String,
    /// Lower case, without the name of the read.
    pub(crate) message: String,
}
