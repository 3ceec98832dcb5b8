//! `switchtender state-dir`: the files between runs, and the devices to which they belong.

use std::fs;
use std::path::PathBuf;

use clap::Subcommand;
use jiff::SignedDuration;
use switchtender_devices::names::DeviceName;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print};
use crate::cli::options::device_state;
use crate::cli::options::inventory_source::{DEFAULT_INVENTORY, SourceCommandArgs};
use crate::cli::options::state_root::state_root;
use crate::cli::options::store_options::StoreOption;
use crate::cli::output::view::wrapped;
use crate::clock;
use crate::counted::counted;
use crate::error_chain::chain;
use crate::inventory::range;
use crate::store::identity::{AcceptError, DeviceIdentity};
use crate::store::{LockSubject, Store, StoreError, StoredDevice};
use crate::terminal_text::TerminalText;

/// Show, accept and remove the state of earlier runs
///
/// Examples:
///   switchtender state-dir show sw1
///   switchtender state-dir accept sw1 FCW2146L0AB
///   switchtender state-dir prune
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct StateDirArgs {
    #[command(subcommand)]
    command: StateDirCommand,
}

#[derive(Debug, Subcommand)]
enum StateDirCommand {
    Show(ShowArgs),
    Accept(AcceptArgs),
    Prune(PruneArgs),
}

/// Show the devices whose state is stored under a name
///
/// Example: switchtender state-dir show sw1
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the device
    #[arg(value_name = "DEVICE", value_parser = parse_device)]
    device: DeviceName,

    #[command(flatten)]
    root: StateRoot,
}

/// Let another device continue the state of a name: replaced hardware, or the other unit of a pair
///
/// Digests of secrets, the undo of runs and the history of values then count for it, too. The device
/// that had the state keeps it.
///
/// Examples:
///   switchtender state-dir accept sw1 FCW2146L0AB
///   switchtender state-dir accept sw1 FCW2146L0AB --replaces FCW1932A1B2
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct AcceptArgs {
    /// Name of the device
    #[arg(value_name = "DEVICE", value_parser = parse_device)]
    device: DeviceName,

    /// Serial number of the new device, or the fingerprint of its host key, as `plan` prints it
    #[arg(value_name = "SERIAL|FINGERPRINT")]
    identity: String,

    /// Serial number or fingerprint of the replaced device, if several devices have states
    #[arg(long, value_name = "SERIAL|FINGERPRINT")]
    replaces: Option<String>,

    #[command(flatten)]
    root: StateRoot,
}

#[derive(Debug, clap::Args)]
struct StateRoot {
    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    store: StoreOption,
}

impl StateRoot {
    fn path(&self) -> Result<PathBuf, CommandError> {
        self.state_dir.clone().map_or_else(state_root, Ok)
    }

    /// The state of devices: in the directory, or in the database of the store.
    fn states(&self) -> Result<Store, CommandError> {
        let root = self.path()?;
        let history = self.store.configured(true)?;
        device_state::with_database(Store::at(&root), history.as_ref(), &root)
    }
}

fn parse_device(text: &str) -> Result<DeviceName, String> {
    DeviceName::parse(text).map_err(|error| error.to_string())
}

/// Remove the state of devices that are not in the inventory, old reports and old logs of rollouts
///
/// Without --yes, lists what it would remove. A device that runs at the moment is left alone. Of
/// devices in the inventory, only the report and the summary of the last run are removed.
///
/// Examples:
///   switchtender state-dir prune
///   switchtender state-dir prune --reports-older-than 90 --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct PruneArgs {
    /// Inventory of the devices whose state is needed
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    inventory: PathBuf,

    /// Remove reports and logs of rollouts that are older than this number of days
    #[arg(long, value_name = "DAYS")]
    reports_older_than: Option<u32>,

    /// Remove the files
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    root: StateRoot,
}

pub(crate) fn run(args: &StateDirArgs) -> Result<Exit, CommandError> {
    match &args.command {
        StateDirCommand::Show(args) => show(args),
        StateDirCommand::Accept(args) => accept(args),
        StateDirCommand::Prune(args) => prune(args),
    }
}

fn show(args: &ShowArgs) -> Result<Exit, CommandError> {
    let store = args.root.states()?.device(&args.device);
    let unreadable =
        |error: StoreError| CommandError::new("cannot read the state").with_source(error);
    let mut text = TerminalText::new();
    for state in store.states().map_err(unreadable)? {
        if let Some(owner) = state.owner().map_err(unreadable)? {
            let dir = state.dir().display();
            text.line(format_args!("{}: {owner}: {dir}", args.device));
        }
    }
    if text.is_empty() {
        text.line(format_args!("{}: no run has stored a state", args.device));
    }
    print(&text);
    Ok(Exit::SUCCESS)
}

fn accept(args: &AcceptArgs) -> Result<Exit, CommandError> {
    let AcceptArgs {
        device,
        identity,
        replaces,
        root,
    } = args;
    let store = root.states()?.device(device);
    let failed = |error: &dyn std::error::Error| {
        CommandError::new(format!("cannot accept the device: {}", chain(error)))
    };
    // No run of the name may use the files that are joined.
    let _lock = store
        .lock(&LockSubject::Name)
        .map_err(|error| failed(&error).hint("wait for the end of the run"))?;
    // What this host could not write to a shared store is a part of the state.
    store.synchronize().map_err(|error| failed(&error))?;
    let new = DeviceIdentity::parse(identity);
    let replaced = replaces.as_deref().map(DeviceIdentity::parse);
    let before = store.accept(&new, replaced.as_ref()).map_err(|error| {
        let hint = match &error {
            AcceptError::Ambiguous { .. } => {
                Some("name the replaced device with --replaces".to_owned())
            }
            AcceptError::NoState { .. } => Some(format!(
                "list the states with `switchtender state-dir show {device}`; check --state-dir"
            )),
            _ => None,
        };
        failed(&error).optional_hint(hint)
    })?;
    eprint_notice(&format!("{device}: {new} continues the state of {before}"));
    Ok(Exit::SUCCESS)
}

/// What is removed of a device.
enum RemovedPart {
    Device,
    Report,
}

fn prune(args: &PruneArgs) -> Result<Exit, CommandError> {
    let registry = crate::cli::options::definitions::load(None)?;
    // Devices that only the command has are in the inventory, too.
    let runs = SourceCommandArgs { run_commands: true };
    let inventory = crate::cli::options::one_device::inventory(&args.inventory, &registry, runs)?;
    let root = args.root.path()?;
    let unreadable = |error: &dyn std::error::Error| {
        let text = format!("cannot read {}: {}", root.display(), chain(error));
        CommandError::new(text).hint("choose the state directory with --state-dir DIR")
    };
    fs::read_dir(&root).map_err(|error| unreadable(&error))?;
    let mut stored = args
        .root
        .states()?
        .devices()
        .map_err(|error| unreadable(&error))?;
    stored.sort_by_cached_key(|device| {
        let position = inventory.devices.get_index_of(&device.name);
        (position.is_none(), position)
    });
    let mut removals = Vec::new();
    for device in &stored {
        let is_known = inventory.devices.contains_key(&device.name);
        if !is_known && device.has_certificates() {
            eprint_notice(&format!(
                "{}: left alone: the directory has certificates of `switchtender device`",
                device.name
            ));
        } else if !is_known {
            removals.push((device, RemovedPart::Device));
        } else if args
            .reports_older_than
            .is_some_and(|days| is_older(device, days))
        {
            removals.push((device, RemovedPart::Report));
        }
    }
    let mut text = TerminalText::new();
    let mut failed = false;
    let logs = match args.reports_older_than {
        Some(days) => old_rollouts(&Store::at(&root), days)?,
        None => Vec::new(),
    };
    let (mut devices, mut reports) = (Vec::new(), Vec::new());
    for (device, removal) in &removals {
        let removed = match (args.yes, removal) {
            (false, _) => Ok(()),
            (true, RemovedPart::Device) => device.remove(),
            (true, RemovedPart::Report) => device.remove_report(),
        };
        match removed {
            Ok(()) => match removal {
                RemovedPart::Device => devices.push(device.name.as_str()),
                RemovedPart::Report => reports.push(device.name.as_str()),
            },
            Err(error) => {
                failed = true;
                eprint_notice(&format!("{}: not removed: {}", device.name, chain(&error)));
            }
        }
    }
    let counts = [
        counted(devices.len(), "device"),
        counted(reports.len(), "report"),
    ];
    for (names, what) in [
        (devices, "state of devices that are not in the inventory:"),
        (reports, "reports of the last runs:"),
    ] {
        if !names.is_empty() {
            for line in wrapped(what, &range::of_names(names)) {
                text.line(line);
            }
        }
    }
    let mut removed_logs = 0;
    for log in &logs {
        let removed = if args.yes {
            fs::remove_file(log)
        } else {
            Ok(())
        };
        match removed {
            Ok(()) => {
                removed_logs += 1;
                text.line(format_args!("{}: log of a rollout", log.display()));
            }
            Err(error) => {
                failed = true;
                eprint_notice(&format!("{}: not removed: {error}", log.display()));
            }
        }
    }
    let [devices, reports] = counts;
    let logs_count = counted(removed_logs, "log");
    match (removals.len() + logs.len(), args.yes) {
        (0, _) => text.line("nothing to remove"),
        (_, false) => text.line("nothing was removed; --yes removes these files"),
        (_, true) => text.line(format_args!("removed: {devices}, {reports}, {logs_count}")),
    };
    print(&text);
    Ok(if failed { Exit::FAILURE } else { Exit::SUCCESS })
}

/// The logs of rollouts that ended a number of days ago.
fn old_rollouts(store: &Store, days: u32) -> Result<Vec<PathBuf>, CommandError> {
    let age = SignedDuration::from_hours(24 * i64::from(days));
    let limit = clock::timestamp().checked_sub(age).unwrap_or_default();
    store.rollouts_before(limit).map_err(|error| {
        CommandError::new("cannot read the logs of rollouts in the state directory")
            .with_source(error)
    })
}

/// Whether the last report is older than a number of days. A report whose time is unknown is not.
fn is_older(device: &StoredDevice, days: u32) -> bool {
    let limit = SignedDuration::from_hours(24 * i64::from(days));
    let age = |time| clock::timestamp().duration_since(time);
    device.report_time().is_some_and(|time| age(time) > limit)
}
