//! What a type's implementation on a platform can do, whatever the transport.
//!
//! Command lines and REST objects are two implementations of one interface, which is pure: values
//! and parsed answers in, values and operations out. [`Driver`](super::Driver) chooses among the
//! variants of an implementation and is what the rest of the program uses.

use std::borrow::Cow;
use std::fmt;

use super::effect::{Effect, EffectSlot};
use crate::change::{Change, Instance, Wanted};
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::canonical::ValueError;
use crate::operation::Operation;
use crate::read::{ReadError, ReadRequest, State};
use crate::value::{Attributes, Name, Value};

/// A type on a platform, for the facts of one device.
pub trait Implementation: fmt::Debug + Send + Sync {
    /// What must be read to know the instances of the type.
    fn reads(&self) -> Vec<ReadRequest>;

    /// What must be read to know the instances that these resources are about; no more than
    /// [`Implementation::reads`].
    fn reads_for(&self, resources: &[&Wanted]) -> Vec<ReadRequest> {
        let _ = resources;
        self.reads()
    }

    /// Applies the platform's own canonical forms on top of the model's.
    ///
    /// # Errors
    /// The values that have no form on the platform.
    fn canonicalize(&self, attributes: Attributes) -> Result<Attributes, Vec<ValueError>>;

    /// What can be said against a resource without the device.
    fn check(&self, wanted: &Wanted) -> Vec<Problem>;

    /// All instances on the device.
    ///
    /// # Errors
    /// An answer cannot be understood.
    fn instances(&self, state: &State) -> Result<Vec<Instance>, ReadError>;

    /// The instance that a resource is about.
    ///
    /// # Errors
    /// An answer cannot be understood.
    fn instance(&self, wanted: &Wanted, state: &State) -> Result<Option<Instance>, ReadError>;

    /// The instances as far as these answers tell, which need not be all that are asked for.
    ///
    /// # Errors
    /// An answer cannot be understood.
    fn instances_so_far(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        self.instances(state)
    }

    /// The resource with values that depend on the current state worked out, such as
    /// `["add", "10-20"]` of a VLAN list; most have none.
    fn resolve<'w>(&self, wanted: &'w Wanted, current: Option<&Instance>) -> Cow<'w, Wanted> {
        let _ = current;
        Cow::Borrowed(wanted)
    }

    /// The properties that are out of sync, in the model's order; `ensure` first. Without a
    /// current instance: `ensure`, and whatever would have to be sent.
    fn differs(
        &self,
        wanted: &Wanted,
        current: Option<&Instance>,
        secrets: &dyn SecretHistory,
    ) -> Vec<Name>;

    /// The operations that make a change, in order.
    ///
    /// # Errors
    /// A value cannot be written.
    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError>;

    /// Changes what is known of the device as the device would, given the operations.
    fn predict(&self, state: &mut State, operations: &[Operation]);

    /// The instances of a type whose state does not stand in the configuration that the platform
    /// reads, in the words of a configuration; for the configuration diff.
    fn render_unconfigured(&self, state: &State) -> String {
        let _ = state;
        String::new()
    }

    /// What attributes of the type can set.
    fn effect_slots(&self) -> Vec<EffectSlot>;

    /// What these attributes of a resource set.
    fn effects(&self, wanted: &Wanted, attributes: &[&str]) -> Vec<Effect>;

    /// Whether instances can be created and removed.
    fn is_ensurable(&self) -> bool {
        true
    }

    /// Whether a device has exactly one instance, whatever a resource calls it.
    fn is_singleton(&self) -> bool {
        false
    }

    /// Secrets of the type that stand in what was read, as the device prints them.
    fn secrets(&self, state: &State) -> Vec<String>;

    /// How the type is read and written, for people.
    fn explain(&self) -> Explanation;

    /// What is wrong with the definition itself: values without a command, templates that read
    /// back differently, lines that two templates claim.
    fn audit(&self) -> Vec<Diagnostic>;
}

/// Something to say against a resource on a platform, known without the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The attribute, or the namevar when the resource as a whole is meant.
    pub attribute: String,
    pub kind: ProblemKind,
    /// Errors keep the resource from being applied; warnings and notes do not.
    pub severity: Severity,
    /// In lower case, without the attribute's name; never a secret.
    pub message: String,
    pub help: Option<String>,
}

/// What kind of problem it is, for whoever sorts or explains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The instance belongs to the device.
    Reserved,
    /// The platform does not have the attribute, or not this value of it.
    Unsupported,
    /// The platform has no way to be told the value.
    Unwritable,
    /// The value does something else than it seems to.
    Misleading,
}

/// A change that cannot be expressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}: {message}")]
pub struct RenderError {
    pub attribute: String,
    /// In lower case; never a secret.
    pub message: String,
}

/// Secrets that a device does not show, as this program set them last.
pub trait SecretHistory {
    /// Whether the value is the one that was set last; `None` when nothing is known.
    fn matches_last_set(&self, reference: &str, attribute: &str, value: &Value) -> Option<bool>;
}

/// No secret is remembered.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecretHistory;

impl SecretHistory for NoSecretHistory {
    fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
        None
    }
}

/// How a type is read and written on a platform, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The commands or requests that are read.
    pub reads: Vec<ReadRequest>,
    /// How an instance is recognised, created and removed: pairs of a word and the text.
    pub instance: Vec<(String, String)>,
    pub attributes: Vec<AttributeExplanation>,
}

/// How an attribute is read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeExplanation {
    pub name: String,
    /// Where its value is found.
    pub read: Vec<String>,
    /// Pairs of a value (`any` for all that have no own entry) and what sets it.
    pub write: Vec<(String, String)>,
    /// Anything else: not supported, ignored, asked about.
    pub notes: Vec<String>,
}
