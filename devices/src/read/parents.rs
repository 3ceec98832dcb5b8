//! A read of one collection for each parent, such as the servers of each backend.
//!
//! The parents are listed first. The answers are one JSON list, so that they are rows in the elements of
//! an outer list: `[{"parent": {"backend": "web"}, "answer": …}]`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value as Json};

use super::ReadRequest;
use super::answer_rule::AnswerRule;
use super::field_path::{FieldPath, scalar_text};
use super::rows::RowsRule;

/// The field with the names of the parent.
const PARENT: &str = "parent";
/// The field with the answer for its collection.
const ANSWER: &str = "answer";

/// How the collections of all parents are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentRead {
    /// The request that lists the parents.
    pub list: Box<ReadRequest>,
    /// The parents in its answer.
    pub(crate) rows: RowsRule,
    /// The names of a parent and their fields.
    pub(crate) key: Vec<(String, FieldPath)>,
    /// What a valid answer for one collection contains.
    pub answer: AnswerRule,
}

/// A parent: its names, in the order of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parent(Vec<(String, String)>);

impl ParentRead {
    /// The parents in the answer to the list.
    ///
    /// # Errors
    /// It has no list, or a parent without a name.
    pub(crate) fn parents(&self, list: &str) -> Result<Vec<Parent>, String> {
        let json: Json = serde_json::from_str(list).unwrap_or_default();
        let rows = self.rows.rows(&json)?.into_iter();
        let parents = rows.map(|row| {
            let names = self.key.iter().map(|(name, field)| {
                let text = field.get(row.value).and_then(scalar_text);
                let text = text.ok_or_else(|| format!("an object has no `{field}`"))?;
                Ok((name.clone(), text))
            });
            Ok(Parent(names.collect::<Result<_, String>>()?))
        });
        parents.collect()
    }
}

impl Parent {
    /// The path of its collection: `{name}` is a name of the parent.
    pub(crate) fn path(&self, template: &str) -> String {
        let names = self.0.iter();
        names.fold(template.to_owned(), |path, (name, text)| {
            path.replace(&format!("{{{name}}}"), &encode_segment(text))
        })
    }

    /// The element of the composed answer; `None`: the device has no collection for the parent.
    pub(crate) fn element(self, answer: Option<&str>) -> Json {
        let names = self.0.into_iter().map(|(name, text)| (name, text.into()));
        let mut element = Map::new();
        element.insert(PARENT.to_owned(), Json::Object(names.collect()));
        if let Some(answer) = answer {
            let json = serde_json::from_str(answer).unwrap_or_default();
            element.insert(ANSWER.to_owned(), json);
        }
        Json::Object(element)
    }
}

/// The field of a name of the parent in an element of the composed answer.
pub(crate) fn name_field(name: &str) -> FieldPath {
    FieldPath::of(PARENT).join(&FieldPath::of(name))
}

/// The field of the answer for one collection.
pub(crate) fn answer_field() -> FieldPath {
    FieldPath::of(ANSWER)
}

/// Characters that are percent-encoded in a segment of a URL: all that are not unreserved.
pub(crate) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A text as one segment of a URL.
pub(crate) fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}
