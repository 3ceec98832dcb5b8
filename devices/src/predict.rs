//! What a device's configuration will look like: the text of a state, and the difference between
//! two.

use regex::Regex;

use crate::driver::rest::outline;
use crate::read::{Parsed, State};
use crate::secret::MASK;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The configuration in a state: trees as text, JSON objects with a line for each field.
pub fn configuration(state: &State) -> String {
    let mut text = String::new();
    for (name, parsed) in state.iter() {
        match parsed {
            Parsed::Tree(tree) => text.push_str(&tree.text()),
            Parsed::Json(json) => {
                text.push_str(&outline::text(name, json));
            }
            Parsed::Columns(_) | Parsed::Stanzas(_) | Parsed::Text(_) => {}
        }
    }
    text
}

/// A line with its secrets masked: those given, where they stand as a word, and the first group
/// of each pattern.
pub fn mask(line: &str, patterns: &[Regex], secrets: &[String]) -> String {
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Delete,
    Insert,
}

/// A unified diff without file names; a hunk's header tells the block that it is in. Empty when
/// the texts are equal. Lines are compared as they are and shown as `show` says, so that a line
/// in which only a secret differs is told as changed.
pub fn unified_diff(before: &str, after: &str, show: impl Fn(&str) -> String) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let edits = edits(&old, &new);
    let mut text = String::new();
    // Position of the first edit that is not printed yet, in edits and in the old text.
    let (mut at, mut old_line) = (0, 0);
    while let Some(change) = (at..edits.len()).find(|index| edits[*index] != Edit::Keep) {
        let start = change.saturating_sub(CONTEXT).max(at);
        old_line += edits[at..start].len();
        let mut end = change;
        let mut kept = 0;
        while end < edits.len() && kept <= 2 * CONTEXT {
            kept = if edits[end] == Edit::Keep {
                kept + 1
            } else {
                0
            };
            end += 1;
        }
        let end = end - kept.saturating_sub(CONTEXT);
        let new_line = old_line_to_new(&edits[..start]);
        let block = old[..old_line.min(old.len())]
            .iter()
            .rev()
            .find(|line| !line.starts_with([' ', '}', ']', '{']))
            .filter(|_| old.get(old_line).is_some_and(|line| line.starts_with(' ')))
            .map_or_else(String::new, |line| format!(" {}", show(line)));
        let count = |of: Edit| edits[start..end].iter().filter(|edit| **edit == of).count();
        let keep = count(Edit::Keep);
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@{block}\n",
            old_line + 1,
            keep + count(Edit::Delete),
            new_line + 1,
            keep + count(Edit::Insert)
        ));
        let mut new_line = new_line;
        for edit in &edits[start..end] {
            match edit {
                Edit::Keep => {
                    text.push_str(&format!(" {}\n", show(old[old_line])));
                    old_line += 1;
                    new_line += 1;
                }
                Edit::Delete => {
                    text.push_str(&format!("-{}\n", show(old[old_line])));
                    old_line += 1;
                }
                Edit::Insert => {
                    text.push_str(&format!("+{}\n", show(new[new_line])));
                    new_line += 1;
                }
            }
        }
        at = end;
    }
    text
}

fn old_line_to_new(edits: &[Edit]) -> usize {
    edits.iter().filter(|edit| **edit != Edit::Delete).count()
}

/// The shortest way from one list of lines to another (Myers 1986), after equal ends are cut off.
fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[prefix..], &new[prefix..]);
    let suffix = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old, new) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
    let mut edits = vec![Edit::Keep; prefix];
    edits.extend(middle(old, new));
    edits.extend(vec![Edit::Keep; suffix]);
    edits
}

fn middle(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let (n, m) = (old.len(), new.len());
    // `reach[k + offset]`: how far in the old text one comes on diagonal k with so many edits.
    let offset = n + m + 1;
    let mut reach = vec![0usize; 2 * offset + 1];
    let mut history = Vec::new();
    let mut found = 0;
    'search: for steps in 0..=(n + m) {
        history.push(reach[offset - steps - 1..=offset + steps + 1].to_vec());
        for k in (0..=2 * steps).step_by(2) {
            let diagonal = offset + k - steps;
            let down = k == 0 || (k != 2 * steps && reach[diagonal - 1] < reach[diagonal + 1]);
            let mut x = if down {
                reach[diagonal + 1]
            } else {
                reach[diagonal - 1] + 1
            };
            let mut y = x + offset - diagonal;
            while x < n && y < m && old[x] == new[y] {
                x += 1;
                y += 1;
            }
            reach[diagonal] = x;
            if x >= n && y >= m {
                found = steps;
                break 'search;
            }
        }
    }
    let mut edits = Vec::new();
    let (mut x, mut y) = (n, m);
    for steps in (0..=found).rev() {
        let row = &history[steps];
        // `row` begins at the diagonal offset - steps - 1.
        let reach = |diagonal: usize| row[diagonal + steps + 1 - offset];
        let diagonal = offset + x - y;
        let down = diagonal == offset - steps
            || (diagonal != offset + steps && reach(diagonal - 1) < reach(diagonal + 1));
        let (previous_x, previous_y) = if steps == 0 {
            (0, 0)
        } else {
            let previous = if down { diagonal + 1 } else { diagonal - 1 };
            let x = reach(previous);
            (x, x + offset - previous)
        };
        let (start_x, _) = match (steps, down) {
            (0, _) => (0, 0),
            (_, true) => (previous_x, previous_y + 1),
            (_, false) => (previous_x + 1, previous_y),
        };
        edits.extend(vec![Edit::Keep; x - start_x]);
        if steps > 0 {
            edits.push(if down { Edit::Insert } else { Edit::Delete });
        }
        (x, y) = (previous_x, previous_y);
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_block_and_some_context() {
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
    fn changes_far_apart_are_separate_hunks() {
        let before: String = (0..40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n", "five\n").replacen("30\n", "", 1);
        let diff = unified_diff(&before, &after, str::to_owned);
        assert!(
            diff.contains("-30\n") && diff.contains("-5\n+five\n"),
            "{diff}"
        );
        assert!(!diff.contains(" 20\n"), "{diff}");
    }

    proptest::proptest! {
        #[test]
        fn edits_lead_from_the_old_text_to_the_new(
            old in proptest::collection::vec(0..4u8, 0..20),
            new in proptest::collection::vec(0..4u8, 0..20),
        ) {
            let text = |numbers: &[u8]| numbers.iter().map(u8::to_string).collect::<Vec<_>>();
            let (old, new) = (text(&old), text(&new));
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let (mut x, mut y) = (0, 0);
            for edit in edits(&old, &new) {
                match edit {
                    Edit::Keep => {
                        proptest::prop_assert_eq!(old[x], new[y]);
                        x += 1;
                        y += 1;
                    }
                    Edit::Delete => x += 1,
                    Edit::Insert => y += 1,
                }
            }
            proptest::prop_assert_eq!((x, y), (old.len(), new.len()));
        }
    }

    #[test]
    fn secrets_are_masked_as_words_and_by_patterns() {
        let patterns = [Regex::new(r"^enable secret \d (\S+)").unwrap()];
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
