//! Reads, together with setup commands and the command that leaves configuration mode.

use std::sync::Arc;

use super::CliSession;
use super::config_mode::ConfigMode;
use super::opening::PendingStep;
use crate::dialogue::cli_rules::MessageClass;
use crate::dialogue::{Answer, Classification, Command, Refusal};
use crate::read::ReadRequest;
use crate::session::error::SessionErrorKind;
use crate::session::transport::AnsweredCommand;

impl CliSession {
    /// Leaves configuration mode, sends pending setup commands, and sends the reads, as one batch.
    pub(super) async fn send_reads(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let mut commands = Vec::new();
        let leaves_config = self.mode != ConfigMode::Read;
        if leaves_config {
            commands.push(Command::line(self.end_line()));
        }
        let pending = std::mem::take(&mut self.pending);
        commands.extend(pending.iter().map(PendingStep::command));
        commands.extend(
            requests
                .iter()
                .map(|request| Command::line(request.command.as_str())),
        );
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let answered = self.send_all(commands).await?;
        let first = answered.last().map(|one| one.answer.prompt.mode);
        if let Some(mode) = first.filter(|mode| !self.mode_confirmed && *mode != rules.read_mode) {
            // The first prompt was part of a banner. Reads are harmless in every mode.
            self.mode_confirmed = true;
            Box::pin(self.enter_read_mode(mode)).await?;
            return Box::pin(self.send_reads(requests)).await;
        }
        self.mode_confirmed = true;
        self.statistics.reads += requests.len() as u64;
        let mut answered = answered.into_iter();
        if leaves_config && let Some(end) = answered.next() {
            self.check_left_config(&end)?;
        }
        for (pending, answered) in pending.iter().zip(answered.by_ref()) {
            self.check_step(pending, &answered)?;
        }
        requests
            .iter()
            .zip(answered)
            .map(|(request, answered)| {
                match Classification::read_refusal(&rules, &answered.answer) {
                    None => Ok(text_of(answered.answer)),
                    Some(Refusal::Error {
                        class: MessageClass::Command,
                        ..
                    }) if request.optional => Ok(String::new()),
                    Some(refusal) => Err(self.refusal_error(&answered.command, refusal)),
                }
            })
            .collect()
    }

    /// Checks that configuration mode was left.
    fn check_left_config(&mut self, end: &AnsweredCommand) -> Result<(), SessionErrorKind> {
        if end.answer.prompt.mode == self.rules.read_mode {
            self.mode = ConfigMode::Read;
            return Ok(());
        }
        Err(SessionErrorKind::CommandRefused {
            command: end.command.line.to_string(),
            output: self.render_output(&end.answer.output),
        })
    }

    /// The command that leaves configuration from any mode.
    pub(super) fn end_line(&self) -> String {
        let rules = &self.rules;
        [rules.sub_mode, rules.config_mode]
            .into_iter()
            .flatten()
            .find_map(|mode| rules.transition(mode, rules.read_mode))
            .map(|transition| transition.send.clone())
            .unwrap_or_default()
    }
}

fn text_of(answer: Answer) -> String {
    let mut text = answer.output.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}
