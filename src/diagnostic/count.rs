//! Numbers of findings by severity.

use std::fmt;

use super::{Diagnostic, Severity};

/// Numbers of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
}

impl Counts {
    pub(crate) fn of<'a>(list: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut counts = Self::default();
        for found in list {
            counts.add(found.severity);
        }
        counts
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }

    /// The highest severity.
    pub(crate) fn worst(&self) -> Option<Severity> {
        let by_severity = [
            (self.errors, Severity::Error),
            (self.warnings, Severity::Warning),
            (self.notes, Severity::Note),
        ];
        let mut present = by_severity.into_iter().filter(|(number, _)| *number > 0);
        present.next().map(|(_, severity)| severity)
    }

    pub(crate) fn total(&self) -> usize {
        self.errors + self.warnings + self.notes
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.errors += more.errors;
        self.warnings += more.warnings;
        self.notes += more.notes;
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
    fn counts_render_as_words() {
        let list = [
            Diagnostic::error("a", ""),
            Diagnostic::warning("b", ""),
            Diagnostic::warning("b", ""),
        ];
        assert_eq!(Counts::of(&list).to_string(), "1 error, 2 warnings");
        assert_eq!(Counts::of(&[]).to_string(), "no findings");
    }
}
