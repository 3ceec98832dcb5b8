//! Reading: what to ask a device for, what it answered, and the answers in a form that can be
//! searched and changed.
//!
//! A driver names its reads (`config`, `vlan_brief`, `GET /mgmt/tm/ltm/pool`); each is sent at
//! most once per run and its text kept in [`Reads`]. [`State`] holds the same texts parsed, once
//! for all types. Turning them into instances is the driver's part and needs no device.

pub mod columns;
mod derived;
pub mod indent;
pub mod json_text;
pub mod row;
pub mod stanzas;

use std::any::Any;
use std::sync::Arc;

use crate::map::IndexMap;

use crate::value::Attributes;
use columns::Columns;
use derived::Derived;
use indent::Tree;
use row::Row;

/// One thing to ask a device for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadRequest {
    /// The name in the platform's data, unique per platform.
    pub name: String,
    /// The command line (CLI) or the path with query (REST, always by GET).
    pub command: String,
    /// A refusal means "there is nothing of this kind" and reads as empty text.
    pub optional: bool,
}

/// Answers by name of the read: the device's text, echo and prompt removed, lines ended by `\n`.
pub type Reads = IndexMap<String, String>;

/// An answer, parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    Tree(Tree),
    Columns(Columns),
    Stanzas(Vec<Row>),
    Json(serde_json::Value),
    Text(String),
}

/// What operations made of the instances of a type, in the order in which they were touched.
pub type Predicted = IndexMap<String, Option<Attributes>>;

/// What is known of a device: its answers, and what operations have changed since (predicted).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Shared with the states that they were copied from or to, until one of them changes.
    reads: IndexMap<String, Arc<Parsed>>,
    derived: Derived,
    /// By type and instance: what operations made of something that was read from a table, whose
    /// text they do not change. `None`: it is gone.
    predicted: IndexMap<String, Predicted>,
    /// Secrets that predicted operations carried, as they were sent.
    secrets: Vec<String>,
}

impl State {
    pub fn insert(&mut self, name: impl Into<String>, parsed: Parsed) {
        let name = name.into();
        self.derived.forget(&name);
        self.reads.insert(name, Arc::new(parsed));
    }

    /// Takes over the answers of another state.
    pub fn extend(&mut self, other: State) {
        for (name, parsed) in other.reads {
            self.derived.forget(&name);
            self.reads.insert(name, parsed);
        }
    }

    pub fn get(&self, name: &str) -> Option<&Parsed> {
        self.reads.get(name).map(Arc::as_ref)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Parsed> {
        self.derived.forget(name);
        self.reads.get_mut(name).map(Arc::make_mut)
    }

    /// All answers in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Parsed)> {
        self.reads
            .iter()
            .map(|(name, parsed)| (name.as_str(), parsed.as_ref()))
    }

    pub fn tree(&self, name: &str) -> Option<&Tree> {
        match self.get(name) {
            Some(Parsed::Tree(tree)) => Some(tree),
            _ => None,
        }
    }

    pub fn tree_mut(&mut self, name: &str) -> Option<&mut Tree> {
        match self.get_mut(name) {
            Some(Parsed::Tree(tree)) => Some(tree),
            _ => None,
        }
    }

    /// Something that follows from the answer to one read alone, worked out at the first question
    /// and again after the answer has changed. `owner` tells things of one kind apart: a type, and
    /// what of it. A state is one device's, on which each type has one implementation.
    pub fn derived<T: Any + Send + Sync>(
        &self,
        owner: (&str, &str),
        from: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.derived.get(owner, Some(from), make)
    }

    /// As [`State::derived`], for what follows from several answers.
    pub fn derived_from_all<T: Any + Send + Sync>(
        &self,
        owner: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.derived.get((owner, ""), None, make)
    }

    /// What was predicted for instances of a type, if anything; `None` of one says that it is gone.
    pub fn predicted(&self, kind: &str) -> Option<&Predicted> {
        self.predicted.get(kind)
    }

    /// Secrets that stand in what was predicted, to be masked wherever it is shown.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    pub fn remember_secrets<'a>(&mut self, secrets: impl IntoIterator<Item = &'a str>) {
        for secret in secrets {
            if !self.secrets.iter().any(|known| known == secret) {
                self.secrets.push(secret.to_owned());
            }
        }
    }

    pub fn predict(&mut self, kind: &str, instance: &str, attributes: Option<Attributes>) {
        let of_kind = self.predicted.entry(kind.to_owned()).or_default();
        of_kind.insert(instance.to_owned(), attributes);
    }

    /// Forgets what was predicted for instances of a type: the device was asked anew.
    pub fn forget_predicted(&mut self, kind: &str) {
        self.predicted.shift_remove(kind);
    }
}

/// A device's answer that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot understand the answer to `{read}`: {message}")]
pub struct ReadError {
    /// Name of the read.
    pub read: String,
    pub message: String,
}
