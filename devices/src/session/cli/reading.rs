//! Reads, together with setup commands and the command that leaves configuration mode.

use std::sync::Arc;

use super::CliSession;
use super::config_mode::ConfigMode;
use super::opening::PendingStep;
use crate::dialogue::cli_rules::MessageClass;
use crate::dialogue::{Answer, Classification, Command, Refusal};
use crate::read::ReadRequest;
use crate::read::answer_rule::excerpt;
use crate::session::error::SessionErrorKind;
use crate::session::transport::AnsweredCommand;

/// Repetitions of a read whose output log messages interrupt.
const MAX_REPEATS: usize = 2;

impl CliSession {
    /// Leaves configuration mode, sends pending setup commands, and sends the reads, as one batch.
    pub(super) async fn send_reads(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let (texts, _) = self.send_reads_and(requests, None).await?;
        Ok(texts)
    }

    /// The same, with another command that changes nothing. Its answer can be any text.
    pub(super) async fn send_reads_and(
        &mut self,
        requests: &[ReadRequest],
        other: Option<&str>,
    ) -> Result<(Vec<String>, String), SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let mut commands = Vec::new();
        let leaves_config = self.mode != ConfigMode::Read;
        if leaves_config {
            commands.push(Command::line(rules.end_line()));
        }
        let pending = std::mem::take(&mut self.pending);
        commands.extend(pending.iter().map(PendingStep::command));
        commands.extend(
            requests
                .iter()
                .map(|request| Command::line(request.command.as_str())),
        );
        commands.extend(other.map(Command::line));
        if commands.is_empty() {
            return Ok((Vec::new(), String::new()));
        }
        let answered = self.send_all(commands).await?;
        let first = answered.last().map(|one| one.answer.prompt.mode);
        if let Some(mode) = first.filter(|mode| !self.mode_confirmed && *mode != rules.read_mode) {
            // The first prompt was part of a banner. Reads are harmless in every mode.
            self.mode_confirmed = true;
            Box::pin(self.enter_read_mode(mode)).await?;
            return Box::pin(self.send_reads_and(requests, other)).await;
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
        let mut answered: Vec<AnsweredCommand> = answered.collect();
        let other = other.and_then(|_| answered.pop());
        let other = other.map(|other| other.answer.output.join("\n"));
        let answered = self.repeat_interrupted(answered).await?;
        let texts = requests.iter().zip(answered);
        let texts = texts.map(|(request, answered)| self.text_of(request, answered));
        Ok((texts.collect::<Result<_, _>>()?, other.unwrap_or_default()))
    }

    /// The text of a valid answer to a read.
    fn text_of(
        &self,
        request: &ReadRequest,
        answered: AnsweredCommand,
    ) -> Result<String, SessionErrorKind> {
        let AnsweredCommand {
            command, answer, ..
        } = answered;
        match Classification::read_refusal(&self.rules, &answer) {
            None => {}
            Some(Refusal::Error {
                class: MessageClass::Command,
                ..
            }) if request.optional => return Ok(String::new()),
            Some(refusal) => return Err(self.refusal_error(&command, refusal)),
        }
        let reason = if answer.prompt.mode != self.rules.read_mode {
            Some(format!("the prompt after it is {}", answer.prompt.text))
        } else if request.answer.is_tabular() && self.has_log_message(&answer) {
            Some("a log message interrupts one of its lines".to_owned())
        } else {
            None
        };
        let text = answer.output.join("\n") + if answer.output.is_empty() { "" } else { "\n" };
        let invalid = || request.answer.check(&text).err();
        match reason.or_else(|| invalid().map(|error| error.to_string())) {
            None => Ok(text),
            Some(reason) => Err(SessionErrorKind::UnexpectedAnswer {
                command: command.line.to_string(),
                reason,
                output: self.mask(&excerpt(&text)),
            }),
        }
    }

    /// Sends reads again whose answers contain log messages: a message may have cut a line of the
    /// output. An answer is settled if it has no message, or if a second one is equal although no
    /// message is at the same place.
    ///
    /// A text with the form of a log message within a line, twice at the same place, is part of the
    /// output. Only tables cannot contain one.
    async fn repeat_interrupted(
        &mut self,
        mut answers: Vec<AnsweredCommand>,
    ) -> Result<Vec<AnsweredCommand>, SessionErrorKind> {
        let mut interrupted: Vec<usize> = (0..answers.len())
            .filter(|index| self.is_interrupted(&answers[*index].answer))
            .collect();
        for _ in 0..MAX_REPEATS {
            if interrupted.is_empty() {
                return Ok(answers);
            }
            let commands = interrupted
                .iter()
                .map(|index| answers[*index].command.clone());
            let again = self.send_all(commands.collect()).await?;
            for (index, again) in std::mem::take(&mut interrupted).into_iter().zip(again) {
                let is_settled =
                    is_equal_in_spite_of_messages(&again.answer, &answers[index].answer);
                if !is_settled && self.is_interrupted(&again.answer) {
                    interrupted.push(index);
                }
                answers[index] = again;
            }
        }
        match interrupted.first() {
            None => Ok(answers),
            Some(index) => Err(SessionErrorKind::UnexpectedAnswer {
                command: answers[*index].command.line.to_string(),
                reason: "log messages interrupt it".to_owned(),
                output: String::new(),
            }),
        }
    }

    fn is_interrupted(&self, answer: &Answer) -> bool {
        inner_log_positions(answer).next().is_some() || self.has_log_message(answer)
    }

    fn has_log_message(&self, answer: &Answer) -> bool {
        let pattern = self.rules.log_message.as_ref();
        pattern.is_some_and(|pattern| answer.output.iter().any(|line| pattern.is_match(line)))
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
}

/// The places where a dropped log message may have cut a line: not before the first line of the
/// output, and not after the last.
fn inner_log_positions(answer: &Answer) -> impl Iterator<Item = &usize> {
    let lines = answer.output.len();
    let positions = answer.log_positions.iter();
    positions.filter(move |position| (1..lines).contains(*position))
}

/// Whether two answers to a read are equal, and no message can have cut both at the same place.
pub(super) fn is_equal_in_spite_of_messages(one: &Answer, other: &Answer) -> bool {
    let is_shared = |position: &usize| other.log_positions.contains(position);
    one.output == other.output && !inner_log_positions(one).any(is_shared)
}
