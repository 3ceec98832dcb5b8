//! A line that is under way, with what was printed since it was sent.

use super::echo;
use super::line::{Answer, Input, Prompt, Question, SecretState};
use super::rules::Rules;
use crate::secret::Text;

#[derive(Debug)]
pub struct Exchange {
    pub input: Input,
    /// The line as it is printed back.
    pub command: String,
    pub echoed: bool,
    /// Width of the prompt in front of the echo.
    pub prompt_width: usize,
    /// What was printed before the echo.
    pub before: Vec<String>,
    pub output: Vec<String>,
    /// Bytes in both.
    pub held: usize,
    pub questions: Vec<Question>,
    pub secret: SecretState,
    /// Answers given to requests for a secret, the secret itself included.
    pub secret_answers: usize,
    pub body_sent: bool,
    /// Lines of the body that were printed back.
    pub body_echoed: usize,
    /// Any prompt ends it: a question was declined, or there is no echo to wait for.
    pub any_prompt: bool,
}

impl Exchange {
    pub fn new(input: Input) -> Self {
        Self {
            command: input.line.reveal(),
            body_sent: input.body.is_empty(),
            input,
            echoed: false,
            prompt_width: 0,
            before: Vec::new(),
            output: Vec::new(),
            held: 0,
            questions: Vec::new(),
            secret: SecretState::NotAsked,
            secret_answers: 0,
            body_echoed: 0,
            any_prompt: false,
        }
    }

    pub fn take_body(&mut self, newline: &str) -> Text {
        self.body_sent = true;
        let mut text = Text::new();
        for line in &self.input.body {
            text.append(line.clone());
            text.push(newline);
        }
        text
    }

    /// Whether the line is the echo of the body's next line; it is counted then.
    pub fn body_echo(&mut self, rules: &Rules, line: &str) -> bool {
        let Some(next) = self.input.body.get(self.body_echoed) else {
            return false;
        };
        let found = echo::of(rules, line, &next.reveal()).is_some();
        self.body_echoed += usize::from(found);
        found
    }

    /// Nothing of ours is still to be printed back.
    pub fn complete(&self) -> bool {
        self.echoed && (!self.body_sent || self.body_echoed == self.input.body.len())
    }

    pub fn keep(&mut self, line: String) {
        self.held += line.len();
        if self.echoed {
            self.output.push(line);
        } else {
            self.before.push(line);
        }
    }

    pub fn last_printed(&self) -> &str {
        self.output
            .iter()
            .rev()
            .chain(self.before.iter().rev())
            .find(|line| !line.trim().is_empty())
            .map_or("", String::as_str)
    }

    pub fn forget_last_printed(&mut self) {
        for lines in [&mut self.output, &mut self.before] {
            while let Some(line) = lines.pop() {
                if !line.trim().is_empty() {
                    return;
                }
            }
        }
    }

    pub fn finish(mut self, prompt: Prompt) -> Answer {
        if let Some(secret) = &self.input.secret
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
            prompt,
            questions: self.questions,
            secret: self.secret,
            body_taken: self.body_sent,
            prompt_width: self.prompt_width,
        }
    }
}
