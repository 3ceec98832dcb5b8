//! `[source] command`: a command whose output has more devices, in the format of the inventory or in Ansible's.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value as Json};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::Table;

use super::ansible;
use super::command_output;
use super::file_context::FileContext;
use super::load::DeviceProblems;
use super::setting::TablePosition;
use super::source::{self, SOURCE_COMMAND, SOURCE_DEVICE, SourceDevices};
use super::table_settings::timeout;
use crate::bounded_command::CommandLimits;
use crate::error_chain::chain;

/// Limit for the command, unless `timeout` is set.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum length of the output in bytes.
const LONGEST: usize = 64 << 20;

/// The command of an inventory.
#[derive(Debug)]
pub(super) struct SourceCommand {
    words: Vec<String>,
    directory: PathBuf,
    groups: Vec<String>,
    limit: Duration,
    pub(super) position: TablePosition,
}

impl SourceCommand {
    /// Reads `[source]`.
    pub(super) fn read(table: &Table<'_>, file: &FileContext<'_>) -> Option<Self> {
        let command = table.get("command");
        if command.is_none() {
            table.missing("command");
        }
        let groups = table.strings("groups").unwrap_or_default();
        let limit = table.get("timeout").and_then(|item| timeout(&item));
        table.finish();
        let command = command?;
        let mut words = command.strings()?;
        let Some(program) = words.first_mut() else {
            command.error("empty-command", "the command has no program");
            return None;
        };
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let directory = absolute(file.base.join("."));
        if program.contains('/') {
            *program = absolute(file.path(program)).display().to_string();
        }
        Some(Self {
            words,
            directory,
            groups,
            limit: limit.unwrap_or(TIMEOUT),
            position: TablePosition {
                source: command.findings.source.clone(),
                span: command.span,
            },
        })
    }

    /// The name of its output in messages.
    pub(super) fn name(&self) -> String {
        let program = self.words.first().map(String::as_str).unwrap_or_default();
        format!("output of {program}")
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The command failed, or exceeded a limit.
    ///
    /// # Cancellation
    /// May be dropped at any time; the command is killed.
    pub(super) async fn run(&self) -> Result<Vec<u8>, Diagnostic> {
        let limits = CommandLimits {
            time: self.limit,
            output: LONGEST,
        };
        let output = command_output::run(&self.words, Some(&self.directory), limits).await;
        output.map_err(|error| {
            let reason = chain(&error);
            self.error(format!("cannot read devices from a command: {reason}"))
                .help("run the command by hand, in the directory of the inventory")
        })
    }

    /// The output as the text of an inventory.
    ///
    /// # Errors
    /// The output is neither an inventory nor Ansible's JSON.
    pub(super) fn document(&self, output: &[u8]) -> Result<SourceDevices, Diagnostic> {
        let mut problems = DeviceProblems::new();
        let name = self.name();
        let text = std::str::from_utf8(output)
            .map_err(|_| self.error(format!("the {name} is not UTF-8")))?;
        if !text.trim_start().starts_with('{') {
            let text = text.to_owned();
            return Ok(SourceDevices {
                text,
                ..SourceDevices::default()
            });
        }
        // The message has a position and no part of the text, which can have secrets.
        let root: Map<String, Json> = serde_json::from_str(text)
            .map_err(|error| self.error(format!("the {name} is not valid JSON: {error}")))?;
        let root = if root.contains_key(ansible::META) {
            let found = ansible::tables(&root, &self.groups).map_err(|error| {
                let found = self.error(format!("the {name} is unusable: {error}"));
                found.help(error.help())
            })?;
            for (host, error) in found.problems {
                let problem = self.position.error(SOURCE_DEVICE, error.to_string());
                problems.push((host, problem.help(error.help())));
            }
            found.tables
        } else {
            root
        };
        let text = source::toml_text(root)
            .map_err(|error| self.error(format!("the {name} is unusable: {error}")))?;
        Ok(SourceDevices {
            text,
            problems,
            ..SourceDevices::default()
        })
    }

    fn error(&self, message: String) -> Diagnostic {
        self.position.error(SOURCE_COMMAND, message)
    }
}

#[cfg(test)]
mod tests;
