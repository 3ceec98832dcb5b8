//! Literal Ruby values with the lines of their keys.

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ruby {
    Text(String),
    Symbol(String),
    /// The source text.
    Number(String),
    Bool(bool),
    Nil,
    List(Vec<Ruby>),
    Hash(Hash),
    /// The text between the delimiters, without flags.
    Regex(String),
    /// A value that is not a literal.
    Unread,
}

/// A hash in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hash {
    /// Line of its first key, from 1.
    pub(crate) line: usize,
    pub(crate) entries: Vec<RubyEntry>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RubyEntry {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) value: Ruby,
}

impl Hash {
    pub(crate) fn get(&self, key: &str) -> Option<&RubyEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The text of a string or symbol.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value {
            Ruby::Text(text) | Ruby::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// The strings and symbols of a list.
    pub(crate) fn words(&self, key: &str) -> Vec<String> {
        let Some(RubyEntry {
            value: Ruby::List(items),
            ..
        }) = self.get(key)
        else {
            return Vec::new();
        };
        items
            .iter()
            .filter_map(|item| match item {
                Ruby::Text(text) | Ruby::Symbol(text) => Some(text.clone()),
                _ => None,
            })
            .collect()
    }
}
