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

use super::echo;
use super::exchange::Exchange;
use super::line::{Answer, Input, Prompt, Question, SecretState};
use super::question::{expected, question};
use super::rules::{ModeId, Rules};
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
    rules: Arc<Rules>,
    screen: Screen,
    under_way: VecDeque<Exchange>,
    /// Host name, as the last prompt outside configuration showed it.
    name: Option<String>,
    /// The prompt behind which the next line is typed.
    last_prompt: String,
    /// The device has printed a line of ours back, so it does so with all of them.
    echoes: bool,
}

/// After so many empty answers to a request for a secret we interrupt.
const SECRET_ANSWERS: usize = 5;
const INTERRUPT: &str = "\u{3}";

impl Dialogue {
    /// A dialogue with a device that has not said anything yet. The first answer is the first
    /// prompt; its output is what came before it.
    pub fn new(rules: Arc<Rules>) -> Self {
        let mut greeting = Exchange::new(Input::default());
        greeting.any_prompt = true;
        greeting.echoed = true;
        Self {
            rules,
            screen: Screen::default(),
            under_way: VecDeque::from([greeting]),
            name: None,
            last_prompt: String::new(),
            echoes: false,
        }
    }

    /// Notes that a line is being sent and returns what to write for it.
    pub fn send(&mut self, input: Input) -> Text {
        let mut exchange = Exchange::new(input);
        let mut bytes = exchange.input.line.clone();
        bytes.push(&self.rules.newline);
        if self.rules.text_entry.is_none() {
            bytes.append(exchange.take_body(&self.rules.newline));
        }
        self.under_way.push_back(exchange);
        bytes
    }

    /// Lines that were sent and not answered.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// The line whose answer is awaited, secrets masked.
    pub fn awaited(&self) -> Option<&Text> {
        self.under_way.front().map(|exchange| &exchange.input.line)
    }

    /// Bytes of unfinished answers that are held in memory.
    pub fn held(&self) -> usize {
        self.under_way.iter().map(|exchange| exchange.held).sum()
    }

    /// Takes bytes as they come.
    pub fn receive(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(line) = self.screen.take_line(&mut bytes) {
            self.complete_line(line, &mut events);
        }
        self.last_line(&mut events);
        events
    }

    /// Nothing came for a while: what stands there is all there is to say for now.
    pub fn quiet(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let buried = self.next_echo_is_buried();
        let Some(exchange) = self.under_way.front_mut() else {
            return events;
        };
        let current = self.screen.current();
        let standing = if current.trim().is_empty() {
            exchange.last_printed().to_owned()
        } else {
            current.clone()
        };
        let believable = match self.echoes {
            true => exchange.any_prompt || exchange.echoed && !buried,
            false => true,
        };
        if let Some((mode, name)) = self.rules.prompt(&standing)
            && believable
        {
            if current.trim().is_empty() {
                exchange.forget_last_printed();
            }
            let before = std::mem::take(&mut exchange.before);
            exchange.output.splice(0..0, before);
            self.answered(mode, name, standing, &mut events);
        } else if current.trim().is_empty() {
            // Still working, or silent for good: the time limit decides.
        } else if exchange.input.secret.is_some() {
            self.secret_requested(&mut events);
        } else if let Some(confirm) = question(&self.rules, &current) {
            let refuse = confirm.refuse.clone();
            exchange.any_prompt = true;
            exchange.questions.push(Question {
                text: current.trim().to_owned(),
                agreed: false,
            });
            self.screen.clear();
            events.push(Event::Write(Text::plain(refuse)));
        }
        events
    }

    /// Nothing more will come: an answer that ends in a prompt is one all the same, although the
    /// next line was not printed back any more.
    pub fn settle(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let current = self.screen.current();
        let complete = self.under_way.front().is_some_and(Exchange::complete);
        if complete
            && !self.next_echo_is_buried()
            && let Some((mode, name)) = self.rules.prompt(&current)
            && self.expects(mode, &name)
        {
            self.answered(mode, name, current, &mut events);
        }
        events
    }

    /// The line that was typed ahead was printed back in the midst of something else, so a prompt
    /// may be its own.
    fn next_echo_is_buried(&self) -> bool {
        let (Some(exchange), Some(next)) = (self.under_way.front(), self.under_way.get(1)) else {
            return false;
        };
        let printed = exchange.output.iter().chain(&exchange.before);
        let next = next.command.trim();
        !next.is_empty() && printed.into_iter().any(|line| line.contains(next))
    }

    /// The end of what was received, for the message when no answer comes.
    pub fn tail(&self) -> String {
        let mut tail = self.screen.current();
        if tail.trim().is_empty()
            && let Some(exchange) = self.under_way.front()
        {
            tail = exchange.last_printed().to_owned();
        }
        let tail = tail.trim();
        let start = tail
            .char_indices()
            .rev()
            .nth(TAIL - 1)
            .map_or(0, |(at, _)| at);
        tail[start..].to_owned()
    }

    fn complete_line(&mut self, line: String, events: &mut Vec<Event>) {
        if self.rules.noise.is_match(&line) {
            return;
        }
        let Some(exchange) = self.under_way.front_mut() else {
            return;
        };
        if !exchange.echoed {
            if let Some(head) = echo::of(&self.rules, &line, &exchange.command) {
                exchange.echoed = true;
                self.echoes = true;
                exchange.held = 0;
                exchange.before.clear();
                exchange.prompt_width = match &head {
                    Some(_) => line.len().saturating_sub(exchange.command.len()),
                    None => self.last_prompt.len(),
                };
                if let Some((mode, name)) = head {
                    self.learn(mode, name);
                }
                return;
            }
        } else if exchange.body_sent && exchange.body_echo(&self.rules, &line) {
            return;
        }
        if let Some(next) = self.under_way.get(1)
            && let Some(Some((mode, name))) = echo::of(&self.rules, &line, &next.command)
        {
            let text = line[..line.len().saturating_sub(next.command.len())].to_owned();
            let width = text.len();
            let exchange = &mut self.under_way[0];
            let before = std::mem::take(&mut exchange.before);
            exchange.output.splice(0..0, before);
            self.answered(mode, name, text, events);
            let next = &mut self.under_way[0];
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
        let exchange = &mut self.under_way[0];
        if begins_text && exchange.echoed && !exchange.body_sent {
            events.push(Event::Write(exchange.take_body(newline)));
        } else {
            exchange.keep(line);
        }
    }

    fn last_line(&mut self, events: &mut Vec<Event>) {
        let Some(exchange) = self.under_way.front_mut() else {
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
        if let Some(secret) = &exchange.input.secret
            && exchange.echoed
            && secret.request.request.is_match(&current)
        {
            self.secret_requested(events);
            return;
        }
        if exchange.input.agree
            && exchange.echoed
            && let Some(answer) = expected(&self.rules, &current, &exchange.command)
        {
            exchange.questions.push(Question {
                text: current.trim().to_owned(),
                agreed: true,
            });
            self.screen.clear();
            events.push(Event::Write(Text::plain(
                answer.to_owned() + &self.rules.newline,
            )));
            return;
        }
        let last = exchange.complete() && self.under_way.len() == 1;
        if let Some((mode, name)) = self.rules.prompt(&current)
            && (any_prompt || last && self.expects(mode, &name))
        {
            self.answered(mode, name, current, events);
        }
    }

    /// Whether a prompt with this host name is no surprise.
    fn expects(&self, mode: ModeId, name: &str) -> bool {
        let Some(known) = &self.name else {
            return true;
        };
        // In configuration modes long names are cut.
        if known == name || self.rules.configures(mode) && known.starts_with(name) {
            return true;
        }
        match (&self.rules.rename, self.under_way.front()) {
            (Some(rename), Some(exchange)) => rename.is_match(&exchange.command),
            _ => false,
        }
    }

    fn learn(&mut self, mode: ModeId, name: String) {
        let cut = self.rules.configures(mode)
            && self
                .name
                .as_ref()
                .is_some_and(|known| known.starts_with(&name));
        if !cut {
            self.name = Some(name);
        }
    }

    fn answered(&mut self, mode: ModeId, name: String, text: String, events: &mut Vec<Event>) {
        let exchange = self
            .under_way
            .pop_front()
            .expect("only called while a line is under way");
        self.screen.clear();
        self.learn(mode, name);
        self.last_prompt = text.clone();
        events.push(Event::Answered(exchange.finish(Prompt {
            mode,
            text: text.trim().to_owned(),
        })));
    }

    fn secret_requested(&mut self, events: &mut Vec<Event>) {
        let newline = self.rules.newline.clone();
        let exchange = self
            .under_way
            .front_mut()
            .expect("only called while a line is under way");
        let known = exchange
            .input
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
        if exchange.secret_answers > SECRET_ANSWERS {
            answer.push(INTERRUPT);
        } else {
            answer.push(newline);
        }
        self.screen.clear();
        events.push(Event::Write(answer));
    }
}

/// Characters of the tail in messages.
const TAIL: usize = 120;
