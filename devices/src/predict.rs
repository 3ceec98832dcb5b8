//! The configuration of a device as one tree, as it was read or as it is predicted.

pub(crate) mod tree_difference;

use crate::map::IndexMap;
use crate::pattern::Pattern;
use crate::read::indent::{Node, Tree};
use crate::read::rows::RowsRule;
use crate::read::{Parsed, State, json_text};
use crate::secret::MASK;

/// The configuration in the answers of a state: configuration lines, and a line for each field of
/// the objects of a REST device. Tables and other answers are not configuration. `rows` has the
/// lists of objects in the answers, `documents` the reads whose answers are complete documents.
pub(crate) fn configuration(
    state: &State,
    rows: &IndexMap<String, RowsRule>,
    documents: &[&str],
) -> Tree {
    let mut nodes = Vec::new();
    for (name, parsed) in state.iter() {
        match parsed {
            Parsed::Tree(tree) => nodes.extend(tree.nodes.iter().cloned()),
            Parsed::Json(json) if documents.contains(&name) => {
                nodes.push(Node::block(name, json_text::values(json)));
            }
            // Answers to requests; their reads are named by method and path.
            Parsed::Json(json) if name.contains(' ') => {
                nodes.extend(json_text::objects(name, json, rows.get(name)));
            }
            Parsed::Columns(_) | Parsed::Rows(_) | Parsed::Json(_) | Parsed::Text(_) => {}
        }
    }
    Tree { nodes }
}

/// A line with masked secrets: these secrets as complete words, and the first group of each pattern.
pub(crate) fn mask(line: &str, patterns: &[Pattern], secrets: &[String]) -> String {
    let mut line = line.to_owned();
    for pattern in patterns {
        if let Some(group) = pattern.captures(&line).and_then(|found| found.get(1)) {
            let range = group.range();
            line.replace_range(range, MASK);
        }
    }
    for secret in secrets {
        line = mask_words(&line, secret);
    }
    line
}

fn mask_words(line: &str, secret: &str) -> String {
    let secret = secret.trim();
    if secret.is_empty() || !line.contains(secret) {
        return line.to_owned();
    }
    let mut masked = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(secret) {
        let (before, found) = rest.split_at(at);
        let after = &found[secret.len()..];
        masked.push_str(before);
        let inside_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_word =
            !inside_word(before.chars().next_back()) && !inside_word(after.chars().next());
        masked.push_str(if is_word { MASK } else { secret });
        rest = after;
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predict_masks_secrets_as_words_and_by_patterns() {
        let patterns = [Pattern::new(r"^enable secret \d (\S+)").unwrap()];
        let cases = [
            ("enable secret 5 $1$abc", "enable secret 5 ••••"),
            (
                "snmp-server community public RO",
                "snmp-server community •••• RO",
            ),
            ("interface publicity", "interface publicity"),
        ];
        for (line, expected) in cases {
            assert_eq!(mask(line, &patterns, &["public".to_owned()]), expected);
        }
    }
}
