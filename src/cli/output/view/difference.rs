//! The difference to the configuration of a device, as text.

use crate::report::difference::DiffLineKind;
use crate::terminal_text::TerminalText;

const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";

/// A unified diff under a heading; nothing without a difference.
pub(crate) fn difference(heading: &str, diff: &str, colored: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colored);
    if !diff.is_empty() {
        text.end_line().line(format_args!("  {heading}:"));
    }
    for line in diff.lines() {
        text.add("  ");
        match DiffLineKind::of(line) {
            DiffLineKind::Added => text.paint(GREEN, line),
            DiffLineKind::Removed => text.paint(RED, line),
            DiffLineKind::Hunk => text.paint(CYAN, line),
            DiffLineKind::Same => text.add(line),
        };
        text.end_line();
    }
    text
}
