//! How many findings of each severity there are, and the sentence that says so.

use std::fmt;

use super::{Diagnostic, Severity};

/// Numbers of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
}

impl Counts {
    pub fn of<'a>(list: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut counts = Self::default();
        for found in list {
            match found.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }

    pub fn total(&self) -> usize {
        self.errors + self.warnings + self.notes
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = [
            (self.errors, "error"),
            (self.warnings, "warning"),
            (self.notes, "note"),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}{}", if number == 1 { "" } else { "s" }))
        .collect();
        if parts.is_empty() {
            f.write_str("no findings")
        } else {
            f.write_str(&parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_words() {
        let list = [
            Diagnostic::error("a", ""),
            Diagnostic::warning("b", ""),
            Diagnostic::warning("b", ""),
        ];
        assert_eq!(Counts::of(&list).to_string(), "1 error, 2 warnings");
        assert_eq!(Counts::of(&[]).to_string(), "no findings");
    }
}
