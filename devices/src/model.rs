//! What a resource type may say, on every platform.
//!
//! A [`TypeModel`] is made from `definitions/models/<type>.toml` (or built in, for the few types
//! that Puppet itself has) and never changes. It knows no platform: how a value is read or set is
//! the driver's business.

pub mod address;
pub mod canonical;
pub mod load;
pub mod notation;
mod reference;
mod relation;
pub mod resource_api;
mod ruby;
mod rule_keys;
mod rules;

use std::borrow::Cow;

use crate::map::IndexMap;

use crate::names::TypeName;
use crate::pattern::Pattern;
use crate::value::{Name, Value};

pub use reference::Reference;
pub use relation::{AutoKind, AutoRelation, RelationSource};
pub use rule_keys::Shutdown;

/// A resource type.
#[derive(Clone, Debug, Default)]
pub struct TypeModel {
    /// Lower-case name, `network_vlan`.
    pub name: TypeName,
    pub doc: String,
    pub runs_on: RunsOn,
    pub style: Style,
    pub refresh: Refresh,
    /// Attributes in definition order; properties are compared and set in this order. An ensurable
    /// type has `ensure` first.
    pub attributes: IndexMap<Name, AttributeModel>,
    /// How a title gives the namevars; first match wins. Empty: the title is the one namevar.
    pub titles: Vec<TitlePattern>,
    pub rules: Vec<Rule>,
    pub relations: Vec<AutoRelation>,
    /// What values name without any order coming of it; see [`TypeModel::references`].
    pub refers: Vec<Reference>,
    /// Names of instances that devices have without being told.
    pub built_in: Option<Pattern>,
    /// Attributes whose value is an address that the device uses as its own.
    pub owns_address: Vec<String>,
    /// What takes an instance out of service.
    pub shutdown: Option<Shutdown>,
    /// Attributes whose value stands for one instance on all devices of a site.
    pub site_unique: Vec<String>,
}

impl TypeModel {
    pub fn is_ensurable(&self) -> bool {
        self.attributes.contains_key("ensure")
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
    #[default]
    Device,
    Host,
    Both,
}

/// Which of Puppet's two kinds of type this is; they word their events differently.
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
    #[default]
    No,
    Yes,
    /// Refreshes itself when it changed.
    ItselfToo,
}

/// An attribute of a type.
#[derive(Clone, Debug)]
pub struct AttributeModel {
    pub name: Name,
    pub doc: String,
    pub role: Role,
    /// What a single value (an element, for arrays) may be; first match wins. Empty: anything.
    pub values: Vec<ValueSpec>,
    pub array: Option<ArrayKind>,
    pub default: Option<Value>,
    pub required: bool,
    /// The value is a secret wherever it comes from.
    pub sensitive: bool,
    /// Canonicalisers that do not depend on the platform, in order.
    pub canon: Vec<Canon>,
}

impl AttributeModel {
    /// Whether it is compared with what the device has.
    pub fn is_property(&self) -> bool {
        matches!(self.role, Role::Property | Role::InitOnly)
    }
}

/// What an attribute is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Namevar,
    Property,
    /// A property that can only be set when the instance is created.
    InitOnly,
    /// Read from the device, never set.
    ReadOnly,
    /// Never compared.
    Parameter,
}

/// How the elements of an array compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayKind {
    /// Order does not matter; canonical form is sorted without duplicates.
    Set,
    /// Order matters.
    List,
}

/// One thing a value may be.
#[derive(Clone, Debug)]
pub enum ValueSpec {
    /// A literal; strings from the catalog match booleans and numbers by their text.
    Literal(Value),
    /// A text that matches the whole pattern.
    Pattern { name: String, pattern: Pattern },
    /// A whole number within bounds, both inclusive.
    Integer { name: String, low: i64, high: i64 },
    /// A hash with exactly these keys (those marked `?` may be missing).
    Struct {
        name: String,
        fields: IndexMap<String, StructField>,
    },
    /// A list of fixed length.
    Tuple {
        name: String,
        items: Vec<Vec<ValueSpec>>,
    },
}

impl ValueSpec {
    /// The name that implementations use for it: the literal's text, or the given name.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            ValueSpec::Literal(literal) => match literal.as_str() {
                Some(text) => text.into(),
                None => literal.ruby_to_s().into(),
            },
            ValueSpec::Pattern { name, .. }
            | ValueSpec::Integer { name, .. }
            | ValueSpec::Struct { name, .. }
            | ValueSpec::Tuple { name, .. } => name.into(),
        }
    }
}

/// A field of a struct value.
#[derive(Clone, Debug)]
pub struct StructField {
    pub values: Vec<ValueSpec>,
    pub optional: bool,
    pub default: Option<Value>,
}

/// A canonicaliser that needs no platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canon {
    /// Decimal number without leading zeros, as text.
    Decimal,
    /// IPv4 or IPv6 address (RFC 5952), with or without prefix length.
    Ip,
    /// As `Ip`, without the bits that the prefix length leaves out.
    Network,
    Lower,
    Upper,
    Trim,
}

/// A title pattern: literal text and `{attribute}` holes; earlier holes are greedy.
#[derive(Clone, Debug)]
pub struct TitlePattern {
    pub text: String,
    /// The compiled form; capture groups are named by attribute.
    pub pattern: Pattern,
}

/// A rule about several attributes of one resource.
#[derive(Clone, Debug)]
pub struct Rule {
    pub kind: RuleKind,
    pub attributes: Vec<String>,
    /// The rule holds only when all of these attributes have one of the values.
    pub when: IndexMap<String, Vec<Value>>,
    /// The rule does not hold when any of these attributes has one of the values.
    pub unless: IndexMap<String, Vec<Value>>,
    pub doc: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// All of the attributes or none.
    Together,
    /// At most one of the attributes.
    Exclusive,
    /// The first attribute needs all the others.
    Needs,
    /// Exactly one of the attributes.
    OneOf,
    /// At least one of the attributes.
    AnyOf,
    /// None of the attributes.
    Forbidden,
}
