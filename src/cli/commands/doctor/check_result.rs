//! The result of one check of `doctor`.

use serde_json::json;
use switchtender_devices::diagnostic::{Diagnostic, Severity};

use crate::cli::exit::{print, print_json};
use crate::cli::options::output_format::Output;
use crate::terminal_text::TerminalText;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CheckState {
    Ok,
    Warning,
    Error,
}

impl CheckState {
    fn as_str(self) -> &'static str {
        match self {
            CheckState::Ok => "ok",
            CheckState::Warning => "warning",
            CheckState::Error => "error",
        }
    }
}

/// The result of one check.
pub(super) struct CheckResult {
    subject: String,
    pub(super) state: CheckState,
    text: String,
    hint: Option<String>,
}

impl CheckResult {
    pub(super) fn new(
        subject: impl Into<String>,
        state: CheckState,
        text: impl Into<String>,
    ) -> Self {
        Self {
            subject: subject.into(),
            state,
            text: text.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// A finding in a file, with its position in the text.
    pub(super) fn finding(subject: &str, found: &Diagnostic) -> Self {
        let position = found.labels.first().map_or(String::new(), |label| {
            let (line, _) = label.source.position(label.span.start);
            format!("{}:{line}: ", label.source.name)
        });
        let state = match found.severity {
            Severity::Error => CheckState::Error,
            _ => CheckState::Warning,
        };
        Self::new(subject, state, format!("{position}{}", found.message)).hint(found.help.clone())
    }

    /// Prints the result as a line, or as an object.
    pub(super) fn print(&self, output: Output) {
        match output {
            Output::Json => {
                let line = json!({
                    "subject": self.subject, "state": self.state.as_str(),
                    "text": self.text, "hint": self.hint,
                });
                print_json(&format!("{line}\n"));
            }
            Output::Human => {
                let mut text = TerminalText::of_line(format_args!(
                    "{:8} {}: {}",
                    self.state.as_str(),
                    self.subject,
                    self.text
                ));
                if let Some(hint) = &self.hint {
                    text.line(format_args!("         → {hint}"));
                }
                print(&text);
            }
        }
    }
}
