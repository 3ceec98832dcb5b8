//! One device, from its lock to its result.
//!
//! ```text
//! preparation (lock, catalog, checks that need no device) ─► secrets ─► session ─► facts ─► driver
//!      ─► transaction ─► proof by one read ─► save ─► close ─► memory
//! ```
//!
//! Whatever stands in the way before the transaction is a [`NotRun`]: the device was not changed.
//! After that there is always a [`Ran`]. What happens is told as it happens and not kept, so that
//! the memory of a fleet's run follows the devices at work.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::{Driver, Facts};
use switchtender_devices::model::TypeModel;
use switchtender_devices::operation::Operation;
use switchtender_devices::provider::driver_provider::{Difference, DriverProvider};
use switchtender_devices::provider::{Provider, ReadOnly};
use switchtender_devices::session::{Access, SessionError, Statistics};
use tokio_util::sync::CancellationToken;

use super::admission::worth_telling;
use super::catalog_files::{CatalogError, CatalogFiles};
use super::preparation::Prepared;
use super::reach::Reach;
use super::saving::Saving;
use super::stand_in;
use super::state_files::{self, LastRun, Managed};
use super::tally::Tally;
use super::turns::Turns;
use crate::catalog::types::Types;
use crate::catalog::{Level, ResourceRef};
use crate::clock;
use crate::error_chain::chain;
use crate::inventory::Device;
use crate::report::{self, CachedCatalog, Report};
use crate::store::{LockError, StoreError, blocking_io};
use crate::transaction::{self, LogEntry, OperationRecord, RunEvent, Settings, Sink};
use crate::validate::Policy;

/// What the runs of a fleet share.
pub struct Fleet {
    pub reach: Reach,
    pub catalogs: CatalogFiles,
    pub turns: Turns,
    pub settings: Settings,
    pub policy: Policy,
    pub purpose: Purpose,
    /// Where the graphs of each run are written, if they are wanted.
    pub graphs: Option<PathBuf>,
    /// Asked to stop: the operation at hand is finished, then the way out is taken.
    pub stop: CancellationToken,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Apply,
    /// Tell what would be done; nothing can be written, whatever the catalog says.
    Plan,
}

/// Who hears of a device's events as they happen.
pub type Listener = Arc<dyn Fn(&str, &RunEvent) + Send + Sync>;

/// A run that came as far as the transaction.
#[derive(Debug)]
pub struct Ran {
    pub tally: Tally,
    /// What happened, as a Puppet report.
    pub report: Report,
    /// What was set and is not as it was set.
    pub differences: Vec<Difference>,
    /// What failed after the transaction: the proof, saving, keeping the state.
    pub failure: Option<String>,
    /// The difference to the device's configuration that the operations make, for plans.
    pub predicted: Option<String>,
    pub facts: Facts,
    pub statistics: Statistics,
    /// Findings about the catalog that did not stand in the way.
    pub findings: Vec<Diagnostic>,
}

/// Why a device could not run. It was not changed.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    #[error(transparent)]
    Locked(#[from] LockError),
    #[error("cannot get a catalog")]
    Catalog(#[from] CatalogError),
    #[error("the catalog is refused")]
    Refused { findings: Vec<Diagnostic> },
    #[error("a credential cannot be had")]
    Credentials { findings: Vec<Diagnostic> },
    #[error("there is no platform `{0}`")]
    Platform(String),
    #[error("there is no mock of platform {0}")]
    NoMock(String),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("cannot read what was kept of the device")]
    Store(#[from] StoreError),
    #[error("the run was stopped before it began")]
    Stopped,
}

impl NotRun {
    /// Findings in files, shown with their places.
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            NotRun::Refused { findings } | NotRun::Credentials { findings } => findings,
            _ => &[],
        }
    }

    /// What to do, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            NotRun::Session(error) => error.hint(),
            NotRun::Catalog(error) => error.hint(),
            NotRun::Platform(_) => Some(
                "`switchtender inventory validate` shows where it stands; platforms of your own need \
                 --definitions"
                    .to_owned(),
            ),
            NotRun::NoMock(_) => Some(format!(
                "--target and --label choose other devices; platforms that have a mock: {}",
                stand_in::PLATFORMS.join(", ")
            )),
            _ => None,
        }
    }
}

impl Fleet {
    /// Runs one device.
    ///
    /// # Cancellation
    /// Must not be dropped midway; it ends by itself soon after [`Fleet::stop`] was cancelled.
    pub async fn run_device(&self, name: &str, listener: &Listener) -> Result<Ran, NotRun> {
        let Prepared {
            _lock,
            store,
            platform,
            resources,
            environment,
            access,
            findings,
            mut kept,
        } = {
            let _turn = self.turns.processor().await;
            if self.stop.is_cancelled() {
                return Err(NotRun::Stopped);
            }
            self.prepare(name)?
        };
        if self.stop.is_cancelled() {
            return Err(NotRun::Stopped);
        }
        tracing::info!(
            resources = resources.len(),
            "the catalog is loaded and checked"
        );

        let device = &self.reach.inventory.devices[name];
        // Nothing has begun while credentials are looked up, which may take long.
        let connection = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(NotRun::Stopped),
            connection = self.reach.connection(device, access) => connection?,
        };
        let (session, facts) = connection.open().await?;
        let mut provider = DriverProvider::new(
            Driver::new(&platform, &facts),
            session,
            Box::new(connection),
            Arc::clone(&kept.remembered) as Arc<_>,
        );
        let began = Instant::now();
        let mut told = Told {
            device: name,
            listener,
            report: Report::new(self.report_context(device, environment)),
            tally: Tally::new(),
            graphs: self.graphs.is_some().then(Vec::new),
            operations: self.predicts().then(Vec::new),
        };
        let of_mock = self.reach.stand_ins.iter();
        let of_mock = of_mock.flat_map(|stand_ins| stand_ins.take_notes(name));
        for note in of_mock.chain(provider.notes()) {
            told.log(Level::Warning, note);
        }
        for finding in &findings {
            if let Some((level, text)) = worth_telling(finding) {
                told.log(level, text);
            }
        }
        let mut guarded;
        let applied: &mut dyn Provider = match access {
            Access::ReadOnly => {
                guarded = ReadOnly::new(&mut provider);
                &mut guarded
            }
            Access::ReadWrite => &mut provider,
        };
        let managed = Managed::of(&resources);
        let types = Types::new(|name: &str| self.reach.registry.model(name).cloned());
        let settings = self.settings_of(name);
        let input = transaction::Input {
            resources,
            types: &types,
            settings: &settings,
            clock: &clock::timestamp,
            zone: clock::zone(),
            memory: &mut kept.memory,
            provider: applied,
            sink: &mut told,
            stop: &|| self.stop.is_cancelled(),
        };
        // What ended a run early has been told as an event.
        let _ = transaction::run(input).await;

        let mut result = Outcome::default();
        self.write_graphs(name, &mut told, &mut result).await;
        if self.purpose == Purpose::Apply {
            self.prove(&mut provider, &mut told, &mut result).await;
            if access == Access::ReadWrite {
                match Saving::at_the_end(device.save_policy(), name, &provider) {
                    Saving::NotDue => {}
                    Saving::Due => save(&mut provider, &mut told, &mut result).await,
                    Saving::Withheld(why) => told.log(Level::Warning, why),
                }
            }
        }
        let operations = told.operations.take();
        let predicted = operations.map(|operations| self.predicted(&provider, &operations));
        for note in provider.close().await {
            told.log(Level::Warning, note);
        }
        told.log(
            Level::Notice,
            format!(
                "Applied catalog in {:.2} seconds",
                began.elapsed().as_secs_f64()
            ),
        );
        if self.purpose == Purpose::Apply {
            let last_run = LastRun::new(&told.report, &told.report);
            let written = blocking_io::run(move || {
                [
                    kept.write(&store),
                    managed.write(&store),
                    last_run.write(&store),
                ]
            });
            for written in written.await {
                if let Err(error) = written {
                    result.fail(
                        &mut told,
                        format!("cannot keep the state of the device: {}", chain(&error)),
                    );
                }
            }
        }
        let flawed = told.tally.flawed || result.failure.is_some();
        Ok(Ran {
            tally: Tally {
                flawed,
                ..told.tally
            },
            report: told.report,
            differences: result.differences,
            failure: result.failure,
            predicted,
            facts,
            statistics: provider.statistics(),
            findings,
        })
    }

    /// The settings of a device's run; the message about cycles names the device's own file.
    fn settings_of(&self, device: &str) -> Settings {
        let cycles = self.graphs.as_ref().map(|dir| {
            state_files::graph_path(dir, device, "cycles.dot")
                .display()
                .to_string()
        });
        Settings {
            cycles_file: cycles,
            ..self.settings.clone()
        }
    }

    /// Whether the run foresees what its operations would make of the device.
    fn predicts(&self) -> bool {
        self.purpose == Purpose::Plan || self.settings.noop
    }

    async fn write_graphs(&self, device: &str, told: &mut Told<'_>, result: &mut Outcome) {
        let (Some(dir), Some(graphs)) = (&self.graphs, told.graphs.take()) else {
            return;
        };
        let place = |(file, text)| (state_files::graph_path(dir, device, file), text);
        let graphs: Vec<_> = graphs.into_iter().map(place).collect();
        let written = blocking_io::run(move || state_files::write_graphs(&graphs));
        if let Err(error) = written.await {
            result.fail(told, format!("cannot write a graph: {}", chain(&error)));
        }
    }

    /// The report of a device that could not run.
    pub fn report_of_failure(&self, device: &Device, why: &str) -> Report {
        let mut report = Report::new(self.report_context(device, None));
        report.fold(&log(Level::Err, format!("Failed to apply catalog: {why}")));
        report
    }

    fn report_context(&self, device: &Device, environment: Option<String>) -> report::Context {
        report::Context {
            host: device.certname.clone(),
            time: clock::timestamp(),
            transaction_uuid: Some(uuid::Uuid::new_v4().to_string()),
            puppet_version: env!("CARGO_PKG_VERSION").to_owned(),
            noop: self.settings.noop,
            environment,
            server_used: None,
            job_id: None,
            cached_catalog_status: CachedCatalog::NotUsed,
            log_level: Level::Notice,
        }
    }

    /// Proves by one more read that what was set is as it was set.
    async fn prove(
        &self,
        provider: &mut DriverProvider,
        told: &mut Told<'_>,
        result: &mut Outcome,
    ) {
        match provider.verify().await {
            Ok(differences) => {
                for difference in &differences {
                    told.log(Level::Err, shown(difference));
                }
                let failed: BTreeSet<_> =
                    differences.iter().map(|found| &found.reference).collect();
                told.tally.failed += failed.len();
                if !differences.is_empty() {
                    let why = format!(
                        "{} of what was set is not so on the device",
                        differences.len()
                    );
                    result.fail(told, why);
                }
                result.differences = differences;
            }
            Err(error) => result.fail(told, format!("the result could not be proved: {error}")),
        }
    }

    fn predicted(&self, provider: &DriverProvider, operations: &[Operations]) -> String {
        let changes: Vec<(&TypeModel, Vec<Operation>)> = operations
            .iter()
            .filter_map(|(reference, operations)| {
                let model = self.reach.registry.model(&reference.model_name())?;
                let operations = operations.iter().map(|record| record.operation.clone());
                Some((model.as_ref(), operations.collect()))
            })
            .collect();
        provider.predicted_diff(
            changes
                .iter()
                .map(|(model, operations)| (*model, operations.as_slice())),
        )
    }
}

/// Saves the configuration on the device.
async fn save(provider: &mut DriverProvider, told: &mut Told<'_>, result: &mut Outcome) {
    match provider.save().await {
        Ok(_) => told.log(Level::Notice, "saved the configuration".to_owned()),
        Err(error) => result.fail(
            told,
            format!("cannot save the configuration: {}", error.kind),
        ),
    }
}

/// What came after the transaction.
#[derive(Default)]
struct Outcome {
    differences: Vec<Difference>,
    failure: Option<String>,
}

impl Outcome {
    fn fail(&mut self, told: &mut Told<'_>, why: String) {
        told.log(Level::Err, why.clone());
        told.report.fail();
        self.failure.get_or_insert(why);
    }
}

/// The operations of a resource.
type Operations = (ResourceRef, Arc<[OperationRecord]>);

/// Hands the events of a run on as they come, and keeps what is made of them.
struct Told<'a> {
    device: &'a str,
    listener: &'a Listener,
    report: Report,
    tally: Tally,
    /// Files and texts, where they are wanted.
    graphs: Option<Vec<(&'static str, String)>>,
    /// Where their effect is to be foreseen.
    operations: Option<Vec<Operations>>,
}

impl Told<'_> {
    fn log(&mut self, level: Level, message: String) {
        self.emit(log(level, message));
    }
}

/// A message about the run as a whole.
fn log(level: Level, message: String) -> RunEvent {
    let entry = LogEntry {
        level,
        message,
        source: "Puppet".to_owned(),
        tags: Arc::default(),
        time: clock::timestamp(),
        file: None,
        line: None,
    };
    entry.into()
}

impl Sink for Told<'_> {
    fn emit(&mut self, event: RunEvent) {
        (self.listener)(self.device, &event);
        self.report.fold(&event);
        self.tally.fold(&event);
        match (event, &mut self.graphs, &mut self.operations) {
            (RunEvent::Graph { file, text }, Some(graphs), _) => graphs.push((file, text)),
            (
                RunEvent::Operations {
                    reference,
                    operations,
                },
                _,
                Some(all),
            ) => all.push((reference, operations)),
            _ => {}
        }
    }
}

/// A difference found by the proof, in words.
pub(super) fn shown(difference: &Difference) -> String {
    format!(
        "{}: {} was set to {}, and the device has {}",
        difference.reference,
        difference.attribute,
        difference.wanted.display(),
        difference.found.display()
    )
}
