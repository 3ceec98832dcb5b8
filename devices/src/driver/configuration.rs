//! The configuration in a state, and the difference between two states.

use super::Driver;
use super::implementation::HiddenFromDiff;
use crate::change::Desired;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::operation::Operation;
use crate::predict::changed_lines::changed_lines;
use crate::predict::{self, tree_difference::tree_difference};
use crate::read::indent::{Node, Tree};
use crate::read::nested_rows::NestedRows;
use crate::read::{CONFIG, State};
use crate::secret::MASK;
use crate::secret_mask::SecretMask;

/// Between a block and a line in it.
const SEPARATOR: &str = " / ";

/// The lines in which two configurations differ, each with the blocks around it: `interface Vlan10 / shutdown`.
/// Secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationChange {
    /// Lines of the first one only.
    pub removed: Vec<String>,
    /// Lines of the second one only.
    pub added: Vec<String>,
}

impl ConfigurationChange {
    /// A line without the blocks around it.
    pub fn innermost(line: &str) -> &str {
        line.rsplit(SEPARATOR).next().unwrap_or(line)
    }

    /// Whether a line is one of those that were added, in the same or another spelling. Masked parts are equal.
    pub fn has_added(&self, line: &str) -> bool {
        let is_spelling = |one: &str, other: &str| {
            is_masked_form(one, other) || has_words(one, other) || has_words(other, one)
        };
        let parts: Vec<&str> = line.split(SEPARATOR).collect();
        let mut added = self.added.iter().map(|one| one.split(SEPARATOR));
        added.any(|one| {
            let mut pairs = one.clone().zip(&parts);
            one.count() == parts.len() && pairs.all(|(one, other)| is_spelling(one, other))
        })
    }
}

/// Whether a line with masked parts can stand for another line.
fn is_masked_form(masked: &str, line: &str) -> bool {
    let mut parts = masked.split(MASK);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

/// Whether a line has these words in this order, in any case. Releases of IOS differ in the hyphens: `ip domain-lookup`
/// is `ip domain lookup`.
pub(crate) fn has_words(line: &str, words: &str) -> bool {
    let parts = |text: &str| text.to_ascii_lowercase().replace('-', " ");
    if parts(line)
        .split_whitespace()
        .eq(parts(words).split_whitespace())
    {
        return true;
    }
    let mut all = line.split_whitespace();
    let mut words = words.split_whitespace();
    words.all(|word| all.any(|other| other.eq_ignore_ascii_case(word)))
}

impl Driver {
    /// Whether the configuration difference has the changes of a type.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn supports_diff(
        &self,
        model: &TypeModel,
        state: &State,
    ) -> Result<(), HiddenFromDiff> {
        self.implementation(model)
            .map_or(Ok(()), |implementation| implementation.supports_diff(state))
    }

    /// The configuration in a state as one tree: lines, objects, and rows as the lines that write
    /// them, of the types that this driver has used. It may contain secrets.
    pub(crate) fn configuration(&self, state: &State) -> Tree {
        let used = self.used_implementations();
        let reads = used.flat_map(|one| one.reads(None));
        let mut rows: IndexMap<String, NestedRows> = IndexMap::default();
        for read in reads {
            if let Some(own) = read.answer.rows() {
                // The outer objects contain the inner ones of another type.
                let rule = rows.entry(read.name).or_insert_with(|| own.clone());
                if own.depth() < rule.depth() {
                    *rule = own.clone();
                }
            }
        }
        let documents = self.platform.documents.keys().map(String::as_str);
        let documents: Vec<&str> = documents.collect();
        let mut tree = predict::configuration(state, &rows, &documents);
        let used = self.used_implementations();
        let of_rows = used.filter(|one| one.supports_diff(state).is_ok());
        tree.nodes
            .extend(of_rows.flat_map(|one| one.lines_of_rows(state)));
        tree
    }

    /// The difference between two states as a unified diff of the configuration. Secrets are
    /// masked. Empty if there is no difference.
    pub fn config_diff(&self, before: &State, after: &State) -> String {
        let trees = [before, after].map(|state| self.configuration(state));
        self.masked_difference([before, after], &trees)
    }

    /// What one state lacks of another, and the reverse, as [`Driver::config_diff`]. The order of
    /// lines is not compared.
    pub fn content_diff(&self, before: &State, after: &State) -> String {
        let trees = [before, after].map(|state| self.configuration(state).sorted());
        self.masked_difference([before, after], &trees)
    }

    /// Whether the configuration has a line with its blocks, as in [`ConfigurationChange`].
    pub(crate) fn has_line(&self, state: &State, line: &str) -> bool {
        let Some(tree) = state.tree(CONFIG) else {
            return false;
        };
        let mut nodes = &tree.nodes;
        line.split(SEPARATOR).all(|text| {
            let found = nodes.iter().find(|node| is_masked_form(text, &node.text));
            nodes = found.map_or(nodes, |node| &node.children.nodes);
            found.is_some()
        })
    }

    /// The state without lines that the types of changes have added before their own: they stay.
    pub(crate) fn without_needed_lines<'m>(
        &self,
        models: impl Iterator<Item = &'m TypeModel>,
        (before, after): (&State, &State),
    ) -> State {
        let implementations = models.filter_map(|model| self.implementation(model).ok());
        let mut needed: Vec<String> = implementations
            .flat_map(|one| one.lines_that_stay())
            .collect();
        let old = before.tree(CONFIG).map_or(&[][..], |tree| &tree.nodes);
        needed.retain(|line| old.iter().all(|node| node.text != *line));
        let mut state = after.clone();
        if !needed.is_empty()
            && let Some(tree) = state.tree_mut(CONFIG)
        {
            let is_needed =
                |node: &Node| node.children.nodes.is_empty() && needed.contains(&node.text);
            tree.nodes.retain(|node| !is_needed(node));
        }
        state
    }

    /// The lines and blocks of the configuration that operations change without an effect on its
    /// prediction.
    pub fn lines_read_elsewhere(&self, model: &TypeModel, operations: &[Operation]) -> Vec<String> {
        self.implementation(model)
            .map_or_else(|_| Vec::new(), |one| one.lines_read_elsewhere(operations))
    }

    /// The lines that go with the removal of a block and that its type does not read, each with the types
    /// that do. Secrets are masked.
    pub(crate) fn removed_with(&self, desired: &Desired, state: &State) -> Vec<String> {
        let Ok(implementation) = self.implementation(&desired.model) else {
            return Vec::new();
        };
        let headers = implementation.block_of(desired, state);
        let mut nodes = state
            .tree(CONFIG)
            .map_or(&[][..], |tree| tree.nodes.as_slice());
        let mut path = Vec::new();
        for header in &headers {
            let Some(node) = nodes.iter().find(|node| node.text == *header) else {
                return Vec::new();
            };
            path.push(node);
            nodes = &node.children.nodes;
        }
        if path.is_empty() {
            return Vec::new();
        }
        let types = self
            .platform
            .type_drivers()
            .map(|definition| &definition.model);
        let others: Vec<_> = types
            .filter(|model| model.name != desired.model.name)
            .filter_map(|model| Some((&model.name, self.implementation(model).ok()?)))
            .collect();
        let sent = SecretMask::default();
        state.secrets().for_each(|secret| sent.add(secret));
        let positions = self.platform.protocol().secrets();
        let mut lines = Vec::new();
        for node in nodes {
            let path: Vec<&Node> = path.iter().copied().chain([node]).collect();
            if implementation.reads_line(CONFIG, &path) {
                continue;
            }
            let readers = others.iter().filter(|(_, of)| of.reads_line(CONFIG, &path));
            let readers: Vec<&str> = readers.map(|(name, _)| name.as_str()).collect();
            let line = positions.apply(&sent.apply_to_words(&node.text));
            lines.push(if readers.is_empty() {
                format!("`{line}`")
            } else {
                format!("`{line}` ({})", readers.join(", "))
            });
        }
        lines
    }

    /// The lines that two states do not have in common, with their blocks. The order of lines is not compared.
    pub fn changed_lines(&self, before: &State, after: &State) -> ConfigurationChange {
        let trees = [before, after].map(|state| self.configuration(state));
        let sent = secrets_sent([before, after]);
        let mut change = ConfigurationChange::default();
        for line in changed_lines(&trees[0], &trees[1]) {
            let texts = line.texts().map(|text| self.mask_line(text, &sent));
            let text = texts.collect::<Vec<_>>().join(SEPARATOR);
            if line.is_added {
                change.added.push(text);
            } else {
                change.removed.push(text);
            }
        }
        change
    }

    /// The difference between the configurations of two states without their secrets.
    fn masked_difference(&self, states: [&State; 2], [before, after]: &[Tree; 2]) -> String {
        let sent = secrets_sent(states);
        tree_difference(before, after, |line| self.mask_line(line, &sent))
    }

    fn mask_line(&self, line: &str, sent: &SecretMask) -> String {
        self.masked_text(&sent.apply_to_words(line))
    }
}

/// The secrets in predicted operations.
fn secrets_sent(states: [&State; 2]) -> SecretMask {
    let sent = SecretMask::default();
    for state in states {
        state.secrets().for_each(|secret| sent.add(secret));
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_found_in_other_spellings() {
        let change = ConfigurationChange {
            added: vec![
                "no ip domain-lookup".to_owned(),
                "ntp server 192.0.2.1".to_owned(),
                "line con 0 / password •••• x".to_owned(),
            ],
            removed: Vec::new(),
        };
        for (line, is_added) in [
            ("no ip domain lookup", true),
            ("ntp server 192.0.2.1 prefer", true),
            ("ntp server 192.0.2.2", false),
            ("line con 0 / password s3cret x", true),
            ("line con 0 / password s3cret y", false),
            ("snmp-server community •••• RO", false),
            ("line con 0 / password s3cret x / more", false),
        ] {
            assert_eq!(change.has_added(line), is_added, "{line}");
        }
    }
}
