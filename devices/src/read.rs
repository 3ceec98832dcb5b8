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
pub mod nested_rows;
pub mod parents;
pub(crate) mod predicted;
pub(crate) mod row;
pub mod rows;
pub(crate) mod stanzas;
pub(crate) mod xml;

use std::any::Any;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use crate::map::IndexMap;

use answer_rule::AnswerRule;
use columns::Columns;
use derived::{Derived, DerivedFrom};
use indent::Tree;
use parents::ParentRead;
use predicted::{PredictedRow, PredictedRows};
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
    /// The command has placeholders for the names of parents: there is one request for each.
    pub parents: Option<ParentRead>,
}

impl ReadRequest {
    /// Whether a device with these answers does not have the command, so that a refusal is an empty answer.
    pub fn is_unknown_to(&self, reads: &Reads) -> bool {
        let Some(pattern) = &self.answer.known_with else {
            return false;
        };
        let config = reads.get(CONFIG);
        config.is_some_and(|text| !text.lines().any(|line| pattern.is_match(line)))
    }

    /// Whether both are the same request, whatever their valid answers are.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.command, &self.body) == (&other.name, &other.command, &other.body)
    }

    /// Adds the expectations of another use of the request.
    pub(crate) fn require(&mut self, other: Self) {
        self.optional &= other.optional;
        self.answer.may_be_empty &= other.answer.may_be_empty;
        for expectation in other.answer.expectations {
            if !self.answer.expectations.contains(&expectation) {
                self.answer.expectations.push(expectation);
            }
        }
    }

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

/// State of a device: its parsed answers, with the predicted effect of later operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Shared between copies of a state until one of them changes.
    reads: IndexMap<String, Arc<Parsed>>,
    derived: Derived,
    /// Predicted rows by read, valid until the table is read again.
    predicted: IndexMap<String, PredictedRows>,
    /// Commands of the catalog that were sent, by type.
    sent: IndexMap<String, HashSet<String>>,
    /// Secrets in predicted operations, as they were sent.
    secrets: Vec<String>,
}

impl State {
    pub(crate) fn insert(&mut self, name: impl Into<String>, parsed: Parsed) {
        let name = name.into();
        self.forget(&name);
        self.reads.insert(name, Arc::new(parsed));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.forget(name);
        self.reads.shift_remove(name);
    }

    /// Drops what depends on an answer that is about to be replaced.
    fn forget(&mut self, name: &str) {
        self.derived.forget(name);
        self.predicted.shift_remove(name);
    }

    /// Copies the answers of another state.
    pub(crate) fn extend(&mut self, other: State) {
        for (name, parsed) in other.reads {
            self.insert_shared(name, parsed);
        }
    }

    fn insert_shared(&mut self, name: String, parsed: Arc<Parsed>) {
        self.forget(&name);
        self.reads.insert(name, parsed);
    }

    /// Copies the answers of another state to reads that this one lacks.
    pub(crate) fn add_missing(&mut self, other: &State) {
        for (name, parsed) in &other.reads {
            if !self.reads.contains_key(name) {
                self.insert_shared(name.clone(), Arc::clone(parsed));
            }
        }
    }

    /// The answers to those reads that another state has, too.
    pub(crate) fn shared_with(&self, other: &State) -> State {
        self.restricted_to(|name| other.get(name).is_some())
    }

    /// The answers to some of the reads.
    pub(crate) fn restricted_to(&self, is_included: impl Fn(&str) -> bool) -> State {
        let mut restricted = self.clone();
        for name in self.reads.keys().filter(|name| !is_included(name)) {
            restricted.remove(name);
        }
        restricted
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

    /// The tree of a configuration, to change lines in its blocks; those of the top level remain.
    pub(crate) fn blocks_mut(&mut self, name: &str) -> Option<&mut Tree> {
        self.derived.forget_blocks(name);
        match self.reads.get_mut(name).map(Arc::make_mut) {
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
        self.derived.get(owner, DerivedFrom::Answer(from), make)
    }

    /// Like [`State::derived`], for a value computed from the lines of the top level of a
    /// configuration. It remains when lines below them change.
    pub(crate) fn derived_from_top_level<T: Any + Send + Sync>(
        &self,
        owner: (&str, &str),
        from: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.derived.get(owner, DerivedFrom::TopLevel(from), make)
    }

    /// The position of the first line of the top level with a text, without regard to case.
    pub(crate) fn top_level_position(&self, from: &str, text: &str) -> Option<usize> {
        struct Positions(HashMap<String, usize>);
        let tree = self.tree(from)?;
        let positions = self.derived_from_top_level(("", "positions"), from, || {
            let mut positions = HashMap::default();
            for (at, node) in tree.nodes.iter().enumerate() {
                positions
                    .entry(node.text.to_ascii_lowercase())
                    .or_insert(at);
            }
            Positions(positions)
        });
        positions.0.get(&text.to_ascii_lowercase()).copied()
    }

    /// Keeps a value that has the effect of a change of the answer.
    pub(crate) fn keep_derived<T: Any + Send + Sync>(
        &mut self,
        owner: (&str, &str),
        from: &str,
        value: Arc<T>,
    ) {
        self.derived.put(owner, DerivedFrom::Answer(from), value);
    }

    /// Like [`State::keep_derived`], for a value of [`State::derived_from_top_level`].
    pub(crate) fn keep_derived_from_top_level<T: Any + Send + Sync>(
        &mut self,
        owner: (&str, &str),
        from: &str,
        value: Arc<T>,
    ) {
        self.derived.put(owner, DerivedFrom::TopLevel(from), value);
    }

    /// Like [`State::derived`], for a value computed from several answers.
    pub(crate) fn derived_from_all<T: Any + Send + Sync>(
        &self,
        owner: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.derived.get((owner, ""), DerivedFrom::All, make)
    }

    /// The rows of a read that operations have changed, if any.
    pub(crate) fn predicted(&self, read: &str) -> Option<&PredictedRows> {
        self.predicted.get(read)
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

    /// Sets the predicted row with a key; `None`: it was removed.
    pub(crate) fn predict(&mut self, read: &str, key: String, row: Option<PredictedRow>) {
        let rows = self.predicted.entry(read.to_owned()).or_default();
        rows.insert(key, row);
    }

    /// Whether a command of the catalog was sent.
    pub(crate) fn is_sent(&self, kind: &str, command: &str) -> bool {
        let sent = self.sent.get(kind);
        sent.is_some_and(|sent| sent.contains(command))
    }

    pub(crate) fn remember_sent(&mut self, kind: &str, command: String) {
        let sent = self.sent.entry(kind.to_owned()).or_default();
        sent.insert(command);
    }

    /// Drops the sent commands of a type after the device was read again.
    pub(crate) fn forget_sent(&mut self, kind: &str) {
        self.sent.shift_remove(kind);
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
