//! The rules of a REST type, as loaded from its file. `docs/definitions.md` describes the keys.

use std::borrow::Cow;
use std::sync::Arc;

use crate::map::IndexMap;

use serde_json::Value as Json;

use super::choice::{ChoiceRule, ChosenField};
use super::codec::{GroupCodec, ValueCodec};
use super::own_request::OwnRequest;
use super::refresh::RefreshRequest;
use super::template::{BodyField, TextTemplate};
use crate::driver::document_rule::DocumentRule;
use crate::driver::inactive::InactiveRule;
use crate::model::AttributeModel;
use crate::operation::Method;
use crate::pattern::Pattern;
use crate::read::ReadRequest;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::read::nested_rows::{NestedRow, NestedRows};
use crate::read::rows::{JsonRow, RowsRule};
use crate::read::xml::Namespaces;
use crate::value::{Name, Value};

/// A type on a platform with a REST interface or NETCONF.
#[derive(Clone, Debug)]
pub(crate) struct RestDefinition {
    /// The namespaces of a platform with NETCONF.
    pub(crate) namespaces: Option<Arc<Namespaces>>,
    /// How inactive elements are marked.
    pub(crate) inactive: Option<InactiveRule>,
    pub(crate) instance: RestInstanceRule,
    /// The list of objects in other answers of the platform.
    pub(crate) rows: Option<RowsRule>,
    pub(crate) kinds: Option<ObjectKinds>,
    /// Arrays that several attributes share, by name.
    pub(crate) shared: IndexMap<String, SharedArray>,
    pub(crate) attributes: IndexMap<Name, RestAttributeRule>,
    /// The request of a refresh.
    pub(crate) refresh: Option<RefreshRequest>,
}

/// The location of the type's objects, and the requests that create and delete them.
#[derive(Clone, Debug)]
pub(crate) struct RestInstanceRule {
    /// Path of the collection, or of the object for a singleton.
    pub(crate) collection: TextTemplate,
    /// Query parameters of the read.
    pub(crate) query: IndexMap<String, String>,
    /// Fields of a valid answer to the read; values may contain `{kind}`.
    pub(crate) answer: Vec<Expectation>,
    /// The status 404 means that there are no objects.
    pub(crate) is_optional: bool,
    /// There is a collection for each of these parents.
    pub(crate) parent: Option<ParentRule>,
    /// The list of objects in the answer, with the lists around it; `None` for a singleton.
    pub(crate) rows: Option<NestedRows>,
    /// How many lists above the objects the elements are that requests write; 0: the objects themselves.
    pub(crate) parent_levels: usize,
    /// The read of the platform with the objects; `None`: the read of the collection.
    pub(crate) source: Option<ReadRequest>,
    /// The answer to that read is written as a whole.
    pub(crate) document: Option<DocumentRule>,
    /// The location of a singleton in the answer.
    pub(crate) location: FieldPath,
    /// The namevars that identify an object; at least one.
    pub(crate) key: Vec<KeyRule>,
    pub(crate) key_codec: Option<ValueCodec>,
    /// The name of the object of a resource, if the attributes in it have values.
    pub(crate) name: Option<NameRule>,
    pub(crate) object: TextTemplate,
    /// The location of the object in a body that creates or changes it.
    pub(crate) envelope: FieldPath,
    pub(crate) create: Option<CreateRule>,
    pub(crate) update: UpdateRule,
    /// The object is changed only if it is the one that was read.
    pub(crate) has_etag: bool,
    /// `None`: objects cannot be removed.
    pub(crate) remove: Option<RemoveRule>,
    /// The name of a singleton, which always exists. The catalog may use another title.
    pub(crate) singleton: Option<String>,
    /// Reserved names; never changed.
    pub(crate) reserved: Option<Pattern>,
    /// Fields of objects that the device has made for itself.
    pub(crate) device_owned: DeviceOwned,
    /// Further collections that are required for reading.
    pub(crate) lookups: Vec<Lookup>,
}

/// Fields that mark what the device makes and removes by itself, such as a server for each address of a
/// name: it is no instance of a type, and is never changed. Empty: nothing is marked.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceOwned(pub(crate) Vec<(FieldPath, Json)>);

impl DeviceOwned {
    /// Whether an object has all these fields.
    pub(crate) fn is(&self, object: &Json) -> bool {
        let has = |(path, value): &(FieldPath, Json)| path.get(object) == Some(value);
        !self.0.is_empty() && self.0.iter().all(has)
    }
}

/// The parents of collections.
#[derive(Clone, Debug)]
pub(crate) struct ParentRule {
    /// The path of their list.
    pub(crate) collection: String,
    /// The parents in the answer.
    pub(crate) rows: RowsRule,
    /// Fields of a valid answer.
    pub(crate) answer: Vec<Expectation>,
    /// Namevars and their fields.
    pub(crate) key: Vec<(String, FieldPath)>,
    /// The objects in the answer for one collection.
    pub(crate) objects: NestedRows,
}

/// A namevar and its location in an object.
#[derive(Clone, Debug)]
pub(crate) struct KeyRule {
    pub(crate) attribute: String,
    /// `None`: the name of the object in a map.
    pub(crate) field: Option<FieldPath>,
    /// The value is one of the element this number of lists further out.
    pub(crate) up: usize,
}

impl KeyRule {
    /// The value of a row. A number counts as text.
    ///
    /// # Errors
    /// The row lacks it; the message has the answer as its subject.
    pub(crate) fn value<'a>(&self, row: &NestedRow<'a>) -> Result<Cow<'a, str>, String> {
        match row.up(self.up) {
            Some(row) => self.value_in(row),
            None => Err("an object is in no outer list".to_owned()),
        }
    }

    /// The value of the row, or of the element of an outer list, that has it.
    ///
    /// # Errors
    /// As [`KeyRule::value`].
    pub(crate) fn value_in<'a>(&self, row: JsonRow<'a>) -> Result<Cow<'a, str>, String> {
        let Some(path) = &self.field else {
            let name = row.name.map(Cow::Borrowed);
            return name.ok_or_else(|| "its objects have no names: it is not a map".to_owned());
        };
        let text = match path.get(row.value) {
            Some(Json::String(text)) => Some(Cow::Borrowed(text.as_str())),
            Some(other) => scalar_text(other).map(Cow::Owned),
            None => None,
        };
        text.ok_or_else(|| format!("an object has no `{path}`"))
    }
}

/// The name of an object that is not the title of its resource.
#[derive(Clone, Debug)]
pub(crate) struct NameRule {
    pub(crate) template: TextTemplate,
    /// The end of the name, unless it has one.
    pub(crate) suffix: String,
}

/// How an object is changed.
#[derive(Clone, Debug)]
pub(crate) struct UpdateRule {
    pub(crate) method: Method,
    pub(crate) target: RequestTarget,
    /// The body is the object as it was read, with the changes; otherwise the fields that differ.
    pub(crate) is_complete: bool,
    /// Further fields of each body.
    pub(crate) fields: Vec<(FieldPath, BodyField)>,
    /// Fields of each body outside of the envelope, such as a command.
    pub(crate) frame: Vec<(FieldPath, BodyField)>,
}

/// How an object is removed.
#[derive(Clone, Debug)]
pub(crate) struct RemoveRule {
    /// Members are removed before the object.
    pub(crate) members_first: bool,
    pub(crate) method: Method,
    /// The path of the request; `None`: that of the object.
    pub(crate) path: Option<TextTemplate>,
    pub(crate) body: Vec<(FieldPath, BodyField)>,
}

impl Default for RemoveRule {
    fn default() -> Self {
        Self {
            members_first: false,
            method: Method::Delete,
            path: None,
            body: Vec::new(),
        }
    }
}

/// How a field is written for a value that the device shows by its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsetRule {
    /// By a `DELETE` of the field.
    Delete,
    /// As `null`.
    Null,
    /// By the object without the field.
    Omit,
}

/// A further collection.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    pub(crate) path: String,
    /// Field of an item with the default route domain of the objects below its name.
    pub(crate) default_domain: String,
    /// Fields of a valid answer.
    pub(crate) answer: Vec<Expectation>,
}

/// How an object is created.
#[derive(Clone, Debug)]
pub(crate) struct CreateRule {
    pub(crate) method: Method,
    pub(crate) target: RequestTarget,
    /// Additional fields of the body. Empty results are omitted. `None`: the fields of the key.
    pub(crate) body: Option<Vec<(FieldPath, BodyField)>>,
    /// Fields of the body outside of the envelope, such as a command.
    pub(crate) frame: Vec<(FieldPath, BodyField)>,
    /// Attributes that the device requires on creation.
    pub(crate) needs: Vec<String>,
    /// Fields that the device adds; the placeholders are fields of the body.
    pub(crate) adds: Vec<(FieldPath, TextTemplate)>,
}

/// The path of the request that creates or changes an object.
#[derive(Clone, Debug)]
pub(crate) enum RequestTarget {
    Collection,
    Object,
    /// A path of its own, such as `/vlan/add`.
    Path(TextTemplate),
}

impl RestInstanceRule {
    /// The path of a request that creates or changes an object.
    pub(crate) fn path_of<'a>(&'a self, target: &'a RequestTarget) -> &'a TextTemplate {
        match target {
            RequestTarget::Collection => &self.collection,
            RequestTarget::Object => &self.object,
            RequestTarget::Path(path) => path,
        }
    }
}

/// A type with several kinds of object, selected by an attribute.
#[derive(Clone, Debug)]
pub(crate) struct ObjectKinds {
    pub(crate) attribute: String,
    /// In the order in which they are matched.
    pub(crate) kinds: IndexMap<String, ObjectKind>,
}

/// One kind of object.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectKind {
    /// Replacement for `{kind}` in paths. Kinds with paths have separate collections.
    pub(crate) path: Option<String>,
    /// Fields that identify an object of this kind; also sent on creation.
    pub(crate) marks: Vec<(FieldPath, Json)>,
    /// Shared array and kind of entry that identify an object of this kind.
    pub(crate) entry: Option<(String, String)>,
    /// Attributes that an object of this kind requires on creation.
    pub(crate) needs: Vec<String>,
}

/// An array that several attributes share: each owns the entries of some kinds. Entries of other
/// kinds are preserved.
#[derive(Clone, Debug)]
pub(crate) struct SharedArray {
    /// Path for reading the array.
    pub(crate) read: FieldPath,
    /// Path for writing; the array is always written completely.
    pub(crate) write: FieldPath,
    /// Path of the collection with the objects of a kind: `/mgmt/tm/ltm/profile/{kind}`.
    pub(crate) kinds: TextTemplate,
    /// Fields of a valid answer of that collection; values may contain `{kind}`.
    pub(crate) answer: Vec<Expectation>,
}

/// What the creation of an object decides about an attribute, once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CreateOnly {
    Nothing,
    /// Its value.
    Value,
    /// Whether the object has it.
    Field,
}

/// How an attribute is read and written.
#[derive(Clone, Debug)]
pub(crate) struct RestAttributeRule {
    pub(crate) location: RestLocation,
    /// The valid values on the platform, if it has fewer than the model.
    pub(crate) narrowed: Option<AttributeModel>,
    /// Other spellings of values.
    pub(crate) spellings: Vec<(String, Value)>,
    /// The requests of their own, by value.
    pub(crate) requests: IndexMap<String, OwnRequest>,
    /// The kinds of object with this attribute; empty for all.
    pub(crate) kinds: Vec<String>,
    /// What the creation decides.
    pub(crate) create_only: CreateOnly,
    /// Cannot be read back.
    pub(crate) write_only: bool,
}

impl RestAttributeRule {
    /// An attribute that is not supported.
    pub(crate) fn unsupported(reason: String) -> Self {
        Self {
            location: RestLocation::Unsupported(reason),
            narrowed: None,
            spellings: Vec::new(),
            requests: IndexMap::default(),
            kinds: Vec::new(),
            create_only: CreateOnly::Nothing,
            write_only: false,
        }
    }
}

/// Location of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum RestLocation {
    Field(FieldRule),
    /// A field whose place depends on another attribute.
    Chosen(ChosenField),
    /// Values that are the fields that exist.
    Choice(ChoiceRule),
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
    /// A file that is uploaded before the request.
    Upload(Box<UploadRule>),
    /// The position among the objects of the list.
    Order(Box<OrderRule>),
    /// Not supported, with the reason.
    Unsupported(String),
}

/// How the content of a file reaches the device.
#[derive(Clone, Debug)]
pub(crate) struct UploadRule {
    /// Path of the request with the content.
    pub(crate) path: TextTemplate,
    /// The field of the object that names the uploaded file.
    pub(crate) field: FieldPath,
    pub(crate) value: TextTemplate,
}

/// The position of an object in its list.
#[derive(Clone, Debug)]
pub(crate) struct OrderRule {
    pub(crate) moves: ObjectMove,
    /// The value of the first object.
    pub(crate) none: Value,
}

/// How an object is moved: behind the one in the attribute, or before the first one.
#[derive(Clone, Debug)]
pub(crate) enum ObjectMove {
    /// By requests with these paths.
    Requests {
        method: Method,
        after: TextTemplate,
        before: TextTemplate,
    },
    /// By these attributes of its element in an edit.
    Attributes {
        after: Vec<(String, TextTemplate)>,
        before: Vec<(String, TextTemplate)>,
    },
}

/// A value in a field.
#[derive(Clone, Debug)]
pub(crate) struct FieldRule {
    pub(crate) path: FieldPath,
    /// Pairs of the value's text and the field's value. Other values are unchanged.
    pub(crate) map: Vec<(String, Json)>,
    /// The field of an element that is the value, for a list of objects.
    pub(crate) each: Option<FieldPath>,
    /// The value of a missing or empty field.
    pub(crate) absent: Option<Value>,
    pub(crate) unset: Option<UnsetRule>,
    pub(crate) codec: Option<ValueCodec>,
}

/// A value as fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateFields {
    pub(crate) set: Vec<(FieldPath, Json)>,
    /// The fields that identify it, each with its possible values. The first matching state of the
    /// attribute is read. `None`: the device does not distinguish it from another.
    pub(crate) when: Option<Vec<(FieldPath, Vec<Json>)>>,
}

/// Members of an object that are objects themselves.
#[derive(Clone, Debug)]
pub(crate) struct MembersRule {
    /// Path for reading their list.
    pub(crate) read: FieldPath,
    /// Path for writing with the object.
    pub(crate) write: FieldPath,
    /// How they are added and removed individually; `None`: the list is always written completely.
    pub(crate) own: Option<MemberPaths>,
    /// Field of a member that identifies it.
    pub(crate) key: FieldPath,
    pub(crate) split: KeySplit,
    /// Fields of members that the device has made for itself.
    pub(crate) device_owned: DeviceOwned,
    /// Format of the key, or of its host.
    pub(crate) codec: Option<MemberCodec>,
    /// The word for no members.
    pub(crate) none: Option<Value>,
    /// Fields in the body of a new member.
    pub(crate) create: Vec<(FieldPath, BodyField)>,
    /// Fields of a member that are not part of its key.
    pub(crate) fields: IndexMap<String, RestLocation>,
}

/// The paths of the requests for single members.
#[derive(Clone, Debug)]
pub(crate) struct MemberPaths {
    pub(crate) collection: TextTemplate,
    pub(crate) object: TextTemplate,
}

/// The format of the key of a member.
#[derive(Clone, Debug)]
pub(crate) enum MemberCodec {
    Always(ValueCodec),
    /// By the value of another attribute; others have none.
    By {
        attribute: String,
        codecs: IndexMap<String, ValueCodec>,
    },
}

/// Conversion between a member's value and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySplit {
    /// The member is its key.
    Complete,
    /// The member is a hash; one field is the key.
    Field(String),
    /// The member is a hash; two fields are the key, host and port.
    HostPort(String, String),
}

/// Which entries of a shared array an attribute owns.
#[derive(Clone, Debug)]
pub(crate) struct EntriesRule {
    /// Name of the shared array.
    pub(crate) of: String,
    /// The kinds of entry.
    pub(crate) kinds: Vec<String>,
    /// The side (client or server) of the entry; entries with `all` are for both.
    pub(crate) context: Option<String>,
    /// Kinds whose entries are always for both sides.
    pub(crate) both: Vec<String>,
    /// The word for no entry.
    pub(crate) absent: Option<Value>,
    /// Entries of a new object if the catalog has none.
    pub(crate) default_entry: Option<DefaultEntry>,
}

/// A default entry.
#[derive(Clone, Debug)]
pub(crate) struct DefaultEntry {
    /// Attributes with the values that are required for it.
    pub(crate) when: IndexMap<String, Vec<String>>,
    /// Kind of the entry.
    pub(crate) kind: TextTemplate,
    /// Candidates: the first that exists on the device, else the last.
    pub(crate) paths: Vec<TextTemplate>,
}

impl NameRule {
    /// The name for a resource; `None` if an attribute in it has no value.
    pub(crate) fn name(&self, attributes: &crate::value::Attributes) -> Option<String> {
        let value = |name: &str| attributes.get(name).and_then(Value::scalar_text);
        let name = self.template.fill(value).ok()?;
        if name.ends_with(&self.suffix) {
            Some(name)
        } else {
            Some(name + &self.suffix)
        }
    }
}

impl RestInstanceRule {
    /// The first namevar of the object itself, not of an element that contains it.
    pub(crate) fn key_attribute(&self) -> &str {
        &self.key[self.own_key()].attribute
    }

    /// Its index in the key.
    pub(crate) fn own_key(&self) -> usize {
        let own = self.key.iter().position(|key| key.up == 0);
        own.unwrap_or_default()
    }

    /// Whether the object is written as a whole, so that what the body lacks is removed.
    pub(crate) fn writes_complete(&self) -> bool {
        self.update.is_complete || self.parent_levels > 0
    }

    /// Whether an attribute is one of the namevars that identify an object.
    pub(crate) fn is_key(&self, attribute: &str) -> bool {
        self.key.iter().any(|key| key.attribute == attribute)
    }

    /// Whether bodies name the command and the object, so that paths do not.
    pub(crate) fn has_frames(&self) -> bool {
        let create = self.create.iter().map(|create| &create.frame);
        let remove = self.remove.iter().filter(|remove| remove.path.is_none());
        let frames = create.chain(remove.map(|remove| &remove.body));
        let mut frames = frames.chain([&self.update.frame]);
        frames.any(|frame| !frame.is_empty())
    }

    /// Whether objects are the members of a map.
    pub(crate) fn is_map(&self) -> bool {
        self.rows.is_some()
            && self
                .key
                .iter()
                .any(|key| key.field.is_none() && key.up == 0)
    }
}

impl RestDefinition {
    /// The desired kind of a resource.
    pub(crate) fn kind_of<'a>(
        &'a self,
        attributes: &crate::value::Attributes,
    ) -> Option<(&'a str, &'a ObjectKind)> {
        let kinds = self.kinds.as_ref()?;
        let name = attributes.get(&kinds.attribute)?.unwrap_sensitive();
        let name = name.as_str()?;
        kinds
            .kinds
            .get_key_value(name)
            .map(|(name, kind)| (name.as_str(), kind))
    }

    /// Whether objects of the kind have the attribute.
    pub(crate) fn has(&self, attribute: &str, kind: Option<&str>) -> bool {
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
    pub(crate) fn alternatives(&self) -> Vec<Vec<FieldPath>> {
        self.attributes
            .values()
            .filter_map(|rule| match &rule.location {
                RestLocation::Group { codec, field, .. } => Some(codec.alternatives(field)),
                location => location.alternatives(),
            })
            .collect()
    }
}

impl RestLocation {
    /// Fields whose existence identifies the state of an attribute.
    pub(crate) fn alternatives(&self) -> Option<Vec<FieldPath>> {
        let states = match self {
            RestLocation::States(states) => states,
            RestLocation::Choice(choice) => return Some(choice.places.values().cloned().collect()),
            _ => return None,
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
