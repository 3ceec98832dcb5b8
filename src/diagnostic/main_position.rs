//! The one position of a finding, for formats that accept only one.

use super::{Diagnostic, ManifestPosition};

/// A position in a file. Columns count characters; ends are exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MainPosition<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
    /// First and last column, if they are in one line.
    pub(super) columns: Option<(usize, usize)>,
}

/// The position in the manifest, else the first in the checked file.
pub(super) fn main_position(found: &Diagnostic) -> Option<MainPosition<'_>> {
    if let Some(position) = manifest_position(found) {
        return Some(MainPosition {
            file: &position.file,
            line: position.line.max(1),
            columns: None,
        });
    }
    let label = found.labels.iter().find(|label| label.primary)?;
    let (line, column) = label.source.position(label.span.start);
    let (end_line, end_column) = label.source.position(label.span.end);
    Some(MainPosition {
        file: &label.source.name,
        line: line as u64,
        columns: (line == end_line).then_some((column, end_column)),
    })
}

/// The position in the manifest, unless a label has it more exactly: files of desired state are checked themselves.
pub(super) fn manifest_position(found: &Diagnostic) -> Option<&ManifestPosition> {
    let position = found.position.as_ref()?;
    let mut labels = found.labels.iter().filter(|label| label.primary);
    let has_label = labels.any(|label| {
        let (line, _) = label.source.position(label.span.start);
        label.source.name == *position.file && line as u64 == position.line
    });
    (!has_label).then_some(position)
}
