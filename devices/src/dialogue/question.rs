//! Questions of a device, and the answers that accept them.

use super::cli_rules::{CliRules, ConfirmRule};
use super::pending_command::PendingCommand;
use crate::pattern::Pattern;

/// The rule for a question at the end of the line.
pub(crate) fn find_question<'r>(rules: &'r CliRules, line: &str) -> Option<&'r ConfirmRule> {
    rules
        .confirms
        .iter()
        .find(|confirm| ends_with_question(&confirm.question, line))
}

/// The answer that accepts the question at the end of the line, if the command or the rules list it. After a
/// question that was declined, no other is accepted.
pub(crate) fn expected_answer<'r>(
    rules: &'r CliRules,
    line: &str,
    pending: &'r PendingCommand,
) -> Option<&'r str> {
    let mut questions = pending.questions.iter();
    if !pending.command.accept_questions || questions.any(|question| !question.accepted) {
        return None;
    }
    if let Some(expected) = &pending.command.answer
        && ends_with_question(std::slice::from_ref(&expected.question), line)
    {
        return Some(&expected.answer);
    }
    let command = pending.echo_text.as_str();
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
        .filter(|confirm| ends_with_question(&confirm.question, line))
        .find_map(|confirm| confirm.answer.as_deref())
}

/// Whether the line ends with a question.
fn ends_with_question(questions: &[Pattern], line: &str) -> bool {
    let line = line.trim_end();
    if line.contains(char::is_control) {
        // A line with control characters is no question.
        return false;
    }
    questions.iter().any(|pattern| {
        pattern
            .find_iter(line)
            .last()
            .is_some_and(|found| found.end() == line.len())
    })
}
