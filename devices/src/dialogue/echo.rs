//! Recognising a line of ours where the device prints it back.

use super::cli_rules::{CliRules, ModeId};

/// The prompt before an echo, where one stands there.
pub(super) type EchoPrompt = Option<(ModeId, String)>;

/// Whether a line that the device printed is the echo of `command`, perhaps behind a prompt.
///
/// Long lines are scrolled sideways on some devices, which leaves `$` and the end of the line; so
/// the echo is not compared letter by letter.
pub(super) fn find_echo(rules: &CliRules, printed: &str, command: &str) -> Option<EchoPrompt> {
    // Hardly any line is an echo, and looking for a prompt costs more than seeing that.
    if !printed.trim_end().ends_with(command.trim()) && !printed.contains('$') {
        return None;
    }
    if is_same_line(printed, command) {
        return Some(None);
    }
    let (mode, name, rest) = rules.leading_prompt(printed)?;
    is_same_line(rest, command).then_some(Some((mode, name)))
}

/// Shortest visible part of a scrolled line that is taken for it.
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
