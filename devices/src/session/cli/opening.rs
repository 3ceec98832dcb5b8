//! Opening a session: the first prompt, privilege, setup commands.

use std::sync::Arc;

use secrecy::ExposeSecret;

use super::CliSession;
use super::config_mode::ConfigMode;
use super::own_session::Admission;
use crate::clock;
use crate::dialogue::candidate_rules::CandidateName;
use crate::dialogue::cli_rules::{ModeId, ModeTransition, Step};
use crate::dialogue::{Classification, CliRules, Command, Dialogue, SecretResponse, SecretState};
use crate::read::ReadRequest;
use crate::secret::Text;
use crate::session::connect_params::ConnectParams;
use crate::session::deadline::LoginEnd;
use crate::session::error::SessionErrorKind;
use crate::session::mask::Mask;
use crate::session::terminal::Terminal;
use crate::session::transcript::Transcript;
use crate::session::transport::{AnsweredCommand, CliTransport, TransportOptions};
use crate::session::write_guard::WriteGuard;
use crate::session::{Access, Session, Statistics};

/// A setup command that is sent with the next batch.
pub(super) struct PendingStep {
    pub(crate) step: Step,
    /// A failure means that the privilege level is too low.
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
    /// Waits for the first prompt, enters privileged mode if necessary, and sends the first reads
    /// together with the check of the privilege level.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub(in crate::session) async fn open(
        target: &ConnectParams,
        terminal: Terminal,
        rules: &Arc<CliRules>,
        (access, reads): (Access, &[String]),
        (first, login_end): (&[ReadRequest], LoginEnd),
    ) -> Result<(Self, Vec<String>), SessionErrorKind> {
        let started = clock::instant();
        let mut mask = Mask::new(&rules.secrets, &target.mask);
        for secret in &target.secrets() {
            mask.add(secret.expose_secret());
        }
        let transcript = Transcript::create(target.transcript.as_deref(), &target.mask)?;
        let options = TransportOptions {
            close_reason: terminal.close_reason,
            window: rules.window,
            newline: rules.newline.clone(),
            limit: target.command_timeout,
            command_limit: target.limits.command.unwrap_or(rules.limits.command),
            deadline: target.deadline.clone(),
            fence: Arc::clone(&target.fence),
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
            candidate_name: CandidateName::first(),
            unconfirmed: None,
            ledger: Arc::clone(&target.ledger),
            lock_wait: target.lock_wait,
            admission: Admission::Open,
            is_timer_started: false,
            statistics: Statistics::default(),
            broken: None,
            connection: terminal.connection,
        };
        let logging_in = async {
            let prompt = session.transport.wait_for_first_prompt().await?.prompt;
            session.enter_read_mode(prompt.mode).await
        };
        let login_end = login_end.at_most(target.connect_limit());
        let must_verify = match target.deadline.within(login_end.at, logging_in).await {
            Ok(entered) => entered?,
            Err(end) => {
                let last_output = session.transport.last_output();
                return Err(login_end.error(end, last_output));
            }
        };
        let mut texts = Vec::new();
        if must_verify || !first.is_empty() {
            // A session needs a sufficient privilege level.
            match session.send_reads(first).await {
                Ok(answers) => texts = answers,
                Err(error) => {
                    session.close().await;
                    return Err(error);
                }
            }
        }
        session.statistics.login = started.elapsed();
        Ok((session, texts))
    }

    /// Goes from the mode of a prompt to the one for reads. Later setup commands stay pending.
    /// Returns whether one of them checks the privilege level.
    pub(super) async fn enter_read_mode(&mut self, mode: ModeId) -> Result<bool, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let read_mode = rules.read_mode;
        let path = rules.transition_path(mode, read_mode).ok_or_else(|| {
            SessionErrorKind::InvalidAnswer {
                command: String::new(),
                reason: format!(
                    "no transition leads out of the mode `{}`",
                    rules.modes[mode].name
                ),
            }
        })?;
        let (early, late): (Vec<_>, Vec<_>) = rules
            .open
            .iter()
            .filter(|step| {
                step.applies_in(mode, read_mode) || step.applies_in(read_mode, read_mode)
            })
            .cloned()
            .map(PendingStep::set_up)
            .partition(|pending| mode != read_mode && pending.step.applies_in(mode, read_mode));
        self.pending = early;
        let mut must_verify = false;
        for transition in path {
            self.follow(transition).await?;
            must_verify |= transition.verify.is_some();
            self.pending
                .extend(transition.verify.clone().map(PendingStep::privilege));
        }
        self.pending.extend(late);
        Ok(must_verify)
    }

    /// Follows a transition. Pending setup commands are sent with it.
    async fn follow(&mut self, transition: &ModeTransition) -> Result<(), SessionErrorKind> {
        let pending: Vec<_> = std::mem::take(&mut self.pending);
        let mut commands: Vec<_> = pending.iter().map(PendingStep::command).collect();
        commands.push(Command {
            line: Text::plain(&transition.send),
            secret: transition.secret.clone().map(|request| SecretResponse {
                request,
                value: self.enable_password.clone(),
            }),
            ..Command::default()
        });
        let mut answered = self.send_all(commands).await?;
        let last = answered.pop().expect("a complete batch has all answers");
        for (pending, answered) in pending.iter().zip(&answered) {
            self.check_step(pending, answered)?;
        }
        let output = self.render_output(&last.answer.output);
        match last.answer.secret {
            SecretState::Wrong => return Err(SessionErrorKind::EnableRefused { output }),
            SecretState::Missing => return Err(SessionErrorKind::NoEnablePassword),
            SecretState::NotRequested | SecretState::Sent => {}
        }
        if last.answer.prompt.mode == transition.to {
            self.mode_confirmed = true;
            return Ok(());
        }
        Err(match transition.secret {
            Some(_) => SessionErrorKind::EnableRefused { output },
            None => SessionErrorKind::CommandRefused {
                command: transition.send.clone(),
                output,
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
            .is_some_and(|desired| !desired.is_match(&output));
        if step.optional || verdict.refusal.is_none() && !unmet {
            return Ok(());
        }
        if pending.checks_privilege {
            let output = self.render_output(&answered.answer.output);
            return Err(SessionErrorKind::PrivilegeTooLow { output });
        }
        Err(match verdict.refusal {
            Some(refusal) => self.refusal_error(&answered.command, refusal),
            None => SessionErrorKind::CommandRefused {
                command: step.send.clone(),
                output: self.render_output(&answered.answer.output),
            },
        })
    }
}
