//! `switchtender report`: the last reports of devices, as text or as a page.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use switchtender_devices::driver::Registry;
use switchtender_devices::regular_file;

use crate::catalog;
use crate::cli::commands::run_reference::{FoundRuns, RunReference};
use crate::cli::commands::{history, stored_run};
use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_document};
use crate::cli::options::global::Global;
use crate::cli::options::inventory_source::{DEFAULT_INVENTORY, SourceCommandArgs};
use crate::cli::options::output_format::Output;
use crate::cli::options::selection::Selection;
use crate::cli::options::state_root::state_root;
use crate::cli::options::store_options::StoreOption;
use crate::cli::options::view_arguments::ViewFilter;
use crate::cli::output::view::difference::difference;
use crate::cli::output::view::summary::{MAX_ROWS, totals};
use crate::cli::output::view::{resource_text, table};
use crate::cli::{options::catalog_arguments, options::definitions};
use crate::diagnostic::suggest;
use crate::fleet::catalog_graph;
use crate::inventory::{Inventory, InventoryOptions, range};
use crate::report::RunRecord;
use crate::report::page::{self, Page, PageDevice};
use crate::run_kind::RunKind;
use crate::store::{Store, StoredDevice, directory_name};
use crate::terminal_text::{Style, TerminalText};

/// The columns of the overview.
pub(crate) const COLUMNS: [&str; 6] = ["Device", "Status", "Time", "Changed", "Failed", "Skipped"];

/// Show the last report of a device, or the status of all devices
///
/// Reports of `switchtender device` are below its `vardir`: --state-dir /opt/puppetlabs/puppet/cache
///
/// Examples:
///   switchtender report
///   switchtender report sw1
///   switchtender report 4711
///   switchtender report --last
///   switchtender report --label role=access --only failed
///   switchtender report sw1 --output html --catalog catalogs > sw1.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReportArgs {
    /// Name of the device, or number or name of a stored run
    #[arg(
        value_name = "DEVICE|RUN",
        conflicts_with_all = ["target", "label", "only", "quiet"]
    )]
    name: Option<String>,

    /// Show the newest report
    #[arg(long, conflicts_with_all = ["name", "file", "quiet"])]
    last: bool,

    /// Show this report, a file of --report
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["name", "target", "label", "only", "quiet"]
    )]
    file: Option<PathBuf>,

    #[command(flatten)]
    selection: Selection,

    /// Inventory of the devices, for --target and --label
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    inventory: PathBuf,

    #[command(flatten)]
    view: ViewFilter,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = ReportOutput::Human)]
    output: ReportOutput,

    /// Catalog of the device for the graph in the page, or a directory with <device>.json
    #[arg(long, value_name = "FILE|DIR")]
    catalog: Option<PathBuf>,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    store: StoreOption,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportOutput {
    /// Text
    Human,
    /// One JSON object, for a stored run
    Json,
    /// An HTML page in one file
    Html,
}

pub(crate) fn run(args: &ReportArgs, global: &Global) -> Result<Exit, CommandError> {
    if args.is_of_store(global)? {
        return Ok(Exit::SUCCESS);
    }
    let reports = args.reports()?;
    if args.output == ReportOutput::Html {
        print_document(&args.page(&reports)?);
        return Ok(Exit::SUCCESS);
    }
    let is_one = args.last || args.file.is_some() || args.name.is_some();
    let text = match &reports[..] {
        [(_, report)] if is_one => render(report, global.is_stdout_colored()),
        all => args.overview(all, global.is_stdout_colored()),
    };
    print(&text);
    Ok(Exit::SUCCESS)
}

impl ReportArgs {
    /// Prints a stored run, if the argument is its number or its name. A name with several devices has a row for each.
    fn is_of_store(&self, global: &Global) -> Result<bool, CommandError> {
        let run = self.name.as_deref().and_then(RunReference::parse);
        let output = match (&run, self.output) {
            (Some(_), ReportOutput::Human) => Output::Human,
            (Some(_), ReportOutput::Json) => Output::Json,
            (None, ReportOutput::Json) => {
                return Err(CommandError::new("--output json needs a stored run")
                    .hint("list the runs with `switchtender history`"));
            }
            (_, ReportOutput::Html) | (None, ReportOutput::Human) => return Ok(false),
        };
        let Some(run) = run else {
            return Ok(false);
        };
        match run.find(&self.store)? {
            FoundRuns::Folded(day) => history::print_folded(&run, &day, output),
            FoundRuns::Stored(found) => match &found[..] {
                [one] => stored_run::show(&self.store, one.id, output, global.is_stdout_colored())?,
                all => history::print_runs(all, output, global),
            },
        }
        Ok(true)
    }

    /// The selected reports with the names of their devices, one at least.
    fn reports(&self) -> Result<Vec<(String, RunRecord)>, CommandError> {
        if let Some(file) = &self.file {
            let report = read(file)?;
            return Ok(vec![(report.context.host.clone(), report)]);
        }
        let root = self.state_dir.clone().map_or_else(state_root, Ok)?;
        let store = Store::at(root);
        if let Some(name) = &self.name {
            return Ok(vec![(name.clone(), of_device(&store, name)?)]);
        }
        let mut reports = all(&store)?;
        if let Some(inventory) = self.existing_inventory() {
            reports.sort_by_cached_key(|(name, _)| {
                let position = inventory.devices.get_index_of(name.as_str());
                (position.is_none(), position)
            });
        }
        if !self.selection.is_empty() {
            let selected = self.selected()?;
            reports.retain(|(name, _)| selected.contains(name));
            if reports.is_empty() {
                let root = store.root().display();
                let text = format!("{root} has no report of the selected devices");
                return Err(CommandError::new(text));
            }
        }
        let is_filtered = self.last || self.output == ReportOutput::Html;
        reports.retain(|(_, report)| !is_filtered || self.view.shows(report.status_word()));
        if self.last {
            let newest = (0..reports.len()).max_by_key(|index| reports[*index].1.context.time);
            reports = newest
                .map(|index| reports.swap_remove(index))
                .into_iter()
                .collect();
        }
        Ok(reports)
    }

    /// The names of the devices of --target and --label.
    fn selected(&self) -> Result<Vec<String>, CommandError> {
        let registry = definitions::load(self.definitions.as_deref())?;
        let options = InventoryOptions {
            registry: Some(&registry),
            // No device is contacted, and no secret is read.
            allow_readable: true,
            is_offline: true,
            ..InventoryOptions::default()
        };
        let inventory = Inventory::load(&self.inventory, &options);
        let inventory = inventory.map_err(CommandError::findings)?;
        let devices = inventory.select(&self.selection.parse()?);
        let devices = devices.map_err(CommandError::findings)?.into_iter();
        Ok(devices.map(|device| device.name.to_string()).collect())
    }

    /// The inventory, if there is one. Reports can be read without it.
    fn existing_inventory(&self) -> Option<Inventory> {
        if !self.inventory.exists() {
            return None;
        }
        let registry = definitions::load(self.definitions.as_deref()).ok()?;
        let runs = SourceCommandArgs { run_commands: true };
        crate::cli::options::one_device::inventory(&self.inventory, &registry, runs).ok()
    }

    /// The devices with reports that the inventory lacks, such as those of `--device`. None, if there is no
    /// inventory, or if it has none of the devices.
    fn not_in_inventory(&self, reports: &[(String, RunRecord)]) -> Vec<String> {
        if !self.selection.is_empty() {
            return Vec::new();
        }
        let Some(inventory) = self.existing_inventory() else {
            return Vec::new();
        };
        let names = reports.iter().map(|(name, _)| name);
        let unknown = names.filter(|name| !inventory.devices.contains_key(name.as_str()));
        let unknown: Vec<String> = unknown.cloned().collect();
        if unknown.len() < reports.len() {
            unknown
        } else {
            Vec::new()
        }
    }

    /// A row for each report that is selected by status, and the totals of all devices of the inventory.
    fn overview(&self, reports: &[(String, RunRecord)], colored: bool) -> TerminalText {
        let mut text = TerminalText::new();
        let not_in_inventory = self.not_in_inventory(reports);
        let reports = reports
            .iter()
            .filter(|(name, _)| !not_in_inventory.contains(name));
        let reports: Vec<&(String, RunRecord)> = reports.collect();
        let is_selected = |status: &str| {
            let is_few =
                reports.len() <= MAX_ROWS || status != "unchanged" || self.view.is_filtered();
            is_few && !self.view.is_quiet() && self.view.shows(status)
        };
        let rows: Vec<Vec<String>> = reports
            .iter()
            .filter(|(_, report)| is_selected(report.status_word()))
            .map(|(name, report)| row(name, report))
            .collect();
        if !rows.is_empty() {
            text.append(&table::render(&COLUMNS, &rows, colored))
                .end_line();
        }
        let statuses: Vec<&str> = reports
            .iter()
            .map(|(_, report)| report.status_word())
            .collect();
        text.line(totals(&statuses));
        if !not_in_inventory.is_empty() {
            let names = range::of_names(not_in_inventory.iter().map(String::as_str)).join(", ");
            text.line(format_args!(
                "not in {}: {names}; `switchtender state-dir prune` removes their state",
                self.inventory.display()
            ));
        }
        text
    }

    fn page(&self, reports: &[(String, RunRecord)]) -> Result<String, CommandError> {
        let registry = definitions::load(self.definitions.as_deref())?;
        let devices = reports.iter().map(|(name, report)| {
            let catalog = self.catalog.as_ref();
            let graph = catalog.map(|path| graph(path, name, &registry));
            if let Some(Err(reason)) = &graph {
                eprint_notice(&format!("{name}: no graph: {reason}"));
            }
            let record = RunRecord {
                graph,
                ..report.clone()
            };
            PageDevice::new(name, record)
        });
        let title = match reports {
            [(name, report)] => format!("Report of {name}, {}", report.start()),
            all => format!("Last reports of {} devices", all.len()),
        };
        let statuses: Vec<&str> = reports
            .iter()
            .map(|(_, report)| report.status_word())
            .collect();
        Ok(page::render(&Page {
            title,
            facts: Vec::new(),
            totals: (reports.len() > 1).then(|| totals(&statuses)),
            devices: devices.collect(),
        }))
    }
}

/// The graph of a device's catalog, in a file or in a directory.
fn graph(path: &Path, name: &str, registry: &Registry) -> Result<String, String> {
    let path = if path.is_dir() {
        path.join(format!("{}.json", directory_name(name)))
    } else {
        path.to_owned()
    };
    let path_text = path.display().to_string();
    let bytes = catalog_arguments::read(&path)
        .map_err(|error| format!("cannot read {path_text}: {error}"))?;
    let source = catalog::source(path_text, bytes).map_err(|error| error.to_string())?;
    catalog_graph::complete_svg(&source, registry)
}

fn read(path: &Path) -> Result<RunRecord, CommandError> {
    let failed = || format!("cannot read the report {}", path.display());
    let text = regular_file::read(path, regular_file::LARGEST)
        .map_err(|error| CommandError::new(failed()).with_source(error))?;
    RunRecord::of_json(&text).map_err(|error| CommandError::new(failed()).with_source(error))
}

fn of_device(store: &Store, name: &str) -> Result<RunRecord, CommandError> {
    let devices = devices(store)?;
    match devices.iter().find(|device| device.name.as_str() == name) {
        Some(device) => read(&device.report()),
        None => {
            let known = devices.iter().map(|device| device.name.as_str());
            let hint = suggest(name, known, "list the reports with `switchtender report`");
            let root = store.root().display();
            Err(CommandError::new(format!("{root} has no report of `{name}`")).hint(hint))
        }
    }
}

/// The devices with a report, sorted by name.
fn devices(store: &Store) -> Result<Vec<StoredDevice>, CommandError> {
    let mut found = store.devices().map_err(|error| {
        CommandError::new("cannot find the reports")
            .with_source(error)
            .hint("choose the state directory with --state-dir DIR")
    })?;
    found.retain(|device| device.report().exists());
    Ok(found)
}

/// All reports, one at least.
fn all(store: &Store) -> Result<Vec<(String, RunRecord)>, CommandError> {
    let devices = devices(store)?;
    if devices.is_empty() {
        let text = format!("{} has no report", store.root().display());
        return Err(CommandError::new(text).hint(
            "runs store their reports there, those of mocks only with --state-dir DIR, which also chooses the directory",
        ));
    }
    let reports = devices.into_iter();
    reports
        .map(|device| Ok((device.name.to_string(), read(&device.report())?)))
        .collect()
}

fn row(name: &str, report: &RunRecord) -> Vec<String> {
    let counts = report.counts;
    vec![
        name.to_owned(),
        report.status_word().to_owned(),
        report.start(),
        counts.changed.to_string(),
        counts.failed.to_string(),
        counts.skipped.to_string(),
    ]
}

pub(super) fn render(report: &RunRecord, colors: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colors);
    text.paint(Style::Bold, &report.context.host)
        .line(format_args!(
            ": {}, {}",
            report.status_word(),
            report.start()
        ));
    let is_noop = report.is_without_changes();
    match report.kind {
        RunKind::Apply => {}
        RunKind::Noop => {
            text.line("no changes were made (noop)");
        }
        RunKind::Plan => {
            text.line("a plan: no changes were made");
        }
    }
    if !report.completed {
        text.paint(Style::Red, "the run did not complete")
            .end_line();
    }
    if let Some(revision) = &report.revision {
        text.line(format_args!("desired state of commit {revision}"));
    }
    for status in report.managed().filter(|status| status.is_notable()) {
        let position = resource_text::position(status);
        text.line(format_args!("  {}{position}", status.reference));
        resource_text::add_parts(&mut text, status);
    }
    resource_text::add_problems(&mut text, report);
    let heading = if is_noop {
        "configuration difference"
    } else {
        "configuration difference, of what was read again after the changes"
    };
    text.append(&difference(heading, &report.difference, colors));
    text.line(report.counts.text());
    text
}
