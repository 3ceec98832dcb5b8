//! `[source]`: where more devices come from, with their settings: a command, or a service over HTTP.

use serde_json::{Map, Value as Json};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::{Item, Table};

use super::Secrets;
use super::file_context::FileContext;
use super::file_mode::WritableFile;
use super::load::DeviceProblems;
use super::setting::TablePosition;
use super::source_command::SourceCommand;
use super::source_service::{ServiceKind, SourceService};

/// The code of an error of the source.
pub(super) const SOURCE_COMMAND: &str = "source-command";
/// The code of the warning that it was not read.
pub(super) const SOURCE_SKIPPED: &str = "source-not-run";
/// The code of the warning about devices that cannot have a table.
pub(super) const SOURCE_LEFT_OUT: &str = "source-left-out";
/// The code of an error of one device of the source.
pub(super) const SOURCE_DEVICE: &str = "source-device";

/// The source of an inventory.
#[derive(Debug)]
pub(super) enum DeviceSource {
    Command(SourceCommand),
    Service(Box<SourceService>),
}

/// The devices of a source.
#[derive(Default)]
pub(super) struct SourceDevices {
    /// An inventory.
    pub(super) text: String,
    /// What is wrong with single devices.
    pub(super) problems: DeviceProblems,
    pub(super) warnings: Vec<Diagnostic>,
}

impl DeviceSource {
    /// Reads `[source]`.
    pub(super) fn read(table: &Table<'_>, file: &FileContext<'_>) -> Option<Self> {
        let named = ServiceKind::ALL.iter();
        let named = named.filter_map(|kind| Some((*kind, table.get(kind.word())?)));
        let named: Vec<(ServiceKind, Item<'_>)> = named.collect();
        let is_command = table.get("command").is_some() || named.is_empty();
        if is_command && let Some((_, item)) = named.first() {
            several(item);
        }
        if let Some((_, item)) = named.get(1) {
            several(item);
        }
        let services = named.iter().map(|(kind, item)| {
            let service = item.table()?;
            SourceService::read(*kind, &service, file)
        });
        let services: Vec<Option<SourceService>> = services.collect();
        if is_command {
            return SourceCommand::read(table, file).map(DeviceSource::Command);
        }
        table.finish();
        let service = services.into_iter().next()??;
        Some(DeviceSource::Service(Box::new(service)))
    }

    /// The name of its output in messages.
    pub(super) fn name(&self) -> String {
        match self {
            DeviceSource::Command(command) => command.name(),
            DeviceSource::Service(service) => service.name(),
        }
    }

    /// The output, of the command or of the service. It is read by a thread with a runtime of its own: inventories
    /// are loaded by code with and without a runtime.
    ///
    /// # Errors
    /// The source failed, or exceeded a limit.
    pub(super) fn run(&self, secrets: &Secrets) -> Result<Vec<u8>, Diagnostic> {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| self.position().error(SOURCE_COMMAND, error.to_string()))?;
            runtime.block_on(async {
                match self {
                    DeviceSource::Command(command) => command.run().await,
                    DeviceSource::Service(service) => service.run(secrets).await,
                }
            })
        };
        let ended = std::thread::scope(|scope| scope.spawn(run).join());
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The output as the text of an inventory.
    ///
    /// # Errors
    /// The output is of no known form.
    pub(super) fn document(&self, output: &[u8]) -> Result<SourceDevices, Diagnostic> {
        match self {
            DeviceSource::Command(command) => command.document(output),
            DeviceSource::Service(service) => service.document(output),
        }
    }

    fn position(&self) -> &TablePosition {
        match self {
            DeviceSource::Command(command) => &command.position,
            DeviceSource::Service(service) => &service.position,
        }
    }

    /// The error that it is not read.
    pub(super) fn refused(&self, file: &WritableFile) -> Diagnostic {
        let what = match self {
            DeviceSource::Command(_) => "the command does not run",
            DeviceSource::Service(_) => "the service is not asked",
        };
        let found = self
            .position()
            .error(SOURCE_COMMAND, format!("{what}: {file}"));
        found.help(file.help())
    }

    /// The warning that it was not read.
    pub(super) fn skipped(&self) -> Diagnostic {
        let what = match self {
            DeviceSource::Command(_) => "the command was not run",
            DeviceSource::Service(_) => "the service was not asked",
        };
        let message = format!("{what}: its devices and their settings are missing");
        let found = self.position().warning(SOURCE_SKIPPED, message);
        found.help("`--run-commands` does it")
    }
}

/// Reports that there is another source.
fn several(item: &Item<'_>) {
    item.findings.error_with_help(
        "several-sources",
        item.span.clone(),
        "[source] has several sources",
        "keep one of them; a command can print the devices of all",
    );
}

/// A JSON object as the text of an inventory. `null` means that a key is not set.
///
/// # Errors
/// A number does not fit.
pub(super) fn toml_text(object: Map<String, Json>) -> Result<String, String> {
    let table = toml_table(object).map_err(|number| format!("it has the number {number}"))?;
    toml::to_string(&table).map_err(|error| error.to_string())
}

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
