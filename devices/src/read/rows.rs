//! `rows`: the list of instances in a JSON answer.

use serde_json::{Map, Value as Json};

use super::field_path::{FieldPath, scalar_text};
use crate::document::{Item, KeyValue, ValueShape, keys};

/// The location of the list in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsRule {
    at: FieldPath,
    /// An answer without the list has no instances.
    is_optional: bool,
    /// The rows are XML elements: one alone has no list around it.
    is_xml: bool,
    /// The fields that name a row, for people.
    names: Vec<FieldPath>,
}

keys! {
    /// The list of objects in an answer.
    struct RowsKeys {
        /// Path of the list.
        at: FieldPath,
        /// An answer without the list has no objects.
        optional: bool,
    }
}

/// `rows = "results"` or `rows = { at = "items", optional = true }`.
impl KeyValue for RowsRule {
    fn declare(shape: &ValueShape) {
        FieldPath::declare(shape);
        RowsKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let (at, is_optional) = if item.is_table() {
            let keys = RowsKeys::read(item)?;
            (keys.at, keys.optional)
        } else {
            (FieldPath::read(item)?, false)
        };
        Some(Self::json(at, is_optional))
    }
}

/// An instance in an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JsonRow<'a> {
    /// Its name in a map; `None` in an array.
    pub(crate) name: Option<&'a str>,
    pub(crate) value: &'a Json,
}

impl RowsRule {
    /// The elements at a path; none if it does not exist.
    pub(crate) fn elements(at: FieldPath) -> Self {
        Self {
            at,
            is_optional: true,
            is_xml: true,
            names: Vec::new(),
        }
    }

    /// The objects of a list at a path.
    pub(crate) fn json(at: FieldPath, is_optional: bool) -> Self {
        Self {
            at,
            is_optional,
            is_xml: false,
            names: Vec::new(),
        }
    }

    /// Whether an answer of something else could count as one without instances.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.is_optional && self.at != FieldPath::default()
    }

    /// The instances, in the order of the answer.
    ///
    /// # Errors
    /// The answer has no list at this location. The message has the answer as its subject: `it has
    /// no list …`.
    pub(crate) fn rows<'a>(&self, answer: &'a Json) -> Result<Vec<JsonRow<'a>>, String> {
        let list = self.at.get(answer);
        match list {
            Some(Json::Array(items)) => Ok(items
                .iter()
                .map(|value| JsonRow { name: None, value })
                .collect()),
            Some(value @ Json::Object(_)) if self.is_xml => Ok(vec![JsonRow { name: None, value }]),
            None if self.is_xml => match self.at.list_before(answer) {
                Some(list) => Err(format!("`{list}` is a list: its elements are `{list}[*]`")),
                None => Ok(Vec::new()),
            },
            Some(Json::Object(members)) if members.values().all(Json::is_object) => Ok(members
                .iter()
                .map(|(name, value)| JsonRow {
                    name: Some(name),
                    value,
                })
                .collect()),
            None if self.is_optional && !answer.is_null() && !self.is_in(answer) => {
                Err("it is not a JSON object".to_owned())
            }
            None if self.is_optional => match self.other_lists_in(answer).as_slice() {
                [] => Ok(Vec::new()),
                names => Err(format!(
                    "the list is `{}` instead of `{}`",
                    names.join("`, `"),
                    self.at
                )),
            },
            None => Err(match self.other_lists_in(answer).as_slice() {
                [] => format!("it has no list `{}`", self.at),
                names => format!("it has no list `{}`, but `{}`", self.at, names.join("`, `")),
            }),
            Some(_) => Err(format!("its `{}` is not a list of objects", self.at)),
        }
    }

    /// The instance at an index of [`RowsRule::rows`].
    pub(crate) fn row<'a>(&self, answer: &'a Json, index: usize) -> Option<JsonRow<'a>> {
        match self.at.get(answer)? {
            Json::Array(items) => items.get(index).map(|value| JsonRow { name: None, value }),
            value if self.is_xml => (index == 0).then_some(JsonRow { name: None, value }),
            Json::Object(members) => members.iter().nth(index).map(|(name, value)| JsonRow {
                name: Some(name),
                value,
            }),
            _ => None,
        }
    }

    /// Whether the answer has the kind of value that the path begins with.
    fn is_in(&self, answer: &Json) -> bool {
        if self.at.begins_in_array() {
            answer.is_array()
        } else {
            answer.is_object()
        }
    }

    /// The members of an answer that are lists, and that the path does not lead through.
    fn other_lists_in<'a>(&self, answer: &'a Json) -> Vec<&'a str> {
        let members = answer.as_object().into_iter().flatten();
        let lists = members
            .filter(|(_, value)| value.is_array())
            .map(|(name, _)| name.as_str());
        lists.filter(|name| !self.at.begins_with(name)).collect()
    }

    /// The instances, also of devices that print a list with one element without the list.
    ///
    /// # Errors
    /// As [`RowsRule::rows`].
    pub(super) fn printed_rows<'a>(&self, answer: &'a Json) -> Result<Vec<JsonRow<'a>>, String> {
        if let Some(value @ Json::Object(members)) = self.at.get(answer)
            && self.at != FieldPath::default()
            && !members.values().all(Json::is_object)
        {
            return Ok(vec![JsonRow { name: None, value }]);
        }
        let mut rows = self.rows(answer)?;
        // `ip -j` prints `{}` for elements that its filters omit.
        let is_empty = |row: &JsonRow<'_>| row.value.as_object().is_some_and(Map::is_empty);
        rows.retain(|row| row.name.is_some() || !is_empty(row));
        Ok(rows)
    }

    /// Whether an object may lack the list.
    pub(crate) fn is_missing_in(&self, object: &Json) -> bool {
        self.is_optional && object.is_object() && self.at.get(object).is_none()
    }

    /// Adds the rows of another answer.
    pub(crate) fn append(&self, all: &mut Json, mut other: Json) {
        let more = self.at.get_or_insert(&mut other).take();
        match (self.at.get_or_insert(all), more) {
            (Json::Array(items), Json::Array(more)) => items.extend(more),
            (Json::Object(members), Json::Object(more)) => members.extend(more),
            (list, more) if list.is_null() => *list = more,
            _ => {}
        }
    }

    /// The list in a field of another answer, which may lack it.
    pub(super) fn below(&self, field: &FieldPath) -> Self {
        Self {
            at: field.join(&self.at),
            is_optional: true,
            ..self.clone()
        }
    }

    /// The rule with the fields that name a row.
    pub(super) fn named(mut self, names: Vec<FieldPath>) -> Self {
        self.names = names;
        self
    }

    /// The texts of the fields that name a row.
    pub(super) fn names_of(&self, row: &Json) -> Vec<String> {
        let names = self.names.iter();
        names
            .filter_map(|name| scalar_text(name.get(row)?))
            .collect()
    }

    /// The path of the list in the answer.
    pub(crate) fn location(&self) -> &FieldPath {
        &self.at
    }

    /// The path of a row that [`RowsRule::rows`] returned with this index.
    pub(crate) fn path_of(&self, index: usize, row: JsonRow<'_>) -> FieldPath {
        match row.name {
            Some(name) => self.at.join(&FieldPath::of(name)),
            None => self.at.join(&FieldPath::element(index)),
        }
    }

    /// The path of a row that is added to a list of this length, or to a map.
    pub(crate) fn path_of_new(&self, count: usize, name: Option<&str>) -> FieldPath {
        let row = name.map_or_else(|| FieldPath::element(count), FieldPath::of);
        self.at.join(&row)
    }

    /// The list of an answer, created if it is missing.
    pub(crate) fn get_or_insert<'a>(&self, answer: &'a mut Json) -> &'a mut Json {
        let list = self.at.get_or_insert(answer);
        if self.is_xml && list.is_object() {
            *list = Json::Array(vec![list.take()]);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(at: &str, is_optional: bool) -> RowsRule {
        RowsRule::json(at.parse().expect("a path"), is_optional)
    }

    #[test]
    fn rows_are_those_of_an_array_or_the_members_of_a_map() {
        let names = |at: &str, answer: Json| -> Vec<(Option<String>, Json)> {
            let rows = rule(at, false);
            let rows = rows.rows(&answer).expect("a list");
            rows.iter()
                .map(|row| (row.name.map(str::to_owned), row.value.clone()))
                .collect()
        };
        assert_eq!(
            names("results", json!({"results": [{"a": 1}]})),
            [(None, json!({"a": 1}))]
        );
        assert_eq!(names(".", json!([{"a": 1}])), [(None, json!({"a": 1}))]);
        assert_eq!(
            names("m:vlan.m:list", json!({"m:vlan": {"m:list": [{"id": 1}]}})),
            [(None, json!({"id": 1}))]
        );
        assert_eq!(
            names("servers", json!({"servers": {"web": {"a": 1}}})),
            [(Some("web".to_owned()), json!({"a": 1}))]
        );
    }

    #[test]
    fn rows_report_an_answer_without_the_list() {
        let cases = [
            (
                "results",
                false,
                json!({}),
                Some("it has no list `results`"),
            ),
            (
                "results",
                false,
                json!({"items": []}),
                Some("it has no list `results`, but `items`"),
            ),
            (
                "results",
                false,
                json!({"results": "x"}),
                Some("its `results` is not a list of objects"),
            ),
            (
                ".",
                false,
                json!({"error": "x"}),
                Some("its `.` is not a list of objects"),
            ),
            (".", false, Json::Null, Some("it has no list `.`")),
            ("items", true, json!({"kind": "x"}), None),
            ("items[0].list", true, json!({"items": [{}]}), None),
            ("items", true, json!([1]), Some("it is not a JSON object")),
            (".", true, json!(null), None),
            (
                ".",
                true,
                json!("x"),
                Some("its `.` is not a list of objects"),
            ),
            ("[0].items", true, json!([{}]), None),
            (
                "[0].items",
                true,
                json!({}),
                Some("it is not a JSON object"),
            ),
            (
                "items",
                true,
                json!({"results": []}),
                Some("the list is `results` instead of `items`"),
            ),
        ];
        for (at, is_optional, answer, expected) in cases {
            let rule = rule(at, is_optional);
            let error = rule.rows(&answer).err();
            assert_eq!(error.as_deref(), expected, "{at} in {answer}");
        }
    }
}
