//! The location of the objects of a type, and the requests that create, change and remove them.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::UnsetRule;
use crate::driver::document_rule::DocumentRule;
use crate::driver::rest::codec::ValueCodec;
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::map::IndexMap;
use crate::operation::Method;
use crate::pattern::Pattern;
use crate::read::ReadRequest;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::read::nested_rows::{NestedRow, NestedRows};
use crate::read::rows::{JsonRow, RowsRule};
use crate::value::Value;

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
    /// How missing fields are written, unless their attributes say so.
    pub(crate) unset: Option<UnsetRule>,
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
