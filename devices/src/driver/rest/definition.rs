//! The rules of a REST type, as loaded from its file. `definitions/README.md` describes the keys.

use crate::map::IndexMap;

use serde_json::Value as Json;

use super::codec::{GroupCodec, ValueCodec};
use super::json::FieldPath;
use super::template::TextTemplate;
use crate::operation::Method;
use crate::pattern::Pattern;
use crate::value::{Name, Value};

/// A type on a platform with a REST interface.
#[derive(Clone, Debug)]
pub struct RestDefinition {
    pub instance: RestInstanceRule,
    pub kinds: Option<ObjectKinds>,
    /// Arrays that several attributes share, by name.
    pub shared: IndexMap<String, SharedArray>,
    pub attributes: IndexMap<Name, RestAttributeRule>,
}

/// The location of the type's objects, and the requests that create and delete them.
#[derive(Clone, Debug)]
pub struct RestInstanceRule {
    /// Path of the collection, or of the object for a singleton.
    pub collection: TextTemplate,
    /// Query parameters of the read.
    pub query: IndexMap<String, String>,
    /// The namevar and its field.
    pub key: (String, FieldPath),
    pub key_codec: Option<ValueCodec>,
    pub object: TextTemplate,
    pub create: Option<CreateRule>,
    pub update: Method,
    pub remove: bool,
    /// The name of a singleton, which always exists. The catalog may use another title.
    pub singleton: Option<String>,
    /// Reserved names; never changed.
    pub reserved: Option<Pattern>,
    /// Further collections that are required for reading.
    pub lookups: Vec<String>,
}

/// How an object is created.
#[derive(Clone, Debug)]
pub struct CreateRule {
    pub method: Method,
    /// Additional fields of the body. Empty results are omitted.
    pub body: IndexMap<String, TextTemplate>,
    /// Attributes that the device requires on creation.
    pub needs: Vec<String>,
}

/// A type with several kinds of object, selected by an attribute.
#[derive(Clone, Debug)]
pub struct ObjectKinds {
    pub attribute: String,
    /// In the order in which they are matched.
    pub kinds: IndexMap<String, ObjectKind>,
}

/// One kind of object.
#[derive(Clone, Debug, Default)]
pub struct ObjectKind {
    /// Replacement for `{kind}` in paths. Kinds with paths have separate collections.
    pub path: Option<String>,
    /// Fields that identify an object of this kind; also sent on creation.
    pub marks: Vec<(FieldPath, Json)>,
    /// Shared array and kind of entry that identify an object of this kind.
    pub entry: Option<(String, String)>,
    /// Attributes that an object of this kind requires on creation.
    pub needs: Vec<String>,
}

/// An array that several attributes share: each owns the entries of some kinds. Entries of other
/// kinds are preserved.
#[derive(Clone, Debug)]
pub struct SharedArray {
    /// Path for reading the array.
    pub read: FieldPath,
    /// Path for writing; the array is always written completely.
    pub write: FieldPath,
    /// Path of the collection with the objects of a kind: `/mgmt/tm/ltm/profile/{kind}`.
    pub kinds: TextTemplate,
}

/// How an attribute is read and written.
#[derive(Clone, Debug)]
pub struct RestAttributeRule {
    pub location: RestLocation,
    /// Other spellings of values.
    pub same: Vec<(String, Value)>,
    /// The kinds of object with this attribute; empty for all.
    pub kinds: Vec<String>,
    /// Can be set on creation only.
    pub create_only: bool,
    /// Cannot be read back.
    pub write_only: bool,
}

/// Location of an attribute.
#[derive(Clone, Debug)]
pub enum RestLocation {
    Field(FieldRule),
    /// Values that represent several fields.
    States(IndexMap<String, StateFields>),
    /// Several attributes in shared fields; this one is the leader.
    Group {
        codec: GroupCodec,
        field: FieldPath,
        with: Vec<Name>,
    },
    /// A member of the group with this leader.
    Inside(String),
    Members(Box<MembersRule>),
    /// Entries of a shared array.
    Entries(EntriesRule),
    /// Not supported, with the reason.
    Unsupported(String),
}

/// A value in a field.
#[derive(Clone, Debug)]
pub struct FieldRule {
    pub path: FieldPath,
    /// Pairs of the value's text and the field's value. Other values are unchanged.
    pub map: Vec<(String, Json)>,
    /// The value of a missing or empty field.
    pub absent: Option<Value>,
    pub codec: Option<ValueCodec>,
}

/// A value as fields.
#[derive(Clone, Debug, Default)]
pub struct StateFields {
    pub set: Vec<(FieldPath, Json)>,
    /// The fields that identify it, each with its possible values. The first matching state of the
    /// attribute is read. `None`: the device does not distinguish it from another.
    pub when: Option<Vec<(FieldPath, Vec<Json>)>>,
}

/// Members of an object that are objects themselves, added and removed individually.
#[derive(Clone, Debug)]
pub struct MembersRule {
    /// Path for reading their list.
    pub read: FieldPath,
    /// Path for writing on creation of the object.
    pub write: FieldPath,
    pub collection: TextTemplate,
    pub object: TextTemplate,
    /// Field of a member that identifies it.
    pub key: FieldPath,
    pub split: KeySplit,
    /// The word for no members.
    pub none: Option<Value>,
    /// Fields in the body of a new member.
    pub create: IndexMap<String, TextTemplate>,
    /// Fields of a member that are not part of its key.
    pub fields: IndexMap<String, RestLocation>,
}

/// Conversion between a member's value and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySplit {
    /// The member is its key.
    Whole,
    /// The member is a hash; one field is the key.
    Field(String),
    /// The member is a hash; two fields are the key, host and port.
    HostPort(String, String),
}

/// Which entries of a shared array an attribute owns.
#[derive(Clone, Debug)]
pub struct EntriesRule {
    /// Name of the shared array.
    pub of: String,
    /// The kinds of entry.
    pub kinds: Vec<String>,
    /// The side (client or server) of the entry; entries with `all` are for both.
    pub context: Option<String>,
    /// Kinds whose entries are always for both sides.
    pub both: Vec<String>,
    /// The word for no entry.
    pub absent: Option<Value>,
    /// Entries of a new object if the catalog has none.
    pub default_entry: Option<DefaultEntry>,
}

/// A default entry.
#[derive(Clone, Debug)]
pub struct DefaultEntry {
    /// Attributes with the values that are required for it.
    pub when: IndexMap<String, Vec<String>>,
    /// Kind of the entry.
    pub kind: TextTemplate,
    /// Candidates: the first that exists on the device, else the last.
    pub paths: Vec<TextTemplate>,
}

impl RestDefinition {
    /// The desired kind of a resource.
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

    /// Groups of exclusive fields: the device stores only those that were set last.
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
    /// Fields whose existence identifies the state of an attribute.
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
