//! Arguments and execution of the runs of `apply` and `plan`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;
use switchtender_devices::secret_mask::SecretMask;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::Global;
use super::exit::{CommandError, Exit};
use super::interrupt::stop_run_on_signals;
use super::inventory_source::InventorySource;
use super::manifest::ManifestArgs;
use super::mock_options::MockOptions;
use super::selection::Selection;
use super::view::{self, DeviceSummary, FinishedDevice, ViewFilter, ViewTask};
use crate::clock;
use crate::compat::Deviations;
use crate::fleet::catalog_files::{CatalogFiles, InventoryCatalogs};
use crate::fleet::change_limits::ChangeLimits;
use crate::fleet::connector::{self, Connector};
use crate::fleet::device_run::{LockWait, RunMode, RunOptions};
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::limits::{Limits, Membership};
use crate::fleet::runner;
use crate::inventory::{Inventory, Secrets};
use crate::route::HostResourcePolicy;
use crate::store::{self, Store};
use crate::telemetry::device_span;
use crate::transaction::{TagSelection, TransactionSettings};
use crate::validate::Policy;

/// The devices and catalogs of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub(crate) source: InventorySource,

    /// Catalog file, or directory with <device>.json for each device
    #[arg(
        short,
        long,
        value_name = "FILE|DIR",
        conflicts_with = "manifest",
        required_unless_present_any = ["state", "manifest"]
    )]
    pub(crate) catalog: Option<PathBuf>,

    /// Directory of desired state in YAML, instead of catalogs
    #[arg(long, value_name = "DIR", conflicts_with = "catalog")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) manifest: ManifestArgs,

    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) definitions: Option<PathBuf>,

    /// File with host types [default: ./switchtender.toml]
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,

    /// Apply even if the name of the catalog does not match the device
    #[arg(long)]
    pub(crate) allow_name_mismatch: bool,

    /// What to do about host resources in the catalog of a device
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    pub(crate) host_resources: HostResourcePolicy,
}

impl TargetArgs {
    /// The catalogs, or what they are made of.
    fn catalogs(
        &self,
        inventory: &Inventory,
        registry: &Registry,
        devices: usize,
    ) -> Result<InventoryCatalogs, CommandError> {
        if let Some(compiler) = self.manifest.compiler(registry)? {
            return Ok(InventoryCatalogs::Manifest(compiler));
        }
        if let Some(path) = &self.state {
            return Ok(InventoryCatalogs::State(super::state::directory(
                path, inventory,
            )?));
        }
        let path = self
            .catalog
            .clone()
            .expect("clap requires it without --state and --manifest");
        if let Err(error) = std::fs::metadata(&path) {
            let text = format!("cannot read {}", path.display());
            return Err(CommandError::new(text).with_source(error).hint(
                "pass a catalog, or a directory with <device>.json for each device, as --catalog",
            ));
        }
        if !path.is_dir() && devices > 1 {
            let text = format!(
                "{} is one catalog, but {devices} devices are selected",
                path.display(),
            );
            return Err(CommandError::new(text)
                .hint("select its device with --target, or pass a directory"));
        }
        Ok(InventoryCatalogs::Files(CatalogFiles { path }))
    }
}

/// The resources of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct ResourceFilterArgs {
    /// Apply only resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,

    /// Skip resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub(crate) skip_tags: Vec<String>,

    /// Ignore the schedules of resources
    #[arg(long, alias = "ignoreschedules")]
    pub(crate) ignore_schedules: bool,

    /// Restore the behavior of an older program where Switchtender deliberately differs
    #[arg(long, value_enum)]
    pub(crate) compat: Option<Compat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// Puppet 7, defects included
    Puppet7,
}

/// The execution and output of a run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Number of devices that run at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,

    #[command(flatten)]
    pub(crate) mock: MockOptions,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = RunOutput::Human)]
    pub(crate) output: RunOutput,

    #[command(flatten)]
    pub(crate) view: ViewFilter,

    /// Write each device's report to DIR/<device>.json
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,

    /// Write the session with each device to DIR/<device>.log, secrets masked
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Option<PathBuf>,

    /// Write the graphs of each device's run to DIR/<device>/*.dot
    #[arg(long, value_name = "DIR")]
    pub(crate) graph: Option<PathBuf>,

    /// Log the start and the duration of each resource at level info (-v)
    #[arg(long)]
    pub(crate) evaltrace: bool,

    /// Rewrite and remove lines and objects of a device that were not understood
    #[arg(long)]
    pub(crate) overwrite_unknown: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Exit with 2 (changes, or commands in a plan), 4 (failures), 6 (both), 1 (a device could not
    /// run)
    #[arg(long)]
    pub(crate) detailed_exitcodes: bool,
}

/// Limits per device. A device that would exceed one is not changed at all.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Refuse a device whose run would change more than N resources
    #[arg(long, value_name = "N", help_heading = "Limits per device")]
    max_changes: Option<usize>,

    /// Refuse a device whose run would remove more than N resources
    #[arg(long, value_name = "N", help_heading = "Limits per device")]
    max_removals: Option<usize>,

    /// Refuse a device whose catalog shuts down more than this share of its interfaces
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100), help_heading = "Limits per device")]
    max_shutdown: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Human,
    Json,
}

/// The output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunOutput {
    /// Text
    Human,
    /// One JSON object per line
    Json,
    /// An HTML page in one file, with the graphs of up to 20 devices
    Html,
}

/// A run over devices with its arguments.
pub(crate) struct RunCommand<'a> {
    pub(crate) targets: &'a TargetArgs,
    pub(crate) filter: &'a ResourceFilterArgs,
    pub(crate) arguments: &'a RunArgs,
    /// The directory of saved configurations that replace the devices.
    pub(crate) running: Option<&'a Path>,
    /// Plans have the commands that undo the changes.
    pub(crate) show_undo: bool,
}

impl RunCommand<'_> {
    /// Prepares everything that the devices share.
    ///
    /// # Errors
    /// An argument or a file of the run is invalid.
    pub(crate) async fn prepare(&self) -> Result<PreparedRun, CommandError> {
        let settings = super::settings_file::load(self.targets.settings.as_deref())?;
        let registry = super::definitions::load(self.targets.definitions.as_deref())?;
        let registry = registry.with_host_types(settings.host_types);
        let is_mock = self.arguments.mock.is_enabled();
        let is_simulated = is_mock || self.running.is_some();
        let inventory = self.targets.source.load(&registry, is_simulated)?;
        let devices = inventory.select(&self.targets.selection.parse()?);
        let devices = devices.map_err(CommandError::findings)?;
        let catalogs = self
            .targets
            .catalogs(&inventory, &registry, devices.len())?;
        if is_mock && self.running.is_some() {
            let error = CommandError::new("--running and --mock cannot be combined");
            return Err(error.hint("use only one of them"));
        }
        let mocks = self.arguments.mock.start(&devices, &registry).await?;
        let scratch = (is_simulated && self.arguments.state_dir.is_none())
            .then(tempfile::tempdir)
            .transpose()
            .map_err(|error| {
                CommandError::new("cannot create a state directory").with_source(error)
            })?;
        let root = match (&self.arguments.state_dir, &scratch) {
            (Some(dir), _) => dir.clone(),
            // State of mocks and saved configurations must not be used for the real devices.
            (None, Some(scratch)) => scratch.path().to_owned(),
            (None, None) => state_root()?,
        };
        let names: Vec<DeviceName> = devices.iter().map(|device| device.name.clone()).collect();
        if let Some(dir) = &self.arguments.transcripts {
            connector::prepare_transcripts(dir, names.iter().map(DeviceName::as_str)).map_err(
                |error| {
                    let text = format!("cannot write transcripts to {}", dir.display());
                    CommandError::new(text).with_source(error)
                },
            )?;
        }
        if let Some(dir) = &self.arguments.report {
            // An error is reported before a device is changed.
            let tried = store::create_dir(dir).and_then(|()| tempfile::tempfile_in(dir));
            tried.map_err(|error| {
                let text = format!("cannot write reports to {}", dir.display());
                CommandError::new(text).with_source(error)
            })?;
        }
        let members = devices
            .iter()
            .map(|device| Membership::of(device))
            .collect();
        let connector = Connector {
            secrets: Secrets::new(inventory.allow_readable),
            inventory,
            registry: Arc::new(registry),
            store: Store::at(root),
            mocks,
            running: self.running.map(Path::to_owned),
            transcripts: self.arguments.transcripts.clone(),
        };
        let fleet = InventoryFleet {
            connector,
            catalogs,
            graphs: self.arguments.graph.clone(),
        };
        Ok(PreparedRun {
            fleet: Arc::new(fleet),
            names,
            members,
            _scratch: scratch,
        })
    }

    /// The options of a run over these devices.
    pub(crate) fn options(&self, mode: RunMode, noop: bool) -> Arc<RunOptions> {
        let deviations = deviations(self.filter.compat);
        let limits = &self.arguments.limits;
        Arc::new(RunOptions {
            settings: TransactionSettings {
                noop,
                tags: TagSelection::parse(&self.filter.tags.join(",")),
                skip_tags: TagSelection::parse(&self.filter.skip_tags.join(",")),
                ignore_schedules: self.filter.ignore_schedules,
                host_resources: self.targets.host_resources,
                evaltrace: self.arguments.evaltrace,
                deviations,
                ..TransactionSettings::default()
            },
            policy: Policy {
                host_resources: self.targets.host_resources,
                allow_name_mismatch: self.targets.allow_name_mismatch,
                max_shutdown: limits.max_shutdown,
                deviations,
                ..Policy::default()
            },
            mode,
            overwrite_unknown: self.arguments.overwrite_unknown,
            show_undo: self.show_undo,
            limits: ChangeLimits {
                changes: limits.max_changes,
                removals: limits.max_removals,
            },
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            time_limit: None,
            lock_wait: LockWait::default(),
        })
    }
}

/// A run whose devices can start.
pub(crate) struct PreparedRun {
    pub(crate) fleet: Arc<InventoryFleet>,
    names: Vec<DeviceName>,
    members: Vec<Membership>,
    /// State that ends with the run.
    _scratch: Option<tempfile::TempDir>,
}

impl PreparedRun {
    /// Number of devices.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Limits the next runs to these devices.
    pub(crate) fn retain<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names: HashSet<&str> = names.collect();
        let devices = self.names.drain(..).zip(self.members.drain(..));
        (self.names, self.members) = devices
            .filter(|(name, _)| names.contains(name.as_str()))
            .unzip();
    }

    /// The exit code of a run (`docs/reference/transaction.md`, section 17, *Exit status of a run*): a device
    /// that could not run is never hidden behind others. A plan has changes where something would
    /// be sent; a noop run, as Puppet's, has none.
    pub(crate) fn exit(options: &RunOptions, all: &[DeviceSummary], detailed: bool) -> Exit {
        if options.stop.is_cancelled() || all.iter().any(|device| device.counts.is_none()) {
            return Exit::FAILURE;
        }
        let counts: Vec<_> = all.iter().filter_map(|device| device.counts).collect();
        let failed = counts.iter().any(|counts| counts.has_failed());
        let changed = counts.iter().any(|counts| match options.mode {
            RunMode::Apply => counts.changed > 0,
            RunMode::Plan => counts.to_send > 0,
        });
        match detailed {
            true => Exit(u8::from(changed) * 2 + u8::from(failed) * 4),
            false => Exit(u8::from(failed)),
        }
    }

    /// Runs all devices, shows what happens, and writes their reports to a directory. Ctrl-C stops
    /// in order; the results are complete all the same.
    pub(crate) async fn execute(
        &self,
        options: &Arc<RunOptions>,
        arguments: &RunArgs,
        reports: Option<&Path>,
        global: &Global,
    ) -> Vec<DeviceSummary> {
        let view = ViewTask::start(view::new(
            arguments.output,
            &self.fleet,
            options,
            global,
            arguments.view.clone(),
            self.names.len(),
        ));
        stop_run_on_signals(options, view.sender());
        let devices = self.names.iter().cloned();
        let devices = devices.zip(self.members.iter().cloned()).collect();
        let work = {
            let (fleet, options) = (Arc::clone(&self.fleet), Arc::clone(options));
            let observer = view.sender().observer();
            let reports = reports.map(Path::to_owned);
            move |name: DeviceName| {
                let (fleet, observer) = (Arc::clone(&fleet), Arc::clone(&observer));
                let (options, reports) = (Arc::clone(&options), reports.clone());
                async move {
                    let began = clock::instant();
                    let run = fleet.run(&name, &options, reports.as_deref(), &observer);
                    let run = run.instrument(device_span(&name)).await;
                    (run, began.elapsed())
                }
            }
        };
        let needs_report = options.mode == RunMode::Plan || arguments.output == RunOutput::Html;
        let mut all: Vec<DeviceSummary> = Vec::new();
        let sender = view.sender();
        let inventory = &self.fleet.connector.inventory;
        let concurrency = usize::from(arguments.concurrency);
        let limits = Limits::of_inventory(inventory, concurrency, &self.members);
        runner::run(devices, &limits, &options.stop, work, |device, ended| {
            let mut mask = SecretMask::default();
            let (result, report, took) = match ended {
                Ok((run, took)) => {
                    mask = run.mask;
                    (run.result.map_err(Into::into), Some(run.report), took)
                }
                Err(error) => (Err(error.into()), None, Duration::ZERO),
            };
            let finished = FinishedDevice {
                platform: self.fleet.connector.inventory.devices[&device]
                    .platform
                    .clone(),
                device,
                result,
                mask,
                report: report.filter(|_| needs_report),
                took,
            };
            all.push(DeviceSummary::from(&finished));
            sender.finished(finished);
        })
        .await;
        let order: HashMap<&str, usize> =
            self.names.iter().map(DeviceName::as_str).zip(0..).collect();
        all.sort_by_key(|ended| order.get(ended.device.as_str()).copied());
        view.end(all.clone()).await;
        all
    }
}

/// The deviations from Puppet 7 that are active.
pub(crate) fn deviations(compat: Option<Compat>) -> Deviations {
    match compat {
        Some(Compat::Puppet7) => Deviations::puppet7(),
        None => Deviations::default(),
    }
}

/// The default state directory.
pub(crate) fn state_root() -> Result<PathBuf, CommandError> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let root = rustix::process::geteuid().is_root();
    Store::default_root(variable, root)
        .ok_or_else(|| CommandError::new("no state directory").hint("pass one as --state-dir"))
}
