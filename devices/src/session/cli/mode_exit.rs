//! Leaving a mode whose lines the device applies when the mode is left.

use std::sync::Arc;

use super::CliSession;
use super::config_mode::ConfigMode;
use crate::dialogue::Classification;
use crate::operation::{Action, Operation, OperationResult, Outcome, UnknownCause};
use crate::secret::Text;
use crate::session::transport::AnsweredCommand;

impl CliSession {
    /// Whether the mode of an operation is left after it, in the same batch: the device applies the
    /// changes of the mode then, and no later operation is in it.
    pub(super) fn leaves_mode_after(&self, operations: &[Operation], index: usize) -> bool {
        let mode_of = |index: usize| match &operations.get(index)?.action {
            Action::Line(line) => Some(&line.mode),
            Action::Request(_) | Action::Edit(_) => None,
        };
        let Some(mode) = mode_of(index) else {
            return false;
        };
        self.applies_on_exit(mode) && mode_of(index + 1).is_none_or(|next| !next.starts_with(mode))
    }

    /// Whether the device applies the lines of a mode when the mode is left.
    pub(super) fn applies_on_exit(&self, mode: &[Text]) -> bool {
        let line = mode.last().map(Text::reveal);
        line.is_some_and(|line| self.rules.applies_on_exit.is_match(&line))
    }

    /// Leaves a mode in which a line failed. If the device does not answer, or did not answer before,
    /// whether the lines of the mode were applied is unknown.
    pub(super) async fn leave_open_mode(
        &mut self,
        mode: &[Text],
        operations: &[Operation],
        results: &mut [OperationResult],
    ) {
        if self.broken.is_none()
            && let Err(failure) = self.send_reads(&[]).await
        {
            self.mark_lost(&failure);
        }
        if let Some(failure) = &self.broken {
            let outcome = Outcome::Unknown {
                reason: format!("cannot leave {}: {failure}", render_mode(mode)),
                cause: UnknownCause::NoAnswer,
            };
            done_in_mode(mode, operations, results).for_each(|done| *done = outcome.clone());
        }
    }

    /// Classifies the answer to the command that left a mode: if it is no success, whether the lines
    /// of the mode were applied is unknown.
    pub(super) fn apply_exit_answer(
        &mut self,
        left: &AnsweredCommand,
        mode: &[Text],
        operations: &[Operation],
        results: &mut [OperationResult],
    ) {
        if left.answer.is_consumed {
            // The line before it caused a question, which is in its result.
            self.mode = ConfigMode::Unknown;
            return;
        }
        let rules = Arc::clone(&self.rules);
        let parent = &mode[..mode.len() - 1];
        let expected_mode = if parent.is_empty() {
            rules.config_mode
        } else {
            rules.sub_mode.or(rules.config_mode)
        };
        let classification = Classification::new(&rules, &left.command, &left.answer);
        let messages = self.render_output(&left.answer.output);
        let entering_line = render_mode(mode);
        let is_left = Some(left.answer.prompt.mode) == expected_mode;
        let problem = if classification.refusal.is_some() || classification.is_unclear {
            Some(format!(
                "when {entering_line} was left, the device answered: {messages}"
            ))
        } else if !is_left {
            Some(format!(
                "cannot leave {entering_line}: the prompt is {}",
                left.answer.prompt.text
            ))
        } else {
            None
        };
        if self.mode != ConfigMode::Unknown {
            self.mode = if is_left {
                ConfigMode::Config(parent.to_vec())
            } else {
                ConfigMode::Unknown
            };
        }
        let mut concerned = done_in_mode(mode, operations, results);
        match problem {
            Some(reason) => concerned.for_each(|outcome| {
                *outcome = Outcome::Unknown {
                    reason: reason.clone(),
                    cause: UnknownCause::UnlistedMessage,
                };
            }),
            None => {
                if let Some(Outcome::Done { messages }) = concerned.next_back() {
                    messages.extend(self.mask_lines(classification.messages));
                }
            }
        }
    }
}

/// The outcomes of the operations in a mode that the device accepted.
fn done_in_mode<'a>(
    mode: &'a [Text],
    operations: &'a [Operation],
    results: &'a mut [OperationResult],
) -> impl DoubleEndedIterator<Item = &'a mut Outcome> {
    let in_mode = move |operation: &Operation| match &operation.action {
        Action::Line(line) => line.mode.starts_with(mode),
        Action::Request(_) | Action::Edit(_) => false,
    };
    operations
        .iter()
        .zip(results)
        .filter(move |(operation, _)| in_mode(operation))
        .map(|(_, result)| &mut result.outcome)
        .filter(|outcome| matches!(outcome, Outcome::Done { .. }))
}

/// The line that enters a mode, for messages.
fn render_mode(mode: &[Text]) -> String {
    format!("`{}`", mode.last().map(Text::to_string).unwrap_or_default())
}
