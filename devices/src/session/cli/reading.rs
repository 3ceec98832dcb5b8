//! Reads, together with what has to go out before them: set-up lines, and the way out of
//! configuration.

use std::sync::Arc;

use super::CliSession;
use super::opening::Pending;
use super::place::Place;
use crate::dialogue::rules::Class;
use crate::dialogue::{Answer, Input, Refusal, Verdict};
use crate::read::ReadRequest;
use crate::session::error::SessionErrorKind;
use crate::session::wire::Answered;

impl CliSession {
    /// Sends reads, with whatever set-up is pending and the way out of configuration in front.
    pub(super) async fn send_reads(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let mut inputs = Vec::new();
        let leaving = self.place != Place::Reading;
        if leaving {
            inputs.push(Input::line(self.end_line()));
        }
        let pending = std::mem::take(&mut self.pending);
        inputs.extend(pending.iter().map(Pending::input));
        inputs.extend(
            requests
                .iter()
                .map(|request| Input::line(request.command.as_str())),
        );
        if inputs.is_empty() {
            return Ok(Vec::new());
        }
        let answered = self.converse(inputs).await?;
        let first = answered.last().map(|one| one.answer.prompt.mode);
        if let Some(mode) = first.filter(|mode| !self.confirmed && *mode != rules.read_mode) {
            // What looked like the first prompt was none. Reads do no harm anywhere.
            self.confirmed = true;
            Box::pin(self.reach_read_mode(mode)).await?;
            return Box::pin(self.send_reads(requests)).await;
        }
        self.confirmed = true;
        self.statistics.reads += requests.len() as u64;
        let mut answered = answered.into_iter();
        if leaving && let Some(end) = answered.next() {
            self.left(&end)?;
        }
        for (pending, answered) in pending.iter().zip(answered.by_ref()) {
            self.check_step(pending, &answered)?;
        }
        requests
            .iter()
            .zip(answered)
            .map(
                |(request, answered)| match Verdict::of_read(&rules, &answered.answer) {
                    None => Ok(text_of(answered.answer)),
                    Some(Refusal::Error {
                        class: Class::Command,
                        ..
                    }) if request.optional => Ok(String::new()),
                    Some(refusal) => Err(self.refused(&answered.input, refusal)),
                },
            )
            .collect()
    }

    /// Notes that configuration was left, if it was.
    fn left(&mut self, end: &Answered) -> Result<(), SessionErrorKind> {
        if end.answer.prompt.mode == self.rules.read_mode {
            self.place = Place::Reading;
            return Ok(());
        }
        Err(SessionErrorKind::Refused {
            command: end.input.line.to_string(),
            said: self.words(&end.answer.output),
        })
    }

    /// The line that leaves configuration from wherever it is.
    pub(super) fn end_line(&self) -> String {
        let rules = &self.rules;
        [rules.sub_mode, rules.config_mode]
            .into_iter()
            .flatten()
            .find_map(|mode| rules.edge(mode, rules.read_mode))
            .map(|edge| edge.send.clone())
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
