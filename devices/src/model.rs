//! Models of resource types, independent of platforms.
//!
//! A [`TypeModel`] is loaded from `definitions/models/<type>.toml`; the types of Puppet itself are
//! built in. It is immutable and has no knowledge of platforms: the driver reads and sets values.

pub mod access;
pub(crate) mod address;
pub(crate) mod canon;
pub mod canonical;
mod json_schema;
pub mod load;
pub(crate) mod notation;
mod reference;
mod relation;
mod rule_keys;
mod rules;
pub mod type_file;
pub mod type_import;
mod type_stub;
pub mod version;
pub mod view;

use std::borrow::Cow;

use crate::map::IndexMap;

use crate::names::TypeName;
use crate::pattern::Pattern;
use crate::value::{Name, Value};

use access::AccessKey;
pub use canon::Canon;
pub use reference::{Reference, UnstatedReference};
pub use relation::{AutoKind, AutoRelation, RelationSource};
pub use rule_keys::Shutdown;
use version::Version;
pub use view::ViewLocation;

/// A resource type.
#[derive(Clone, Debug, Default)]
pub struct TypeModel {
    /// Lower-case name, `network_vlan`.
    pub name: TypeName,
    /// Description of the type for users.
    pub doc: String,
    /// Whether devices, hosts or both apply resources of the type.
    pub runs_on: RunsOn,
    /// The kind of Puppet type that events imitate.
    pub style: Style,
    /// Whether notifications refresh resources of the type.
    pub refresh: Refresh,
    /// Attributes in definition order. Properties are compared and set in this order. An ensurable
    /// type has `ensure` first.
    pub attributes: IndexMap<Name, AttributeModel>,
    /// Patterns that split a title into namevars; first match wins. Empty: the title is the only
    /// namevar.
    pub titles: Vec<TitlePattern>,
    /// Constraints between attributes of one resource.
    pub rules: Vec<Rule>,
    /// Automatic relations that are no references; see [`TypeModel::references`].
    pub relations: Vec<AutoRelation>,
    /// The attribute that names the object of which the instances are parts, such as the list of an
    /// entry. Values refer to the object.
    pub object: Option<Name>,
    /// The attributes without `refers`.
    pub unstated: Vec<UnstatedReference>,
    /// Names of instances that belong to the device. Purging keeps them.
    pub built_in: Option<Pattern>,
    /// Names of instances that the device creates when another instance refers to them.
    pub implicit: Option<Pattern>,
    /// Attributes with an address of the device itself.
    pub owns_address: Vec<String>,
    /// Attributes with an address that several devices have together.
    pub shares_address: Vec<String>,
    /// Which instances a session can need.
    pub access: Option<AccessKey>,
    /// The word of the catalog for the default of the device.
    pub default_word: Option<Name>,
    /// The attribute and value that shut an instance down.
    pub shutdown: Option<Shutdown>,
    /// Attributes whose value is unique among all devices of a site.
    pub site_unique: Vec<String>,
    /// Where the type is in a view of desired state.
    pub location: Option<ViewLocation>,
}

impl TypeModel {
    /// Whether resources can be created and removed through `ensure`.
    pub fn is_ensurable(&self) -> bool {
        self.attributes.contains_key("ensure")
    }

    /// Whether a value of an attribute stands for the default of the device; see
    /// [`AttributeModel::is_unset`].
    pub fn is_unset(&self, attribute: &str, value: &Value) -> bool {
        match self.attributes.get(attribute) {
            Some(model) => model.is_unset(value),
            None => value.as_list().is_some_and(<[Value]>::is_empty),
        }
    }

    /// The names of the namevars, in definition order.
    pub fn namevars(&self) -> impl Iterator<Item = &str> {
        self.attributes
            .values()
            .filter(|attr| attr.role == Role::Namevar)
            .map(|attr| attr.name.as_str())
    }

    /// The properties in definition order, `ensure` first if there is one.
    pub fn properties(&self) -> impl Iterator<Item = &AttributeModel> {
        self.attributes.values().filter(|attr| attr.is_property())
    }
}

/// Where resources of a type are applied (`docs/reference/transaction.md`, section 7, *Device or host*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunsOn {
    /// On network devices, through the proxy host.
    #[default]
    Device,
    /// On the host that runs the agent.
    Host,
    /// In device runs and in host runs.
    Both,
}

/// Puppet's kind of type; it determines the wording of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `Puppet::Type`: `created`, `removed`.
    Classic,
    /// Resource API: `ensure` is an ordinary property, `defined 'ensure' as 'present'`.
    #[default]
    ResourceApi,
}

/// Whether a resource can be refreshed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// A refresh has no effect.
    #[default]
    No,
    /// A notification from another resource refreshes it.
    Yes,
    /// Refreshes itself when it changed.
    ItselfToo,
}

/// An attribute of a type.
#[derive(Clone, Debug)]
pub struct AttributeModel {
    /// The attribute's name in manifests, such as `vlan_name`.
    pub name: Name,
    /// Description of the attribute for users.
    pub doc: String,
    /// Whether it identifies, configures or only describes the instance.
    pub role: Role,
    /// Valid values (of an element, for arrays); first match wins. Empty: any value.
    pub values: Vec<ValueSpec>,
    /// How elements are compared; `None` for a single value.
    pub array: Option<ArrayKind>,
    /// The value for resources that do not set the attribute.
    pub default: Option<Value>,
    /// The word for the default of the device, if it is one of the values.
    pub default_word: Option<Name>,
    /// The default of Puppet's module that the model does not have. Only for Puppet's behavior.
    pub puppet_default: Option<Value>,
    /// Whether a resource without a value for it is invalid.
    pub required: bool,
    /// The value is always a secret.
    pub sensitive: bool,
    /// Canonicalizers that do not depend on the platform, in order.
    pub canon: Vec<Canon>,
    /// The objects that the value names.
    pub refers: Vec<Reference>,
    /// The version of the program that was the first with the attribute. `None`: all have it.
    pub since: Option<Version>,
}

impl AttributeModel {
    /// Whether a value stands for the default of the device: the word for it, alone or as the only
    /// element of a list, or an empty list.
    pub fn is_unset(&self, value: &Value) -> bool {
        let is_word = |value: &Value| {
            let word = self.default_word.as_deref();
            word.is_some() && value.as_str() == word
        };
        match value.unwrap_sensitive() {
            Value::List(items) => match items.as_slice() {
                [] => true,
                [one] => is_word(one),
                _ => false,
            },
            one => is_word(one),
        }
    }

    /// Whether it is compared with the device.
    pub fn is_property(&self) -> bool {
        matches!(self.role, Role::Property | Role::InitOnly)
    }
}

/// Role of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Identifies the instance, alone or together with other namevars.
    Namevar,
    /// Compared with the device and set on creation and on change.
    Property,
    /// A property that can be set on creation only.
    InitOnly,
    /// Read from the device, never set.
    ReadOnly,
    /// Never compared.
    Parameter,
}

/// Comparison of array elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayKind {
    /// Order is ignored; the canonical form is sorted without duplicates.
    Set,
    /// Order is compared.
    List,
    /// Order is compared, because the device uses the elements in order; duplicates are dropped.
    Sequence,
}

/// A valid value or kind of value.
#[derive(Clone, Debug)]
pub enum ValueSpec {
    /// A literal. Strings from the catalog match booleans and numbers by their text.
    Literal(Value),
    /// A text that matches the pattern completely.
    Pattern {
        /// The declared name, which implementations refer to.
        name: String,
        /// The compiled pattern.
        pattern: Pattern,
        /// The matching texts in words, `text of at most 32 characters`. Empty: only the pattern says it.
        doc: String,
        /// Normalizations before the match, in order.
        canon: Vec<Canon>,
    },
    /// Numbers and ranges of them, as text without blanks in ascending order: `1-3,5`.
    Numbers {
        /// The declared name, which implementations refer to.
        name: String,
        /// The smallest valid number.
        low: u32,
        /// The largest valid number.
        high: u32,
    },
    /// An integer within inclusive bounds.
    Integer {
        /// The declared name, which implementations refer to.
        name: String,
        /// The smallest valid number.
        low: i64,
        /// The largest valid number.
        high: i64,
    },
    /// A hash with exactly these keys; keys marked `?` are optional.
    Struct {
        /// The declared name of the hash type, which implementations refer to.
        name: String,
        /// The permitted keys, in definition order.
        fields: IndexMap<String, StructField>,
    },
    /// A list of fixed length.
    Tuple {
        /// The declared name of the list type, which implementations refer to.
        name: String,
        /// The valid values of each position.
        items: Vec<Vec<ValueSpec>>,
        /// Normalizations of the list, in order.
        canon: Vec<Canon>,
    },
}

impl ValueSpec {
    /// The name that implementations use: the literal's text or the declared name.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        match self {
            ValueSpec::Literal(literal) => match literal.as_str() {
                Some(text) => text.into(),
                None => literal.ruby_to_s().into(),
            },
            ValueSpec::Pattern { name, .. }
            | ValueSpec::Integer { name, .. }
            | ValueSpec::Numbers { name, .. }
            | ValueSpec::Struct { name, .. }
            | ValueSpec::Tuple { name, .. } => name.into(),
        }
    }
}

/// A field of a struct value.
#[derive(Clone, Debug)]
pub struct StructField {
    pub(crate) values: Vec<ValueSpec>,
    pub(crate) optional: bool,
    pub(crate) default: Option<Value>,
}

/// A title pattern: literal text and `{attribute}` placeholders; earlier ones are greedy.
#[derive(Clone, Debug)]
pub struct TitlePattern {
    /// The pattern as written in the definition, `{vrf}/{address}`.
    pub text: String,
    /// The compiled pattern; capture groups are named after attributes.
    pub pattern: Pattern,
}

/// A rule for several attributes of one resource.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) kind: RuleKind,
    pub(crate) attributes: Vec<String>,
    /// The rule applies only if all of these attributes have one of the values.
    pub(crate) when: IndexMap<String, Vec<Value>>,
    /// The rule does not apply if any of these attributes has one of the values.
    pub(crate) unless: IndexMap<String, Vec<Value>>,
    pub(crate) doc: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleKind {
    /// All attributes or none.
    Together,
    /// At most one of the attributes.
    Exclusive,
    /// The first attribute requires all others.
    Needs,
    /// Exactly one of the attributes.
    OneOf,
    /// At least one of the attributes.
    AnyOf,
    /// None of the attributes.
    Forbidden,
}
