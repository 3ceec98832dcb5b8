//! What an agent run says, for the report and for whoever watches.

use jiff::Timestamp;

use crate::error_chain::chain;

pub use crate::catalog::Level;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub time: Timestamp,
    pub level: Level,
    pub message: String,
}

/// The log of one device's run, in order.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pub lines: Vec<Line>,
}

impl Journal {
    pub fn debug(&mut self, message: impl Into<String>) {
        self.add(Level::Debug, message);
    }

    pub fn info(&mut self, message: impl Into<String>) {
        self.add(Level::Info, message);
    }

    pub fn notice(&mut self, message: impl Into<String>) {
        self.add(Level::Notice, message);
    }

    pub fn warning(&mut self, message: impl Into<String>) {
        self.add(Level::Warning, message);
    }

    pub fn err(&mut self, message: impl Into<String>) {
        self.add(Level::Err, message);
    }

    /// An error with its causes in one line, and what to do about it.
    pub fn failure(&mut self, error: &dyn std::error::Error, hint: Option<&str>) {
        let mut text = chain(error);
        if let Some(hint) = hint {
            text.push_str("; ");
            text.push_str(hint);
        }
        self.err(text);
    }

    pub fn add(&mut self, level: Level, message: impl Into<String>) {
        self.lines.push(Line {
            time: crate::clock::timestamp(),
            level,
            message: message.into(),
        });
    }

    /// Whether a line begins so.
    pub fn says(&self, level: Level, beginning: &str) -> bool {
        self.lines
            .iter()
            .any(|line| line.level == level && line.message.starts_with(beginning))
    }
}
