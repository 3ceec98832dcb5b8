//! Recognizes the echo of a command.

use super::cli_rules::{CliRules, ModeId};

/// The prompt before an echo, if there is one.
pub(super) type EchoPrompt = Option<(ModeId, String)>;

/// Whether a printed line is the echo of `command`, with or without a prompt.
///
/// Some devices scroll long lines horizontally, which leaves `$` and a part of the line.
pub(super) fn find_echo(
    rules: &CliRules,
    hostname: Option<&str>,
    printed: &str,
    command: &str,
) -> Option<EchoPrompt> {
    // A cheap test first, because most lines are no echo.
    if !printed.trim_end().ends_with(command.trim()) && !printed.contains('$') {
        return None;
    }
    if is_same_line(printed, command) {
        return Some(None);
    }
    let (mode, name, rest) = rules.leading_prompt(printed, hostname)?;
    is_same_line(rest, command).then_some(Some((mode, name)))
}

/// Shortest visible part of a scrolled line that counts as its echo.
const MIN_SCROLLED_CHARS: usize = 3;

fn is_same_line(printed: &str, command: &str) -> bool {
    let (printed, command) = (printed.trim(), command.trim());
    if printed == command {
        return true;
    }
    if let Some(tail) = printed.strip_prefix('$') {
        return tail.len() >= MIN_SCROLLED_CHARS && command.ends_with(tail);
    }
    if let Some(head) = printed.strip_suffix('$') {
        return head.len() >= MIN_SCROLLED_CHARS && command.starts_with(head);
    }
    false
}
