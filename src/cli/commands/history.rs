//! `switchtender history`: runs, resources and configurations in the store.

use indexmap::IndexMap;
use jiff::Timestamp;

use crate::cli::commands::run_reference::{FoundRuns, RunReference};
use crate::cli::exit::{CommandError, Exit, print, print_json};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::output::view::{resource_text, table};
use crate::clock;
use crate::history::folded_runs::FoldedDay;
use crate::history::runs::{ResourceRun, RunEntry, RunFilter};
use crate::history::{HistoryStore, RunId};
use crate::inventory::range;
use crate::natural_order::natural_order;
use crate::terminal_text::TerminalText;

const RUN_COLUMNS: [&str; 10] = [
    "Run",
    "Device",
    "Started",
    "Kind",
    "Status",
    "Changed",
    "Failed",
    "Pending",
    "Requester",
    "Commit",
];

/// Show stored runs of devices, changes of resources, configurations
///
/// The runs of one command on several devices are one row; `history RUN` has a row for each device.
///
/// Examples:
///   switchtender history
///   switchtender history 20261123T223551.123Z
///   switchtender history sw1 --limit 10
///   switchtender history 'Network_vlan[42]'
///   switchtender history sw1 --configuration 2026-11-24T12:00:00Z
///   switchtender history sw1 --difference 2026-11-23T00:00:00Z 2026-11-24T00:00:00Z
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HistoryArgs {
    /// Name of a device, number, UUID or name of a run, or a resource such as `Network_vlan[42]`
    #[arg(value_name = "DEVICE|RUN|RESOURCE")]
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
        Some(subject) => match RunReference::parse(subject) {
            Some(run) => match run.find(&args.store)? {
                FoundRuns::Stored(runs) => print_runs(&runs, args.output, global),
                FoundRuns::Folded(day) => print_folded(&run, &day, args.output),
            },
            None => args.runs(&history, Some(subject.clone()), global)?,
        },
        None => args.runs(&history, None, global)?,
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
        // The runs of one command are one row. Most have fewer devices.
        const DEVICES: u32 = 1000;
        let is_grouped = device.is_none() && self.output == Output::Human;
        let limit = if is_grouped {
            self.limit.saturating_mul(DEVICES)
        } else {
            self.limit
        };
        let filter = RunFilter {
            device: device.clone(),
            is_notable: self.notable,
            limit,
            ..RunFilter::default()
        };
        let runs = history.read(|reader| {
            let folded = match &device {
                Some(device) if reader.fleet_device(device)?.is_none() => return Ok(None),
                Some(device) => reader.folded_days(device, self.limit)?,
                None => Vec::new(),
            };
            Ok(Some((
                reader.runs(&filter)?,
                folded,
                reader.folded_count()?,
            )))
        });
        let runs = runs.map_err(store_error)?;
        let (runs, folded, folded_count) =
            runs.ok_or_else(|| unknown_device(device.as_deref().unwrap_or_default()))?;
        if is_grouped {
            let mut rows = command_rows(&runs);
            rows.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
            print_rows(rows, global);
            if folded_count > 0 {
                print(&TerminalText::of_line(format_args!(
                    "{folded_count} unchanged runs are folded: `switchtender history DEVICE` has their days"
                )));
            }
        } else {
            print_runs(&runs, self.output, global);
            if self.output == Output::Human && !folded.is_empty() {
                print_folded_days(&folded, global);
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

/// A time for people, without fractions of a second.
pub(crate) fn seconds(time: Timestamp) -> String {
    clock::local_text(time)
}

/// Prints a row or a line of JSON for each run.
pub(crate) fn print_runs(runs: &[RunEntry], output: Output, global: &Global) {
    match output {
        Output::Json => print_lines(runs),
        Output::Human => {
            let rows: Vec<Vec<String>> = runs.iter().map(run_row).collect();
            print_rows(rows, global);
        }
    }
}

/// Prints what became of a folded run.
pub(crate) fn print_folded(run: &RunReference, day: &FoldedDay, output: Output) {
    match output {
        Output::Json => print_lines(&[serde_json::json!({ "folded": day })]),
        Output::Human => print(&TerminalText::of_line(day.describe(run))),
    }
}

/// Prints the days of a device with folded runs.
fn print_folded_days(days: &[FoldedDay], global: &Global) {
    const COLUMNS: [&str; 5] = ["Folded day", "Unchanged runs", "Plans", "First", "Last"];
    let rows: Vec<Vec<String>> = days
        .iter()
        .map(|day| {
            let numbers = [day.runs, day.plans].map(|count| count.to_string());
            let runs = [day.first_run, day.last_run].map(|run| run.to_string());
            [vec![day.day.to_string()], numbers.into(), runs.into()].concat()
        })
        .collect();
    let mut text = TerminalText::new();
    text.end_line();
    text.append(&table::render(&COLUMNS, &rows, global.is_stdout_colored()));
    print(&text);
}

/// Prints rows of runs, without the column of commits if there are none: many sites do not use Git.
fn print_rows(mut rows: Vec<Vec<String>>, global: &Global) {
    let mut columns = &RUN_COLUMNS[..];
    let last = columns.len() - 1;
    if rows.iter().all(|row| row[last].is_empty()) {
        columns = &columns[..last];
        rows.iter_mut().for_each(|row| row.truncate(last));
    }
    let colored = global.is_stdout_colored();
    print(&table::render(columns, &rows, colored));
}

/// Rows of runs; those of one command are one row, with its name.
fn command_rows(runs: &[RunEntry]) -> Vec<Vec<String>> {
    let mut commands: IndexMap<(Option<&str>, RunId), Vec<&RunEntry>> = IndexMap::default();
    for run in runs {
        // A run without a name is one of its own.
        let own = if run.name.is_some() { RunId(0) } else { run.id };
        let command = commands.entry((run.name.as_deref(), own)).or_default();
        command.push(run);
    }
    let rows = commands.into_values().map(|mut runs| {
        if let [run] = runs[..] {
            return run_row(run);
        }
        runs.sort_by(|one, other| natural_order(&one.device).cmp(&natural_order(&other.device)));
        let mut row = run_row(runs[0]);
        row[0] = runs[0].name.clone().unwrap_or_default();
        let devices = range::of_names(runs.iter().map(|run| run.device.as_str()));
        row[1] = shortened(&devices, runs.len());
        let started = runs.iter().map(|run| run.started.unwrap_or(run.queued));
        row[2] = started.min().map(seconds).unwrap_or_default();
        row[4] = statuses(&runs);
        let sum = |count: fn(&RunEntry) -> String| {
            let counts = runs.iter().filter_map(|run| count(run).parse::<u64>().ok());
            counts.sum::<u64>().to_string()
        };
        row[5] = sum(|run| run.counts.changed.to_string());
        row[6] = sum(|run| run.counts.failed.to_string());
        row[7] = sum(|run| run.counts.pending.to_string());
        if runs.iter().any(|run| run.revision != runs[0].revision) {
            row[9] = "several".to_owned();
        }
        row
    });
    rows.collect()
}

/// `2 failed, 298 changed`; one word if all runs have it.
fn statuses(runs: &[&RunEntry]) -> String {
    let mut counts: IndexMap<&str, usize> = IndexMap::default();
    for run in runs {
        *counts.entry(run.status.word()).or_default() += 1;
    }
    if counts.len() == 1 {
        return runs[0].status.word().to_owned();
    }
    let counts = counts.iter().map(|(word, count)| format!("{count} {word}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Ranges of names in at most about 40 columns, with the number of all devices.
pub(crate) fn shortened(names: &[String], count: usize) -> String {
    const WIDTH: usize = 40;
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        if index > 0 && text.len() + name.len() + 2 > WIDTH {
            return format!("{text}, … ({count} devices)");
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    text
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
        run.revision
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
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
