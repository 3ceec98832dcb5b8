//! Kinds of objects, selected by an attribute.

use serde_json::Value as Json;

use crate::map::IndexMap;
use crate::read::field_path::FieldPath;

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
