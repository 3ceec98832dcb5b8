//! Faults that replace a command, its answer or the input of a session.

use super::{InputState, Shell};
use crate::cli_switch::device::{Mode, Position};
use crate::control::lock;
use crate::fault::{FaultDecision, FaultKind, garbage};
use crate::terminal::ConnectionState;

const QUESTION: &str = "Are you sure? [yes/no]: ";

impl Shell {
    /// Whether the session prints nothing: it is cut or remains silent.
    pub(super) fn is_silenced(&mut self, decision: &FaultDecision) -> bool {
        if decision.has(FaultKind::Restart) {
            lock(&self.shared.device).restart();
            self.ending = ConnectionState::Cut;
        } else if decision.has(FaultKind::DropAfter) {
            self.ending = ConnectionState::Cut;
        } else if decision.has(FaultKind::StallAfter) {
            self.waiting = InputState::Nothing;
        } else {
            return false;
        }
        true
    }

    /// Whether a command is not executed now.
    pub(super) fn is_withheld(&mut self, line: &str, decision: &FaultDecision) -> bool {
        if let Some(delay) = decision.deferral() {
            self.deferral = Some(delay);
            self.waiting = InputState::Deferred {
                line: line.to_owned(),
                decision: decision.clone(),
                input: Vec::new(),
            };
            if decision.has(FaultKind::LateEffect) {
                self.ending = ConnectionState::Cut;
            }
        } else if decision.has(FaultKind::ModeLost) {
            self.leave_mode();
        } else if decision.has(FaultKind::EndlessQuestion) {
            self.print(QUESTION);
            self.waiting = InputState::EndlessQuestion;
        } else {
            return false;
        }
        true
    }

    /// Whether other output replaces an answer and its prompt.
    pub(super) fn is_replaced(&mut self, decision: &FaultDecision) -> bool {
        self.endless = decision.endless();
        if self.endless.is_some() {
            self.waiting = InputState::Nothing;
        } else if decision.has(FaultKind::GarbageAfter) {
            self.out.extend(garbage());
        } else {
            return false;
        }
        true
    }

    /// The next page of output without end, whatever the key was.
    pub(super) fn endless_page(&mut self) {
        self.print("\n! the output continues\n --More-- ");
        self.waiting = InputState::EndlessPager;
    }

    /// The same question, whatever the key was.
    pub(super) fn endless_question(&mut self) {
        self.print("\n");
        self.print(QUESTION);
    }

    /// Leaves configuration modes and their unfinished edits, then the privileged mode, then the
    /// session.
    fn leave_mode(&mut self) {
        match self.position.mode {
            Mode::Exec => {
                self.ending = ConnectionState::Close;
                return;
            }
            Mode::Privileged => self.position = Position::exec(false),
            _ => self.position = Position::exec(true),
        }
        self.prompt();
    }
}
