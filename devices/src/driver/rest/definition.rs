//! What an implementation file says about a REST type. Its keys: `definitions/README.md`.

use crate::map::IndexMap;

use serde_json::Value as Json;

use super::codec::{GroupCodec, ValueCodec};
use super::json::FieldPath;
use super::template::TextTemplate;
use crate::operation::Method;
use crate::pattern::Pattern;
use crate::value::{Name, Value};

/// How a platform with a REST interface has a type.
#[derive(Clone, Debug)]
pub struct RestDefinition {
    pub instance: RestInstanceRule,
    pub kinds: Option<ObjectKinds>,
    /// Arrays of which several attributes own a part each, by name.
    pub shared: IndexMap<String, SharedArray>,
    pub attributes: IndexMap<Name, RestAttributeRule>,
}

/// Where the objects of the type are, and how they come and go.
#[derive(Clone, Debug)]
pub struct RestInstanceRule {
    /// Path of the collection; for a singleton, of the object.
    pub collection: TextTemplate,
    /// Parameters of the read.
    pub query: IndexMap<String, String>,
    /// Namevar, and the field that has it.
    pub key: (String, FieldPath),
    pub key_codec: Option<ValueCodec>,
    pub object: TextTemplate,
    pub create: Option<CreateRule>,
    pub update: Method,
    pub remove: bool,
    /// The name of the one object that is always there, whatever the catalog calls it.
    pub singleton: Option<String>,
    /// Names that belong to the device; never touched.
    pub reserved: Option<Pattern>,
    /// Further collections that reading needs.
    pub lookups: Vec<String>,
}

/// How an object is made.
#[derive(Clone, Debug)]
pub struct CreateRule {
    pub method: Method,
    /// What the body has beside the attributes; what comes out empty is left out.
    pub body: IndexMap<String, TextTemplate>,
    /// Attributes without which the device makes no object.
    pub needs: Vec<String>,
}

/// A type whose objects are of several kinds, chosen by an attribute.
#[derive(Clone, Debug)]
pub struct ObjectKinds {
    pub attribute: String,
    /// In the order in which an object is tried against them.
    pub kinds: IndexMap<String, ObjectKind>,
}

/// One kind of object.
#[derive(Clone, Debug, Default)]
pub struct ObjectKind {
    /// What stands for `{kind}` in paths. Kinds with paths have a collection each.
    pub path: Option<String>,
    /// Fields that mark an object of this kind: it is recognised by them and made with them.
    pub marks: Vec<(FieldPath, Json)>,
    /// Shared array and kind of entry that mark an object of this kind.
    pub entry: Option<(String, String)>,
    /// Attributes that cannot be left out when an object of this kind is made.
    pub needs: Vec<String>,
}

/// An array in which several attributes own the entries of one kind each: entries of other kinds
/// are left alone.
#[derive(Clone, Debug)]
pub struct SharedArray {
    /// Where the array is read.
    pub read: FieldPath,
    /// Where it is written, always whole.
    pub write: FieldPath,
    /// Path of the collection that lists what is of a kind: `/mgmt/tm/ltm/profile/{kind}`.
    pub kinds: TextTemplate,
}

/// How an attribute is read and written.
#[derive(Clone, Debug)]
pub struct RestAttributeRule {
    pub location: RestLocation,
    /// Spellings that mean another value of the attribute.
    pub same: Vec<(String, Value)>,
    /// The kinds of object that have it; empty for all.
    pub kinds: Vec<String>,
    /// Can be given when the object is made, and never changed.
    pub create_only: bool,
    /// Cannot be read back.
    pub write_only: bool,
}

/// Where an attribute is.
#[derive(Clone, Debug)]
pub enum RestLocation {
    Field(FieldRule),
    /// Values that stand for several fields.
    States(IndexMap<String, StateFields>),
    /// Several attributes in common fields; this one leads.
    Group {
        codec: GroupCodec,
        field: FieldPath,
        with: Vec<Name>,
    },
    /// A member of the group that this attribute leads.
    Inside(String),
    Members(Box<MembersRule>),
    /// Entries of a shared array.
    Entries(EntriesRule),
    /// The platform lacks it, for this reason.
    Unsupported(String),
}

/// A value in a field.
#[derive(Clone, Debug)]
pub struct FieldRule {
    pub path: FieldPath,
    /// Text of the value, and how the field has it. Other values pass.
    pub map: Vec<(String, Json)>,
    /// The value when the field is missing or empty.
    pub absent: Option<Value>,
    pub codec: Option<ValueCodec>,
}

/// A value as fields.
#[derive(Clone, Debug, Default)]
pub struct StateFields {
    pub set: Vec<(FieldPath, Json)>,
    /// The fields that tell it, each with the values that it may have. Of all states of the
    /// attribute the first that fits is read. `None`: the device does not tell it from another.
    pub when: Option<Vec<(FieldPath, Vec<Json>)>>,
}

/// Members of an object that are objects themselves, added and removed one by one.
#[derive(Clone, Debug)]
pub struct MembersRule {
    /// Where the list of them is read.
    pub read: FieldPath,
    /// Where it is written when the object is made.
    pub write: FieldPath,
    pub collection: TextTemplate,
    pub object: TextTemplate,
    /// Field of a member that identifies it.
    pub key: FieldPath,
    pub split: KeySplit,
    /// The word for no members.
    pub none: Option<Value>,
    /// What the body of a new member has.
    pub create: IndexMap<String, TextTemplate>,
    /// Fields of a member that are no part of its key.
    pub fields: IndexMap<String, RestLocation>,
}

/// How a member's value and its key become one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySplit {
    /// The member is its key.
    Whole,
    /// The member is a hash of which one field is the key.
    Field(String),
    /// The member is a hash of which two fields make the key, host and port.
    HostPort(String, String),
}

/// Which entries of a shared array an attribute owns.
#[derive(Clone, Debug)]
pub struct EntriesRule {
    /// Name of the shared array.
    pub of: String,
    /// The kinds of entry.
    pub kinds: Vec<String>,
    /// The side that the entry is for; entries for `all` are for both.
    pub context: Option<String>,
    /// Kinds whose entries are always for both sides and name none.
    pub both: Vec<String>,
    /// The word for no entry.
    pub absent: Option<Value>,
    /// What is put in when an object is made and the catalog says nothing.
    pub default_entry: Option<DefaultEntry>,
}

/// An entry that an object gets when the catalog names none.
#[derive(Clone, Debug)]
pub struct DefaultEntry {
    /// Attributes with the values under which this holds.
    pub when: IndexMap<String, Vec<String>>,
    /// Kind of the entry.
    pub kind: TextTemplate,
    /// Candidates; the first that the device has, else the last.
    pub paths: Vec<TextTemplate>,
}

impl RestDefinition {
    /// The kind that a resource wants to be.
    pub fn kind_of<'a>(
        &'a self,
        attributes: &crate::value::Attributes,
    ) -> Option<(&'a str, &'a ObjectKind)> {
        let kinds = self.kinds.as_ref()?;
        let name = attributes.get(&kinds.attribute)?.as_str()?;
        kinds
            .kinds
            .get_key_value(name)
            .map(|(name, kind)| (name.as_str(), kind))
    }

    /// Whether objects of the kind have the attribute.
    pub fn has(&self, attribute: &str, kind: Option<&str>) -> bool {
        let Some(rule) = self.attributes.get(attribute) else {
            return false;
        };
        let rule = match &rule.location {
            RestLocation::Unsupported(_) => return false,
            _ => rule,
        };
        rule.kinds.is_empty() || kind.is_some_and(|kind| rule.kinds.iter().any(|one| one == kind))
    }

    /// Groups of fields of which the device keeps only those that were set last.
    pub fn alternatives(&self) -> Vec<Vec<FieldPath>> {
        self.attributes
            .values()
            .filter_map(|rule| match &rule.location {
                RestLocation::Group { codec, field, .. } => Some(codec.alternatives(field)),
                place => place.alternatives(),
            })
            .collect()
    }
}

impl RestLocation {
    /// Fields that tell the states of an attribute apart by which of them is there.
    pub fn alternatives(&self) -> Option<Vec<FieldPath>> {
        let RestLocation::States(states) = self else {
            return None;
        };
        let sets = |path: &FieldPath| {
            let count = states
                .values()
                .filter(|state| state.set.iter().any(|(one, _)| one == path));
            count.count()
        };
        let mut fields: Vec<FieldPath> = Vec::new();
        for (path, _) in states.values().flat_map(|state| &state.set) {
            if sets(path) < states.len() && !fields.contains(path) {
                fields.push(path.clone());
            }
        }
        Some(fields)
    }
}
