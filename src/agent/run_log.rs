//! The log of an agent run: each message goes to its receiver when it is logged.

use std::error::Error;

use crate::error_chain::chain;

pub use crate::catalog::Level;

/// Receives the messages of an agent run, in order.
pub trait RunLog: Send {
    /// Receives one message with its level.
    fn log(&mut self, level: Level, message: String);
}

/// Collects the messages.
impl RunLog for Vec<(Level, String)> {
    fn log(&mut self, level: Level, message: String) {
        self.push((level, message));
    }
}

impl dyn RunLog + '_ {
    pub(crate) fn debug(&mut self, message: impl Into<String>) {
        self.log(Level::Debug, message.into());
    }

    pub(crate) fn info(&mut self, message: impl Into<String>) {
        self.log(Level::Info, message.into());
    }

    pub(crate) fn notice(&mut self, message: impl Into<String>) {
        self.log(Level::Notice, message.into());
    }

    pub(crate) fn warning(&mut self, message: impl Into<String>) {
        self.log(Level::Warning, message.into());
    }

    pub(crate) fn error(&mut self, message: impl Into<String>) {
        self.log(Level::Err, message.into());
    }

    /// Logs an error with its causes in one line, and the hint after them.
    pub(crate) fn error_chain(&mut self, error: &dyn Error, hint: Option<&str>) {
        let mut text = chain(error);
        if let Some(hint) = hint {
            text.push_str("; ");
            text.push_str(hint);
        }
        self.error(text);
    }
}

/// Whether a message of this level has this beginning.
#[cfg(test)]
pub(super) fn has_message(log: &[(Level, String)], level: Level, beginning: &str) -> bool {
    log.iter()
        .any(|(of, message)| *of == level && message.starts_with(beginning))
}
