//! Edits of a YAML file that leave all other lines as they are, with their comments.
//!
//! A file of desired state is maps of maps, as blocks or in braces. Lists and texts of several lines are values that
//! are replaced as one.

mod reader;

use std::ops::Range;

use reader::{YamlReader, comment_start};

/// A file that is edited.
#[derive(Clone, Debug)]
pub(crate) struct YamlText {
    text: String,
}

/// A key with its value.
#[derive(Clone, Debug)]
struct YamlEntry {
    key: String,
    /// From the key to the end of the value.
    span: Range<usize>,
    /// Without the blanks before it; empty if there is none.
    value: Range<usize>,
    /// The entries of the value, if it is a map.
    entries: Vec<YamlEntry>,
    kind: YamlKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YamlKind {
    /// A map in lines of its own, with the indent of its keys.
    Block(usize),
    /// A map in braces.
    Flow,
    Other,
}

/// A path of keys.
type KeyPath<'a> = &'a [String];

impl YamlText {
    pub(crate) fn new(text: &str) -> Self {
        let mut text = text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Self { text }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the file has these keys.
    pub(crate) fn has(&self, path: KeyPath<'_>) -> bool {
        self.value(path).is_some()
    }

    /// The text of a value.
    pub(crate) fn value(&self, path: KeyPath<'_>) -> Option<&str> {
        let root = self.root();
        let found = find(&root, path);
        (found.len() == path.len()).then(|| &self.text[found[path.len() - 1].value.clone()])
    }

    /// The keys of the first value with this last key.
    pub(crate) fn path_of(&self, last: &str) -> Option<Vec<String>> {
        fn search(entries: &[YamlEntry], last: &str) -> Option<Vec<String>> {
            for entry in entries {
                if entry.key == last {
                    return Some(vec![entry.key.clone()]);
                }
                if let Some(mut path) = search(&entry.entries, last) {
                    path.insert(0, entry.key.clone());
                    return Some(path);
                }
            }
            None
        }
        let root = self.root();
        // Types and titles can have the same word as an attribute.
        root.iter().find_map(|type_entry| {
            type_entry.entries.iter().find_map(|title| {
                let path = search(&title.entries, last)?;
                let before = [type_entry.key.clone(), title.key.clone()];
                Some(before.into_iter().chain(path).collect())
            })
        })
    }

    /// The keys of a map.
    #[cfg(test)]
    fn keys(&self, path: KeyPath<'_>) -> Vec<String> {
        let root = self.root();
        let found = find(&root, path);
        let entries = match found.last() {
            Some(entry) if found.len() == path.len() => &entry.entries,
            None if path.is_empty() => &root,
            _ => return Vec::new(),
        };
        entries.iter().map(|entry| entry.key.clone()).collect()
    }

    /// Replaces a value, or adds it after the others.
    pub(crate) fn set(&mut self, path: KeyPath<'_>, value: &str) {
        let root = self.root();
        let found = find(&root, path);
        let rest = &path[found.len()..];
        let Some((entry, [])) = found.last().map(|entry| (*entry, rest)) else {
            return self.add(found.last().copied(), rest, value);
        };
        let gap = if entry.value.is_empty() { " " } else { "" };
        self.text
            .replace_range(entry.value.clone(), &format!("{gap}{value}"));
    }

    /// Adds keys below an entry, or at the end of the file.
    fn add(&mut self, parent: Option<&YamlEntry>, path: KeyPath<'_>, value: &str) {
        let Some(parent) = parent else {
            let text = match path {
                [first] => format!("{}: {value}\n", key_text(first)),
                [first, rest @ ..] => {
                    format!("{}:\n  {}\n", key_text(first), flow_text(rest, value))
                }
                [] => return,
            };
            self.text.push_str(&text);
            return;
        };
        let text = flow_text(path, value);
        match parent.kind {
            YamlKind::Block(indent) => {
                let at = self.line_end(parent.span.end);
                let line = format!("{}{text}\n", " ".repeat(indent));
                self.text.insert_str(at, &line);
            }
            YamlKind::Flow => {
                let at = parent.value.end - 1;
                let inner = self.text[parent.value.start + 1..at].trim_end();
                let at = parent.value.start + 1 + inner.len();
                let comma = match inner.trim() {
                    "" => "",
                    inner if inner.ends_with(',') => " ",
                    _ => ", ",
                };
                self.text.insert_str(at, &format!("{comma}{text}"));
            }
            YamlKind::Other => {
                let gap = if parent.value.is_empty() { " " } else { "" };
                let text = format!("{gap}{{{text}}}");
                self.text.replace_range(parent.value.clone(), &text);
            }
        }
    }

    /// Removes a key. A map of resources that has no other key is removed, too; a resource stays as `{}`.
    pub(crate) fn remove(&mut self, path: KeyPath<'_>) {
        let root = self.root();
        let found = find(&root, path);
        if found.len() != path.len() {
            return;
        }
        let entry = found[path.len() - 1];
        let parent = path.len().checked_sub(2).map(|index| found[index]);
        if let Some(parent) = parent
            && parent.entries.len() == 1
        {
            if path.len() == 2 {
                self.remove(&path[..1]);
            } else {
                self.empty(parent);
            }
            return;
        }
        if parent.is_some_and(|parent| parent.kind == YamlKind::Flow) {
            let after = &self.text[entry.span.end..];
            let comma = after.len() - after.trim_start().len();
            let range = if after.trim_start().starts_with(',') {
                let rest = &after[comma + 1..];
                let blanks = rest.len() - rest.trim_start().len();
                entry.span.start..entry.span.end + comma + 1 + blanks
            } else {
                let before = self.text[..entry.span.start].trim_end();
                let before = before.strip_suffix(',').unwrap_or(before);
                before.len()..entry.span.end
            };
            self.text.replace_range(range, "");
        } else {
            let start = self.line_start(entry.span.start);
            self.text
                .replace_range(start..self.line_end(entry.span.end), "");
        }
    }

    /// Replaces the value of an entry by an empty map.
    fn empty(&mut self, entry: &YamlEntry) {
        if entry.kind == YamlKind::Flow {
            self.text.replace_range(entry.value.clone(), "{}");
            return;
        }
        let line = self.line_end(entry.span.start);
        let end = self.line_end(entry.span.end);
        self.text.replace_range(line..end, "");
        let colon = line - 1;
        let head = self.text[entry.span.start..colon].to_owned();
        let comment = comment_start(&head).unwrap_or(head.len());
        let at = entry.span.start + head[..comment].trim_end().len();
        self.text.insert_str(at, " {}");
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |found| found + 1)
    }

    /// After the line feed of the line with the byte before this position.
    fn line_end(&self, at: usize) -> usize {
        let found = self.text[at..].find('\n');
        found.map_or(self.text.len(), |found| at + found + 1)
    }

    fn root(&self) -> Vec<YamlEntry> {
        YamlReader::new(&self.text).block(0)
    }
}

/// The entries along a path, as far as they exist.
fn find<'a>(root: &'a [YamlEntry], path: KeyPath<'_>) -> Vec<&'a YamlEntry> {
    let mut found: Vec<&YamlEntry> = Vec::new();
    let mut entries = root;
    for key in path {
        let Some(entry) = entries.iter().find(|entry| entry.key == *key) else {
            break;
        };
        found.push(entry);
        entries = &entry.entries;
    }
    found
}

/// Keys and a value in one line.
fn flow_text(path: KeyPath<'_>, value: &str) -> String {
    match path {
        [] => value.to_owned(),
        [last] => format!("{}: {value}", key_text(last)),
        [first, rest @ ..] => format!("{}: {{{}}}", key_text(first), flow_text(rest, value)),
    }
}

/// A key as YAML reads it.
fn key_text(key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '-' | '.');
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    if key.starts_with(begins) && key.chars().all(is_plain) {
        key.to_owned()
    } else {
        serde_json::Value::from(key).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# The access switch.
network_vlan:
  10: {vlan_name: users}  # desks
  \"20\":
    # telephones
    vlan_name: voice

  30: {}
interface:
  GigabitEthernet1/0/1: {use: desk, description: \"a, b: {c}\", switchport: {access_vlan: 10}}
  GigabitEthernet1/0/2:
    description: |
      two
      lines
    switchport:
      access_vlan: 20  # printer
purge: [ntp_server]
unmanaged:
- ios_vtp
- network_interface.description
";

    fn path(text: &str) -> Vec<String> {
        text.split('>').map(str::to_owned).collect()
    }

    #[test]
    fn values_are_found_in_all_forms() {
        let file = YamlText::new(FILE);
        let cases = [
            ("network_vlan>10>vlan_name", "users"),
            ("network_vlan>20>vlan_name", "voice"),
            ("network_vlan>30", "{}"),
            (
                "interface>GigabitEthernet1/0/1>description",
                "\"a, b: {c}\"",
            ),
            (
                "interface>GigabitEthernet1/0/1>switchport>access_vlan",
                "10",
            ),
            (
                "interface>GigabitEthernet1/0/2>switchport>access_vlan",
                "20",
            ),
            ("purge", "[ntp_server]"),
        ];
        for (at, value) in cases {
            assert_eq!(file.value(&path(at)), Some(value), "{at}");
        }
        let keys = file.keys(&[]);
        assert_eq!(keys, ["network_vlan", "interface", "purge", "unmanaged"]);
        assert!(!file.has(&path("network_vlan>40")));
    }

    /// Each edit, with the line that it removes and the line that it adds.
    #[test]
    fn edits_change_one_line() {
        type Edit = (&'static str, Option<&'static str>);
        let cases: [(Edit, &[&str], &[&str]); 9] = [
            (
                ("network_vlan>10>vlan_name", Some("desks")),
                &["  10: {vlan_name: users}  # desks"],
                &["  10: {vlan_name: desks}  # desks"],
            ),
            (
                ("network_vlan>20>mtu", Some("9000")),
                &[],
                &["    mtu: 9000"],
            ),
            (
                ("network_vlan>30>vlan_name", Some("x")),
                &["  30: {}"],
                &["  30: {vlan_name: x}"],
            ),
            (("network_vlan>40", Some("{}")), &[], &["  \"40\": {}"]),
            (
                ("interface>GigabitEthernet1/0/1>use", None),
                &[
                    "  GigabitEthernet1/0/1: {use: desk, description: \"a, b: {c}\", switchport: {access_vlan: 10}}",
                ],
                &[
                    "  GigabitEthernet1/0/1: {description: \"a, b: {c}\", switchport: {access_vlan: 10}}",
                ],
            ),
            (
                (
                    "interface>GigabitEthernet1/0/1>switchport>access_vlan",
                    None,
                ),
                &[
                    "  GigabitEthernet1/0/1: {use: desk, description: \"a, b: {c}\", switchport: {access_vlan: 10}}",
                ],
                &[
                    "  GigabitEthernet1/0/1: {use: desk, description: \"a, b: {c}\", switchport: {}}",
                ],
            ),
            (
                (
                    "interface>GigabitEthernet1/0/2>switchport>access_vlan",
                    None,
                ),
                &["    switchport:", "      access_vlan: 20  # printer"],
                &["    switchport: {}"],
            ),
            (
                ("interface>GigabitEthernet1/0/2>description", Some("one")),
                &["    description: |", "      two", "      lines"],
                &["    description: one"],
            ),
            (
                ("network_vlan>10", None),
                &["  10: {vlan_name: users}  # desks"],
                &[],
            ),
        ];
        for ((at, value), removed, added) in cases {
            let mut file = YamlText::new(FILE);
            match value {
                Some(value) => file.set(&path(at), value),
                None => file.remove(&path(at)),
            }
            let before: Vec<&str> = FILE.lines().collect();
            let after: Vec<&str> = file.as_str().lines().collect();
            let lost: Vec<&&str> = before.iter().filter(|line| !after.contains(line)).collect();
            let new: Vec<&&str> = after.iter().filter(|line| !before.contains(line)).collect();
            assert_eq!(lost, removed.iter().collect::<Vec<_>>(), "{at}");
            assert_eq!(new, added.iter().collect::<Vec<_>>(), "{at}");
            let keys: Vec<String> = file.keys(&[]);
            assert_eq!(keys.len(), 4, "{at}: {}", file.as_str());
        }
    }

    #[test]
    fn new_types_stand_at_the_end_and_empty_ones_are_removed() {
        let mut file = YamlText::new("network_vlan:\n  10: {}  # all\n# end");
        file.set(&path("interface>G1>switchport>access_vlan"), "5");
        file.remove(&path("network_vlan>10"));
        assert_eq!(
            file.as_str(),
            "# end\ninterface:\n  G1: {switchport: {access_vlan: 5}}\n"
        );
        let mut empty = YamlText::new("");
        empty.set(&path("network_vlan>10"), "{}");
        assert_eq!(empty.as_str(), "network_vlan:\n  \"10\": {}\n");
    }
}
