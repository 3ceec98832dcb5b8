//! What `apply` and `plan` share: which devices, which catalogs, which resources, and the run
//! itself.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::exit::{CommandError, Exit};
use super::view::{self, Done, Ended, View};
use super::{Global, stop_when_interrupted};
use crate::compat::Deviations;
use crate::error_chain::chain;
use crate::fleet::catalog_files::CatalogFiles;
use crate::fleet::device_run::{Fleet, Listener, Purpose};
use crate::fleet::limits::{Limits, Membership};
use crate::fleet::reach::{self, Reach};
use crate::fleet::runner;
use crate::fleet::stand_in::StandIns;
use crate::fleet::turns::Turns;
use crate::inventory::{self, Inventory, InventoryOptions, Secrets};
use crate::route;
use crate::store::{self, Store};
use crate::telemetry::device_span;
use crate::transaction::{self, Settings, TagSelection};
use crate::validate::Policy;

/// Which devices and catalogs.
#[derive(Debug, clap::Args)]
pub struct Subject {
    /// The devices and how to reach them
    #[arg(short, long, value_name = "FILE", default_value = "inventory.toml")]
    pub inventory: PathBuf,

    /// A catalog, or a directory that holds <device>.json for each device
    #[arg(short, long, value_name = "FILE|DIR")]
    pub catalog: PathBuf,

    #[command(flatten)]
    pub selection: Selection,

    /// Search this directory for models and drivers before the built-in ones
    #[arg(long, value_name = "DIR")]
    pub definitions: Option<PathBuf>,

    /// Apply even if the name of the catalog does not match the device
    #[arg(long)]
    pub allow_name_mismatch: bool,

    /// What to do with host resources in a device's catalog
    #[arg(long, value_enum, default_value_t = Mixed::Warn)]
    pub mixed: Mixed,
}

/// Which devices of the inventory.
#[derive(Debug, Default, clap::Args)]
pub struct Selection {
    /// Only this device, or devices matching this pattern (repeatable)
    #[arg(short, long, value_name = "NAME|GLOB")]
    pub target: Vec<String>,

    /// Only devices with this label (repeatable; all must match)
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub label: Vec<String>,
}

impl Selection {
    /// The selection as the inventory understands it.
    pub fn parse(&self) -> Result<inventory::DeviceSelection, CommandError> {
        let labels = self
            .label
            .iter()
            .map(|label| label.parse::<inventory::LabelSelector>());
        Ok(inventory::DeviceSelection {
            targets: self.target.clone(),
            labels: labels
                .collect::<Result<_, _>>()
                .map_err(CommandError::new)?,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mixed {
    /// Skip them, report them as skipped, and list them once at warning
    Warn,
    /// Stop before connecting
    Refuse,
    /// Skip them without a word, as Puppet does
    Silent,
}

impl From<Mixed> for route::Mixed {
    fn from(mixed: Mixed) -> Self {
        match mixed {
            Mixed::Warn => route::Mixed::Warn,
            Mixed::Refuse => route::Mixed::Refuse,
            Mixed::Silent => route::Mixed::Silent,
        }
    }
}

/// Which resources.
#[derive(Debug, clap::Args)]
pub struct Filter {
    /// Only resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub tags: Vec<String>,

    /// No resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub skip_tags: Vec<String>,

    /// Apply resources whatever their schedule says
    #[arg(long)]
    pub ignore_schedules: bool,

    /// Behave like this program where Switchtender deliberately differs from it
    #[arg(long, value_enum)]
    pub compat: Option<Compat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compat {
    /// Puppet 7, defects included
    Puppet7,
}

/// How the run is carried out.
#[derive(Debug, clap::Args)]
pub struct Manner {
    /// Devices at work at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub concurrency: u16,

    /// Replace every device by a mock of its platform, started for the run
    #[arg(long)]
    pub mock: bool,

    /// What the mocks begin with: DIR/<device>.cfg, the running configuration of a switch, for a
    /// load balancer JSON as of `mock load-balancer --config`
    #[arg(long, value_name = "DIR", requires = "mock")]
    pub mock_config: Option<PathBuf>,

    /// Where state is kept between runs; unless given $SWITCHTENDER_STATE, for root
    /// /var/lib/switchtender, for others ~/.local/state/switchtender
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,

    /// For people, or one JSON object per line for machines
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    pub output: Output,

    /// Write each device's report to DIR/<device>.json
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,

    /// Write the dialogue with each device to DIR/<device>.log, secrets masked
    #[arg(long, value_name = "DIR")]
    pub transcripts: Option<PathBuf>,

    /// Write the graphs of each device's run to DIR/<device>/*.dot
    #[arg(long, value_name = "DIR")]
    pub graph: Option<PathBuf>,

    /// Say, at level info (-v), when each resource is begun and how long it took
    #[arg(long)]
    pub evaltrace: bool,

    /// Exit with 2 (changes; of a plan: something would be sent), 4 (failures), 6 (both), 1 (a
    /// device could not run)
    #[arg(long)]
    pub detailed_exitcodes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    Human,
    Json,
}

/// A run over devices, as the user asked for it.
pub struct Run<'a> {
    pub subject: &'a Subject,
    pub filter: &'a Filter,
    pub manner: &'a Manner,
    pub purpose: Purpose,
    pub noop: bool,
}

impl Run<'_> {
    /// Prepares everything that all devices share; mistakes in it end the command.
    pub async fn prepare(&self) -> Result<Prepared, CommandError> {
        let registry = super::definitions::load(self.subject.definitions.as_deref())?;
        let inventory = Inventory::load(&self.subject.inventory, &InventoryOptions::default());
        let inventory = inventory.map_err(CommandError::findings)?;
        let devices = inventory.select(&self.subject.selection.parse()?);
        let devices = devices.map_err(CommandError::findings)?;
        if let Err(error) = std::fs::metadata(&self.subject.catalog) {
            let text = format!("cannot read {}", self.subject.catalog.display());
            return Err(CommandError::new(text).because(error).hint(
                "--catalog names a catalog, or a directory that holds <device>.json for each device",
            ));
        }
        if !self.subject.catalog.is_dir() && devices.len() > 1 {
            let text = format!(
                "{} is one catalog, and {} devices are chosen",
                self.subject.catalog.display(),
                devices.len()
            );
            return Err(CommandError::new(text)
                .hint("choose its device with --target, or name a directory"));
        }
        let stand_ins = if self.manner.mock {
            let started = StandIns::start(&devices, self.manner.mock_config.as_deref()).await;
            Some(started.map_err(|error| CommandError::new("cannot start a mock").because(error))?)
        } else {
            None
        };
        let scratch = (self.manner.mock && self.manner.state_dir.is_none())
            .then(tempfile::tempdir)
            .transpose()
            .map_err(|error| {
                CommandError::new("cannot make a directory for the state").because(error)
            })?;
        let root = match (&self.manner.state_dir, &scratch) {
            (Some(dir), _) => dir.clone(),
            // What is learnt from mocks must not be taken for knowledge of the real devices.
            (None, Some(scratch)) => scratch.path().to_owned(),
            (None, None) => state_root()?,
        };
        let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        if let Some(dir) = &self.manner.transcripts {
            reach::begin_transcripts(dir, names.iter().map(String::as_str)).map_err(|error| {
                let text = format!("cannot write transcripts to {}", dir.display());
                CommandError::new(text).because(error)
            })?;
        }
        if let Some(dir) = &self.manner.report {
            // Found out before a device is changed, not after.
            let tried = store::create_dir(dir).and_then(|()| tempfile::tempfile_in(dir));
            tried.map_err(|error| {
                let text = format!("cannot write reports to {}", dir.display());
                CommandError::new(text).because(error)
            })?;
        }
        let members = devices
            .iter()
            .map(|device| Membership {
                site: device.site().map(str::to_owned),
                jump_host: device.settings.jump_host().map(str::to_owned),
            })
            .collect();
        let mixed = route::Mixed::from(self.subject.mixed);
        let reach = Reach {
            secrets: Secrets::new(inventory.allow_readable),
            inventory,
            registry,
            store: Store::at(root),
            stand_ins,
            transcripts: self.manner.transcripts.clone(),
        };
        let fleet = Fleet {
            reach,
            catalogs: CatalogFiles {
                path: self.subject.catalog.clone(),
            },
            turns: Turns::default(),
            settings: Settings {
                noop: self.noop,
                tags: TagSelection::parse(&self.filter.tags.join(",")),
                skip_tags: TagSelection::parse(&self.filter.skip_tags.join(",")),
                ignore_schedules: self.filter.ignore_schedules,
                mixed: match mixed {
                    route::Mixed::Silent => transaction::Mixed::Silent,
                    _ => transaction::Mixed::Warn,
                },
                evaltrace: self.manner.evaltrace,
                deviations: match self.filter.compat {
                    Some(Compat::Puppet7) => Deviations::puppet7(),
                    None => Deviations::default(),
                },
                ..Settings::default()
            },
            policy: Policy {
                mixed,
                allow_name_mismatch: self.subject.allow_name_mismatch,
                ..Policy::default()
            },
            purpose: self.purpose,
            graphs: self.manner.graph.clone(),
            stop: CancellationToken::new(),
        };
        Ok(Prepared {
            fleet: Arc::new(fleet),
            names,
            members,
            _scratch: scratch,
        })
    }
}

/// How long a view may hold lines back to write them together.
const TICK: Duration = Duration::from_millis(100);

/// A fleet that is ready to run.
pub struct Prepared {
    pub fleet: Arc<Fleet>,
    names: Vec<String>,
    members: Vec<Membership>,
    /// State that ends with the run.
    _scratch: Option<tempfile::TempDir>,
}

impl Prepared {
    /// Whether the run was asked to stop.
    pub fn interrupted(&self) -> bool {
        self.fleet.stop.is_cancelled()
    }

    /// Leaves the other devices out of the runs to come.
    pub fn keep<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let kept: HashSet<&str> = names.collect();
        let devices = self.names.drain(..).zip(self.members.drain(..));
        (self.names, self.members) = devices
            .filter(|(name, _)| kept.contains(name.as_str()))
            .unzip();
    }

    /// Whether no device is left.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The exit code of a run (`docs/reference/transaction.md`, section 17, *Exit status of a run*): a device
    /// that could not run is never hidden behind others. A plan has changes where something would
    /// be sent; a noop run, as Puppet's, has none.
    pub fn exit(&self, all: &[Ended], detailed: bool) -> Exit {
        let tallies: Vec<_> = all.iter().map(Ended::tally).collect();
        if self.interrupted() || tallies.iter().any(Option::is_none) {
            return Exit::FAILURE;
        }
        let tallies: Vec<_> = tallies.into_iter().flatten().collect();
        let failed = tallies.iter().any(|tally| tally.has_failed());
        let changed = tallies.iter().any(|tally| match self.fleet.purpose {
            Purpose::Apply => tally.changed > 0,
            Purpose::Plan => tally.to_send > 0,
        });
        match detailed {
            true => Exit(u8::from(changed) * 2 + u8::from(failed) * 4),
            false => Exit(u8::from(failed)),
        }
    }

    /// Writes the report of a device: of one that could not run, too.
    fn write_report(&self, done: &Done, dir: &Path) -> Result<(), CommandError> {
        let of_failure;
        let report = match &done.result {
            Ok(ran) => &ran.report,
            Err(failure) => {
                let device = &self.fleet.reach.inventory.devices[&done.device];
                of_failure = self.fleet.report_of_failure(device, &chain(failure));
                &of_failure
            }
        };
        let path = dir.join(format!("{}.json", store::directory_name(&done.device)));
        let text = serde_json::to_string_pretty(report).expect("a report is JSON") + "\n";
        store::write_file(&path, &text).map_err(|error| {
            CommandError::new(format!("cannot write the report of {}", done.device)).because(error)
        })
    }

    /// Runs all devices, shows what happens, and writes their reports where they are wanted.
    /// Ctrl-C stops in order; the results are there all the same.
    ///
    /// # Errors
    /// A report could not be written; all devices have run.
    pub async fn carry_out(
        &self,
        manner: &Manner,
        reports: Option<&Path>,
        global: &Global,
    ) -> Result<Vec<Ended>, CommandError> {
        let purpose = self.fleet.purpose;
        let view: Arc<Mutex<Box<dyn View>>> = Arc::new(Mutex::new(view::new(
            manner.output,
            purpose,
            self.fleet.settings.noop,
            global,
            self.names.len(),
        )));
        let limits = self.fleet.reach.inventory.limits;
        let all = limits
            .concurrency
            .map_or(usize::from(manner.concurrency), |limit| {
                limit.min(usize::from(manner.concurrency))
            });
        let limits = Limits::new(all, limits.per_site, limits.per_jump, &self.members);
        let listener: Listener = {
            let view = Arc::clone(&view);
            Arc::new(move |device, event| lock(&view).event(device, event))
        };
        let stop = self.fleet.stop.clone();
        let watch = {
            let (said, view) = (Arc::clone(&view), Arc::clone(&view));
            tokio::spawn(stop_when_interrupted(
                stop,
                move |text| lock(&said).say(text),
                move || lock(&view).tick(),
            ))
        };
        let ticks = {
            let view = Arc::clone(&view);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(TICK).await;
                    lock(&view).tick();
                }
            })
        };
        let devices = self
            .names
            .iter()
            .cloned()
            .zip(self.members.iter().cloned())
            .collect();
        let fleet = Arc::clone(&self.fleet);
        let work = move |name: String| {
            let (fleet, listener) = (Arc::clone(&fleet), Arc::clone(&listener));
            async move {
                let began = Instant::now();
                let run = fleet.run_device(&name, &listener);
                let result = run.instrument(device_span(&name)).await;
                (result, began.elapsed())
            }
        };
        let mut all: Vec<Ended> = Vec::new();
        let mut written = Ok(());
        runner::run(devices, &limits, &self.fleet.stop, work, |name, ended| {
            let (result, took) = match ended {
                Ok((result, took)) => (result.map_err(Into::into), took),
                Err(error) => (Err(error.into()), std::time::Duration::ZERO),
            };
            let platform = self.fleet.reach.inventory.devices[&name].platform.clone();
            let done = Done {
                device: name,
                platform,
                result,
                took,
            };
            lock(&view).device(&done);
            if let (Some(dir), true) = (reports, written.is_ok()) {
                written = self.write_report(&done, dir);
            }
            all.push(done.into());
        })
        .await;
        watch.abort();
        ticks.abort();
        let places: HashMap<&str, usize> = self.names.iter().map(String::as_str).zip(0..).collect();
        all.sort_by_key(|ended| places.get(ended.device.as_str()).copied());
        lock(&view).end(&all);
        written.map(|()| all)
    }
}

/// Where state is kept when the user does not say.
pub fn state_root() -> Result<PathBuf, CommandError> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let root = rustix::process::geteuid().is_root();
    Store::default_root(variable, root).ok_or_else(|| {
        CommandError::new("there is no directory for the state").hint("name one with --state-dir")
    })
}

fn lock<T: ?Sized>(view: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
