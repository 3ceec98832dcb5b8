//! Differences between two texts by line, for storage.
//!
//! A line of a delta is `=N` (N lines are equal), `-N` (N lines are gone) or `+TEXT` (a new line, with
//! its end). The last line of a text without a line feed is `~TEXT`.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A difference from one text to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextDelta {
    pub(super) body: String,
    pub(super) added: usize,
    pub(super) removed: usize,
}

impl TextDelta {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (old, new) = (lines(old), lines(new));
        let mut delta = Self {
            body: String::new(),
            added: 0,
            removed: 0,
        };
        for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
            match operation {
                DiffOp::Equal { len, .. } => delta.body.push_str(&format!("={len}\n")),
                DiffOp::Delete { old_len, .. } => delta.remove(old_len),
                DiffOp::Insert {
                    new_index, new_len, ..
                } => delta.add(&new[new_index..][..new_len]),
                DiffOp::Replace {
                    old_len,
                    new_index,
                    new_len,
                    ..
                } => {
                    delta.remove(old_len);
                    delta.add(&new[new_index..][..new_len]);
                }
            }
        }
        delta
    }

    fn remove(&mut self, count: usize) {
        self.removed += count;
        self.body.push_str(&format!("-{count}\n"));
    }

    fn add(&mut self, added: &[&str]) {
        self.added += added.len();
        for line in added {
            match line.strip_suffix('\n') {
                Some(line) => self.body.push_str(&format!("+{line}\n")),
                None => self.body.push_str(&format!("~{line}\n")),
            }
        }
    }
}

/// The text that a delta makes of `old`. `None`: the delta is of another text.
pub(super) fn apply(old: &str, delta: &str) -> Option<String> {
    let old = lines(old);
    let mut at = 0_usize;
    let mut new = String::new();
    for line in delta.split_terminator('\n') {
        let rest = line.get(1..)?;
        match line.as_bytes().first()? {
            b'=' => {
                let end = at.checked_add(rest.parse().ok()?)?;
                new.extend(old.get(at..end)?.iter().copied());
                at = end;
            }
            b'-' => at = at.checked_add(rest.parse().ok()?)?,
            b'+' => {
                new.push_str(rest);
                new.push('\n');
            }
            b'~' => new.push_str(rest),
            _ => return None,
        }
    }
    (at == old.len()).then_some(new)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delta_has_the_changed_lines_only() {
        let delta = TextDelta::between("a\nb\nc\n", "a\nx\nc\nd");
        assert_eq!(delta.body, "=1\n-1\n+x\n=1\n~d\n");
        assert_eq!((delta.added, delta.removed), (2, 1));
    }

    #[test]
    fn delta_of_another_text_is_refused() {
        let delta = TextDelta::between("a\nb\n", "a\n");
        assert_eq!(apply("a\n", &delta.body), None);
    }

    proptest! {
        #[test]
        fn apply_restores_the_new_text(old in "([ab\r+=~-]{0,2}\n){0,6}[a-c]?", new in "([ab\r+=~-]{0,2}\n){0,6}[a-c]?") {
            let delta = TextDelta::between(&old, &new);
            prop_assert_eq!(apply(&old, &delta.body), Some(new));
        }
    }
}
