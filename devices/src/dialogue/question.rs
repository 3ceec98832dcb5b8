//! Questions of a device, and the answers that accept them.

use super::cli_rules::{CliRules, ConfirmRule};

/// The rule for a question at the end of the line.
pub(crate) fn find_question<'r>(rules: &'r CliRules, line: &str) -> Option<&'r ConfirmRule> {
    rules
        .confirms
        .iter()
        .find(|confirm| ends_with_question(confirm, line))
}

/// The answer that accepts the question at the end of the line, if the rules list it for the
/// command.
pub(crate) fn expected_answer<'r>(
    rules: &'r CliRules,
    line: &str,
    command: &str,
) -> Option<&'r str> {
    rules
        .confirms
        .iter()
        .filter(|confirm| {
            confirm.only_after.is_empty()
                || confirm
                    .only_after
                    .iter()
                    .any(|pattern| pattern.is_match(command))
        })
        .filter(|confirm| ends_with_question(confirm, line))
        .find_map(|confirm| confirm.answer.as_deref())
}

/// Whether the line ends with the question.
fn ends_with_question(confirm: &ConfirmRule, line: &str) -> bool {
    let line = line.trim_end();
    if line.contains(char::is_control) {
        // A line with control characters is no question.
        return false;
    }
    confirm.question.iter().any(|pattern| {
        pattern
            .find_iter(line)
            .last()
            .is_some_and(|found| found.end() == line.len())
    })
}
