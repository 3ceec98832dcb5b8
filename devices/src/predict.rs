//! The predicted configuration of a device: the text of a state, and the difference between two
//! states.

use similar::{DiffTag, TextDiff};

use crate::map::IndexMap;
use crate::pattern::Pattern;
use crate::read::rows::RowsRule;
use crate::read::{CONFIG, Parsed, State, json_text};
use crate::secret::MASK;

/// Lines of context before and after a change.
const CONTEXT: usize = 3;

/// The configuration of a state: the tree of the configuration as text, JSON objects with a line
/// for each field. `rows` has the lists of objects in the answers.
pub(crate) fn configuration(state: &State, rows: &IndexMap<String, RowsRule>) -> String {
    let mut text = String::new();
    for (name, parsed) in state.iter() {
        match parsed {
            Parsed::Tree(tree) if name == CONFIG => text.push_str(&tree.text()),
            // Answers to requests; their reads are named by method and path.
            Parsed::Json(json) if name.contains(' ') => {
                text.push_str(&json_text::text(name, json, rows.get(name)));
            }
            Parsed::Tree(_)
            | Parsed::Columns(_)
            | Parsed::Rows(_)
            | Parsed::Json(_)
            | Parsed::Text(_) => {}
        }
    }
    text
}

/// The answer to a read as JSON with a line for each value. Empty if it was not read.
pub(crate) fn document(state: &State, read: &str) -> String {
    let Some(Parsed::Json(json)) = state.get(read) else {
        return String::new();
    };
    let text = serde_json::to_string_pretty(json).unwrap_or_default();
    let lines = text.lines().map(|line| format!(" {line}\n"));
    format!("{read}\n{}", lines.collect::<String>())
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

/// A unified diff without file names. The header of a hunk has its block. Empty if the texts are
/// equal. Lines are compared unmasked and rendered with `show`, so that a line with a changed
/// secret is included.
pub(crate) fn unified_diff(before: &str, after: &str, show: impl Fn(&str) -> String) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let mut text = String::new();
    for hunk in TextDiff::from_slices(&old, &new).grouped_ops(CONTEXT) {
        let (first, last) = (hunk[0], hunk[hunk.len() - 1]);
        let old_lines = first.old_range().start..last.old_range().end;
        let new_lines = first.new_range().start..last.new_range().end;
        let inside = old
            .get(old_lines.start)
            .is_some_and(|line| line.starts_with(' '));
        let block = old[..old_lines.start]
            .iter()
            .rev()
            .find(|line| !line.starts_with([' ', '}', ']', '{']))
            .filter(|_| inside)
            .map_or_else(String::new, |line| format!(" {}", show(line)));
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@{block}\n",
            old_lines.start + 1,
            old_lines.len(),
            new_lines.start + 1,
            new_lines.len()
        ));
        for operation in &hunk {
            let mut lines = |sign: char, lines: &[&str]| {
                for line in lines {
                    text.push_str(&format!("{sign}{}\n", show(line)));
                }
            };
            match operation.tag() {
                DiffTag::Equal => lines(' ', &old[operation.old_range()]),
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    lines('-', &old[operation.old_range()]);
                    lines('+', &new[operation.new_range()]);
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predict_renders_a_change_with_its_block_and_context() {
        let lines = |marks: &[&str]| marks.join("\n") + "\n";
        let before = lines(&[
            "hostname a",
            "interface X",
            " a",
            " b",
            " c",
            " d",
            " e",
            " f",
            " g",
        ]);
        let after = lines(&[
            "hostname a",
            "interface X",
            " a",
            " b",
            " c",
            " d",
            " E",
            " f",
            " g",
            " h",
        ]);
        assert_eq!(
            unified_diff(&before, &after, str::to_owned),
            "@@ -4,6 +4,7 @@ interface X\n  b\n  c\n  d\n- e\n+ E\n  f\n  g\n+ h\n"
        );
        assert_eq!(unified_diff(&before, &before, str::to_owned), "");
        assert_eq!(
            unified_diff("", "a\n", str::to_owned),
            "@@ -1,0 +1,1 @@\n+a\n"
        );
        assert_eq!(
            unified_diff("a\n", "", str::to_owned),
            "@@ -1,1 +1,0 @@\n-a\n"
        );
    }

    #[test]
    fn predict_renders_distant_changes_as_separate_hunks() {
        let before: String = (0..40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n", "five\n").replacen("30\n", "", 1);
        let diff = unified_diff(&before, &after, str::to_owned);
        assert!(
            diff.contains("-30\n") && diff.contains("-5\n+five\n"),
            "{diff}"
        );
        assert!(!diff.contains(" 20\n"), "{diff}");
    }

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
