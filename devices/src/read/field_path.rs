//! Paths into JSON documents: `a.b`, `handle[0].upstreams`, `items[self=true].version`.
//!
//! A name with a dot or a bracket is quoted: `"a.b".c`. `.` is the document itself.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value as Json};
use switchtender_outline::{JsonPath, JsonStep};

use crate::document::{Item, KeyValue, Table, ValueShape};

/// The path of a field in a JSON document; by default the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPath(Vec<PathStep>);

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// A member of an object.
    Name(String),
    /// An element of an array.
    Index(usize),
    /// The first element of an array that has the field.
    Element { field: String, value: String },
}

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not a path: {reason}")]
pub struct FieldPathError {
    path: String,
    reason: &'static str,
}

impl KeyValue for FieldPath {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        FieldPath::read(item)
    }
}

impl FieldPath {
    /// The path in a definition; a text that is not a path is reported.
    pub(crate) fn read(item: &Item<'_>) -> Option<Self> {
        match item.string()?.parse() {
            Ok(path) => Some(path),
            Err(error) => {
                let error: FieldPathError = error;
                item.error("path", error.to_string());
                None
            }
        }
    }

    /// The path in a key of a definition; a text that is not a path is reported.
    pub(crate) fn read_key(table: &Table<'_>, key: &str, span: &Range<usize>) -> Option<Self> {
        match key.parse::<Self>() {
            Ok(path) => Some(path),
            Err(error) => {
                let message = error.to_string();
                table.findings.error("path", span.clone(), message);
                None
            }
        }
    }

    /// The path of a member of the document.
    pub(crate) fn of(name: &str) -> Self {
        Self(vec![PathStep::Name(name.to_owned())])
    }

    /// The path of an element of the document, which is a list.
    pub(crate) fn element(index: usize) -> Self {
        Self(vec![PathStep::Index(index)])
    }

    /// The names of its members, without elements of lists.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.0.iter().filter_map(|step| match step {
            PathStep::Name(name) => Some(name.clone()),
            PathStep::Index(_) | PathStep::Element { .. } => None,
        });
        names.collect()
    }

    /// The same path for a mock.
    pub(crate) fn outline(&self) -> JsonPath {
        let steps = self.0.iter().map(|step| match step {
            PathStep::Name(name) => JsonStep::Member(name.clone()),
            PathStep::Index(index) => JsonStep::Index(*index),
            PathStep::Element { field, value } => JsonStep::Element {
                field: field.clone(),
                value: value.clone(),
            },
        });
        JsonPath(steps.collect())
    }

    /// The path of a field of the value at this path.
    #[must_use]
    pub(crate) fn join(&self, inner: &Self) -> Self {
        Self(self.0.iter().chain(&inner.0).cloned().collect())
    }

    /// The path of the value after this number of steps, and the path in it.
    pub(crate) fn split_at(&self, steps: usize) -> (Self, Self) {
        let (outer, inner) = self.0.split_at(steps.min(self.0.len()));
        (Self(outer.to_vec()), Self(inner.to_vec()))
    }

    /// Whether this is the path of the other value or of a value that contains it.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The value, unless it is missing or `null`.
    pub(crate) fn get<'a>(&self, document: &'a Json) -> Option<&'a Json> {
        let found = self.0.iter().try_fold(document, |at, step| step.get(at));
        found.filter(|value| !value.is_null())
    }

    /// The value for changes, unless it is missing.
    pub(crate) fn get_mut<'a>(&self, document: &'a mut Json) -> Option<&'a mut Json> {
        self.0
            .iter()
            .try_fold(document, |at, step| step.get_mut(at))
    }

    /// The path of the list that the value is in, if the path names no element of it.
    pub(crate) fn list_before(&self, document: &Json) -> Option<Self> {
        let mut at = document;
        for (index, step) in self.0.iter().enumerate() {
            if at.is_array() && matches!(step, PathStep::Name(_)) {
                return Some(Self(self.0[..index].to_vec()));
            }
            at = step.get(at)?;
        }
        None
    }

    /// Sets the value and creates the objects and arrays of its path.
    pub(crate) fn put(&self, document: &mut Json, value: Json) {
        *self.get_or_insert(document) = value;
    }

    /// The value, created as `null` with the objects and arrays of its path.
    pub(crate) fn get_or_insert<'a>(&self, document: &'a mut Json) -> &'a mut Json {
        self.0
            .iter()
            .fold(document, |at, step| step.get_or_insert(at))
    }

    /// Removes the member or element.
    pub(crate) fn remove(&self, document: &mut Json) {
        let Some((last, parents)) = self.0.split_last() else {
            return;
        };
        let parent = Self(parents.to_vec()).get_mut(document);
        match (parent, last) {
            (Some(Json::Object(fields)), PathStep::Name(name)) => {
                fields.shift_remove(name);
            }
            (Some(Json::Array(items)), step) => {
                if let Some(index) = step.index(items) {
                    items.remove(index);
                }
            }
            _ => {}
        }
    }

    /// The path of the field whose name has this suffix.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        let mut path = self.clone();
        if let Some(PathStep::Name(name)) = path.0.last_mut() {
            name.push_str(suffix);
        }
        path
    }

    pub(crate) fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// Whether the first step is the member with this name.
    pub(crate) fn begins_with(&self, name: &str) -> bool {
        matches!(self.0.first(), Some(PathStep::Name(first)) if first == name)
    }

    /// Whether the document is an array.
    pub(crate) fn begins_in_array(&self) -> bool {
        let first = self.0.first();
        first.is_some_and(|step| !matches!(step, PathStep::Name(_)))
    }

    /// Whether the path is that of an element of an array.
    pub(crate) fn ends_in_array(&self) -> bool {
        let last = self.0.last();
        last.is_some_and(|step| !matches!(step, PathStep::Name(_)))
    }

    /// Whether the path goes through an array.
    pub(crate) fn has_array(&self) -> bool {
        let is_name = |step: &PathStep| matches!(step, PathStep::Name(_));
        !self.0.iter().all(is_name)
    }
}

impl PathStep {
    pub(crate) fn get<'a>(&self, at: &'a Json) -> Option<&'a Json> {
        match (self, at) {
            (PathStep::Name(name), Json::Object(fields)) => fields.get(name),
            (step, Json::Array(items)) => items.get(step.index(items)?),
            // One XML element has no list around it.
            (step @ PathStep::Element { .. }, one) => {
                step.index(std::slice::from_ref(one)).map(|_| at)
            }
            _ => None,
        }
    }

    fn get_mut<'a>(&self, at: &'a mut Json) -> Option<&'a mut Json> {
        match (self, at) {
            (PathStep::Name(name), Json::Object(fields)) => fields.get_mut(name),
            (step, Json::Array(items)) => {
                let index = step.index(items)?;
                items.get_mut(index)
            }
            _ => None,
        }
    }

    fn get_or_insert<'a>(&self, at: &'a mut Json) -> &'a mut Json {
        let PathStep::Name(name) = self else {
            match at {
                Json::Array(_) => {}
                Json::Object(_) => *at = Json::Array(vec![at.take()]),
                _ => *at = Json::Array(Vec::new()),
            }
            let items = at.as_array_mut().expect("was just made an array");
            let index = self.index(items).unwrap_or_else(|| {
                items.push(self.new_element());
                items.len() - 1
            });
            return &mut items[index];
        };
        if !at.is_object() {
            *at = Json::Object(Map::new());
        }
        let fields = at.as_object_mut().expect("was just made an object");
        fields.entry(name.clone()).or_insert(Json::Null)
    }

    /// The index of the element in an array.
    fn index(&self, items: &[Json]) -> Option<usize> {
        match self {
            PathStep::Name(_) => None,
            PathStep::Index(index) => (*index < items.len()).then_some(*index),
            PathStep::Element { field, value } => items.iter().position(|item| {
                let found = item.get(field);
                found.and_then(scalar_text).as_ref() == Some(value)
            }),
        }
    }

    /// The element that the step creates.
    pub(crate) fn new_element(&self) -> Json {
        match self {
            PathStep::Element { field, value } => {
                let fields = [(field.clone(), Json::from(value.as_str()))];
                Json::Object(fields.into_iter().collect())
            }
            PathStep::Name(_) | PathStep::Index(_) => Json::Null,
        }
    }
}

/// A text, number or boolean as text.
pub(crate) fn scalar_text(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

impl std::str::FromStr for FieldPath {
    type Err = FieldPathError;

    fn from_str(path: &str) -> Result<Self, FieldPathError> {
        let error = |reason| FieldPathError {
            path: path.to_owned(),
            reason,
        };
        if path == "." {
            return Ok(Self(Vec::new()));
        }
        let mut steps = Vec::new();
        let mut rest = path;
        loop {
            if let Some(quoted) = rest.strip_prefix('"') {
                let (name, after) = quoted
                    .split_once('"')
                    .ok_or_else(|| error("a quote is not closed"))?;
                steps.push(PathStep::Name(name.to_owned()));
                rest = after;
            } else {
                let end = rest.find(['.', '[', ']', '"']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                if !name.is_empty() {
                    steps.push(PathStep::Name(name.to_owned()));
                } else if !after.starts_with('[') || !steps.is_empty() {
                    return Err(error("a name is missing"));
                }
                rest = after;
            }
            while let Some(bracket) = rest.strip_prefix('[') {
                let (choice, after) = bracket
                    .split_once(']')
                    .ok_or_else(|| error("a bracket is not closed"))?;
                steps.push(match (choice.parse(), choice.split_once('=')) {
                    (Ok(index), _) => PathStep::Index(index),
                    (Err(_), Some((field, value))) if !field.is_empty() => PathStep::Element {
                        field: field.to_owned(),
                        value: value.to_owned(),
                    },
                    _ => return Err(error("brackets contain an index or `field=value`")),
                });
                rest = after;
            }
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None if rest.is_empty() => return Ok(Self(steps)),
                None => return Err(error("a dot is missing")),
            }
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for (index, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Index(number) => write!(f, "[{number}]")?,
                PathStep::Element { field, value } => write!(f, "[{field}={value}]")?,
                PathStep::Name(name) => {
                    let dot = if index > 0 { "." } else { "" };
                    if name.contains(['.', '[', ']']) {
                        write!(f, "{dot}\"{name}\"")?
                    } else {
                        write!(f, "{dot}{name}")?
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> FieldPath {
        text.parse().expect("a path")
    }

    #[test]
    fn paths_select_members_and_elements() {
        let document = json!({
            "sflow": {"pollInterval": 10}, "gone": null, "a.b": {"c": 1},
            "items": [{"name": "a", "self": "false"}, {"name": "b", "self": "true", "x": {"y": 2}}, {"id": 7}],
        });
        let cases = [
            ("sflow.pollInterval", Some(json!(10))),
            ("gone", None),
            ("sflow.x.y", None),
            ("\"a.b\".c", Some(json!(1))),
            ("items[0].name", Some(json!("a"))),
            ("items[self=true].x.y", Some(json!(2))),
            ("items[id=7].id", Some(json!(7))),
            ("items[self=maybe].name", None),
            ("items[9].name", None),
            ("items.name", None),
            ("sflow[0]", None),
            (".", Some(document.clone())),
        ];
        for (text, expected) in cases {
            let path = path(text);
            assert_eq!(path.get(&document), expected.as_ref(), "{text}");
            assert_eq!(path.to_string(), text);
        }
        assert_eq!(path("[1].x").get(&json!([0, {"x": 3}])), Some(&json!(3)));
    }

    #[test]
    fn paths_set_and_remove_fields_and_preserve_others() {
        let mut document = json!({"sflow": {"pollInterval": 10}, "handle": [{"handler": "x"}]});
        path("sflow.samplingRate").put(&mut document, json!(5));
        path("a.b").put(&mut document, json!(true));
        path("handle[0].up").put(&mut document, json!([1]));
        path("list[name=x].port").put(&mut document, json!(80));
        assert_eq!(
            document,
            json!({
                "sflow": {"pollInterval": 10, "samplingRate": 5}, "a": {"b": true},
                "handle": [{"handler": "x", "up": [1]}], "list": [{"name": "x", "port": 80}],
            })
        );
        for removed in [
            "sflow.samplingRate",
            "handle[0].up",
            "list[name=x]",
            "no.thing[3]",
        ] {
            path(removed).remove(&mut document);
        }
        assert_eq!(
            document,
            json!({"sflow": {"pollInterval": 10}, "a": {"b": true}, "handle": [{"handler": "x"}], "list": []})
        );
    }

    #[test]
    fn path_errors_name_the_reason() {
        let cases = [
            ("", "a name is missing"),
            ("a..b", "a name is missing"),
            ("a.", "a name is missing"),
            ("a.[0]", "a name is missing"),
            ("\"a", "a quote is not closed"),
            ("a[0", "a bracket is not closed"),
            ("a[x]", "brackets contain an index or `field=value`"),
            ("a[=x]", "brackets contain an index or `field=value`"),
            ("a[0]b", "a dot is missing"),
            ("a]", "a dot is missing"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<FieldPath>().expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("`{text}` is not a path: {reason}")
            );
        }
    }
}
