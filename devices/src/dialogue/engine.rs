//! The engine: assigns received bytes to commands.
//!
//! Several commands may be pending. A device echoes each command behind a prompt, and then answers
//! it. An answer begins at the echo of its command and ends at the next prompt. Therefore a prompt
//! counts only after the echo of its command, and only as the last, unterminated line, or in front
//! of the echo of the next command. Text in banners or descriptions that looks like a prompt, and
//! additional prompts, are ignored.
//!
//! If a device has no echo, or its prompt has a new host name, the prompt counts after an idle
//! interval ([`Dialogue::on_idle`]).

use std::collections::VecDeque;
use std::sync::Arc;

use super::classify::overrun_question;
use super::cli_rules::{CliRules, ModeId};
use super::command::{Answer, Command, DeviceQuestion, Prompt, SecretState};
use super::echo;
use super::pending_command::PendingCommand;
use super::question::{expected_answer, find_question};
use super::screen::Screen;
use crate::secret::Text;

/// What the caller must do after bytes were received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Write this text.
    Write(Text),
    /// The oldest pending command has this answer.
    Answered(Answer),
    /// The answer exceeds a limit, for this reason: nothing more is written.
    LimitExceeded(String),
}

/// The dialogue with one device.
#[derive(Debug)]
pub(crate) struct Dialogue {
    rules: Arc<CliRules>,
    screen: Screen,
    pending: VecDeque<PendingCommand>,
    /// Host name in the last prompt outside configuration.
    hostname: Option<String>,
    /// The prompt before the next command.
    last_prompt: String,
    /// The device echoed a command, so it echoes all of them.
    has_seen_echo: bool,
}

/// Empty answers to a request for a secret before the interrupt key is sent.
const MAX_SECRET_ANSWERS: usize = 5;
/// Longest answer in bytes.
const ANSWER_LIMIT: usize = 64 << 20;
/// Longest line in bytes that is examined for a prompt, a question or a pager each time it grows.
/// Longer ones are examined after an idle interval only.
const PARTIAL_LINE_LIMIT: usize = 4096;
const INTERRUPT: &str = "\u{3}";

impl Dialogue {
    /// A dialogue with a device before its first output. The first answer is the first prompt, with
    /// the output before it.
    pub(crate) fn new(rules: Arc<CliRules>) -> Self {
        let mut greeting = PendingCommand::new(Command::default());
        greeting.any_prompt = true;
        greeting.echoed = true;
        Self {
            rules,
            screen: Screen::default(),
            pending: VecDeque::from([greeting]),
            hostname: None,
            last_prompt: String::new(),
            has_seen_echo: false,
        }
    }

    /// Adds a pending command and returns the text to write.
    pub(crate) fn send(&mut self, input: Command) -> Text {
        let mut pending_command = PendingCommand::new(input);
        let mut bytes = pending_command.command.line.clone();
        bytes.push(&self.rules.newline);
        if self.rules.text_entry.is_none() {
            bytes.append(pending_command.take_body(&self.rules.newline));
        }
        self.pending.push_back(pending_command);
        bytes
    }

    /// The oldest pending command.
    pub(crate) fn current_command(&self) -> Option<&Text> {
        self.pending
            .front()
            .map(|pending_command| &pending_command.command.line)
    }

    /// Bytes of the answers that are not complete.
    pub(crate) fn buffered_bytes(&self) -> usize {
        let pending = self.pending.iter();
        let answers: usize = pending.map(|command| command.buffered_bytes).sum();
        answers + self.screen.bytes_without_line_end()
    }

    /// The limit that the received bytes exceed.
    fn exceeded_size(&self) -> Option<String> {
        let line = self.screen.bytes_without_line_end();
        let limit = self.rules.limits.line_bytes;
        if line > limit {
            Some(format!("more than {limit} bytes without a line end"))
        } else if self.buffered_bytes() > ANSWER_LIMIT {
            Some(format!(
                "more than {} MiB without a prompt",
                ANSWER_LIMIT >> 20
            ))
        } else {
            None
        }
    }

    /// Processes received bytes.
    pub(crate) fn receive(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(line) = self.screen.take_line(&mut bytes) {
            self.process_line(line, &mut events);
        }
        self.process_partial_line(&mut events);
        events.extend(self.exceeded_size().map(Event::LimitExceeded));
        events
    }

    /// Processes an idle interval: the current line may be a prompt or a question.
    pub(crate) fn on_idle(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let is_echo_in_output = self.is_next_echo_in_output();
        let Some(pending_command) = self.pending.front_mut() else {
            return events;
        };
        let current = self.screen.current();
        let prompt_line = if current.trim().is_empty() {
            pending_command.last_output_line().to_owned()
        } else {
            current.clone()
        };
        let is_prompt_valid = if self.has_seen_echo {
            pending_command.any_prompt || pending_command.echoed && !is_echo_in_output
        } else {
            true
        };
        if let Some((mode, name)) = self.rules.prompt(&prompt_line, self.hostname.as_deref())
            && is_prompt_valid
        {
            if current.trim().is_empty() {
                pending_command.remove_last_output_line();
            }
            let before = std::mem::take(&mut pending_command.output_before_echo);
            pending_command.output.splice(0..0, before);
            self.complete_answer(mode, name, prompt_line, false, &mut events);
        } else if current.trim().is_empty() {
            // The device is busy or silent; the caller's timeout decides.
        } else if pending_command.command.secret.is_some() {
            self.answer_secret_request(&mut events);
        } else if let Some(confirm) = find_question(&self.rules, &current) {
            let refuse = confirm.refuse.clone();
            pending_command.any_prompt = true;
            pending_command.questions.push(DeviceQuestion {
                text: current.trim().to_owned(),
                accepted: false,
            });
            self.screen.clear();
            self.answer_device(Text::plain(refuse), &mut events);
        }
        events
    }

    /// Processes the end of the connection: an answer that ends in a prompt is complete, although
    /// the next command has no echo.
    pub(crate) fn finish_at_end(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let current = self.screen.current();
        let complete = self
            .pending
            .front()
            .is_some_and(PendingCommand::is_fully_echoed);
        if complete
            && !self.is_next_echo_in_output()
            && let Some((mode, name)) = self.rules.prompt(&current, self.hostname.as_deref())
            && self.is_expected_prompt(mode, &name)
        {
            self.complete_answer(mode, name, current, false, &mut events);
        }
        events
    }

    /// Whether the next command was echoed within the output, so that a prompt may belong to it.
    fn is_next_echo_in_output(&self) -> bool {
        let (Some(pending_command), Some(next)) = (self.pending.front(), self.pending.get(1))
        else {
            return false;
        };
        let printed = pending_command
            .output
            .iter()
            .chain(&pending_command.output_before_echo);
        let next = next.echo_text.trim();
        !next.is_empty() && printed.into_iter().any(|line| line.contains(next))
    }

    /// The end of the received text, for the timeout message.
    pub(crate) fn last_output(&self) -> String {
        let mut tail = self.screen.current();
        if tail.trim().is_empty()
            && let Some(pending_command) = self.pending.front()
        {
            tail = pending_command.last_output_line().to_owned();
        }
        let tail = tail.trim();
        let start = tail
            .char_indices()
            .rev()
            .nth(LAST_OUTPUT_CHARS - 1)
            .map_or(0, |(at, _)| at);
        tail[start..].to_owned()
    }

    fn process_line(&mut self, line: String, events: &mut Vec<Event>) {
        let Some(pending_command) = self.pending.front_mut() else {
            return;
        };
        let frame = &self.rules.noise_frame;
        let is_framed = pending_command.ends_in_noise && frame.is_match(&line);
        if is_framed || self.rules.noise.is_match(&line) {
            pending_command.drop_noise(frame);
            let log_message = self.rules.log_message.as_ref();
            if pending_command.echoed && log_message.is_some_and(|pattern| pattern.is_match(&line))
            {
                let position = pending_command.output.len();
                pending_command.log_positions.push(position);
            }
            return;
        }
        let hostname = self.hostname.as_deref();
        if !pending_command.echoed {
            if let Some(head) =
                echo::find_echo(&self.rules, hostname, &line, &pending_command.echo_text)
            {
                pending_command.echoed = true;
                self.has_seen_echo = true;
                pending_command.buffered_bytes = 0;
                pending_command.output_before_echo.clear();
                pending_command.prompt_width = match &head {
                    Some(_) => line.len().saturating_sub(pending_command.echo_text.len()),
                    None => self.last_prompt.len(),
                };
                if let Some((mode, name)) = head {
                    self.update_hostname(mode, name);
                }
                return;
            }
        } else if pending_command.body_sent
            && pending_command.consume_body_echo(&self.rules, hostname, &line)
        {
            return;
        }
        if let Some(next) = self.pending.get(1)
            && let Some(head) = echo::find_echo(&self.rules, hostname, &line, &next.echo_text)
            && let Some((mode, name, text)) = match head {
                Some((mode, name)) => {
                    let width = line.len().saturating_sub(next.echo_text.len());
                    Some((mode, name, line[..width].to_owned()))
                }
                None => self.interrupted_prompt(),
            }
        {
            let width = text.len();
            let pending_command = &mut self.pending[0];
            let before = std::mem::take(&mut pending_command.output_before_echo);
            pending_command.output.splice(0..0, before);
            self.complete_answer(mode, name, text, true, events);
            let next = &mut self.pending[0];
            next.echoed = true;
            next.prompt_width = width;
            return;
        }
        let starts_text = self
            .rules
            .text_entry
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(&line));
        let newline = &self.rules.newline;
        let pending_command = &mut self.pending[0];
        if starts_text && pending_command.echoed && !pending_command.body_sent {
            events.push(Event::Write(pending_command.take_body(newline)));
        } else {
            pending_command.push_output(line);
        }
    }

    fn process_partial_line(&mut self, events: &mut Vec<Event>) {
        let Some(pending_command) = self.pending.front_mut() else {
            return;
        };
        if self.screen.current_len() > PARTIAL_LINE_LIMIT {
            return;
        }
        let any_prompt = pending_command.any_prompt;
        let current = self.screen.current();
        if current.trim().is_empty() {
            return;
        }
        if let Some(pager) = &self.rules.pager
            && pager.marker.is_match(&current)
        {
            self.screen.blank();
            pending_command.pages += 1;
            let limit = self.rules.limits.pages;
            events.push(if pending_command.pages <= limit {
                Event::Write(Text::plain(&pager.key))
            } else {
                Event::LimitExceeded(format!("more than {limit} pages"))
            });
            return;
        }
        if let Some(secret) = &pending_command.command.secret
            && pending_command.echoed
            && secret.request.request.is_match(&current)
        {
            self.answer_secret_request(events);
            return;
        }
        if pending_command.echoed
            && let Some(answer) = expected_answer(&self.rules, &current, pending_command)
        {
            let answer = Text::plain(answer.to_owned() + &self.rules.newline);
            pending_command.questions.push(DeviceQuestion {
                text: current.trim().to_owned(),
                accepted: true,
            });
            self.screen.clear();
            self.answer_device(answer, events);
            return;
        }
        let last = pending_command.is_fully_echoed() && self.pending.len() == 1;
        if let Some((mode, name)) = self.rules.prompt(&current, self.hostname.as_deref())
            && (any_prompt || last && self.is_expected_prompt(mode, &name))
        {
            self.complete_answer(mode, name, current, false, events);
        }
    }

    /// The prompt before noise at the end of the output, from which it is removed. It may be printed again.
    fn interrupted_prompt(&mut self) -> Option<(ModeId, String, String)> {
        let pending_command = self.pending.front()?;
        let text = pending_command.last_output_line().to_owned();
        let (mode, name) = self.rules.prompt(&text, self.hostname.as_deref())?;
        let is_prompt = pending_command.ends_in_noise
            && pending_command.is_fully_echoed()
            && self.is_expected_prompt(mode, &name);
        is_prompt.then(|| {
            self.pending[0].remove_last_output_line();
            (mode, name, text)
        })
    }

    /// Whether a prompt may have this host name.
    fn is_expected_prompt(&self, mode: ModeId, name: &str) -> bool {
        let Some(current) = &self.hostname else {
            return true;
        };
        if self.rules.is_hostname(mode, name, current) {
            return true;
        }
        match (&self.rules.rename, self.pending.front()) {
            (Some(rename), Some(pending_command)) => rename.is_match(&pending_command.echo_text),
            _ => false,
        }
    }

    fn update_hostname(&mut self, mode: ModeId, name: String) {
        let cut = self.rules.is_config_mode(mode)
            && self
                .hostname
                .as_ref()
                .is_some_and(|current| current.starts_with(&name));
        if !cut {
            self.hostname = Some(name);
        }
    }

    fn complete_answer(
        &mut self,
        mode: ModeId,
        name: String,
        text: String,
        is_next_echoed: bool,
        events: &mut Vec<Event>,
    ) {
        self.interrupted_prompt();
        let pending_command = self.pending.pop_front().expect("a command is pending");
        self.screen.clear();
        self.update_hostname(mode, name);
        self.last_prompt = text.clone();
        let answer = pending_command.into_answer(Prompt {
            mode,
            text: text.trim().to_owned(),
        });
        let is_lost = answer.is_consumed || overrun_question(&self.rules, &answer).is_some();
        events.push(Event::Answered(answer));
        // A command that a question consumed has neither echo nor prompt: an empty line gets one.
        if is_lost
            && !is_next_echoed
            && let Some(next) = self.pending.front_mut()
        {
            next.is_consumed = true;
            next.any_prompt = true;
            events.push(Event::Write(Text::plain(&self.rules.newline)));
        }
    }

    fn answer_secret_request(&mut self, events: &mut Vec<Event>) {
        let newline = self.rules.newline.clone();
        let pending_command = self.pending.front_mut().expect("a command is pending");
        let current = pending_command
            .command
            .secret
            .as_ref()
            .and_then(|secret| secret.value.clone());
        let mut answer = Text::new();
        pending_command.secret = match (pending_command.secret, current) {
            (SecretState::NotRequested, Some(value)) => {
                answer.append(value);
                SecretState::Sent
            }
            (SecretState::NotRequested | SecretState::Missing, _) => SecretState::Missing,
            (SecretState::Sent | SecretState::Wrong, _) => SecretState::Wrong,
        };
        pending_command.secret_answers += 1;
        pending_command.any_prompt = true;
        if pending_command.secret_answers > MAX_SECRET_ANSWERS {
            answer.push(INTERRUPT);
        } else {
            answer.push(newline);
        }
        self.screen.clear();
        self.answer_device(answer, events);
    }

    /// Writes the answer to a question or a request for a secret, unless the command caused too many
    /// of them.
    fn answer_device(&self, answer: Text, events: &mut Vec<Event>) {
        let limit = self.rules.limits.questions;
        let count = self.pending.front().map_or(0, |pending_command| {
            pending_command.questions.len() + pending_command.secret_answers
        });
        events.push(if count <= limit {
            Event::Write(answer)
        } else {
            Event::LimitExceeded(format!("more than {limit} questions"))
        });
    }
}

/// Length of the last output in messages.
const LAST_OUTPUT_CHARS: usize = 120;
