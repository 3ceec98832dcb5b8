//! The difference to the configuration of a device, as text.

use crate::report::difference::DiffLineKind;
use crate::terminal_text::{Style, TerminalText};

/// A unified diff under a heading; nothing without a difference.
pub(crate) fn difference(heading: &str, diff: &str, colored: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colored);
    if !diff.is_empty() {
        text.end_line().line(format_args!("  {heading}:"));
    }
    for line in diff.lines() {
        text.add("  ");
        match DiffLineKind::of(line) {
            DiffLineKind::Added => text.paint(Style::Green, line),
            DiffLineKind::Removed => text.paint(Style::Red, line),
            DiffLineKind::Hunk => text.paint(Style::Cyan, line),
            DiffLineKind::Same => text.add(line),
        };
        text.end_line();
    }
    text
}
