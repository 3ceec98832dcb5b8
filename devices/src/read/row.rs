//! Texts by name: a row of a table by its columns, a stanza by its keys.

use std::ops::Index;
use std::sync::Arc;

/// A row or a stanza in the order of the device. Lookups are linear: a row has few texts, and most
/// are never used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(Vec<(Arc<str>, String)>);

impl Row {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(column, _)| *column == name)
            .map(|(_, text)| text)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (&**name, text.as_str()))
    }

    pub(crate) fn first(&self) -> Option<&str> {
        self.0.first().map(|(_, text)| text.as_str())
    }

    /// The last added text.
    pub(crate) fn last_mut(&mut self) -> Option<&mut String> {
        self.0.last_mut().map(|(_, text)| text)
    }

    /// Adds a text unless the name exists.
    pub(crate) fn add(&mut self, name: &str, text: &str) {
        if self.get(name).is_none() {
            self.0.push((name.into(), text.to_owned()));
        }
    }
}

impl FromIterator<(Arc<str>, String)> for Row {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, String)>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl Index<&str> for Row {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.get(name).expect("the row has a text of this name")
    }
}
