//! The lines of a unified difference and what they are.

/// What a line of a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffLineKind {
    Added,
    Removed,
    /// The position of the lines that follow.
    Hunk,
    Same,
}

impl DiffLineKind {
    pub(crate) fn of(line: &str) -> Self {
        match line.as_bytes().first() {
            Some(b'+') => DiffLineKind::Added,
            Some(b'-') => DiffLineKind::Removed,
            Some(b'@') => DiffLineKind::Hunk,
            _ => DiffLineKind::Same,
        }
    }

    /// The class of the line in a page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            DiffLineKind::Added => "added",
            DiffLineKind::Removed => "removed",
            DiffLineKind::Hunk => "hunk",
            DiffLineKind::Same => "same",
        }
    }
}
