//! The interface of a type's implementation on a platform, independent of the transport.
//!
//! It is implemented with command lines and with REST objects. All functions are pure: values and
//! parsed answers in, values and operations out. [`Driver`](super::Driver) selects the variant of
//! an implementation and is the interface to the other modules.

use std::borrow::Cow;
use std::fmt;

use super::effect::{Effect, EffectSlot};
use crate::change::{Change, Desired, Instance};
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::canonical::ValueError;
use crate::not_understood::NotUnderstood;
use crate::operation::Operation;
use crate::read::indent::Node;
use crate::read::{ReadError, ReadRequest, State};
use crate::value::{Attributes, Name, Value};

/// Whether another type reads a line: the name of the read, and the line below its blocks.
pub(crate) type IsReadByOther<'a> = dyn Fn(&str, &[&Node]) -> bool + 'a;

/// A type on a platform, for the facts of one device.
pub trait Implementation: fmt::Debug + Send + Sync {
    /// The reads for all instances of the type.
    fn reads(&self) -> Vec<ReadRequest>;

    /// The reads for the instances of these resources; a subset of [`Implementation::reads`].
    fn reads_for(&self, resources: &[&Desired]) -> Vec<ReadRequest> {
        let _ = resources;
        self.reads()
    }

    /// Applies the platform's canonical forms after the model's.
    ///
    /// # Errors
    /// The values that the platform cannot represent.
    fn canonicalize(&self, attributes: Attributes) -> Result<Attributes, Vec<ValueError>>;

    /// Problems of a resource that are found without the device.
    fn check(&self, desired: &Desired) -> Vec<Problem>;

    /// All instances on the device.
    ///
    /// # Errors
    /// An answer is invalid.
    fn instances(&self, state: &State) -> Result<Vec<Instance>, ReadError>;

    /// The instance of a resource.
    ///
    /// # Errors
    /// An answer is invalid.
    fn instance(&self, desired: &Desired, state: &State) -> Result<Option<Instance>, ReadError>;

    /// The lines, rows and objects that the type recognizes and does not read completely. A line
    /// that another type reads is none of them, unless this type reads a part that identifies it.
    fn not_understood(
        &self,
        state: &State,
        is_read_by_other: &IsReadByOther<'_>,
    ) -> Vec<NotUnderstood>;

    /// Whether the type reads a line, which is the last of a path of blocks.
    fn reads_line(&self, read: &str, path: &[&Node]) -> bool {
        let _ = (read, path);
        false
    }

    /// The instances in these answers, which may be a part of all reads.
    ///
    /// # Errors
    /// An answer is invalid.
    fn instances_so_far(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        self.instances(state)
    }

    /// Resolves values that depend on the current state, such as `["add", "10-20"]` of a VLAN list.
    fn resolve<'w>(&self, desired: &'w Desired, current: Option<&Instance>) -> Cow<'w, Desired> {
        let _ = current;
        Cow::Borrowed(desired)
    }

    /// The properties that are out of sync, in the model's order with `ensure` first. Without a
    /// current instance: `ensure` and all attributes that must be sent.
    fn differs(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        secrets: &dyn SecretHistory,
    ) -> Vec<Name>;

    /// The operations of a change, in order.
    ///
    /// # Errors
    /// A value cannot be written.
    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError>;

    /// Whether a refresh sends something.
    fn has_refresh(&self) -> bool {
        false
    }

    /// The operations of a refresh; none if the type has no action.
    ///
    /// # Errors
    /// A value is missing or cannot be written.
    fn refresh(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
    ) -> Result<Vec<Operation>, RenderError> {
        let _ = (desired, current);
        Ok(Vec::new())
    }

    /// Applies operations to the state, as the device would.
    fn predict(&self, state: &mut State, operations: &[Operation]);

    /// The instances of a type whose state is not part of the configuration text, rendered as
    /// configuration lines for the diff.
    fn render_unconfigured(&self, state: &State) -> String {
        let _ = state;
        String::new()
    }

    /// Whether the configuration that was read shows what changes of the type do.
    ///
    /// # Errors
    /// Why not.
    fn supports_diff(&self, state: &State) -> Result<(), HiddenFromDiff> {
        let _ = state;
        Ok(())
    }

    /// The settings that attributes of the type can change.
    fn effect_slots(&self) -> Vec<EffectSlot>;

    /// The settings that these attributes of a resource change.
    fn effects(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect>;

    /// Whether instances can be created and removed.
    fn is_ensurable(&self) -> bool {
        true
    }

    /// Whether a device has exactly one instance, independent of the title.
    fn is_singleton(&self) -> bool {
        false
    }

    /// Secrets of the type in the answers, as the device prints them.
    fn secrets(&self, state: &State) -> Vec<String>;

    /// How the type is read and written, as text for users.
    fn explain(&self) -> Explanation;

    /// Checks the definition: values without a command, templates that read other values than they
    /// write, lines that match two templates.
    fn audit(&self) -> Vec<Diagnostic>;
}

/// A problem of a resource on a platform, found without the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The attribute, or the namevar for the complete resource.
    pub attribute: String,
    /// The cause, which selects the validation rule that reports it.
    pub kind: ProblemKind,
    /// A resource with an error is not applied. Warnings and notes do not prevent it.
    pub severity: Severity,
    /// Lower case, without the attribute's name and without secrets.
    pub message: String,
    /// The action for the user, if there is one.
    pub help: Option<String>,
}

/// The kind of problem, for sorting and explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The instance is reserved on the device.
    Reserved,
    /// The platform does not support the attribute or this value.
    Unsupported,
    /// The platform has no command for the value.
    Unwritable,
    /// The value has another effect than its name suggests.
    Misleading,
}

/// A change that cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}: {message}")]
pub struct RenderError {
    pub(crate) attribute: String,
    /// Lower case; never a secret.
    pub(crate) message: String,
}

/// Why the configuration diff does not show changes of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HiddenFromDiff {
    #[error("the configuration was not read")]
    ConfigurationNotRead,
    /// Another read than the configuration has its lines.
    #[error("its lines are read from `{command}`")]
    OtherRead { command: String },
}

/// Secrets that a device does not print, as this program set them last.
pub trait SecretHistory {
    /// Whether the value was set last; `None` if unknown.
    fn matches_last_set(&self, reference: &str, attribute: &str, value: &Value) -> Option<bool>;
}

/// No remembered secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecretHistory;

impl SecretHistory for NoSecretHistory {
    fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
        None
    }
}

/// How a type is read and written on a platform, as text for users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The read commands or requests.
    pub reads: Vec<ReadRequest>,
    /// How an instance is recognized, created and removed: pairs of a word and the text.
    pub instance: Vec<(String, String)>,
    pub attributes: Vec<AttributeExplanation>,
}

/// How an attribute is read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeExplanation {
    pub name: String,
    /// Sources of its value.
    pub read: Vec<String>,
    /// Pairs of a value (`any` for all values without an entry) and the command that sets it.
    pub write: Vec<(String, String)>,
    /// Other notes: not supported, ignored, confirmation required.
    pub notes: Vec<String>,
}
