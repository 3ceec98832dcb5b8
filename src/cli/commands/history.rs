//! `switchtender history`: runs, resources and configurations in the store.

use jiff::Timestamp;

use crate::cli::exit::{CommandError, Exit, print, print_json};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::output::view::{resource_text, table};
use crate::history::HistoryStore;
use crate::history::runs::{ResourceRun, RunEntry, RunFilter};
use crate::terminal_text::TerminalText;

const RUN_COLUMNS: [&str; 9] = [
    "Run",
    "Device",
    "Started",
    "Kind",
    "Status",
    "Changed",
    "Failed",
    "Pending",
    "Requester",
];

/// Show stored runs of devices, changes of resources, configurations
///
/// Examples:
///   switchtender history
///   switchtender history sw1 --limit 10
///   switchtender history 'Network_vlan[42]'
///   switchtender history sw1 --configuration 2026-11-24T12:00:00Z
///   switchtender history sw1 --difference 2026-11-23T00:00:00Z 2026-11-24T00:00:00Z
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HistoryArgs {
    /// Name of a device, or a resource such as `Network_vlan[42]`
    #[arg(value_name = "DEVICE|RESOURCE")]
    subject: Option<String>,

    /// Show only the history of the resource on this device
    #[arg(long, value_name = "DEVICE", requires = "subject")]
    on: Option<String>,

    /// Show only runs that are not unchanged
    #[arg(long)]
    notable: bool,

    /// Show the configuration of the device at a time
    #[arg(long, value_name = "TIME", requires = "subject", conflicts_with_all = ["on", "notable", "difference"])]
    configuration: Option<Timestamp>,

    /// Show the difference between the configurations of the device at two times
    #[arg(long, value_names = ["FROM", "TO"], num_args = 2, requires = "subject", conflicts_with_all = ["on", "notable"])]
    difference: Vec<Timestamp>,

    /// Maximum number of entries, newest first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    store: StoreOption,
}

pub(crate) fn run(args: &HistoryArgs, global: &Global) -> Result<Exit, CommandError> {
    let history = args.store.existing()?;
    match &args.subject {
        Some(device) if args.configuration.is_some() || !args.difference.is_empty() => {
            args.configuration(&history, device)?;
        }
        Some(subject) if subject.contains('[') => args.resource(&history, subject)?,
        subject => args.runs(&history, subject.clone(), global)?,
    }
    Ok(Exit::SUCCESS)
}

impl HistoryArgs {
    fn runs(
        &self,
        history: &HistoryStore,
        device: Option<String>,
        global: &Global,
    ) -> Result<(), CommandError> {
        let filter = RunFilter {
            device: device.clone(),
            is_notable: self.notable,
            limit: self.limit,
            ..RunFilter::default()
        };
        let runs = history.read(|reader| {
            if let Some(device) = &device
                && reader.fleet_device(device)?.is_none()
            {
                return Ok(None);
            }
            reader.runs(&filter).map(Some)
        });
        let runs = runs.map_err(store_error)?;
        let runs = runs.ok_or_else(|| unknown_device(device.as_deref().unwrap_or_default()))?;
        match self.output {
            Output::Json => print_lines(&runs),
            Output::Human => {
                let rows: Vec<Vec<String>> = runs.iter().map(run_row).collect();
                print(&table::render(
                    &RUN_COLUMNS,
                    &rows,
                    global.is_stdout_colored(),
                ));
            }
        }
        Ok(())
    }

    fn resource(&self, history: &HistoryStore, reference: &str) -> Result<(), CommandError> {
        let device = self.on.as_deref();
        let found = history
            .read(|reader| reader.resource_history(device, reference, None, self.limit))
            .map_err(store_error)?;
        if found.is_empty() {
            let text = format!("the store has no change of {reference}");
            return Err(CommandError::new(text)
                .hint("write the type with a capital letter: `Network_vlan[42]`"));
        }
        match self.output {
            Output::Json => print_lines(&found),
            Output::Human => print(&render_resource(&found)),
        }
        Ok(())
    }

    fn configuration(&self, history: &HistoryStore, device: &str) -> Result<(), CommandError> {
        let is_known = history.read(|reader| Ok(reader.fleet_device(device)?.is_some()));
        if !is_known.map_err(store_error)? {
            return Err(unknown_device(device));
        }
        // As in the API.
        let key = match self.configuration {
            Some(_) => "text",
            None => "configuration_difference",
        };
        let text = match (self.configuration, &self.difference[..]) {
            (Some(time), _) => {
                let found = history.read(|reader| reader.configuration_at(device, time));
                let found = found.map_err(store_error)?;
                let (_, text) = found.ok_or_else(|| {
                    let text = format!("the store has no configuration of {device} until {time}");
                    CommandError::new(text)
                })?;
                text
            }
            (None, [from, to]) => history
                .read(|reader| reader.configuration_difference(device, *from, *to))
                .map_err(store_error)?,
            (None, _) => return Ok(()),
        };
        match self.output {
            Output::Json => print_json(&format!("{}\n", serde_json::json!({ key: text }))),
            Output::Human => {
                let mut lines = TerminalText::new();
                for line in text.lines() {
                    lines.line(line);
                }
                print(&lines);
            }
        }
        Ok(())
    }
}

/// One JSON object per line.
pub(crate) fn print_lines<T: serde::Serialize>(entries: &[T]) {
    let lines: String = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).expect("an entry is JSON") + "\n")
        .collect();
    print_json(&lines);
}

pub(crate) fn unknown_device(device: &str) -> CommandError {
    CommandError::new(format!("the store has no device `{device}`"))
        .hint("list the runs with `switchtender history`")
}

/// A time without fractions of a second.
pub(crate) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn run_row(run: &RunEntry) -> Vec<String> {
    let counts = run.counts;
    let requester = match run.requester.name.as_str() {
        "" => run.requester.kind.to_string(),
        name => format!("{} ({name})", run.requester.kind),
    };
    vec![
        run.id.to_string(),
        run.device.clone(),
        seconds(run.started.unwrap_or(run.queued)),
        run.kind.to_string(),
        run.status.to_string(),
        counts.changed.to_string(),
        counts.failed.to_string(),
        counts.pending.to_string(),
        requester,
    ]
}

fn render_resource(found: &[ResourceRun]) -> TerminalText {
    let mut text = TerminalText::new();
    for entry in found {
        let time = entry.ended.map(seconds).unwrap_or_default();
        text.line(format_args!(
            "{time}  {}  {} in run {} ({})",
            entry.device,
            entry.resource.result(),
            entry.run,
            entry.kind
        ));
        resource_text::add_parts(&mut text, &entry.resource);
    }
    text
}
