//! One device of a Puppet Server, from its lock to its report.
//!
//! ```text
//! lock ─► certificates ─► environment, definitions ─► session ─► facts up ─► catalog down
//!      ─► hook ─► transaction ─► hook ─► close ─► memory ─► report
//! ```
//!
//! The steps of `docs/reference/agent-protocol.md`, section 5. Whatever stands in the way, what was said
//! until then becomes a report, and the report is sent or kept.

mod attempt;
mod error;
mod finish;
mod gate;
mod look;
mod prepare;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use secrecy::ExposeSecret as _;
use serde_json::Map;
use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::provider::driver_provider::{DriverProvider, Reconnect};
use switchtender_devices::session::{Access, Session};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::device_run::shown;
use super::reach::Connection as Way;
use super::saving::Saving;
use super::state_files::{self, Kept, Managed};
use crate::agent::client::facts;
use crate::agent::hook;
use crate::agent::run::{AgentRun, CachedStatus, Proxy, RunError};
use crate::catalog::Level;
use crate::catalog::types::Types;
use crate::clock;
use crate::device_conf::{Connection, Entry, Readers, Surroundings};
use crate::inventory::Secrets;
use crate::store::{DeviceStore, Store, StoreError, blocking_io};
use crate::transaction::{self, LogEntry, RunEvent, Settings};
use crate::validate::Policy;

use attempt::Attempt;
pub use error::ServedError;
use gate::{expire, unless_stopped};
use prepare::Prepared;

/// Who hears what is said about a device, as it is said.
pub type Listener = Arc<dyn Fn(&str, &LogEntry) + Send + Sync>;

/// What the runs of a proxy share.
pub struct ServedFleet {
    pub proxy: Arc<Proxy>,
    pub secrets: Secrets,
    pub readers: Readers,
    pub settings: Settings,
    /// What is asked of catalogs.
    pub policy: Policy,
    /// Devices at work at once. Waiting for a signature is no work.
    pub at_work: Semaphore,
    /// Messages below it are left out of reports.
    pub log_level: Level,
    /// Apply this catalog instead of asking the server; nothing is sent then.
    pub catalog: Option<String>,
    pub stop: CancellationToken,
    pub listener: Listener,
}

impl ServedFleet {
    /// Runs one device; its part of the exit code: bits 2 (changes) and 4 (failures), or 1.
    ///
    /// # Cancellation
    /// Must not be dropped midway; it ends by itself soon after `stop` was cancelled.
    pub async fn run(&self, entry: &Entry) -> u8 {
        let mut agent = AgentRun::new(&self.proxy, &entry.name);
        let mut attempt = Attempt {
            fleet: self,
            device: &entry.name,
            secrets: Vec::new(),
            events: Vec::new(),
            cached: CachedStatus::NotUsed,
            applied: false,
            flawed: false,
            begun: false,
        };
        self.splay().await;
        let store = Store::at(&self.proxy.settings.vardir).device(&entry.name);
        let _lock = match self.begin(&agent.layout, &store).await {
            Ok(lock) => lock,
            Err(why) => {
                // Another run, or the operator's word: there is nothing to report.
                attempt.run_log().error(why);
                return 1;
            }
        };
        let started = clock::timestamp();
        let began = Instant::now();
        let stop = self.stop.child_token();
        let late = AtomicBool::new(false);
        let outcome = tokio::select! {
            outcome = async {
                let outcome = self.attempt(&mut agent, &mut attempt, entry, &store, &stop).await;
                self.afterwards(&agent, &mut attempt, outcome).await
            } => outcome,
            () = expire(self.proxy.settings.runtimeout, &stop, &late) => unreachable!("it never ends"),
        };
        if late.load(Ordering::Relaxed) {
            let limit = self.proxy.settings.runtimeout.unwrap_or_default();
            attempt.run_log().error(format!(
                "The run did not end within {} s (runtimeout) and was stopped",
                limit.as_secs()
            ));
        }
        if let Err(error) = &outcome {
            attempt.tell(error.findings());
            let hint = error.hint();
            attempt.run_log().error_chain(error, hint.as_deref());
            let no_catalog = matches!(error, ServedError::Agent(_) | ServedError::Refused(_));
            if no_catalog && !attempt.applied {
                attempt
                    .run_log()
                    .error("Could not retrieve catalog; skipping run");
            }
        }
        if outcome.is_ok() && attempt.cut_short() {
            attempt
                .run_log()
                .error("The run was stopped; what it had not begun was skipped");
        }
        let report = self.report(
            &agent,
            &attempt,
            started,
            outcome.as_ref().err(),
            began.elapsed(),
        );
        self.finish(&mut agent, &mut attempt, &store, &report).await;
        let stopped = stop.is_cancelled();
        let flawed = if attempt.flawed { 4 } else { 0 };
        match report.exit_bits().map(|bits| bits | flawed) {
            Some(bits) if attempt.applied && outcome.is_ok() && !stopped => bits,
            Some(bits) => bits | 1,
            None => 1,
        }
    }

    async fn attempt(
        &self,
        agent: &mut AgentRun,
        attempt: &mut Attempt<'_>,
        entry: &Entry,
        store: &DeviceStore,
        stop: &CancellationToken,
    ) -> Result<(), ServedError> {
        if self.catalog.is_none() {
            agent.set_up(stop, attempt.run_log()).await?;
        }
        let _permit = unless_stopped(stop, self.at_work.acquire())
            .await?
            .expect("never closed");
        let connection = self.connection(agent, entry).await?;
        attempt.secrets = connection
            .target
            .secrets()
            .into_iter()
            .map(|secret| secret.expose_secret().to_owned())
            .filter(|secret| !secret.is_empty())
            .collect();
        for warning in &connection.warnings {
            attempt.run_log().warning(warning.message.clone());
        }
        let registry = match &self.catalog {
            None => unless_stopped(stop, agent.begin(attempt.run_log())).await??,
            Some(_) => self
                .proxy
                .definitions
                .of(&agent.layout)
                .map_err(RunError::from)?,
        };
        let platform = platform(&registry, &connection, entry)?;
        attempt.run_log().info(format!(
            "starting applying configuration to {} at {}",
            entry.name, connection.shown_url
        ));
        let (session, device_facts) =
            unless_stopped(stop, self.way(&connection, &platform, self.access()).open()).await??;
        let told = self.facts(entry, &device_facts);
        attempt.begun = true;
        let prepared = unless_stopped(
            stop,
            self.prepare(agent, attempt, &told, &connection, entry),
        )
        .await;
        let prepared = match prepared {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(error)) | Err(error) => {
                close(session).await;
                return Err(error);
            }
        };
        attempt.cached = prepared.obtained.cached;
        let reached = Reached {
            connection,
            session,
            facts: device_facts,
        };
        let applied = self
            .apply(agent, attempt, store, stop, reached, prepared)
            .await;
        agent.resubmit(&told, attempt.run_log()).await;
        applied
    }

    /// Runs the command that comes after each run, whatever came of it; its failure is the run's.
    async fn afterwards(
        &self,
        agent: &AgentRun,
        attempt: &mut Attempt<'_>,
        outcome: Result<(), ServedError>,
    ) -> Result<(), ServedError> {
        let command = self.proxy.settings.postrun_command.as_ref();
        let Some(command) = command.filter(|_| attempt.begun) else {
            return outcome;
        };
        let limit = agent.hook_limit();
        let (name, device) = ("postrun_command", attempt.device);
        let ran = hook::run(name, command, device, limit, attempt.run_log()).await;
        match (outcome, ran) {
            (Ok(()), ran) => Ok(ran?),
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(too)) => {
                attempt.run_log().error_chain(&too, None);
                Err(error)
            }
        }
    }

    async fn connection(&self, agent: &AgentRun, entry: &Entry) -> Result<Connection, ServedError> {
        let around = Surroundings {
            secrets: &self.secrets,
            device_dir: &agent.layout.var,
            readers: self.readers,
        };
        entry
            .connection(around)
            .await
            .map_err(|findings| ServedError::Connection {
                kind: entry.kind.clone(),
                device: entry.name.clone(),
                findings,
            })
    }

    /// The way to the device, with the driver of this platform.
    fn way(&self, connection: &Connection, platform: &Arc<Platform>, access: Access) -> Way {
        let options = connection.options.iter().cloned();
        Way::new(
            connection.target.clone(),
            Arc::clone(platform),
            access,
            options,
        )
    }

    /// What a session may do as long as the catalog does not say otherwise.
    fn access(&self) -> Access {
        if self.settings.noop {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        }
    }

    /// The device's facts as the server gets them.
    pub fn facts(&self, entry: &Entry, device: &Facts) -> facts::Facts {
        let values: Map<String, serde_json::Value> = device
            .iter()
            .filter(|(name, _)| !name.starts_with("option."))
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        facts::Facts::new(
            &entry.name,
            &values,
            self.settings.noop,
            clock::timestamp(),
            self.proxy.settings.runinterval,
        )
    }

    /// Where a graph of a device's run goes, if graphs are wanted.
    fn graph_file(&self, store: &DeviceStore, device: &str, file: &str) -> Option<PathBuf> {
        let settings = &self.proxy.settings;
        let own = || store.dir().join("state/graphs").join(file);
        settings.graph.then(|| match &settings.graphdir {
            Some(dir) => state_files::graph_path(dir, device, file),
            None => own(),
        })
    }

    async fn write_graphs(
        &self,
        store: &DeviceStore,
        attempt: &Attempt<'_>,
    ) -> Result<(), StoreError> {
        let graphs = attempt.events.iter().filter_map(|event| match event {
            RunEvent::Graph { file, text } => {
                let path = self.graph_file(store, attempt.device, file)?;
                Some((path, text.clone()))
            }
            _ => None,
        });
        let graphs: Vec<_> = graphs.collect();
        blocking_io::run(move || state_files::write_graphs(&graphs)).await
    }

    async fn apply(
        &self,
        agent: &mut AgentRun,
        attempt: &mut Attempt<'_>,
        store: &DeviceStore,
        stop: &CancellationToken,
        reached: Reached,
        prepared: Prepared,
    ) -> Result<(), ServedError> {
        let Reached {
            connection,
            mut session,
            facts,
        } = reached;
        let Prepared {
            obtained,
            registry,
            platform,
            resources,
            insists,
        } = prepared;
        let types = Types::new(|name: &str| registry.model(name).cloned());
        let managed = Managed::of(&resources);
        if self.catalog.is_none() {
            agent
                .keep(&obtained, self.settings.noop, attempt.run_log())
                .await?;
        }
        let limit = agent.hook_limit();
        if let Some(command) = &self.proxy.settings.prerun_command {
            let ran = hook::run(
                "prerun_command",
                command,
                attempt.device,
                limit,
                attempt.run_log(),
            )
            .await;
            if let Err(error) = ran {
                close(session).await;
                return Err(error.into());
            }
        }
        let mut way = self.way(&connection, &platform, self.access());
        if self.settings.noop && insists {
            close(session).await;
            way = self.way(&connection, &platform, Access::ReadWrite);
            session = way.reconnect().await?;
        }
        let mut kept = Kept::load(store)?;
        let mut provider = DriverProvider::new(
            Driver::new(&platform, &facts),
            session,
            Box::new(way),
            Arc::clone(&kept.remembered) as Arc<_>,
        );
        for note in provider.notes() {
            attempt.run_log().warning(note);
        }
        attempt.applied = true;
        let settings = transaction::Settings {
            cycles_file: self
                .graph_file(store, attempt.device, "cycles.dot")
                .map(|path| path.display().to_string()),
            ..self.settings.clone()
        };
        let began = Instant::now();
        let mut sink = |event: RunEvent| attempt.emit(event);
        // What ended the run early has been told as an event.
        let _ = transaction::run(transaction::Input {
            resources,
            types: &types,
            settings: &settings,
            clock: &clock::timestamp,
            zone: clock::zone(),
            memory: &mut kept.memory,
            provider: &mut provider,
            sink: &mut sink,
            stop: &|| stop.is_cancelled(),
        })
        .await;
        let seconds = began.elapsed().as_secs_f64();
        self.write_graphs(store, attempt).await?;
        agent.times.insert("catalog_application", seconds);
        attempt
            .run_log()
            .notice(format!("Applied catalog in {seconds:.2} seconds"));
        self.prove(attempt, &mut provider).await;
        let may_write = !self.settings.noop || insists;
        if may_write {
            match Saving::at_the_end(connection.save, attempt.device, &provider) {
                Saving::NotDue => {}
                Saving::Due => match provider.save().await {
                    Ok(_) => attempt
                        .run_log()
                        .notice("Saved the configuration of the device"),
                    Err(error) => {
                        attempt.fail(format!("Could not save the configuration: {}", error.kind))
                    }
                },
                Saving::Withheld(why) => attempt.run_log().warning(why),
            }
        }
        for note in provider.close().await {
            attempt.run_log().warning(note);
        }
        let store = store.clone();
        Ok(blocking_io::run(move || kept.write(&store).and(managed.write(&store))).await?)
    }

    /// Proves by one more read that what was set is as it was set.
    async fn prove(&self, attempt: &mut Attempt<'_>, provider: &mut DriverProvider) {
        match provider.verify().await {
            Ok(differences) => {
                for difference in &differences {
                    attempt.fail(shown(difference));
                }
            }
            Err(error) => attempt.fail(format!("The result could not be proved: {error}")),
        }
    }
}

/// A device that answers.
struct Reached {
    connection: Connection,
    session: Box<dyn Session>,
    facts: Facts,
}

fn platform(
    registry: &Registry,
    connection: &Connection,
    entry: &Entry,
) -> Result<Arc<Platform>, ServedError> {
    registry
        .platform(&connection.platform)
        .cloned()
        .ok_or_else(|| ServedError::Platform {
            kind: entry.kind.clone(),
            known: registry
                .platforms()
                .map(|platform| platform.name.clone())
                .collect::<Vec<_>>()
                .join(", "),
        })
}

/// Logs off; what the device says to that is of no more interest.
async fn close(mut session: Box<dyn Session>) {
    session.close().await;
}
