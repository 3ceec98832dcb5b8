//! From a connection to the mode for reads: the first prompt, privilege, set-up lines.

use std::sync::Arc;

use secrecy::ExposeSecret;
use tokio::time::Instant;

use super::place::Place;
use super::{CliSession, Terminal};
use crate::dialogue::rules::{Edge, ModeId, Step};
use crate::dialogue::{Dialogue, Input, Rules, Secret, SecretState, Verdict};
use crate::read::ReadRequest;
use crate::secret::Text;
use crate::session::error::SessionErrorKind;
use crate::session::guard::Guard;
use crate::session::mask::Mask;
use crate::session::target::Target;
use crate::session::transcript::Transcript;
use crate::session::wire::{Answered, Wire, WireOptions};
use crate::session::{Access, Session, Statistics};

/// A set-up line that goes out with the next lines.
pub(super) struct Pending {
    pub step: Step,
    /// Failing it means that the privilege level is too low.
    privilege: bool,
}

impl Pending {
    pub(super) fn set_up(step: Step) -> Self {
        Self {
            step,
            privilege: false,
        }
    }

    pub(super) fn privilege(step: Step) -> Self {
        Self {
            step,
            privilege: true,
        }
    }

    pub(super) fn input(&self) -> Input {
        Input::line(self.step.send.as_str())
    }
}

impl CliSession {
    /// Waits for the first prompt, becomes privileged where that takes a step, and makes the first
    /// reads, which go out together with the question whether the privilege is high enough.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub(in crate::session) async fn open(
        target: &Target,
        terminal: Terminal,
        rules: &Arc<Rules>,
        (access, reads): (Access, &[String]),
        first: &[ReadRequest],
    ) -> Result<(Self, Vec<String>), SessionErrorKind> {
        let began = Instant::now();
        let mut mask = Mask::new(&rules.secrets);
        for secret in target.secrets() {
            mask.add(secret.expose_secret());
        }
        let transcript = Transcript::create(target.transcript.as_deref())?;
        let options = WireOptions {
            end: terminal.end,
            window: rules.window,
            newline: rules.newline.clone(),
            limit: target.command_timeout,
        };
        let dialogue = Dialogue::new(Arc::clone(rules));
        let wire = Wire::new(terminal.stream, dialogue, (mask, transcript), options);
        let mut session = Self {
            device: target.device.clone(),
            rules: Arc::clone(rules),
            guard: Guard::new(access, rules, reads),
            wire,
            place: Place::Reading,
            access,
            enable_password: target
                .enable_password
                .as_ref()
                .map(|value| Text::secret(value.expose_secret())),
            pending: Vec::new(),
            confirmed: false,
            statistics: Statistics::default(),
            broken: None,
            connection: terminal.connection,
        };
        let mode = session.wire.greeting().await?.prompt.mode;
        let verify = session.reach_read_mode(mode).await?;
        let mut texts = Vec::new();
        if verify || !first.is_empty() {
            // Whether the level is high enough decides whether the session is one.
            match session.send_reads(first).await {
                Ok(answers) => texts = answers,
                Err(error) => {
                    session.close().await;
                    return Err(error);
                }
            }
        }
        session.statistics.login = began.elapsed();
        Ok((session, texts))
    }

    /// Goes from the mode of a prompt to the one for reads. Set-up lines that do not belong before
    /// that are left pending; whether some of them decide if the session is one.
    pub(super) async fn reach_read_mode(&mut self, mode: ModeId) -> Result<bool, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let home = rules.read_mode;
        let way = rules
            .way(mode, home)
            .ok_or_else(|| SessionErrorKind::Garbage {
                command: String::new(),
                why: format!(
                    "there is no way out of the mode `{}`",
                    rules.modes[mode].name
                ),
            })?;
        let (early, late): (Vec<_>, Vec<_>) = rules
            .open
            .iter()
            .filter(|step| step.applies(mode, home) || step.applies(home, home))
            .cloned()
            .map(Pending::set_up)
            .partition(|pending| mode != home && pending.step.applies(mode, home));
        self.pending = early;
        let mut verify = false;
        for edge in way {
            self.take(edge).await?;
            verify |= edge.verify.is_some();
            self.pending
                .extend(edge.verify.clone().map(Pending::privilege));
        }
        self.pending.extend(late);
        Ok(verify)
    }

    /// Goes along an edge. Set-up lines that belong before it go out with it.
    async fn take(&mut self, edge: &Edge) -> Result<(), SessionErrorKind> {
        let before: Vec<_> = std::mem::take(&mut self.pending);
        let mut inputs: Vec<_> = before.iter().map(Pending::input).collect();
        inputs.push(Input {
            line: Text::plain(&edge.send),
            secret: edge.secret.clone().map(|request| Secret {
                request,
                value: self.enable_password.clone(),
            }),
            ..Input::default()
        });
        let mut answered = self.converse(inputs).await?;
        let last = answered.pop().expect("the edge's line was answered");
        for (pending, answered) in before.iter().zip(&answered) {
            self.check_step(pending, answered)?;
        }
        let said = self.words(&last.answer.output);
        match last.answer.secret {
            SecretState::Wrong => return Err(SessionErrorKind::EnableRefused { said }),
            SecretState::Missing => return Err(SessionErrorKind::EnableMissing),
            SecretState::NotAsked | SecretState::Given => {}
        }
        if last.answer.prompt.mode == edge.to {
            self.confirmed = true;
            return Ok(());
        }
        Err(match edge.secret {
            Some(_) => SessionErrorKind::EnableRefused { said },
            None => SessionErrorKind::Refused {
                command: edge.send.clone(),
                said,
            },
        })
    }

    pub(super) fn check_step(
        &self,
        pending: &Pending,
        answered: &Answered,
    ) -> Result<(), SessionErrorKind> {
        let step = &pending.step;
        let verdict = Verdict::of(&self.rules, &answered.input, &answered.answer);
        let output = answered.answer.output.join("\n");
        let unmet = step
            .expect
            .as_ref()
            .is_some_and(|wanted| !wanted.is_match(&output));
        if step.optional || verdict.refused.is_none() && !unmet {
            return Ok(());
        }
        if pending.privilege {
            let said = self.words(&answered.answer.output);
            return Err(SessionErrorKind::Privilege { said });
        }
        Err(match verdict.refused {
            Some(refusal) => self.refused(&answered.input, refusal),
            None => SessionErrorKind::Refused {
                command: step.send.clone(),
                said: self.words(&answered.answer.output),
            },
        })
    }
}
