//! The engine: which bytes are the answer to which line.
//!
//! Several lines may be under way at once. A device prints each line back behind a prompt before
//! it answers it, and that echo is what the attribution rests on: an answer begins at the echo of
//! its line and ends at the next prompt. A prompt therefore counts only after the echo of its
//! line was seen, and only as the last, unterminated line or, where another line was typed ahead,
//! in front of that line's echo; so prompts that appear in banners, in descriptions, or because
//! somebody logs in, mislead nobody, and a prompt too many is passed over.
//!
//! Where a device never prints lines back, or the host name in the prompt is a new one, the prompt
//! is believed as soon as nothing more comes ([`Dialogue::quiet`]).

use std::collections::VecDeque;
use std::sync::Arc;

use super::cli_rules::{CliRules, ModeId};
use super::command::{Answer, AskedQuestion, Command, Prompt, SecretState};
use super::echo;
use super::pending_command::PendingCommand;
use super::question::{expected_answer, find_question};
use super::screen::Screen;
use crate::secret::Text;

/// What is to be done after bytes were received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Write this now.
    Write(Text),
    /// The oldest line under way has been answered.
    Answered(Answer),
}

/// The dialogue with one device.
#[derive(Debug)]
pub struct Dialogue {
    rules: Arc<CliRules>,
    screen: Screen,
    pending: VecDeque<PendingCommand>,
    /// Host name, as the last prompt outside configuration showed it.
    hostname: Option<String>,
    /// The prompt behind which the next line is typed.
    last_prompt: String,
    /// The device has printed a line of ours back, so it does so with all of them.
    has_seen_echo: bool,
}

/// After so many empty answers to a request for a secret we interrupt.
const MAX_SECRET_ANSWERS: usize = 5;
const INTERRUPT: &str = "\u{3}";

impl Dialogue {
    /// A dialogue with a device that has not said anything yet. The first answer is the first
    /// prompt; its output is what came before it.
    pub fn new(rules: Arc<CliRules>) -> Self {
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

    /// Notes that a line is being sent and returns what to write for it.
    pub fn send(&mut self, input: Command) -> Text {
        let mut exchange = PendingCommand::new(input);
        let mut bytes = exchange.command.line.clone();
        bytes.push(&self.rules.newline);
        if self.rules.text_entry.is_none() {
            bytes.append(exchange.take_body(&self.rules.newline));
        }
        self.pending.push_back(exchange);
        bytes
    }

    /// Lines that were sent and not answered.
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// The line whose answer is awaited, secrets masked.
    pub fn current_command(&self) -> Option<&Text> {
        self.pending.front().map(|exchange| &exchange.command.line)
    }

    /// Bytes of unfinished answers that are held in memory.
    pub fn buffered_bytes(&self) -> usize {
        self.pending
            .iter()
            .map(|exchange| exchange.buffered_bytes)
            .sum()
    }

    /// Takes bytes as they come.
    pub fn receive(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(line) = self.screen.take_line(&mut bytes) {
            self.process_line(line, &mut events);
        }
        self.process_partial_line(&mut events);
        events
    }

    /// Nothing came for a while: what stands there is all there is to say for now.
    pub fn on_idle(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let buried = self.is_next_echo_in_output();
        let Some(exchange) = self.pending.front_mut() else {
            return events;
        };
        let current = self.screen.current();
        let standing = if current.trim().is_empty() {
            exchange.last_output_line().to_owned()
        } else {
            current.clone()
        };
        let believable = match self.has_seen_echo {
            true => exchange.any_prompt || exchange.echoed && !buried,
            false => true,
        };
        if let Some((mode, name)) = self.rules.prompt(&standing)
            && believable
        {
            if current.trim().is_empty() {
                exchange.remove_last_output_line();
            }
            let before = std::mem::take(&mut exchange.output_before_echo);
            exchange.output.splice(0..0, before);
            self.complete_answer(mode, name, standing, &mut events);
        } else if current.trim().is_empty() {
            // Still working, or silent for good: the time limit decides.
        } else if exchange.command.secret.is_some() {
            self.answer_secret_request(&mut events);
        } else if let Some(confirm) = find_question(&self.rules, &current) {
            let refuse = confirm.refuse.clone();
            exchange.any_prompt = true;
            exchange.questions.push(AskedQuestion {
                text: current.trim().to_owned(),
                accepted: false,
            });
            self.screen.clear();
            events.push(Event::Write(Text::plain(refuse)));
        }
        events
    }

    /// Nothing more will come: an answer that ends in a prompt is one all the same, although the
    /// next line was not printed back any more.
    pub fn finish_at_end(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let current = self.screen.current();
        let complete = self
            .pending
            .front()
            .is_some_and(PendingCommand::is_fully_echoed);
        if complete
            && !self.is_next_echo_in_output()
            && let Some((mode, name)) = self.rules.prompt(&current)
            && self.is_expected_prompt(mode, &name)
        {
            self.complete_answer(mode, name, current, &mut events);
        }
        events
    }

    /// The line that was typed ahead was printed back in the midst of something else, so a prompt
    /// may be its own.
    fn is_next_echo_in_output(&self) -> bool {
        let (Some(exchange), Some(next)) = (self.pending.front(), self.pending.get(1)) else {
            return false;
        };
        let printed = exchange.output.iter().chain(&exchange.output_before_echo);
        let next = next.echo_text.trim();
        !next.is_empty() && printed.into_iter().any(|line| line.contains(next))
    }

    /// The end of what was received, for the message when no answer comes.
    pub fn last_output(&self) -> String {
        let mut tail = self.screen.current();
        if tail.trim().is_empty()
            && let Some(exchange) = self.pending.front()
        {
            tail = exchange.last_output_line().to_owned();
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
        if self.rules.noise.is_match(&line) {
            return;
        }
        let Some(exchange) = self.pending.front_mut() else {
            return;
        };
        if !exchange.echoed {
            if let Some(head) = echo::find_echo(&self.rules, &line, &exchange.echo_text) {
                exchange.echoed = true;
                self.has_seen_echo = true;
                exchange.buffered_bytes = 0;
                exchange.output_before_echo.clear();
                exchange.prompt_width = match &head {
                    Some(_) => line.len().saturating_sub(exchange.echo_text.len()),
                    None => self.last_prompt.len(),
                };
                if let Some((mode, name)) = head {
                    self.update_hostname(mode, name);
                }
                return;
            }
        } else if exchange.body_sent && exchange.consume_body_echo(&self.rules, &line) {
            return;
        }
        if let Some(next) = self.pending.get(1)
            && let Some(Some((mode, name))) = echo::find_echo(&self.rules, &line, &next.echo_text)
        {
            let text = line[..line.len().saturating_sub(next.echo_text.len())].to_owned();
            let width = text.len();
            let exchange = &mut self.pending[0];
            let before = std::mem::take(&mut exchange.output_before_echo);
            exchange.output.splice(0..0, before);
            self.complete_answer(mode, name, text, events);
            let next = &mut self.pending[0];
            next.echoed = true;
            next.prompt_width = width;
            return;
        }
        let begins_text = self
            .rules
            .text_entry
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(&line));
        let newline = &self.rules.newline;
        let exchange = &mut self.pending[0];
        if begins_text && exchange.echoed && !exchange.body_sent {
            events.push(Event::Write(exchange.take_body(newline)));
        } else {
            exchange.push_output(line);
        }
    }

    fn process_partial_line(&mut self, events: &mut Vec<Event>) {
        let Some(exchange) = self.pending.front_mut() else {
            return;
        };
        let any_prompt = exchange.any_prompt;
        let current = self.screen.current();
        if current.trim().is_empty() {
            return;
        }
        if let Some(pager) = &self.rules.pager
            && pager.marker.is_match(&current)
        {
            self.screen.blank();
            events.push(Event::Write(Text::plain(&pager.key)));
            return;
        }
        if let Some(secret) = &exchange.command.secret
            && exchange.echoed
            && secret.request.request.is_match(&current)
        {
            self.answer_secret_request(events);
            return;
        }
        if exchange.command.accept_questions
            && exchange.echoed
            && let Some(answer) = expected_answer(&self.rules, &current, &exchange.echo_text)
        {
            exchange.questions.push(AskedQuestion {
                text: current.trim().to_owned(),
                accepted: true,
            });
            self.screen.clear();
            events.push(Event::Write(Text::plain(
                answer.to_owned() + &self.rules.newline,
            )));
            return;
        }
        let last = exchange.is_fully_echoed() && self.pending.len() == 1;
        if let Some((mode, name)) = self.rules.prompt(&current)
            && (any_prompt || last && self.is_expected_prompt(mode, &name))
        {
            self.complete_answer(mode, name, current, events);
        }
    }

    /// Whether a prompt with this host name is no surprise.
    fn is_expected_prompt(&self, mode: ModeId, name: &str) -> bool {
        let Some(known) = &self.hostname else {
            return true;
        };
        // In configuration modes long names are cut.
        if known == name || self.rules.is_config_mode(mode) && known.starts_with(name) {
            return true;
        }
        match (&self.rules.rename, self.pending.front()) {
            (Some(rename), Some(exchange)) => rename.is_match(&exchange.echo_text),
            _ => false,
        }
    }

    fn update_hostname(&mut self, mode: ModeId, name: String) {
        let cut = self.rules.is_config_mode(mode)
            && self
                .hostname
                .as_ref()
                .is_some_and(|known| known.starts_with(&name));
        if !cut {
            self.hostname = Some(name);
        }
    }

    fn complete_answer(
        &mut self,
        mode: ModeId,
        name: String,
        text: String,
        events: &mut Vec<Event>,
    ) {
        let exchange = self
            .pending
            .pop_front()
            .expect("only called while a line is under way");
        self.screen.clear();
        self.update_hostname(mode, name);
        self.last_prompt = text.clone();
        events.push(Event::Answered(exchange.into_answer(Prompt {
            mode,
            text: text.trim().to_owned(),
        })));
    }

    fn answer_secret_request(&mut self, events: &mut Vec<Event>) {
        let newline = self.rules.newline.clone();
        let exchange = self
            .pending
            .front_mut()
            .expect("only called while a line is under way");
        let known = exchange
            .command
            .secret
            .as_ref()
            .and_then(|secret| secret.value.clone());
        let mut answer = Text::new();
        exchange.secret = match (exchange.secret, known) {
            (SecretState::NotAsked, Some(value)) => {
                answer.append(value);
                SecretState::Given
            }
            (SecretState::NotAsked | SecretState::Missing, _) => SecretState::Missing,
            (SecretState::Given | SecretState::Wrong, _) => SecretState::Wrong,
        };
        exchange.secret_answers += 1;
        exchange.any_prompt = true;
        if exchange.secret_answers > MAX_SECRET_ANSWERS {
            answer.push(INTERRUPT);
        } else {
            answer.push(newline);
        }
        self.screen.clear();
        events.push(Event::Write(answer));
    }
}

/// Characters of the tail in messages.
const LAST_OUTPUT_CHARS: usize = 120;
