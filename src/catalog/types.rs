//! Resource types: a model and the behavior that a model cannot express.
//!
//! Nearly everything of a type is data, its [`TypeModel`]. The rest (own comparisons, generated
//! resources, Puppet's own types) is a [`TypeBehavior`]. Types from definitions share
//! [`ModelOnly`].

mod host;
mod notify;
mod purge;
mod schedule;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{AttributeModel, Role, RunsOn, Style, TypeModel, ValueSpec};
use switchtender_devices::names::TypeName;
use switchtender_devices::value::{Attributes, Name, Value};

use super::resource::Resource;

pub(crate) use schedule::{PeriodRule, Schedule};

/// A type of the engine.
#[derive(Clone, Debug)]
pub struct ResourceType {
    /// The attributes, rules and relations of the type.
    pub model: Arc<TypeModel>,
    /// The functions in which the type differs from its model.
    pub behavior: Arc<dyn TypeBehavior>,
}

impl ResourceType {
    /// A type without behavior of its own.
    pub(crate) fn from_model(model: Arc<TypeModel>) -> Self {
        Self {
            model,
            behavior: Arc::new(ModelOnly),
        }
    }
}

impl ResourceType {
    /// Whether Puppet's type is one of the Resource API.
    pub fn is_resource_api(&self) -> bool {
        match self.behavior.values() {
            ValueStyle::ResourceApi => true,
            ValueStyle::Canonical => self.model.style == Style::ResourceApi,
            ValueStyle::Classic => false,
        }
    }
}

/// Finds types by their lower-case name.
pub trait TypeSource: Sync {
    /// The type with this lower-case name, if there is one.
    fn find(&self, name: &str) -> Option<ResourceType>;
}

/// Puppet's own types, and types of models that a function finds.
pub struct Types<F> {
    models: F,
}

impl<F: Fn(&str) -> Option<Arc<TypeModel>>> Types<F> {
    /// A source that searches `models` first and Puppet's own types second.
    pub fn new(models: F) -> Self {
        Self { models }
    }
}

impl<F: Fn(&str) -> Option<Arc<TypeModel>> + Sync> TypeSource for Types<F> {
    fn find(&self, name: &str) -> Option<ResourceType> {
        match (self.models)(name) {
            // The attributes of a type that is not applied here do not matter.
            Some(model) if model.runs_on == RunsOn::Host => Some(host::resource_type(name)),
            Some(model) => Some(ResourceType::from_model(model)),
            None => built_in(name),
        }
    }
}

/// One of Puppet's own types (section 7, *Device or host*), by lower-case name.
pub fn built_in(name: &str) -> Option<ResourceType> {
    static TYPES: LazyLock<HashMap<&'static str, ResourceType>> = LazyLock::new(|| {
        let of_hosts = host::NAMES.iter();
        let mut types: HashMap<&'static str, ResourceType> = of_hosts
            .map(|name| (*name, host::resource_type(name)))
            .collect();
        types.insert("notify", notify::resource_type());
        types.insert("schedule", schedule::resource_type());
        types.insert("resources", purge::resource_type());
        types
    });
    TYPES.get(name).cloned()
}

/// Whether resources of a type (lower-case name) only contain others.
pub(crate) fn is_container(name: &str) -> bool {
    matches!(name, "class" | "stage" | "component" | "whit" | "node")
}

/// How a type stores and compares desired values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueStyle {
    /// One canonical value per property, compared completely.
    Canonical,
    /// `Puppet::Type`: a list of desired values. Array properties need all of them, others any.
    Classic,
    /// Resource API: one value as declared, booleans as symbols.
    ResourceApi,
}

/// The effects of a declared value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueTraits {
    /// The event's name, instead of `P_changed`.
    pub event: Option<&'static str>,
    /// Setting it clears the resource's own refresh queue.
    pub invalidates_refreshes: bool,
    /// The type has its own setter, which decides the wording of unexpected errors.
    pub own_setter: bool,
}

/// A generated resource.
#[derive(Clone, Debug)]
pub struct NewResource {
    /// Name of the resource's type.
    pub type_name: TypeName,
    /// The title, unique for its type in the catalog.
    pub title: String,
    /// The attribute values, as a catalog would declare them.
    pub parameters: Attributes,
}

/// The result of generation before the run.
#[derive(Clone, Debug)]
pub enum Generation {
    /// Resources to add to the catalog.
    Resources(Vec<NewResource>),
    /// Remove every instance of the type that is not in the catalog.
    Purge {
        /// Lower-case name of the type to purge.
        type_name: TypeName,
    },
}

/// A refusal of a type's own code, in Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BehaviorError(pub String);

/// The behavior of a type. The defaults are those of [`ModelOnly`].
pub trait TypeBehavior: Send + Sync + fmt::Debug {
    /// The form of desired values, which decides their comparison.
    fn values(&self) -> ValueStyle {
        ValueStyle::Canonical
    }

    /// Whether unknown attributes count as parameters.
    fn open(&self) -> bool {
        false
    }

    /// Validates one value and converts it to its stored form. The resource has the attributes
    /// before it. Not for canonical types.
    ///
    /// # Errors
    /// Puppet's message, without the name of the attribute.
    fn munge(
        &self,
        resource: &Resource,
        attribute: &AttributeModel,
        value: &Value,
    ) -> Result<Value, BehaviorError> {
        let _ = resource;
        allowed(&attribute.values, value)
    }

    /// The default of an attribute, for a resource with this name. `managed`: the resource has a
    /// managed property.
    fn default(&self, attribute: &AttributeModel, name: &str, managed: bool) -> Option<Value> {
        let _ = (name, managed);
        attribute.default.clone()
    }

    /// # Errors
    /// The attributes contradict each other.
    fn validate(&self, resource: &Resource) -> Result<(), BehaviorError> {
        let _ = resource;
        Ok(())
    }

    /// The property's own comparison. `None`: the standard comparison.
    fn in_sync(
        &self,
        resource: &Resource,
        property: &str,
        current: &Value,
        desired: &[Value],
    ) -> Option<bool> {
        let _ = (resource, property, current, desired);
        None
    }

    /// The message of a change, instead of `P changed OLD to NEW`.
    fn change_text(&self, property: &str) -> Option<String> {
        let _ = property;
        None
    }

    /// The event name and other effects of setting a property to this value.
    fn traits(&self, property: &str, desired: &Value) -> ValueTraits {
        ValueTraits {
            own_setter: property == "ensure"
                && self.has_standard_ensure()
                && matches!(desired.as_str(), Some("present" | "absent")),
            ..ValueTraits::default()
        }
    }

    /// Whether `ensure` is the standard property, with `created` and `removed`.
    fn has_standard_ensure(&self) -> bool {
        true
    }

    /// Whether setting the property twice has the same result as once. Otherwise a change is never
    /// corrective.
    fn idempotent(&self, property: &str) -> bool {
        let _ = property;
        true
    }

    /// Generates resources before the run.
    ///
    /// # Errors
    /// The run continues without them and fails.
    fn generate(&self, resource: &Resource) -> Result<Option<Generation>, BehaviorError> {
        let _ = resource;
        Ok(None)
    }

    /// Generates resources during the evaluation of the resource.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate).
    fn eval_generate(&self, resource: &Resource) -> Result<Vec<NewResource>, BehaviorError> {
        let _ = resource;
        Ok(Vec::new())
    }

    /// The message that the resource logs. Such a type needs no provider.
    fn message(&self, resource: &Resource) -> Option<NotifyMessage> {
        let _ = resource;
        None
    }

    /// The reason why no resource of the type can be applied. Each fails when it is evaluated.
    fn unusable(&self) -> Option<String> {
        None
    }

    /// Whether the type removes instances of another type. It does so on hosts and devices.
    fn is_purging(&self) -> bool {
        false
    }

    /// Whether the type works without a provider.
    fn is_providerless(&self) -> bool {
        false
    }
}

/// The message of `notify`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyMessage {
    pub(crate) text: String,
    /// The message has the path of the property as source.
    pub(crate) with_path: bool,
}

/// The behavior of a type that its model describes completely.
#[derive(Debug)]
pub(crate) struct ModelOnly;

impl TypeBehavior for ModelOnly {}

/// Puppet's allowed values: strings, booleans and numbers become the symbols that they name. A
/// value that matches a pattern stays unchanged.
///
/// # Errors
/// `Invalid value V. Valid values are a, b.`
pub fn allowed(specs: &[ValueSpec], value: &Value) -> Result<Value, BehaviorError> {
    if specs.is_empty() {
        return Ok(value.clone());
    }
    let text = value.ruby_to_s();
    let mut names = Vec::new();
    let mut patterns = Vec::new();
    for spec in specs {
        match spec {
            ValueSpec::Literal(literal) => {
                let name = literal.ruby_to_s();
                if name == text && !matches!(value, Value::Undef | Value::List(_) | Value::Hash(_))
                {
                    return Ok(Value::Symbol(name));
                }
                names.push(name);
            }
            ValueSpec::Pattern { pattern, .. } => patterns.push(pattern),
            ValueSpec::Integer { .. }
            | ValueSpec::Numbers { .. }
            | ValueSpec::Struct { .. }
            | ValueSpec::Tuple { .. } => {}
        }
    }
    if patterns.iter().any(|pattern| pattern.is_match(&text)) {
        return Ok(value.clone());
    }
    let mut message = format!("Invalid value {}.", value.inspect());
    if !names.is_empty() {
        message += &format!(" Valid values are {}.", names.join(", "));
    }
    if !patterns.is_empty() {
        let patterns: Vec<String> = patterns
            .iter()
            .map(|pattern| format!("/{pattern}/"))
            .collect();
        message += &format!(" Valid values match {}.", patterns.join(", "));
    }
    Err(BehaviorError(message))
}

/// A minimal model for built-in types.
fn small_model(name: &str, runs_on: RunsOn, attributes: &[(&str, Role)]) -> TypeModel {
    let attributes: IndexMap<Name, AttributeModel> = attributes
        .iter()
        .map(|(name, role)| (Name::from(*name), small_attribute(name, *role)))
        .collect();
    TypeModel {
        name: name.into(),
        runs_on,
        style: Style::Classic,
        attributes,
        ..TypeModel::default()
    }
}

fn small_attribute(name: &str, role: Role) -> AttributeModel {
    AttributeModel {
        name: name.into(),
        doc: String::new(),
        role,
        values: Vec::new(),
        array: None,
        default: None,
        default_word: None,
        puppet_default: None,
        required: false,
        sensitive: false,
        canon: Vec::new(),
        refers: Vec::new(),
        since: None,
    }
}

/// A type that does not exist. Its resources fail when they are evaluated.
pub(crate) fn unknown(name: &str) -> ResourceType {
    ResourceType {
        model: Arc::new(small_model(name, RunsOn::Both, &[("name", Role::Namevar)])),
        behavior: Arc::new(host::Unknown {
            type_name: name.into(),
        }),
    }
}
