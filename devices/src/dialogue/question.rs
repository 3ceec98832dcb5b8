//! Questions that a device asks, and which of them are agreed to.

use super::cli_rules::{CliRules, ConfirmRule};

/// The rule for a question that stands in the last line.
pub fn find_question<'r>(rules: &'r CliRules, line: &str) -> Option<&'r ConfirmRule> {
    rules
        .confirms
        .iter()
        .find(|confirm| ends_with_question(confirm, line))
}

/// What agrees to the question in the last line, if it is expected after the command.
pub fn expected_answer<'r>(rules: &'r CliRules, line: &str, command: &str) -> Option<&'r str> {
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

/// A question stands at the end of the line.
fn ends_with_question(confirm: &ConfirmRule, line: &str) -> bool {
    let line = line.trim_end();
    if line.contains(char::is_control) {
        // Garbage asks nothing.
        return false;
    }
    confirm.question.iter().any(|pattern| {
        pattern
            .find_iter(line)
            .last()
            .is_some_and(|found| found.end() == line.len())
    })
}
