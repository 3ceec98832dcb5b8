//! A switch without network and login: lines and outputs only.

use std::sync::{Arc, Mutex};

use super::command_grammar::{CommandGrammar, GrammarError};
use super::device_state::GrammarDevice;
use super::line_session::{LineSession, OutputForm};
use super::printed_config::PrintedLines;
use super::{GrammarSwitchOptions, new_device};
use crate::control::lock;

/// A line that the switch refuses.
#[derive(Debug, thiserror::Error)]
#[error("the switch refused the line: {answer}")]
pub struct OfflineRefusal {
    /// Its answer.
    pub answer: String,
}

/// A switch that tests use without a connection.
#[derive(Debug)]
pub struct OfflineGrammarSwitch {
    device: Arc<Mutex<GrammarDevice>>,
    session: LineSession,
}

impl OfflineGrammarSwitch {
    /// A switch with the platform and the configuration of the options.
    ///
    /// # Errors
    /// The platform has no grammar.
    pub fn new(options: &GrammarSwitchOptions) -> Result<Self, GrammarError> {
        let grammar = Arc::new(CommandGrammar::load(&options.platform)?);
        let device = Arc::new(Mutex::new(new_device(grammar, options)));
        Ok(Self {
            session: LineSession::new(device.clone()),
            device,
        })
    }

    /// Executes a line in the session, and returns its output.
    ///
    /// # Errors
    /// The switch refuses the line.
    pub fn execute(&mut self, line: &str) -> Result<String, OfflineRefusal> {
        let answer = self.session.execute(line, OutputForm::Text);
        if answer.refusal.is_some() {
            Err(OfflineRefusal {
                answer: answer.text,
            })
        } else {
            Ok(answer.text)
        }
    }

    /// The prompt of the session.
    pub fn prompt(&self) -> String {
        self.session.prompt()
    }

    /// The running configuration without header.
    pub fn running_config(&self) -> String {
        let device = lock(&self.device);
        device
            .lines(&device.running, PrintedLines::Changed)
            .join("\n")
            + "\n"
    }

    /// Lines of the initial configuration that the grammar does not have.
    pub fn unknown_lines(&self) -> Vec<String> {
        lock(&self.device).unknown_lines.clone()
    }
}
