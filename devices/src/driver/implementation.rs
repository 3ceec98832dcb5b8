//! What a transport supplies for a type on a platform: three traits.
//!
//! They are implemented with command lines (`cli/implementation.rs`), with REST objects
//! (`rest/implementation.rs`) and with commands of the catalog (`command.rs`); functions with a body are for one of them only. All functions are
//! pure: values and parsed answers in, values and operations out. [`Driver`](super::Driver) selects
//! the variant of an implementation and is the interface to the other modules.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use switchtender_outline::{CommandLine, NetconfInterface, RestInterface};

use super::claim::Claim;
use super::effect::{Effect, EffectSlot};
use super::explanation::Explanation;
use super::problem::Problem;
use super::secret_history::SecretHistory;
use super::surveyed_object::SurveyedObject;
use crate::change::{Change, Desired, Instance};
use crate::diagnostic::Diagnostic;
use crate::model::canonical::ValueError;
use crate::not_understood::NotUnderstood;
use crate::operation::Operation;
use crate::read::indent::Node;
use crate::read::{ReadError, ReadRequest, State};
use crate::secret_text::SecretPositions;
use crate::value::{Attributes, Name, Value};

/// Whether another type reads a line: the name of the read, and the line below its blocks.
pub(crate) type IsReadByOther<'a> = dyn Fn(&str, &[&Node]) -> bool + 'a;

/// A type on a platform, for the facts of one device.
pub trait Implementation: InstanceReader + ChangePlanner + TypeDescription {}

impl<T: InstanceReader + ChangePlanner + TypeDescription> Implementation for T {}

/// Reads instances: requests out, answers of the device in.
pub trait InstanceReader {
    /// The reads for the instances of these resources; `None`: for all instances of the type.
    fn reads(&self, resources: Option<&[&Desired]>) -> Vec<ReadRequest>;

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

    /// The read that lists the instances. `None`: all reads do.
    fn listing_read(&self) -> Option<&str> {
        None
    }

    /// The form of the type for a device of which only the configuration is known.
    fn in_config(&self) -> Option<&Arc<dyn Implementation>> {
        None
    }

    /// The lines, rows and objects that the type recognizes and does not read completely. A line that
    /// only begins like an instance of the type, and that another type reads, is none of them.
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

    /// The lines that the type reads in a configuration, and in what other answers have of it.
    fn claims(&self, state: &State) -> Vec<Claim> {
        let _ = state;
        Vec::new()
    }

    /// The objects that the type reads, if the device has objects instead of a configuration.
    fn surveyed_objects(&self, state: &State) -> Vec<SurveyedObject> {
        let _ = state;
        Vec::new()
    }

    /// Whether the answers have the value of an attribute.
    fn shows(&self, attribute: &str) -> bool {
        let _ = attribute;
        true
    }

    /// Whether the platform applies an attribute.
    fn applies(&self, attribute: &str) -> bool {
        let _ = attribute;
        true
    }

    /// The headers of the block that is the instance of a resource, outermost first; empty if there is
    /// none.
    fn block_of(&self, desired: &Desired, state: &State) -> Vec<String> {
        let _ = (desired, state);
        Vec::new()
    }

    /// The value of an attribute of an instance without a line for it, if the definition has it.
    fn default_value(&self, attribute: &str) -> Option<Value> {
        let _ = attribute;
        None
    }
}

/// Compares a resource with its instance and makes the operations of a change.
pub trait ChangePlanner {
    /// Applies the platform's canonical forms after the model's.
    ///
    /// # Errors
    /// The values that the platform cannot represent.
    fn canonicalize(&self, attributes: Attributes) -> Result<Attributes, Vec<ValueError>>;

    /// Problems of a resource that are found without the device.
    fn check(&self, desired: &Desired) -> Vec<Problem>;

    /// Resolves values that depend on the current state, such as `["add", "10-20"]` of a VLAN list, and
    /// canonical forms that depend on the answers, such as an address in the default route domain.
    fn resolve<'w>(
        &self,
        desired: &'w Desired,
        current: Option<&Instance>,
        state: &State,
    ) -> Cow<'w, Desired> {
        let _ = (current, state);
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

    /// Declared attributes that have no effect with these values of the device, with messages.
    fn ineffective(&self, desired: &Desired, current: &Attributes) -> Vec<(Name, String)> {
        let _ = (desired, current);
        Vec::new()
    }

    /// The instances of other resources that a change removes, because the device refuses both.
    /// None if the change cannot be rendered.
    fn displaced(&self, change: &Change, state: &State) -> Vec<Instance> {
        let _ = (change, state);
        Vec::new()
    }

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

    /// Whether a read after the change shows if it was applied.
    fn is_verifiable(&self, desired: &Desired) -> bool {
        let _ = desired;
        true
    }

    /// Applies operations to the state, as the device would.
    fn predict(&self, state: &mut State, operations: &[Operation]);

    /// Whether the secrets in values of its instances are marked, by the lines around them.
    fn marks_secrets(&self) -> bool {
        false
    }

    /// Lines of the top level that come before those of the type, and stay.
    fn lines_that_stay(&self) -> Vec<String> {
        Vec::new()
    }

    /// The lines and blocks of the configuration that operations change without an effect on its
    /// prediction, because the type is read elsewhere.
    fn lines_read_elsewhere(&self, operations: &[Operation]) -> Vec<String> {
        let _ = operations;
        Vec::new()
    }

    /// Whether the configuration difference can have the changes of the type. Called for each change: it
    /// reads no instance.
    ///
    /// # Errors
    /// Why not.
    fn supports_diff(&self, state: &State) -> Result<(), HiddenFromDiff> {
        let _ = state;
        Ok(())
    }

    /// The lines of instances whose state is not in a configuration, as they are written. For types whose changes
    /// the difference can have.
    fn lines_of_rows(&self, state: &State) -> Vec<Node> {
        let _ = state;
        Vec::new()
    }

    /// The settings that attributes of the type can change.
    fn effect_slots(&self) -> Vec<EffectSlot>;

    /// The constant words of the mode and of the line, if each instance is a line.
    fn instance_words(&self) -> Option<(String, String)> {
        None
    }

    /// The template of the line that each instance is, with the blocks around it.
    fn instance_line(&self) -> Option<String> {
        None
    }

    /// The settings that these attributes of a resource change.
    fn effects(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect>;
}

/// Describes and checks the definition itself.
pub trait TypeDescription: fmt::Debug + Send + Sync {
    /// Whether instances can be created and removed.
    fn is_ensurable(&self) -> bool;

    /// Whether instances can be removed.
    fn is_removable(&self) -> bool {
        self.is_ensurable()
    }

    /// Whether a device has exactly one instance, independent of the title.
    fn is_singleton(&self) -> bool;

    /// Whether each instance is a block of the configuration.
    fn is_block(&self) -> bool {
        false
    }

    /// Whether the instance with these names exists on every device and cannot be removed.
    fn is_permanent(&self, names: &Attributes) -> bool {
        let _ = names;
        false
    }

    /// How the type is read and written, as text for users.
    fn explain(&self) -> Explanation;

    /// The lines and fields in which sensitive attributes stand.
    fn secret_positions(&self) -> SecretPositions {
        SecretPositions::default()
    }

    /// The names of the resources that stand for the instance with these names and for others.
    fn wider_names(&self, names: &Attributes) -> Vec<Attributes> {
        let _ = names;
        Vec::new()
    }

    /// Checks the definition: values without a command, templates that read other values than they
    /// write, lines that match two templates.
    fn audit(&self) -> Vec<Diagnostic>;

    /// Adds the shapes of the lines of the type.
    fn add_shapes(&self, command_line: &mut CommandLine) {
        let _ = command_line;
    }

    /// Adds the objects of the type to the answers of a REST interface.
    fn add_objects(&self, interface: &mut RestInterface) {
        let _ = interface;
    }

    /// Adds the lists of the type to a NETCONF configuration.
    fn add_elements(&self, interface: &mut NetconfInterface) {
        let _ = interface;
    }
}

/// A change that cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}: {message}")]
pub struct RenderError {
    pub(crate) attribute: String,
    /// Lower case; never a secret.
    pub(crate) message: String,
    /// The device lacks an object that the change needs, and that another change may create.
    pub(crate) lacks_object: bool,
}

impl RenderError {
    pub(crate) fn new(attribute: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            attribute: attribute.into(),
            message: message.into(),
            lacks_object: false,
        }
    }

    /// An error about an object that the device lacks.
    pub(crate) fn lacking_object(attribute: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            lacks_object: true,
            ..Self::new(attribute, message)
        }
    }
}

/// Why the configuration difference does not have the changes of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HiddenFromDiff {
    /// Its lines are in the configuration, and what was read shows only their effect.
    #[error("the configuration was not read")]
    ConfigurationNotRead,
    /// Its commands are those of the catalog.
    #[error("the effect of its commands cannot be predicted")]
    Unpredictable,
}
