//! Cells by name: a row of a table by its columns, a stanza by its keys, a JSON object by its
//! fields.

use std::borrow::Cow;
use std::ops::Index;
use std::sync::Arc;

use serde_json::Value as Json;

use super::field_path::scalar_text;

/// A row or a stanza in the order of the device. Lookups are linear: a row has few cells, and most
/// are never used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(Vec<(Arc<str>, CellText)>);

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum CellText {
    /// One text.
    One(String),
    /// The elements of a JSON list.
    List(Vec<String>),
}

impl Row {
    pub(crate) fn get(&self, name: &str) -> Option<&CellText> {
        self.iter()
            .find(|(column, _)| *column == name)
            .map(|(_, cell)| cell)
    }

    /// The text of a cell; empty without the cell.
    pub(crate) fn text(&self, name: &str) -> Cow<'_, str> {
        self.get(name).map(CellText::text).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &CellText)> {
        self.0.iter().map(|(name, cell)| (&**name, cell))
    }

    pub(crate) fn first(&self) -> Option<&CellText> {
        self.0.first().map(|(_, cell)| cell)
    }

    /// Continues the last added text.
    pub(crate) fn continue_last(&mut self, text: &str) {
        if let Some((_, CellText::One(last))) = self.0.last_mut() {
            last.push_str(text);
        }
    }

    /// Adds a text unless the name exists.
    pub(crate) fn add(&mut self, name: &str, text: &str) {
        if self.get(name).is_none() {
            self.0.push((name.into(), CellText::One(text.to_owned())));
        }
    }
}

impl CellText {
    /// The content of a JSON value; `None` for `null`. An object, and a list with other elements
    /// than scalars, is its JSON text.
    pub(crate) fn of_json(value: &Json) -> Option<Self> {
        let elements = value.as_array().and_then(|items| {
            let texts = items.iter().map(scalar_text);
            texts.collect::<Option<Vec<String>>>()
        });
        match elements {
            Some(elements) => Some(CellText::List(elements)),
            None if value.is_null() => None,
            None => Some(CellText::One(
                scalar_text(value).unwrap_or_else(|| value.to_string()),
            )),
        }
    }

    /// The text; elements of a list are separated by blanks.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            CellText::One(text) => Cow::Borrowed(text),
            CellText::List(elements) => Cow::Owned(elements.join(" ")),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            CellText::One(text) => text.is_empty(),
            CellText::List(elements) => elements.is_empty(),
        }
    }
}

impl FromIterator<(Arc<str>, CellText)> for Row {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, CellText)>>(cells: I) -> Self {
        Self(cells.into_iter().collect())
    }
}

impl FromIterator<(Arc<str>, String)> for Row {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, String)>>(texts: I) -> Self {
        let texts = texts.into_iter();
        texts
            .map(|(name, text)| (name, CellText::One(text)))
            .collect()
    }
}

impl Index<&str> for Row {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.get(name) {
            Some(CellText::One(text)) => text,
            _ => panic!("the row has a text of this name"),
        }
    }
}
