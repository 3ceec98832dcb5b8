//! What loaders accept in a file, as JSON Schema.
//!
//! A loader that reads a file with a [`ValueShape`] records in it the keys that it reads, the kinds of
//! their values and their words. Tables of one kind share a shape, whatever their names are.
//! Nothing is known of a table that is in no file: the schema permits everything in it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value as Json, json};

/// A kind of value that a loader accepts.
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

/// A key is required if the loader required it in every table, and in so many: some keys are required only beside
/// others, which a few tables have by chance.
const FEWEST_TABLES: usize = 8;

/// What loaders accept as a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueShape(Rc<RefCell<ShapeNode>>);

#[derive(Debug, Default)]
struct ShapeNode {
    kinds: BTreeSet<ValueKind>,
    /// Whether a loader distinguishes the kinds.
    is_distinguished: bool,
    /// The texts of [`ValueKind::Word`].
    words: BTreeSet<String>,
    keys: BTreeMap<String, ValueShape>,
    /// The values of a table whose keys are names.
    named: Option<ValueShape>,
    /// Whether other keys than those are errors.
    is_closed: bool,
    /// The keys that the loader required of every table, and the number of tables.
    required: Option<BTreeSet<String>>,
    tables: usize,
    elements: Option<ValueShape>,
    /// The meaning, from the declaration of the key.
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

    /// The meaning of the key.
    pub(super) fn describe(&self, text: String) {
        self.0.borrow_mut().descriptions.insert(text);
    }

    /// All keys are declared.
    pub(super) fn is_declared(&self) {
        self.0.borrow_mut().is_closed = true;
    }

    /// The values of a table whose keys are names.
    pub(crate) fn any_name(&self) -> ValueShape {
        let mut node = self.0.borrow_mut();
        node.named.get_or_insert_default().clone()
    }

    /// A value of this kind is accepted, and those of other kinds are.
    pub(super) fn distinguishes(&self, kind: ValueKind) {
        self.accepts(kind);
        self.0.borrow_mut().is_distinguished = true;
    }

    /// These texts are accepted.
    pub(crate) fn accepts_words<'a>(&self, words: impl Iterator<Item = &'a str>) {
        self.accepts(ValueKind::Word);
        let mut node = self.0.borrow_mut();
        node.words.extend(words.map(str::to_owned));
    }

    /// The value of a key. A key that a base table has too has one shape in both.
    pub(crate) fn key(&self, key: &str, base: Option<&ValueShape>) -> ValueShape {
        if let Some(known) = self.0.borrow().keys.get(key) {
            return known.clone();
        }
        let shape = base.map_or_else(ValueShape::default, |base| base.key(key, None));
        let keys = &mut self.0.borrow_mut().keys;
        keys.entry(key.to_owned()).or_insert(shape).clone()
    }

    /// The value of a key that is a name.
    pub(super) fn named(&self, key: &str) -> ValueShape {
        let mut node = self.0.borrow_mut();
        match node.keys.get(key) {
            Some(known) => known.clone(),
            None => node.named.get_or_insert_default().clone(),
        }
    }

    /// All keys of a table are names, also if this one is empty.
    pub(super) fn has_names(&self) {
        self.0.borrow_mut().named.get_or_insert_default();
    }

    /// An element of the list.
    pub(super) fn element(&self) -> ValueShape {
        let mut node = self.0.borrow_mut();
        node.elements.get_or_insert_default().clone()
    }

    /// Keys that were not read are errors. The loader required some keys of this table.
    pub(super) fn close(&self, required: BTreeSet<String>) {
        let mut node = self.0.borrow_mut();
        node.is_closed = true;
        node.tables += 1;
        node.required = Some(match &node.required {
            Some(known) => known & &required,
            None => required,
        });
    }

    /// The JSON Schema of the value at this JSON pointer. A shape that occurs again is a reference to
    /// the first one.
    pub(crate) fn schema(&self, pointer: &str) -> Json {
        self.schema_at(pointer, &mut Vec::new())
    }

    fn schema_at(&self, pointer: &str, pointers: &mut Vec<(ValueShape, String)>) -> Json {
        let mut known = pointers.iter();
        if let Some((_, first)) = known.find(|(other, _)| Rc::ptr_eq(&other.0, &self.0)) {
            return json!({"$ref": first});
        }
        let node = self.0.borrow();
        let mut schema = Map::new();
        if !node.descriptions.is_empty() {
            let all: Vec<&str> = node.descriptions.iter().map(String::as_str).collect();
            schema.insert("description".to_owned(), json!(all.join(" ")));
        }
        if node.kinds.contains(&ValueKind::Any) || node.kinds.is_empty() {
            return Json::Object(schema);
        }
        pointers.push((self.clone(), pointer.to_owned()));
        let mut below = |shape: &ValueShape, part: &str| {
            shape.schema_at(&format!("{pointer}/{part}"), pointers)
        };
        // What a loader distinguishes can have kinds that no file has.
        if !node.is_distinguished {
            schema.insert("type".to_owned(), types(&node.kinds));
            if node.kinds.contains(&ValueKind::Word) && !node.kinds.contains(&ValueKind::String) {
                let valid = json!([{"not": {"type": "string"}}, {"enum": node.words}]);
                schema.insert("anyOf".to_owned(), valid);
            }
        }
        let properties = node.keys.iter();
        let properties: Map<String, Json> = properties
            .map(|(key, shape)| (key.clone(), below(shape, &format!("properties/{key}"))))
            .collect();
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if let Some(named) = &node.named {
            let named = below(named, "additionalProperties");
            schema.insert("additionalProperties".to_owned(), named);
        } else if node.is_closed {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        let required = node.required.as_ref().filter(|keys| !keys.is_empty());
        let required = required.filter(|_| node.tables >= FEWEST_TABLES);
        if let Some(required) = required {
            schema.insert("required".to_owned(), json!(required));
        }
        if let Some(elements) = &node.elements {
            schema.insert("items".to_owned(), below(elements, "items"));
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
