//! `switchtender undo`: restore what was before a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use switchtender_devices::names::DeviceName;
use switchtender_devices::provider::driver_provider::ProtectPolicy;

use crate::cli::commands::history;
use crate::cli::commands::run::{PreparedRun, RunCommand};
use crate::cli::commands::run_reference::{FoundRuns, RunReference};
use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_json};
use crate::cli::options::device_state;
use crate::cli::options::global::Global;
use crate::cli::options::inventory_source::InventorySource;
use crate::cli::options::manifest::ManifestArgs;
use crate::cli::options::output_format::RunOutput;
use crate::cli::options::run_arguments::ResourceFilterArgs;
use crate::cli::options::run_arguments::RunArgs;
use crate::cli::options::run_arguments::protect_policies;
use crate::cli::options::selection::Selection;
use crate::cli::options::state_root::state_root;
use crate::cli::options::target_options::TargetArgs;
use crate::cli::output::view::{DeviceSummary, table};
use crate::cli::runtime::block_on;
use crate::cli::{commands::confirmation, commands::stored_plan};
use crate::fleet::run_request::RunRequest;
use crate::fleet::undo::{UndoCatalogs, UndoChoice, UndoRecord};
use crate::history::runs::RunEntry;
use crate::inventory::range;
use crate::natural_order::natural_order;
use crate::route::HostResourcePolicy;
use crate::run_kind::RunKind;
use crate::store::{Store, StoreError};
use crate::terminal_text::TerminalText;

/// Restore what was before a run
///
/// Shows the plan of the undo and asks. A resource that changed since the run is not changed.
/// An undo is a run, which can be undone.
/// Without RUN and --last, lists the runs of the state directory.
///
/// Examples:
///   switchtender undo
///   switchtender undo --last --target sw1
///   switchtender undo 20261123T223551.123Z --plan
///   switchtender undo change.plan --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UndoArgs {
    /// Run of the list, number of a stored run, or file of a plan that was applied
    #[arg(value_name = "RUN|PLAN", id = "run")]
    run: Option<String>,

    /// Undo the newest run of the selected devices
    #[arg(long, conflicts_with = "run")]
    last: bool,

    /// Show what the undo would do, and change nothing
    #[arg(long, conflicts_with = "yes")]
    plan: bool,

    /// Undo without the plan and the question
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    source: InventorySource,

    #[command(flatten)]
    selection: Selection,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// File with host types [default: ./switchtender.toml]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

    /// Let devices revert the undo unless a second login confirms it; overrides `protect` of the
    /// inventory
    #[arg(long, value_parser = protect_policies(), value_name = "POLICY")]
    protect: Option<ProtectPolicy>,

    #[command(flatten)]
    arguments: RunArgs,
}

impl UndoArgs {
    /// What is undone; `None`: the runs are listed. A number selects the device of its run.
    fn choice(&self) -> Result<Option<(UndoChoice, Selection)>, CommandError> {
        let selection = self.selection.clone();
        let Some(run) = &self.run else {
            return Ok(self.last.then_some((UndoChoice::Last, selection)));
        };
        let file = Path::new(run);
        if file.is_file() {
            let choice = UndoChoice::Plan(stored_plan::load(file)?.digest());
            return Ok(Some((choice, selection)));
        }
        let Some(reference @ RunReference::Key(_)) = RunReference::parse(run) else {
            return Ok(Some((UndoChoice::Run(run.clone()), selection)));
        };
        let found = match reference.find(&self.arguments.store)? {
            FoundRuns::Stored(found) => found,
            FoundRuns::Folded(day) => {
                let text = format!("{}: it has no changes to undo", day.describe(run));
                return Err(CommandError::new(text)
                    .hint("list the runs that can be undone with `switchtender undo`"));
            }
        };
        let RunEntry {
            device,
            name,
            status,
            ..
        } = &found[0];
        // A run gets its name with its result.
        let Some(name) = name else {
            let text = format!("the run {run} of {device} has no changes to undo: it is {status}");
            return Err(CommandError::new(text)
                .hint("list the runs that can be undone with `switchtender undo`"));
        };
        let selection = if selection.is_empty() {
            Selection::of_device(device)
        } else {
            selection
        };
        Ok(Some((UndoChoice::Run(name.clone()), selection)))
    }
}

pub(crate) fn run(args: &UndoArgs, global: &Global) -> Result<Exit, CommandError> {
    let Some((choice, selection)) = args.choice()? else {
        return list(args);
    };
    let arguments = &args.arguments;
    if !args.plan && !arguments.mock.is_enabled() {
        device_state::check_changes(&arguments.store)?;
    }
    let can_ask = confirmation::can_ask(arguments.output);
    let targets = TargetArgs {
        source: args.source.clone(),
        catalog: None,
        state: None,
        manifest: ManifestArgs::default(),
        selection,
        definitions: args.definitions.clone(),
        settings: args.settings.clone(),
        allow_name_mismatch: false,
        host_resources: HostResourcePolicy::default(),
    };
    block_on(async {
        let filter = ResourceFilterArgs::default();
        let command = RunCommand {
            undo: Some(&choice),
            ..RunCommand::new(&targets, &filter, arguments)
        };
        let new_request = |kind| {
            Arc::new(RunRequest {
                protect: args.protect,
                ..command.request(kind)
            })
        };
        let prepared = command.prepare().await?;
        let at_once = prepared.at_once();
        let reports = arguments.report.as_deref();
        if !args.yes {
            let request = new_request(RunKind::Plan);
            let planned = prepared
                .execute(&request, &at_once, arguments, None, global)
                .await
                .devices;
            let exit = PreparedRun::exit(&request, &planned, arguments.detailed_exitcodes);
            if args.plan || request.stop.is_cancelled() || !has_changes(&planned) {
                return Ok(exit);
            }
            if !can_ask {
                let error = CommandError::new("nothing was changed: there is no terminal to ask");
                return Err(error.hint("pass --yes to undo, or --plan to see the plan only"));
            }
            let question = match prepared.len() {
                1 => "Undo this on 1 device? [y/N] ".to_owned(),
                count => format!("Undo this on {count} devices? [y/N] "),
            };
            if !confirmation::ask(&question, &request).await? {
                return Ok(Exit::FAILURE);
            }
        }
        let request = new_request(RunKind::Apply);
        let ended = prepared
            .execute(&request, &at_once, arguments, reports, global)
            .await;
        Ok(PreparedRun::exit(
            &request,
            &ended.devices,
            arguments.detailed_exitcodes,
        ))
    })
}

fn has_changes(planned: &[DeviceSummary]) -> bool {
    let mut counts = planned.iter().filter_map(DeviceSummary::counts);
    counts.any(|counts| counts.to_send > 0 && !counts.failed_after_transaction)
}

/// The records of the run to undo.
///
/// # Errors
/// No device has one.
pub(crate) fn load(
    store: &Store,
    devices: &[DeviceName],
    choice: &UndoChoice,
) -> Result<UndoCatalogs, CommandError> {
    let undo = UndoCatalogs::load(store, devices, choice).map_err(unreadable)?;
    if !undo.records.is_empty() {
        return Ok(undo);
    }
    let text = match choice {
        UndoChoice::Run(run) => format!("no selected device has changes of the run {run}"),
        UndoChoice::Last => "no selected device has changes to undo".to_owned(),
        UndoChoice::Plan(_) => "no selected device has changes of the plan".to_owned(),
    };
    Err(CommandError::new(text).hint("list the runs with `switchtender undo`"))
}

fn unreadable(error: StoreError) -> CommandError {
    CommandError::new("cannot read the runs").with_source(error)
}

/// The columns of the list.
const COLUMNS: [&str; 4] = ["Run", "Devices", "Resources", "Undo of"];

/// A run of the list.
#[derive(Default)]
struct ListedRun {
    /// Devices with the number of their resources.
    devices: BTreeMap<String, usize>,
    /// The run that it has undone.
    undo_of: Option<String>,
}

/// Lists the runs that can be undone, newest first.
fn list(args: &UndoArgs) -> Result<Exit, CommandError> {
    let root = args.arguments.state_dir.clone();
    let root = root.map_or_else(state_root, Ok)?;
    let history = args.arguments.store.configured(true)?;
    let store = device_state::with_database(Store::at(&root), history.as_ref(), &root)?;
    let mut runs: BTreeMap<String, ListedRun> = BTreeMap::new();
    for device in store.devices().map_err(unreadable)? {
        for state in store.device(&device.name).states().map_err(unreadable)? {
            for run in UndoRecord::runs(&state).map_err(unreadable)? {
                let record = match UndoRecord::load(&state, &run) {
                    Err(StoreError::Sealed(error)) => {
                        eprint_notice(&format!("warning: the run {run} cannot be undone: {error}"));
                        continue;
                    }
                    loaded => loaded.map_err(unreadable)?,
                };
                let listed = runs.entry(run).or_default();
                let count = record.as_ref().map_or(0, |record| record.resources.len());
                listed.devices.insert(device.name.to_string(), count);
                listed.undo_of = record.and_then(|record| record.undo_of);
            }
        }
    }
    let mut rows = Vec::new();
    for (run, ListedRun { devices, undo_of }) in runs.iter().rev() {
        if args.arguments.output == RunOutput::Json {
            let mut object = json!({ "run": run, "devices": devices });
            if let Some(undone) = undo_of {
                object["undo_of"] = json!(undone);
            }
            print_json(&format!("{object}\n"));
            continue;
        }
        rows.push(vec![
            run.clone(),
            render_devices(devices),
            devices.values().sum::<usize>().to_string(),
            undo_of.clone().unwrap_or_default(),
        ]);
    }
    if args.arguments.output != RunOutput::Json {
        print(&if runs.is_empty() {
            TerminalText::of_line("no run is stored that can be undone")
        } else {
            table::render(&COLUMNS, &rows, false)
        });
    }
    Ok(Exit::SUCCESS)
}

/// The names of devices; of many, the first ones.
fn render_devices(devices: &BTreeMap<String, usize>) -> String {
    let mut names: Vec<&str> = devices.keys().map(String::as_str).collect();
    names.sort_by_key(|name| natural_order(name));
    history::shortened(&range::of_names(names), devices.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_devices_are_shortened() {
        let devices = |numbers: &[usize]| -> BTreeMap<String, usize> {
            let names = numbers.iter().map(|number| format!("switch{number}"));
            names.map(|name| (name, 1)).collect()
        };
        assert_eq!(
            render_devices(&devices(&[1, 2, 3, 5])),
            "switch[1-3], switch5"
        );
        let odd: Vec<usize> = (0..30).map(|number| 2 * number + 1).collect();
        assert_eq!(
            render_devices(&devices(&odd)),
            "switch1, switch3, switch5, switch7, … (30 devices)"
        );
    }
}
