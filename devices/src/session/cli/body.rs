//! Sends the text of a block in the mode of the block, up to the line that ends it.

use std::sync::Arc;

use tokio::time::Instant;

use super::CliSession;
use super::config_mode::ConfigMode;
use super::writing::unknown;
use crate::dialogue::{Classification, Command};
use crate::operation::{ConfigLine, OperationResult, Outcome};
use crate::secret::Text;

impl CliSession {
    /// Sends the lines of a text in its mode, which was entered, and the line that ends it. The last
    /// line is sent only if the device has accepted all others: it would accept a part of the text.
    pub(super) async fn send_body(
        &mut self,
        operation: &ConfigLine,
        started: Instant,
    ) -> OperationResult {
        let mut mode = operation.mode.clone();
        mode.extend(operation.text.clone());
        let Some((end, lines)) = operation.body.split_last() else {
            return OperationResult::not_sent();
        };
        let lines: Vec<ConfigLine> = lines
            .iter()
            .map(|line| ConfigLine {
                text: Some(line.clone()),
                ..ConfigLine::enter_mode(&mode)
            })
            .collect();
        let (sent, _) = self
            .send_lines(&lines.iter().collect::<Vec<_>>(), false)
            .await;
        let mut messages = Vec::new();
        for (result, line) in sent.into_iter().zip(&lines) {
            match result.outcome {
                Outcome::Done { messages: own } => messages.extend(own),
                outcome => {
                    return OperationResult {
                        failed_mode_line: Some(line.clone()),
                        ..OperationResult::new(outcome, started.elapsed())
                    };
                }
            }
        }
        let outcome = self.send_end(end, operation, messages).await;
        OperationResult::new(outcome, started.elapsed())
    }

    /// Sends the line that ends a text. The device is then in the mode around the text.
    async fn send_end(
        &mut self,
        end: &Text,
        operation: &ConfigLine,
        mut messages: Vec<String>,
    ) -> Outcome {
        let rules = Arc::clone(&self.rules);
        let permitted = match self.guard.permit(Command::line(end.clone())) {
            Ok(permitted) => permitted,
            Err(error) => {
                let message = error.to_string();
                return Outcome::Refused { message };
            }
        };
        let mut batch = self
            .transport
            .send_batch(vec![permitted], |_, _| true)
            .await;
        if let Some(failure) = batch.failure {
            self.mark_lost(&failure);
            return unknown(&failure, operation);
        }
        self.statistics.writes += 1;
        let answered = batch.answered.pop().expect("a line has an answer");
        let found = Classification::new(&rules, &answered.command, &answered.answer);
        messages.extend(self.mask_lines(found.messages));
        let outer = match operation.mode.as_slice() {
            [] => rules.config_mode,
            _ => rules.sub_mode.or(rules.config_mode),
        };
        if let Some(refusal) = found.refusal {
            self.mode = ConfigMode::Unknown;
            self.break_if_fatal(&answered.command, &refusal);
            let message = self.render_refusal(refusal);
            return Outcome::Refused { message };
        }
        if Some(answered.answer.prompt.mode) != outer || found.is_unclear {
            self.mode = ConfigMode::Unknown;
            let prompt = &answered.answer.prompt.text;
            messages.push(format!("the prompt is {prompt}"));
            return self.unclear(&answered.command, &messages);
        }
        self.mode = ConfigMode::Config(operation.mode.clone());
        Outcome::Done { messages }
    }
}
