//! Resource types: a model and what is special about the type beyond it.
//!
//! Nearly all of a type is data, its [`TypeModel`]. What remains (a property that compares in its
//! own way, resources that make others, the types that Puppet itself has) is a [`TypeBehavior`];
//! types from definitions share one, [`ModelOnly`].

mod host;
mod notify;
mod purge;
mod schedule;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{AttributeModel, Role, RunsOn, Style, TypeModel, ValueSpec};
use switchtender_devices::value::{Attributes, Name, Value};

use super::resource::Resource;

pub use schedule::{PeriodRule, Schedule};

/// A type as the engine works with it.
#[derive(Clone, Debug)]
pub struct ResourceType {
    pub model: Arc<TypeModel>,
    pub behavior: Arc<dyn TypeBehavior>,
}

impl ResourceType {
    /// A type that is described by its model alone.
    pub fn from_model(model: Arc<TypeModel>) -> Self {
        Self {
            model,
            behavior: Arc::new(ModelOnly),
        }
    }
}

/// Where types are looked up, by lower-case name.
pub trait TypeSource: Sync {
    fn find(&self, name: &str) -> Option<ResourceType>;
}

/// The types that Puppet has built in, and those that a function finds models for.
pub struct Types<F> {
    models: F,
}

impl<F: Fn(&str) -> Option<Arc<TypeModel>>> Types<F> {
    pub fn new(models: F) -> Self {
        Self { models }
    }
}

impl<F: Fn(&str) -> Option<Arc<TypeModel>> + Sync> TypeSource for Types<F> {
    fn find(&self, name: &str) -> Option<ResourceType> {
        match (self.models)(name) {
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
pub fn is_container(name: &str) -> bool {
    matches!(name, "class" | "stage" | "component" | "whit" | "node")
}

/// How the wanted values of a type are kept and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueStyle {
    /// One canonical value per property, compared as a whole.
    Canonical,
    /// `Puppet::Type`: a list of wanted values; arrays want all, others any of them.
    Classic,
    /// Resource API: one value as it came, booleans wanted as enumerated values.
    ResourceApi,
}

/// What a declared value of a property brings with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueTraits {
    /// The event's name, instead of `P_changed`.
    pub event: Option<&'static str>,
    /// Setting it empties the resource's own refresh queue.
    pub invalidates_refreshes: bool,
    /// It has setter code of its own, which decides how unexpected errors are worded.
    pub own_setter: bool,
}

/// A resource that another one makes.
#[derive(Clone, Debug)]
pub struct NewResource {
    pub type_name: String,
    pub title: String,
    pub parameters: Attributes,
}

/// What a resource makes before the run.
#[derive(Clone, Debug)]
pub enum Generation {
    Resources(Vec<NewResource>),
    /// The removal of every instance of the type that the catalog does not have.
    Purge {
        type_name: String,
    },
}

/// What is special about a type. Everything has a default, which is [`ModelOnly`].
pub trait TypeBehavior: Send + Sync + fmt::Debug {
    fn values(&self) -> ValueStyle {
        ValueStyle::Canonical
    }

    /// Whether attributes that the model does not have are taken as parameters.
    fn open(&self) -> bool {
        false
    }

    /// Checks one value of a resource, which has the attributes before it, and brings the value to
    /// its form. Only for types that are not canonical.
    ///
    /// # Errors
    /// In Puppet's words, without the attribute's name.
    fn munge(
        &self,
        resource: &Resource,
        attribute: &AttributeModel,
        value: &Value,
    ) -> Result<Value, String> {
        let _ = resource;
        allowed(&attribute.values, value)
    }

    /// The value of an attribute that is not given, for a resource of this name; `managed` when a
    /// property is wanted.
    fn default(&self, attribute: &AttributeModel, name: &str, managed: bool) -> Option<Value> {
        let _ = (name, managed);
        attribute.default.clone()
    }

    /// # Errors
    /// The attributes do not go together.
    fn validate(&self, resource: &Resource) -> Result<(), String> {
        let _ = resource;
        Ok(())
    }

    /// The property's own comparison; `None` for the standard one.
    fn in_sync(
        &self,
        resource: &Resource,
        property: &str,
        current: &Value,
        wanted: &[Value],
    ) -> Option<bool> {
        let _ = (resource, property, current, wanted);
        None
    }

    /// The text of a change, instead of `P changed OLD to NEW`.
    fn change_text(&self, property: &str) -> Option<String> {
        let _ = property;
        None
    }

    fn traits(&self, property: &str, wanted: &Value) -> ValueTraits {
        ValueTraits {
            own_setter: property == "ensure"
                && self.standard_ensure()
                && matches!(wanted.as_str(), Some("present" | "absent")),
            ..ValueTraits::default()
        }
    }

    /// Whether `ensure` is the standard property, with `created` and `removed`.
    fn standard_ensure(&self) -> bool {
        true
    }

    /// Whether setting the property twice is the same as once; else it is never corrective.
    fn idempotent(&self, property: &str) -> bool {
        let _ = property;
        true
    }

    /// Resources to make before the run.
    ///
    /// # Errors
    /// The run goes on without them and is failed.
    fn generate(&self, resource: &Resource) -> Result<Option<Generation>, String> {
        let _ = resource;
        Ok(None)
    }

    /// Resources to make when the resource is reached.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate).
    fn eval_generate(&self, resource: &Resource) -> Result<Vec<NewResource>, String> {
        let _ = resource;
        Ok(Vec::new())
    }

    /// The message that applying the resource consists of. Such a type needs no provider.
    fn message(&self, resource: &Resource) -> Option<NotifyMessage> {
        let _ = resource;
        None
    }

    /// Why no resource of the type can be applied; each fails when it is reached.
    fn unusable(&self) -> Option<String> {
        None
    }

    /// Whether the type removes instances of another type. It does so on hosts and devices.
    fn is_purging(&self) -> bool {
        false
    }

    /// Whether the type works without a provider.
    fn providerless(&self) -> bool {
        false
    }
}

/// What `notify` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyMessage {
    pub text: String,
    /// Said by the property instead of the run.
    pub with_path: bool,
}

/// A type that its model describes completely.
#[derive(Debug)]
pub struct ModelOnly;

impl TypeBehavior for ModelOnly {}

/// Puppet's allowed values: texts, booleans and numbers are interned to the enumerated names they
/// stand for; what matches a pattern is kept as given.
///
/// # Errors
/// `Invalid value V. Valid values are a, b.`
pub fn allowed(specs: &[ValueSpec], value: &Value) -> Result<Value, String> {
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
            ValueSpec::Integer { .. } | ValueSpec::Struct { .. } | ValueSpec::Tuple { .. } => {}
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
    Err(message)
}

/// A small model, for the built-in types.
fn small_model(name: &str, runs_on: RunsOn, attributes: &[(&str, Role)]) -> TypeModel {
    let attributes: IndexMap<Name, AttributeModel> = attributes
        .iter()
        .map(|(name, role)| (Name::from(*name), small_attribute(name, *role)))
        .collect();
    TypeModel {
        name: name.to_owned(),
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
        required: false,
        sensitive: false,
        canon: Vec::new(),
    }
}

/// A type that nothing is known of but its name. Its resources fail when they are reached.
pub fn unknown(name: &str) -> ResourceType {
    ResourceType {
        model: Arc::new(small_model(name, RunsOn::Both, &[("name", Role::Namevar)])),
        behavior: Arc::new(host::Unknown {
            type_name: super::resource_ref::capitalize(name).into_owned(),
        }),
    }
}
