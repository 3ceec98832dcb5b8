//! From a connection to the mode for reads: the first prompt, privilege, set-up lines.

use std::sync::Arc;

use secrecy::ExposeSecret;
use tokio::time::Instant;

use super::config_mode::ConfigMode;
use super::{CliSession, Terminal};
use crate::dialogue::cli_rules::{ModeId, ModeTransition, Step};
use crate::dialogue::{Classification, CliRules, Command, Dialogue, SecretResponse, SecretState};
use crate::read::ReadRequest;
use crate::secret::Text;
use crate::session::connect_params::ConnectParams;
use crate::session::error::SessionErrorKind;
use crate::session::mask::Mask;
use crate::session::transcript::Transcript;
use crate::session::transport::{AnsweredCommand, CliTransport, TransportOptions};
use crate::session::write_guard::WriteGuard;
use crate::session::{Access, Session, Statistics};

/// A set-up line that goes out with the next lines.
pub(super) struct PendingStep {
    pub step: Step,
    /// Failing it means that the privilege level is too low.
    checks_privilege: bool,
}

impl PendingStep {
    pub(super) fn set_up(step: Step) -> Self {
        Self {
            step,
            checks_privilege: false,
        }
    }

    pub(super) fn privilege(step: Step) -> Self {
        Self {
            step,
            checks_privilege: true,
        }
    }

    pub(super) fn command(&self) -> Command {
        Command::line(self.step.send.as_str())
    }
}

impl CliSession {
    /// Waits for the first prompt, becomes privileged where that takes a step, and makes the first
    /// reads, which go out together with the question whether the privilege is high enough.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub(in crate::session) async fn open(
        target: &ConnectParams,
        terminal: Terminal,
        rules: &Arc<CliRules>,
        (access, reads): (Access, &[String]),
        first: &[ReadRequest],
    ) -> Result<(Self, Vec<String>), SessionErrorKind> {
        let began = Instant::now();
        let mut mask = Mask::new(&rules.secrets);
        for secret in target.secrets() {
            mask.add(secret.expose_secret());
        }
        let transcript = Transcript::create(target.transcript.as_deref())?;
        let options = TransportOptions {
            close_reason: terminal.close_reason,
            window: rules.window,
            newline: rules.newline.clone(),
            limit: target.command_timeout,
        };
        let dialogue = Dialogue::new(Arc::clone(rules));
        let wire = CliTransport::new(terminal.stream, dialogue, (mask, transcript), options);
        let mut session = Self {
            device: target.device.clone(),
            rules: Arc::clone(rules),
            guard: WriteGuard::new(access, rules, reads),
            transport: wire,
            mode: ConfigMode::Read,
            access,
            enable_password: target
                .enable_password
                .as_ref()
                .map(|value| Text::secret(value.expose_secret())),
            pending: Vec::new(),
            mode_confirmed: false,
            statistics: Statistics::default(),
            broken: None,
            connection: terminal.connection,
        };
        let mode = session.transport.wait_for_first_prompt().await?.prompt.mode;
        let verify = session.enter_read_mode(mode).await?;
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
    pub(super) async fn enter_read_mode(&mut self, mode: ModeId) -> Result<bool, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let home = rules.read_mode;
        let way =
            rules
                .transition_path(mode, home)
                .ok_or_else(|| SessionErrorKind::InvalidAnswer {
                    command: String::new(),
                    why: format!(
                        "there is no way out of the mode `{}`",
                        rules.modes[mode].name
                    ),
                })?;
        let (early, late): (Vec<_>, Vec<_>) = rules
            .open
            .iter()
            .filter(|step| step.applies_in(mode, home) || step.applies_in(home, home))
            .cloned()
            .map(PendingStep::set_up)
            .partition(|pending| mode != home && pending.step.applies_in(mode, home));
        self.pending = early;
        let mut verify = false;
        for edge in way {
            self.follow(edge).await?;
            verify |= edge.verify.is_some();
            self.pending
                .extend(edge.verify.clone().map(PendingStep::privilege));
        }
        self.pending.extend(late);
        Ok(verify)
    }

    /// Goes along an edge. Set-up lines that belong before it go out with it.
    async fn follow(&mut self, edge: &ModeTransition) -> Result<(), SessionErrorKind> {
        let before: Vec<_> = std::mem::take(&mut self.pending);
        let mut inputs: Vec<_> = before.iter().map(PendingStep::command).collect();
        inputs.push(Command {
            line: Text::plain(&edge.send),
            secret: edge.secret.clone().map(|request| SecretResponse {
                request,
                value: self.enable_password.clone(),
            }),
            ..Command::default()
        });
        let mut answered = self.send_all(inputs).await?;
        let last = answered.pop().expect("the edge's line was answered");
        for (pending, answered) in before.iter().zip(&answered) {
            self.check_step(pending, answered)?;
        }
        let said = self.render_output(&last.answer.output);
        match last.answer.secret {
            SecretState::Wrong => return Err(SessionErrorKind::EnableRefused { said }),
            SecretState::Missing => return Err(SessionErrorKind::NoEnablePassword),
            SecretState::NotAsked | SecretState::Given => {}
        }
        if last.answer.prompt.mode == edge.to {
            self.mode_confirmed = true;
            return Ok(());
        }
        Err(match edge.secret {
            Some(_) => SessionErrorKind::EnableRefused { said },
            None => SessionErrorKind::CommandRefused {
                command: edge.send.clone(),
                said,
            },
        })
    }

    pub(super) fn check_step(
        &self,
        pending: &PendingStep,
        answered: &AnsweredCommand,
    ) -> Result<(), SessionErrorKind> {
        let step = &pending.step;
        let verdict = Classification::new(&self.rules, &answered.command, &answered.answer);
        let output = answered.answer.output.join("\n");
        let unmet = step
            .expect
            .as_ref()
            .is_some_and(|wanted| !wanted.is_match(&output));
        if step.optional || verdict.refusal.is_none() && !unmet {
            return Ok(());
        }
        if pending.checks_privilege {
            let said = self.render_output(&answered.answer.output);
            return Err(SessionErrorKind::PrivilegeTooLow { said });
        }
        Err(match verdict.refusal {
            Some(refusal) => self.refusal_error(&answered.command, refusal),
            None => SessionErrorKind::CommandRefused {
                command: step.send.clone(),
                said: self.render_output(&answered.answer.output),
            },
        })
    }
}
