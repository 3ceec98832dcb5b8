//! The program as a process, and what it prints.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use switchtender_devices::printable::is_printable;

/// A part of every secret that a test plants; no output may ever hold it.
pub const PLANTED: &str = "s3cret";

/// The built program. Cargo builds it before the tests and benches, which are two folders below it.
///
/// # Panics
///
/// If the running program has no path.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/test");
    profile.join("switchtender")
}

/// The program, not yet started.
pub fn switchtender(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    // Help is as wide as without a terminal.
    command.args(arguments).env_remove("COLUMNS");
    command
}

/// Runs the program to its end.
///
/// # Panics
///
/// If it does not start or prints something else than UTF-8.
pub fn run(arguments: &[&str]) -> ProgramOutput {
    switchtender(arguments)
        .output()
        .expect("the program starts")
        .into()
}

/// What the program printed, and its exit code.
#[derive(Debug)]
pub struct ProgramOutput {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl ProgramOutput {
    /// Standard output followed by standard error.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Panics if the output contains a planted secret.
    #[track_caller]
    pub fn assert_no_secrets(&self) {
        assert!(!self.text().contains(PLANTED), "{}", self.text());
    }

    /// Panics if the output has control characters other than line feeds.
    #[track_caller]
    pub fn assert_printable(&self) {
        let is_expected = |character| character == '\n' || is_printable(character);
        assert!(self.text().chars().all(is_expected), "{:?}", self.text());
    }

    /// Panics if the output does not contain this text.
    #[track_caller]
    pub fn assert_contains(&self, words: &str) {
        assert!(
            self.text().contains(words),
            "`{words}` is not in:\n{}",
            self.text()
        );
    }

    /// Panics if the exit code differs, and shows the output.
    #[track_caller]
    pub fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{}", self.text());
    }

    /// The objects of `--output json`, one per line.
    #[track_caller]
    pub fn objects(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The final status of a resource: the verification may amend the first one.
    #[track_caller]
    pub fn resource(&self, device: &str, reference: &str) -> Value {
        let found = self
            .objects()
            .into_iter()
            .rfind(|object| object["device"] == device && object["resource"] == reference);
        found.unwrap_or_else(|| panic!("{device}: no {reference} in\n{}", self.text()))
    }

    /// The output about a device at its end.
    #[track_caller]
    pub fn device(&self, device: &str) -> Value {
        let found = self
            .objects()
            .into_iter()
            .find(|object| object["device"] == device && object["kind"] == "device");
        found.unwrap_or_else(|| panic!("{device}: no end in\n{}", self.text()))
    }

    /// All events as `Resource/property: status: message`, in order.
    pub fn events(&self, device: &str) -> Vec<String> {
        let mut all = Vec::new();
        for object in self.objects() {
            if object["device"] != device || object["kind"] != "resource" {
                continue;
            }
            for event in object["events"].as_array().unwrap() {
                let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
                all.push(format!(
                    "{}/{}: {}: {}",
                    object["resource"].as_str().unwrap(),
                    word("property"),
                    word("status"),
                    word("message")
                ));
            }
        }
        all
    }

    /// Messages of a device at `err` or `warning`.
    pub fn warnings(&self, device: &str) -> Vec<String> {
        self.objects()
            .iter()
            .filter(|object| object["device"] == device && object["kind"] == "log")
            .filter(|object| matches!(object["level"].as_str(), Some("err" | "warning")))
            .map(|object| object["message"].as_str().unwrap().to_owned())
            .collect()
    }
}
