//! The difference to the configuration of a device, as text.

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
        match line.as_bytes().first() {
            Some(b'+') => text.paint(GREEN, line),
            Some(b'-') => text.paint(RED, line),
            Some(b'@') => text.paint(CYAN, line),
            _ => text.add(line),
        };
        text.end_line();
    }
    text
}
