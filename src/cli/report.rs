//! `switchtender report`: the last reports of devices, as text.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::DeviceName;

use super::Global;
use super::exit::{CommandError, Exit, print};
use super::run::state_root;
use super::view::table;
use crate::diagnostic::suggest;
use crate::store::Store;
use crate::terminal_text::TerminalText;

/// Show the last report of a device, or the status of all devices in the state directory
///
/// Reports of `switchtender device` are below its `vardir`: --state-dir /opt/puppetlabs/puppet/cache
///
/// Examples:
///   switchtender report
///   switchtender report sw1
///   switchtender report --last
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReportArgs {
    /// Name of the device
    #[arg(value_name = "DEVICE")]
    name: Option<String>,

    /// Show the newest report
    #[arg(long, conflicts_with_all = ["name", "file"])]
    last: bool,

    /// Show this report, a file of --report
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    file: Option<PathBuf>,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &ReportArgs, global: &Global) -> Result<Exit, CommandError> {
    let text = if let Some(file) = &args.file {
        render(&read(file)?, global.is_stdout_colored())
    } else {
        let root = args.state_dir.clone().map_or_else(state_root, Ok)?;
        let store = Store::at(root);
        match &args.name {
            Some(name) => render(&of_device(&store, name)?, global.is_stdout_colored()),
            None => {
                let mut reports = all(&store)?;
                if args.last {
                    reports.sort_by(|(_, a), (_, b)| a.time.cmp(&b.time));
                    let (_, newest) = reports.last().expect("`all` returns one at least");
                    render(newest, global.is_stdout_colored())
                } else {
                    overview(&reports)
                }
            }
        }
    };
    print(&text);
    Ok(Exit::SUCCESS)
}

/// The parts of a stored report that are shown.
#[derive(Deserialize)]
struct StoredReport {
    host: String,
    time: String,
    status: String,
    #[serde(default)]
    noop: bool,
    #[serde(default)]
    transaction_completed: bool,
    #[serde(default)]
    logs: Vec<StoredLog>,
    #[serde(default)]
    resource_statuses: IndexMap<String, StoredStatus>,
    #[serde(default)]
    not_understood: Vec<StoredText>,
}

#[derive(Deserialize)]
struct StoredLog {
    level: String,
    message: String,
    source: String,
}

#[derive(Deserialize)]
struct StoredText {
    r#type: String,
    text: String,
}

#[derive(Deserialize)]
struct StoredStatus {
    file: Option<String>,
    line: Option<u64>,
    failed: bool,
    #[serde(default)]
    failed_to_restart: bool,
    changed: bool,
    skipped: bool,
    skip_reason: Option<String>,
    #[serde(default)]
    events: Vec<StoredEvent>,
    #[serde(default)]
    operations: Vec<StoredOperation>,
}

#[derive(Deserialize)]
struct StoredEvent {
    message: String,
    status: String,
    property: Option<String>,
}

#[derive(Deserialize)]
struct StoredOperation {
    #[serde(default)]
    mode: Vec<String>,
    line: Option<String>,
    request: Option<String>,
    outcome: String,
    device_message: Option<String>,
}

impl StoredReport {
    fn count(&self, is_counted: impl Fn(&StoredStatus) -> bool) -> usize {
        let statuses = self.resource_statuses.values();
        statuses.filter(|status| is_counted(status)).count()
    }
}

fn read(path: &Path) -> Result<StoredReport, CommandError> {
    let failed = || format!("cannot read the report {}", path.display());
    let text = fs::read(path).map_err(|error| CommandError::new(failed()).with_source(error))?;
    let report = serde_json::from_slice(&text);
    let mut report: StoredReport =
        report.map_err(|error| CommandError::new(failed()).with_source(error))?;
    report
        .resource_statuses
        .retain(|reference, status| !is_default(reference, status));
    Ok(report)
}

/// Whether every run has the resource: Puppet's file bucket and its schedules.
fn is_default(reference: &str, status: &StoredStatus) -> bool {
    let is_one = reference == "Filebucket[puppet]" || reference.starts_with("Schedule[");
    is_one && status.file.is_none()
}

fn report_file(directory: &Path) -> PathBuf {
    directory.join("state/last_run_report.json")
}

fn of_device(store: &Store, name: &str) -> Result<StoredReport, CommandError> {
    let path = DeviceName::parse(name).map(|name| report_file(store.device(&name).dir()));
    match path {
        Ok(path) if path.exists() => read(&path),
        _ => {
            let known = devices(store)?;
            let known = known.iter().map(|(name, _)| name.as_str());
            let hint = suggest(name, known, "list the reports with `switchtender report`");
            let root = store.root().display();
            Err(CommandError::new(format!("{root} has no report of `{name}`")).hint(hint))
        }
    }
}

/// The directories of devices with a report, sorted by name.
fn devices(store: &Store) -> Result<Vec<(String, PathBuf)>, CommandError> {
    let directory = store.root().join("devices");
    let entries = fs::read_dir(&directory).map_err(|error| {
        CommandError::new(format!("cannot read {}", directory.display()))
            .with_source(error)
            .hint("choose the state directory with --state-dir DIR")
    })?;
    let mut found: Vec<(String, PathBuf)> = entries
        .filter_map(Result::ok)
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                report_file(&entry.path()),
            )
        })
        .filter(|(_, path)| path.exists())
        .collect();
    found.sort();
    Ok(found)
}

/// All reports, one at least.
fn all(store: &Store) -> Result<Vec<(String, StoredReport)>, CommandError> {
    let devices = devices(store)?;
    if devices.is_empty() {
        return Err(CommandError::new(format!(
            "{} has no report",
            store.root().display()
        )));
    }
    let reports = devices.into_iter();
    reports
        .map(|(name, path)| Ok((name, read(&path)?)))
        .collect()
}

fn overview(reports: &[(String, StoredReport)]) -> TerminalText {
    let rows: Vec<Vec<String>> = reports
        .iter()
        .map(|(name, report)| {
            vec![
                name.clone(),
                report.status.clone(),
                seconds(&report.time),
                report.count(|status| status.changed).to_string(),
                report.count(|status| status.failed).to_string(),
                report.count(|status| status.skipped).to_string(),
            ]
        })
        .collect();
    table::render(
        &["Device", "Status", "Time", "Changed", "Failed", "Skipped"],
        &rows,
    )
}

/// A time without fractions of a second.
fn seconds(time: &str) -> String {
    match (time.split_once('.'), time.rfind('+')) {
        (Some((date, _)), Some(zone)) => format!("{date}{}", &time[zone..]),
        _ => time.to_owned(),
    }
}

fn render(report: &StoredReport, colors: bool) -> TerminalText {
    const BOLD: &str = "1";
    const RED: &str = "31";
    let mut text = TerminalText::with_colors(colors);
    text.paint(BOLD, &report.host).line(format_args!(
        ": {}, {}",
        report.status,
        seconds(&report.time)
    ));
    if report.noop {
        text.line("no changes were made (noop)");
    }
    if !report.transaction_completed {
        text.paint(RED, "the run did not complete").end_line();
    }
    for (reference, status) in &report.resource_statuses {
        let events = status.events.iter();
        let events: Vec<&StoredEvent> = events.filter(|event| event.status != "audit").collect();
        let skipped = status.skip_reason.as_ref().filter(|_| status.skipped);
        if events.is_empty() && skipped.is_none() && !status.failed && !status.failed_to_restart {
            continue;
        }
        text.line(format_args!("  {reference}{}", position(status)));
        if let Some(reason) = skipped {
            text.line(format_args!("    skipped: {reason}"));
        }
        for event in events {
            let property = event.property.as_deref();
            let property = property.map(|name| format!("{name}: ")).unwrap_or_default();
            let is_repeated = event.message.starts_with(property.trim_end_matches(": "));
            let property = if is_repeated { "" } else { &property };
            match event.status.as_str() {
                "failure" => {
                    text.paint(RED, format_args!("    failed: {property}{}", event.message))
                }
                _ => text.add(format_args!("    {property}{}", event.message)),
            };
            text.end_line();
        }
        add_operations(&mut text, &status.operations);
    }
    let logs = report.logs.iter();
    let logs = logs.filter(|log| {
        matches!(
            log.level.as_str(),
            "err" | "warning" | "alert" | "crit" | "emerg"
        )
    });
    for log in logs {
        text.line(format_args!(
            "  {}: {}: {}",
            log.level, log.source, log.message
        ));
    }
    for found in &report.not_understood {
        text.line(format_args!(
            "  not understood ({}): {}",
            found.r#type, found.text
        ));
    }
    text.line(format_args!(
        "{} resources: {} changed, {} failed, {} skipped",
        report.resource_statuses.len(),
        report.count(|status| status.changed),
        report.count(|status| status.failed),
        report.count(|status| status.skipped),
    ));
    text
}

fn position(status: &StoredStatus) -> String {
    match (&status.file, status.line) {
        (Some(file), Some(line)) => format!("  ({file}:{line})"),
        (Some(file), None) => format!("  ({file})"),
        (None, _) => String::new(),
    }
}

/// The commands of a resource, each mode once, with the answers of the device.
fn add_operations(text: &mut TerminalText, operations: &[StoredOperation]) {
    let mut mode: &[String] = &[];
    for operation in operations {
        if operation.mode != mode {
            for (depth, step) in operation.mode.iter().enumerate() {
                text.line(format_args!("    > {}{step}", " ".repeat(depth)));
            }
            mode = &operation.mode;
        }
        for line in operation.line.iter().chain(&operation.request) {
            text.line(format_args!("    > {}{line}", " ".repeat(mode.len())));
        }
        let outcome = match operation.outcome.as_str() {
            "done" | "planned" => None,
            "not_sent" => Some("not sent"),
            other => Some(other),
        };
        if let Some(outcome) = outcome {
            text.line(format_args!("      {outcome}"));
        }
        if let Some(message) = &operation.device_message {
            text.block("      | ", message);
        }
    }
}
