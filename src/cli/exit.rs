//! Converts results to exit codes, and errors to messages and hints.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::error::Error;
use std::io::{IsTerminal as _, Write as _};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::OnceLock;

use rustix::fs::OFlags;
use switchtender_devices::printable::{escape, is_printable};

use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Diagnostic, Severity, limit};
use crate::error_chain::chain;
use crate::fleet::runner::panic_message;
use crate::terminal_text::{Style, TerminalText};

/// The exit code of a command without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    pub(crate) const SUCCESS: Exit = Exit(0);
    pub(crate) const FAILURE: Exit = Exit(1);
}

/// The error of a command.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// The failed action.
    pub(crate) message: String,
    pub(crate) source: Option<Box<dyn Error + Send + Sync>>,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// Findings in files, shown before the message.
    pub(crate) findings: Vec<Diagnostic>,
    /// Maximum number of findings of one code.
    pub(crate) limit: usize,
    pub(crate) exit: u8,
}

/// Maximum number of findings of one code, unless the user sets it.
const MAX_FINDINGS: usize = 20;

impl CommandError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
            hint: None,
            findings: Vec::new(),
            limit: MAX_FINDINGS,
            exit: 1,
        }
    }

    /// Findings in files; they are the message. Errors are shown first.
    pub(crate) fn findings(mut findings: Vec<Diagnostic>) -> Self {
        findings.sort_by_key(|found| found.severity != Severity::Error);
        Self {
            findings,
            ..Self::new("")
        }
    }

    #[must_use]
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is one.
    #[must_use]
    pub(crate) fn optional_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Sets the maximum number of findings of one code.
    #[must_use]
    pub(crate) fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the exit code, for commands in which 1 has another meaning.
    #[must_use]
    pub(crate) fn exit(mut self, code: u8) -> Self {
        self.exit = code;
        self
    }

    /// The message with its chain of causes, and the hint on a line of its own.
    pub(crate) fn text(&self, colored: bool) -> TerminalText {
        let limited = limit(self.findings.clone(), self.limit);
        let findings = terminal::render(&limited, RenderOptions { colors: colored });
        let mut text = TerminalText::with_colors(colored);
        text.append(&findings);
        if self.message.is_empty() {
            return text;
        }
        text.paint(Style::BoldRed, "error")
            .add(format_args!(": {}", self.message));
        if let Some(source) = &self.source {
            text.add(format_args!(": {}", chain(source.as_ref())));
        }
        text.end_line();
        if let Some(hint) = &self.hint {
            text.paint(Style::BoldCyan, "hint")
                .line(format_args!(": {hint}"));
        }
        text
    }
}

/// Writes lines for people to standard output.
pub(crate) fn print(text: &TerminalText) {
    let output = std::io::stdout();
    match width(&output, output.is_terminal()) {
        Some(width) => write_stdout(text.wrapped(width).as_str()),
        None => write_stdout(text.as_str()),
    }
}

/// The columns of a terminal.
fn width(output: impl AsFd, is_terminal: bool) -> Option<usize> {
    let size = is_terminal.then(|| rustix::termios::tcgetwinsize(output));
    let columns = size?.ok()?.ws_col;
    (columns > 0).then(|| columns.into())
}

/// Writes JSON to standard output. Characters that are not printable become `\u` escapes: in JSON they
/// are only in strings.
pub(crate) fn print_json(text: &str) {
    write_stdout(&escape_json(text));
}

/// Writes a document of another format to standard output, such as SARIF or DOT.
pub(crate) fn print_document(text: &str) {
    write_stdout(text);
}

/// The same JSON, in which all characters are printable except line feeds.
pub(crate) fn escape_json(text: &str) -> Cow<'_, str> {
    let is_allowed = |character| character == '\n' || is_printable(character);
    if text.chars().all(is_allowed) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_allowed(character) {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    Cow::Owned(escaped)
}

/// Writes to standard output. A closed pipe (`| head`) is not an error.
fn write_stdout(text: &str) {
    let mut output = std::io::stdout();
    if let Err(error) = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = WRITE_ERROR.set(error);
    }
}

/// Why a part of the output was lost. A closed pipe does not count.
static WRITE_ERROR: OnceLock<std::io::Error> = OnceLock::new();

/// Prints a notice to standard error, next to a result on standard output. If it cannot be written,
/// only the notice is lost.
pub(crate) fn eprint_notice(text: &str) {
    eprint_text(&TerminalText::of_line(text));
}

/// Prints a question to standard error; the answer follows in the same line.
pub(crate) fn eprint_prompt(text: &str) {
    let mut output = std::io::stderr();
    let _ = output.write_all(escape(text).as_bytes());
    let _ = output.flush();
}

/// Writes lines for people to standard error. If they cannot be written, only they are lost.
pub(crate) fn eprint_text(text: &TerminalText) {
    let mut output = std::io::stderr();
    let written = match width(&output, output.is_terminal()) {
        Some(width) => output.write_all(text.wrapped(width).as_str().as_bytes()),
        None => output.write_all(text.as_str().as_bytes()),
    };
    let _ = written;
}

/// Prints a notice if standard output was closed before the start (`>&-`). Rust then opens the null
/// device for reading and writing in its place, as some supervisors do; `>/dev/null` opens it for
/// writing only.
pub(crate) fn warn_closed_output() {
    use std::os::unix::fs::MetadataExt as _;
    let flags = rustix::fs::fcntl_getfl(std::io::stdout());
    let is_read = flags.is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    let device = |path: &str| std::fs::metadata(path).map(|metadata| metadata.rdev()).ok();
    if is_read && device("/proc/self/fd/1") == device("/dev/null") {
        eprint_notice("warning: standard output is closed or the null device: its text is lost");
    }
}

/// Prints panics escaped, because their messages can contain text from devices and catalogs.
pub(crate) fn escape_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map_or(String::new(), ToString::to_string);
        let backtrace = Backtrace::capture();
        let backtrace = match backtrace.status() {
            BacktraceStatus::Captured => backtrace.to_string(),
            _ => String::new(),
        };
        eprint_text(&panic_text(
            &location,
            &panic_message(panic.payload()),
            &backtrace,
        ));
    }));
}

fn panic_text(location: &str, message: &str, backtrace: &str) -> TerminalText {
    let mut text = TerminalText::of_line(format_args!("internal error at {location}: {message}"));
    for line in backtrace.lines() {
        text.line(line);
    }
    text
}

/// Prints an error, if there is one, and gives the process its exit code.
pub(crate) fn report(result: Result<Exit, CommandError>, colored: bool) -> ExitCode {
    let result = match (result, WRITE_ERROR.get()) {
        (Ok(_), Some(lost)) => Err(CommandError::new(format!(
            "cannot write the complete output: {lost}"
        ))),
        (result, _) => result,
    };
    match result {
        Ok(exit) => ExitCode::from(exit.0),
        Err(error) => {
            eprint_text(&error.text(colored));
            ExitCode::from(error.exit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_an_error_is_escaped() {
        let error = CommandError::new("a\u{1b}[2J")
            .with_source("x\nerror: y\u{9b}")
            .hint("b\u{202e}");
        assert_eq!(
            error.text(false).as_str(),
            "error: a\\u{1b}[2J: x\\nerror: y\\u{9b}\nhint: b\\u{202e}\n"
        );
    }

    #[test]
    fn text_of_a_panic_is_escaped() {
        assert_eq!(
            panic_text("a.rs:1:2", "no `\u{1b}[2J\nsw1: done`", "0: a\n1: b\u{9b}").as_str(),
            "internal error at a.rs:1:2: no `\\u{1b}[2J\\nsw1: done`\n0: a\n1: b\\u{9b}\n"
        );
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "\u{7f}\u{202e}\u{e0041}\u{1b}\n"});
        let text = value.to_string() + "\n";
        let escaped = escape_json(&text);
        assert!(escaped.trim_end().chars().all(is_printable), "{escaped}");
        let parsed: serde_json::Value = serde_json::from_str(&escaped).unwrap();
        assert_eq!(parsed, value);
    }

    #[test]
    fn text_has_the_causes_and_the_hint() {
        let error = CommandError::new("cannot read inventory.toml")
            .with_source(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "no such file",
            ))
            .hint("name the file with --inventory");
        assert_eq!(
            error.text(false).as_str(),
            "error: cannot read inventory.toml: no such file\nhint: name the file with --inventory\n"
        );
    }
}
