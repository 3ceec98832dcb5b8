//! What the declared keys of a file accept, as JSON Schema.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value as Json, json};

/// A kind of value that a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ValueKind {
    Boolean,
    Integer,
    List,
    String,
    Table,
    /// One of some texts.
    Word,
    /// The loader looks at the value itself.
    Any,
}

/// What a key accepts. Several declarations of one key accept the values of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueShape(Rc<RefCell<ShapeNode>>);

#[derive(Debug, Default)]
struct ShapeNode {
    kinds: BTreeSet<ValueKind>,
    /// The texts of [`ValueKind::Word`].
    words: BTreeSet<String>,
    keys: BTreeMap<String, ValueShape>,
    /// The values of a table whose keys are names.
    named: Option<ValueShape>,
    required: BTreeSet<&'static str>,
    elements: Option<ValueShape>,
    /// The meaning, from each declaration of the key.
    descriptions: BTreeSet<String>,
}

impl ValueShape {
    /// The loader looks at the value itself.
    pub(crate) fn accepts_anything(&self) {
        self.accepts(ValueKind::Any);
    }

    /// A value of this kind is accepted.
    pub(crate) fn accepts(&self, kind: ValueKind) {
        self.0.borrow_mut().kinds.insert(kind);
    }

    /// These texts are accepted.
    pub(crate) fn accepts_words<'a>(&self, words: impl Iterator<Item = &'a str>) {
        self.accepts(ValueKind::Word);
        let mut node = self.0.borrow_mut();
        node.words.extend(words.map(str::to_owned));
    }

    /// The meaning of the key.
    pub(crate) fn describe(&self, text: String) {
        self.0.borrow_mut().descriptions.insert(text);
    }

    /// A table has this key.
    pub(super) fn requires(&self, key: &'static str) {
        self.0.borrow_mut().required.insert(key);
    }

    /// The value of a key.
    pub(crate) fn key(&self, key: &str) -> ValueShape {
        let keys = &mut self.0.borrow_mut().keys;
        keys.entry(key.to_owned()).or_default().clone()
    }

    /// The values of a table whose keys are names.
    pub(crate) fn any_name(&self) -> ValueShape {
        let mut node = self.0.borrow_mut();
        node.named.get_or_insert_default().clone()
    }

    /// An element of the list.
    pub(crate) fn element(&self) -> ValueShape {
        let mut node = self.0.borrow_mut();
        node.elements.get_or_insert_default().clone()
    }

    /// The JSON Schema of a file.
    pub(crate) fn schema(&self) -> Json {
        self.schema_of(true)
    }

    /// The schema of a table that another file can complete, or not: keys are required in files and in
    /// elements of lists only.
    fn schema_of(&self, is_complete: bool) -> Json {
        let node = self.0.borrow();
        let mut schema = Map::new();
        if !node.descriptions.is_empty() {
            let all: Vec<&str> = node.descriptions.iter().map(String::as_str).collect();
            schema.insert("description".to_owned(), json!(all.join(" ")));
        }
        if node.kinds.contains(&ValueKind::Any) {
            return Json::Object(schema);
        }
        schema.insert("type".to_owned(), types(&node.kinds));
        if node.kinds.contains(&ValueKind::Word) && !node.kinds.contains(&ValueKind::String) {
            let valid = json!([{"not": {"type": "string"}}, {"enum": node.words}]);
            schema.insert("anyOf".to_owned(), valid);
        }
        let properties = node.keys.iter();
        let properties: Map<String, Json> = properties
            .map(|(key, shape)| (key.clone(), shape.schema_of(false)))
            .collect();
        let has_keys = !properties.is_empty();
        if has_keys {
            schema.insert("properties".to_owned(), properties.into());
        }
        if let Some(named) = &node.named {
            let named = named.schema_of(false);
            schema.insert("additionalProperties".to_owned(), named);
        } else if has_keys {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        if is_complete && !node.required.is_empty() {
            schema.insert("required".to_owned(), json!(node.required));
        }
        if let Some(elements) = &node.elements {
            schema.insert("items".to_owned(), elements.schema_of(true));
        }
        Json::Object(schema)
    }
}

/// The value of `type`.
fn types(kinds: &BTreeSet<ValueKind>) -> Json {
    let names = kinds.iter().map(|kind| match kind {
        ValueKind::Boolean => "boolean",
        ValueKind::Integer => "integer",
        ValueKind::List => "array",
        ValueKind::String | ValueKind::Word => "string",
        ValueKind::Table | ValueKind::Any => "object",
    });
    let names: BTreeSet<&str> = names.collect();
    match names.len() {
        1 => json!(names.first()),
        _ => json!(names),
    }
}
