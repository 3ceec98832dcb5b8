//! How attributes are read and written: their fields, and the requests of their own.

use serde_json::Value as Json;

use super::{ChoiceRule, ChosenField, EntriesRule, MembersRule, OwnRequest};
use crate::driver::rest::codec::{GroupCodec, ValueCodec};
use crate::driver::rest::template::TextTemplate;
use crate::map::IndexMap;
use crate::model::AttributeModel;
use crate::operation::Method;
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};

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
    /// Values of the model that the platform does not have, with reasons, which can be empty.
    pub(crate) unsupported_values: IndexMap<String, String>,
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
            unsupported_values: IndexMap::default(),
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
