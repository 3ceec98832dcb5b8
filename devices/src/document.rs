//! Strict TOML reader: unknown keys are errors with their position.
//!
//! A [`Table`] records the keys that were read. [`Table::finish`] reports all others and suggests
//! the most similar known key. The keys of definitions are declared with their kinds of values, from
//! which their JSON Schema is made ([`ValueShape`]). Errors are collected in [`Findings`].
//! Definitions and inventories use it; it has no knowledge of either.

mod findings;
mod item;
mod key_values;
mod keys;
mod placeholders;
mod shape;

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::suggest;
pub use findings::Findings;
pub use item::Item;
pub(crate) use key_values::{At, Named, Template, read as read_value};
pub(crate) use keys::{
    KeyValue, SectionForm, SectionKey, SectionKeys, keys, sections, text_with, word, word_values,
};
pub(crate) use placeholders::DEVICE_PLACEHOLDER;
pub(crate) use shape::ValueKind;
pub(crate) use shape::ValueShape;

/// Parses a file and passes its root table to `read`. After a syntax error the rest of the file is
/// still read.
pub fn read<T>(findings: &Findings, read: impl FnOnce(&Table<'_>) -> T) -> T {
    read(&Document::parse(findings).root())
}

/// A parsed file that can be read several times.
pub(crate) struct Document<'a> {
    findings: &'a Findings,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    /// Parses a file; its findings include syntax errors.
    pub(crate) fn parse(findings: &'a Findings) -> Self {
        Self::parse_until(findings, findings.source.text.len())
    }

    /// As [`Document::parse`], for the part of the file before a byte position.
    pub(crate) fn parse_until(findings: &'a Findings, end: usize) -> Self {
        let (root, errors) = DeTable::parse_recoverable(&findings.source.text[..end]);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            findings.error("toml-syntax", span, error.message().to_lowercase());
        }
        Self { findings, root }
    }

    /// The root table, with all keys unread.
    pub(crate) fn root(&self) -> Table<'_> {
        let span = self.root.span();
        Table {
            findings: self.findings,
            entries: self.root.get_ref(),
            span,
            path: String::new(),
            known_keys: RefCell::default(),
            read_values: RefCell::default(),
            base: None,
        }
    }
}

/// A table whose keys must all be read.
pub struct Table<'a> {
    /// Receives the errors found while the table is read.
    pub findings: &'a Findings,
    entries: &'a DeTable<'a>,
    /// Position of the table, for messages about missing keys.
    pub(crate) span: Range<usize>,
    /// Its header in the file, `attr.vrf`; empty for the root.
    pub path: String,
    /// The keys that the loader knows, each with a line end, for suggestions.
    known_keys: RefCell<String>,
    /// The values of this table itself that were read.
    read_values: RefCell<Vec<&'a Spanned<DeValue<'a>>>>,
    /// The base table that this one extends, see [`Table::over`].
    base: Option<Box<Table<'a>>>,
}

impl<'a> Table<'a> {
    /// Merges this table over a base: missing keys come from the base, and sub-tables are merged in
    /// the same way. [`Table::finish`] reports only keys of this table; keys of the base are
    /// reported when the base itself is read.
    #[must_use]
    pub(crate) fn over(mut self, base: Table<'a>) -> Self {
        self.base = Some(Box::new(base));
        self
    }

    /// The value of a key; marks the key as known.
    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        let below = self.base.as_ref().and_then(|base| base.get(key));
        match self.get_own(key) {
            Some(item) => Some(Item {
                base: below.map(Box::new),
                ..item
            }),
            None => below,
        }
    }

    /// Whether a value stands in this table itself, not in its base.
    pub(crate) fn is_own(&self, item: &Item<'_>) -> bool {
        let mut values = self.entries.values();
        values.any(|value| std::ptr::eq(value.get_ref(), item.value))
    }

    /// The value of a key of this table itself, not of its base; marks the key as known.
    pub(crate) fn get_own(&self, key: &str) -> Option<Item<'a>> {
        self.known_keys.borrow_mut().extend([key, "\n"]);
        let own = self.value(key)?;
        self.read_values.borrow_mut().push(own);
        Some(self.item(key, own))
    }

    /// The value of a key of this table itself.
    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        // Most tables are small, and most keys are absent: a hash would take longer.
        if self.entries.len() > 16 {
            return self.entries.get(key);
        }
        let mut entries = self.entries.iter();
        let found = entries.find(|(name, _)| name.get_ref().as_ref() == key);
        found.map(|(_, value)| value)
    }

    /// All entries in the order of the file, for tables whose keys are names. Marks all keys as
    /// known.
    pub fn entries(&self) -> Vec<(String, Range<usize>, Item<'a>)> {
        let mut entries = match &self.base {
            Some(base) => base.entries(),
            None => Vec::new(),
        };
        for (name, value) in self.entries {
            let key = name.get_ref().to_string();
            self.read_values.borrow_mut().push(value);
            let mut item = self.item(&key, value);
            match entries.iter_mut().find(|(other, ..)| *other == key) {
                Some(entry) => {
                    item.base = Some(Box::new(entry.2.clone()));
                    *entry = (key, name.span(), item);
                }
                None => entries.push((key, name.span(), item)),
            }
        }
        entries
    }

    /// The keys that start with `prefix.`, or the entries of the sub-table `prefix`: in TOML
    /// `set.true = …` and `[x.set]` are equivalent.
    pub fn table(&self, key: &str) -> Option<Table<'a>> {
        self.get(key)?.table()
    }

    /// The string of a key. `None` if it is missing, or is no string, which is reported.
    pub fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.string()
    }

    /// The boolean of a key. `None` if it is missing, or is no boolean, which is reported.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.bool()
    }

    /// The path of a file or a directory. A relative one begins at `directory`.
    pub fn file_path(&self, key: &str, directory: &Path) -> Option<PathBuf> {
        Some(directory.join(self.string(key)?))
    }

    /// A list of strings, or a single string.
    pub fn strings(&self, key: &str) -> Option<Vec<String>> {
        self.get(key)?.strings()
    }

    /// The value of a required key. A missing key is reported.
    pub(crate) fn required(&self, key: &str) -> Option<Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            self.missing(key);
        }
        item
    }

    /// The string of a required key.
    pub(crate) fn required_string(&self, key: &str) -> Option<String> {
        self.required(key)?.string()
    }

    /// The value of a declared key, or its default. `None`: it is wrong or missing, which is reported.
    pub(crate) fn declared<T: KeyValue>(
        &self,
        key: &str,
        absent: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        if let Some(item) = self.get(key) {
            return T::read(&item);
        }
        let absent = absent();
        if absent.is_none() {
            self.missing(key);
        }
        absent
    }

    /// Reports that a key is missing.
    pub fn missing(&self, key: &str) {
        self.findings.error(
            "missing-key",
            self.span.clone(),
            format!("key `{key}` is missing{}", self.in_table()),
        );
    }

    /// The name of the table in messages; nothing for the root.
    fn in_table(&self) -> String {
        match self.path.as_str() {
            "" => String::new(),
            path => format!(" in [{path}]"),
        }
    }

    /// Reports all unread keys. Returns whether there are none.
    pub fn finish(&self) -> bool {
        self.finish_with(&[])
    }

    /// As [`Table::finish`]. `synonyms` are other words for keys, which are suggested first.
    pub fn finish_with(&self, synonyms: &[(&str, &str)]) -> bool {
        let read_values = self.read_values.borrow();
        let mut are_known = true;
        for (name, value) in self.entries {
            let key = name.get_ref().as_ref();
            if read_values.iter().any(|read| std::ptr::eq(*read, value)) {
                continue;
            }
            are_known = false;
            if !matches!(value.get_ref(), DeValue::Boolean(_)) {
                self.findings.hide(value.span());
            }
            let known_keys = self.known_keys.borrow();
            let names = known_keys.lines();
            let mut valid: Vec<_> = names.clone().map(|key| format!("`{key}`")).collect();
            valid.sort();
            valid.dedup();
            let synonym = synonyms.iter().find(|(other, _)| *other == key);
            let help = match synonym {
                Some((_, known)) => format!("did you mean `{known}`?"),
                None => suggest(key, names, format!("known keys: {}", valid.join(", "))),
            };
            self.findings.error_with_help(
                "unknown-key",
                name.span(),
                format!("unknown key `{key}`{}", self.in_table()),
                help,
            );
        }
        are_known
    }

    fn item(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Item<'a> {
        let path = if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        };
        Item {
            findings: self.findings,
            value: value.get_ref(),
            span: value.span(),
            path,
            base: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    fn findings_of(
        text: &str,
        ask: impl FnOnce(&Table<'_>),
    ) -> Vec<(String, Option<String>, (usize, usize))> {
        let source = Source::new("t.toml", text);
        let findings = Findings::new(&source);
        read(&findings, ask);
        findings
            .into_list()
            .into_iter()
            .map(|found| {
                let position = source.position(found.labels[0].span.start);
                (found.message, found.help, position)
            })
            .collect()
    }

    #[test]
    fn document_reports_unread_keys_with_a_suggestion() {
        let found = findings_of(
            "[attr.vrf]\nexlusion = [\"2960\"]\nline = \"x\"\n",
            |root| {
                let attr = root.table("attr").expect("there");
                let vrf = attr.table("vrf").expect("there");
                vrf.string("line");
                vrf.get("exclusion");
                vrf.finish();
                attr.finish();
                root.finish();
            },
        );
        assert_eq!(
            found,
            [(
                "unknown key `exlusion` in [attr.vrf]".to_owned(),
                Some("did you mean `exclusion`?".to_owned()),
                (2, 1)
            )]
        );
    }

    #[test]
    fn document_reports_several_errors() {
        let found = findings_of("schema = \"1\"\nrank = \"x\"\n", |root| {
            root.get("schema").and_then(|item| item.integer());
            root.get("rank").and_then(|item| item.integer());
            root.required_string("type");
            root.finish();
        });
        let messages: Vec<_> = found.iter().map(|(message, ..)| message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "`schema` must be an integer, not string",
                "`rank` must be an integer, not string",
                "key `type` is missing"
            ]
        );
    }

    #[test]
    fn document_overlay_changes_only_its_keys() {
        let text = "[low.a]\nx = 1\ny = 2\n[low.b]\nz = 3\n[high.a]\nx = 9\nw = 0\n";
        let found = findings_of(text, |root| {
            let low = root.table("low").expect("there");
            let both = root.table("high").expect("there").over(low);
            let a = both.table("a").expect("there");
            let number = |key: &str| a.get(key).and_then(|item| item.integer());
            assert_eq!((number("x"), number("y")), (Some(9), Some(2)));
            a.finish();
            let names: Vec<_> = both.entries().into_iter().map(|(name, ..)| name).collect();
            assert_eq!(names, ["a", "b"]);
            let b = both.table("b").expect("there");
            assert_eq!(b.get("z").and_then(|item| item.integer()), Some(3));
            both.finish();
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "unknown key `w` in [high.a]");
    }

    #[test]
    fn document_syntax_error_has_a_position() {
        let found = findings_of("a = 1\na = 2\n", |_| ());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].2, (2, 1));
    }
}
