//! A command without an answer, and the output since it was sent.

use super::cli_rules::CliRules;
use super::command::{Answer, Command, DeviceQuestion, Prompt, SecretState};
use super::echo;
use crate::pattern::Patterns;
use crate::secret::Text;

/// A command without an answer.
#[derive(Debug)]
pub(crate) struct PendingCommand {
    pub(crate) command: Command,
    /// The text of its echo.
    pub(crate) echo_text: String,
    pub(crate) echoed: bool,
    /// Width of the prompt in front of the echo.
    pub(crate) prompt_width: usize,
    /// Output before the echo.
    pub(crate) output_before_echo: Vec<String>,
    pub(crate) output: Vec<String>,
    /// For each log message that was dropped from the output, the number of lines before it.
    pub(crate) log_positions: Vec<usize>,
    /// Bytes of both.
    pub(crate) buffered_bytes: usize,
    /// The last line that is not blank was dropped.
    pub(crate) ends_in_noise: bool,
    pub(crate) questions: Vec<DeviceQuestion>,
    pub(crate) secret: SecretState,
    /// Number of answers to requests for a secret.
    pub(crate) secret_answers: usize,
    /// Number of keys for the next page.
    pub(crate) pages: usize,
    pub(crate) body_sent: bool,
    /// Number of echoed body lines.
    pub(crate) body_echoed: usize,
    /// A question after the command before it may have consumed this one.
    pub(crate) is_consumed: bool,
    /// Any prompt ends the answer: a question was declined, or there is no echo.
    pub(crate) any_prompt: bool,
}

impl PendingCommand {
    pub(crate) fn new(command: Command) -> Self {
        Self {
            echo_text: command.line.reveal(),
            body_sent: command.body.is_empty(),
            command,
            echoed: false,
            prompt_width: 0,
            output_before_echo: Vec::new(),
            output: Vec::new(),
            log_positions: Vec::new(),
            buffered_bytes: 0,
            ends_in_noise: false,
            questions: Vec::new(),
            secret: SecretState::NotRequested,
            secret_answers: 0,
            pages: 0,
            body_echoed: 0,
            is_consumed: false,
            any_prompt: false,
        }
    }

    pub(crate) fn take_body(&mut self, newline: &str) -> Text {
        self.body_sent = true;
        let mut text = Text::new();
        for line in &self.command.body {
            text.append(line.clone());
            text.push(newline);
        }
        text
    }

    /// Whether the line is the echo of the next body line, which is then counted.
    pub(crate) fn consume_body_echo(
        &mut self,
        rules: &CliRules,
        hostname: Option<&str>,
        line: &str,
    ) -> bool {
        let Some(next) = self.command.body.get(self.body_echoed) else {
            return false;
        };
        let found = echo::find_echo(rules, hostname, line, &next.reveal()).is_some();
        self.body_echoed += usize::from(found);
        found
    }

    /// Whether the command and its body were echoed.
    pub(crate) fn is_fully_echoed(&self) -> bool {
        self.echoed && (!self.body_sent || self.body_echoed == self.command.body.len())
    }

    pub(crate) fn push_output(&mut self, line: String) {
        self.buffered_bytes += line.len();
        self.ends_in_noise &= line.trim().is_empty();
        if self.echoed {
            self.output.push(line);
        } else {
            self.output_before_echo.push(line);
        }
    }

    /// Drops a line, and the frame in the output before it.
    pub(crate) fn drop_noise(&mut self, frame: &Patterns) {
        let lines = if self.echoed {
            &mut self.output
        } else {
            &mut self.output_before_echo
        };
        while lines.pop_if(|line| frame.is_match(line)).is_some() {}
        self.ends_in_noise = true;
    }

    pub(crate) fn last_output_line(&self) -> &str {
        self.output
            .iter()
            .rev()
            .chain(self.output_before_echo.iter().rev())
            .find(|line| !line.trim().is_empty())
            .map_or("", String::as_str)
    }

    pub(crate) fn remove_last_output_line(&mut self) {
        for lines in [&mut self.output, &mut self.output_before_echo] {
            while let Some(line) = lines.pop() {
                if !line.trim().is_empty() {
                    return;
                }
            }
        }
    }

    pub(crate) fn into_answer(mut self, prompt: Prompt) -> Answer {
        if let Some(secret) = &self.command.secret {
            let request = &secret.request.request;
            self.output.retain(|line| !request.is_match(line));
        }
        if let Some(secret) = &self.command.secret
            && self.secret != SecretState::Missing
            && self.output.iter().any(|line| {
                let refused = &secret.request.refused;
                refused.iter().any(|pattern| pattern.is_match(line))
            })
        {
            self.secret = SecretState::Wrong;
        }
        Answer {
            output: self.output,
            log_positions: self.log_positions,
            prompt,
            questions: self.questions,
            secret: self.secret,
            is_consumed: self.is_consumed,
            body_accepted: self.body_sent,
            prompt_width: self.prompt_width,
        }
    }
}
