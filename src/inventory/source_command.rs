//! `[source]`: a command whose output has more devices, in the format of the inventory or in Ansible's.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value as Json};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::Table;
use switchtender_devices::driver::Registry;

use super::ansible;
use super::command_output;
use super::file_context::FileContext;
use super::file_mode::WritableFile;
use super::setting::TablePosition;
use super::table_settings::timeout;
use crate::bounded_command::CommandLimits;
use crate::error_chain::chain;

/// Limit for the command, unless `timeout` is set.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum length of the output in bytes.
const LONGEST: usize = 64 << 20;

/// The code of an error of the command.
pub(super) const SOURCE_COMMAND: &str = "source-command";
/// The code of the warning that it did not run.
pub(super) const SOURCE_SKIPPED: &str = "source-not-run";

/// The command of an inventory.
#[derive(Debug)]
pub(super) struct SourceCommand {
    words: Vec<String>,
    directory: PathBuf,
    groups: Vec<String>,
    limit: Duration,
    position: TablePosition,
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

    /// Runs the command. It has a thread and a runtime of its own: inventories are loaded by code with
    /// and without a runtime.
    ///
    /// # Errors
    /// The command failed, or exceeded a limit.
    pub(super) fn run(&self) -> Result<Vec<u8>, Diagnostic> {
        let limits = CommandLimits {
            time: self.limit,
            output: LONGEST,
        };
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| error.to_string())?;
            let run = command_output::run(&self.words, Some(&self.directory), limits);
            runtime.block_on(run).map_err(|error| chain(&error))
        };
        let ended = std::thread::scope(|scope| scope.spawn(run).join());
        let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ended.map_err(|reason| {
            self.error(format!("cannot read devices from a command: {reason}"))
                .help("run the command by hand, in the directory of the inventory")
        })
    }

    /// The output as the text of an inventory.
    ///
    /// # Errors
    /// The output is neither an inventory nor Ansible's JSON.
    pub(super) fn document(
        &self,
        output: &[u8],
        registry: Option<&Registry>,
    ) -> Result<String, Diagnostic> {
        let name = self.name();
        let text = std::str::from_utf8(output)
            .map_err(|_| self.error(format!("the {name} is not UTF-8")))?;
        if !text.trim_start().starts_with('{') {
            return Ok(text.to_owned());
        }
        // The message has a position and no part of the text, which can have secrets.
        let root: Map<String, Json> = serde_json::from_str(text)
            .map_err(|error| self.error(format!("the {name} is not valid JSON: {error}")))?;
        let root = if root.contains_key(ansible::META) {
            ansible::tables(&root, &self.groups, |os| {
                let platform = registry?.platform_by_alias(os)?;
                Some(platform.name.to_string())
            })
            .map_err(|error| {
                let found = self.error(format!("the {name} is unusable: {error}"));
                found.help(error.help())
            })?
        } else {
            root
        };
        let table = toml_table(root)
            .map_err(|number| self.error(format!("the {name} has the number {number}")))?;
        toml::to_string(&table)
            .map_err(|error| self.error(format!("the {name} is unusable: {error}")))
    }

    fn error(&self, message: String) -> Diagnostic {
        self.position.error(SOURCE_COMMAND, message)
    }

    /// The error that the command does not run.
    pub(super) fn refused(&self, file: &WritableFile) -> Diagnostic {
        let message = format!("the command does not run: {file}");
        self.error(message).help(file.help())
    }

    /// The warning that the command did not run.
    pub(super) fn skipped(&self) -> Diagnostic {
        let message = "the command was not run: its devices and their settings are missing";
        let found = self.position.warning(SOURCE_SKIPPED, message);
        found.help("`--run-commands` runs it")
    }
}

/// A JSON object as a table. `null` means that a key is not set.
///
/// # Errors
/// A number does not fit.
fn toml_table(object: Map<String, Json>) -> Result<toml::Table, serde_json::Number> {
    let entries = object.into_iter().filter_map(|(key, value)| {
        let value = toml_value(value).transpose()?;
        Some(value.map(|value| (key, value)))
    });
    entries.collect()
}

fn toml_value(value: Json) -> Result<Option<toml::Value>, serde_json::Number> {
    Ok(Some(match value {
        Json::Null => return Ok(None),
        Json::Bool(truth) => truth.into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) if !number.is_u64() => float.into(),
            _ => return Err(number),
        },
        Json::String(text) => text.into(),
        Json::Array(items) => {
            let items = items
                .into_iter()
                .filter_map(|item| toml_value(item).transpose());
            toml::Value::Array(items.collect::<Result<_, _>>()?)
        }
        Json::Object(object) => toml::Value::Table(toml_table(object)?),
    }))
}

#[cfg(test)]
mod tests;
