//! The configuration as a tree of lines.
//!
//! Invariant: the lines of a block are in the order in which the device prints them (by rule, then by the line's own
//! key, then by arrival), and no two have the same identity.

/// Lines of one level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Block {
    entries: Vec<Entry>,
}

/// A line, and the lines of its submode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Index of its rule, which determines the order.
    pub rule: usize,
    /// Order among lines of one rule.
    pub sort: Vec<u32>,
    /// Key for replacement and removal.
    pub identity: String,
    /// The printed text.
    pub text: String,
    /// Lines of the submode, if it has one.
    pub block: Option<Block>,
}

impl Entry {
    /// A line without submode and without order among lines of its rule.
    pub(super) fn line(rule: usize, identity: impl Into<String>, text: impl Into<String>) -> Self {
        Entry {
            rule,
            sort: Vec::new(),
            identity: identity.into(),
            text: text.into(),
            block: None,
        }
    }
}

impl Block {
    /// All lines in order.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The line with this identity.
    pub(super) fn find(&self, identity: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.identity == identity)
    }

    /// The text after the identity of that line: `10` for `switchport access vlan`.
    pub(super) fn value(&self, identity: &str) -> Option<&str> {
        let rest = self.find(identity)?.text.strip_prefix(identity)?;
        Some(rest.trim_start())
    }

    /// The line with this identity, to change.
    pub(super) fn find_mut(&mut self, identity: &str) -> Option<&mut Entry> {
        self.entries
            .iter_mut()
            .find(|entry| entry.identity == identity)
    }

    /// Inserts a line. It replaces the line with the same identity.
    pub(super) fn set(&mut self, entry: Entry) {
        if let Some(old) = self.find_mut(&entry.identity) {
            *old = entry;
            return;
        }
        let index = self
            .entries
            .partition_point(|other| (other.rule, &other.sort) <= (entry.rule, &entry.sort));
        self.entries.insert(index, entry);
    }

    /// Removes the line with this identity.
    pub(super) fn remove(&mut self, identity: &str) -> Option<Entry> {
        let index = self
            .entries
            .iter()
            .position(|entry| entry.identity == identity)?;
        Some(self.entries.remove(index))
    }

    /// Removes the lines that do not satisfy the predicate.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
    }

    /// All lines, to change their texts.
    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut()
    }
}
