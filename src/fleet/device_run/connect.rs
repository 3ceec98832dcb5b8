//! The session with a device, and the state of the device that answers.

use std::sync::Arc;

use switchtender_devices::driver::{Driver, Facts};
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::TypeModel;
use switchtender_devices::session::ledger::SessionLedger;
use switchtender_devices::session::{Access, Session};

use super::active_device::ActiveDevice;
use super::locks::Locks;
use super::supervision::until;
use super::{DeviceRunError, Running};
use crate::agent::run_log::RunLog as _;
use crate::fleet::catalog_check::PreparedCatalog;
use crate::fleet::catalog_source::{DeviceSettings, PreparedSource};
use crate::fleet::connector::{DeviceConnector, OpenDevice};
use crate::fleet::own_sessions::OwnSessions;
use crate::fleet::state_files::{self, DeviceState};
use crate::fleet::undo::UndoRecord;
use crate::store::identity::{DeviceIdentity, OwnedState, Owner};
use crate::store::{LockSubject, StoreError, blocking_io};

/// A device with an open session, and its state.
pub(super) struct ConnectedDevice {
    pub(super) connector: DeviceConnector,
    pub(super) session: Box<dyn Session>,
    pub(super) facts: Facts,
    pub(super) access: Access,
    pub(super) owned: OwnedState,
    pub(super) state: DeviceState,
    /// Their transcripts wait for the secrets of the catalog.
    closed_sessions: Vec<Box<dyn Session>>,
}

/// What is known of a run before it connects.
pub(super) struct ConnectInput<'p> {
    /// `None`: it needs the facts of the device.
    pub(super) catalog: Option<&'p PreparedCatalog>,
    pub(super) settings: &'p DeviceSettings,
}

/// A device with the catalog that is applied to it.
pub(super) struct ReadyDevice {
    pub(super) device: ConnectedDevice,
    pub(super) catalog: PreparedCatalog,
}

impl ReadyDevice {
    /// Warns of what a saved configuration does not show of the types of the catalog.
    pub(super) fn warn_of_hidden(&self, run: &mut Running<'_>) {
        let driver = Driver::new(&self.catalog.platform, &self.device.facts);
        let driver = driver.with_saved(self.device.session.saved_answers());
        let nodes = self.catalog.resources.nodes.iter();
        let resources = nodes.filter_map(|node| node.resource.as_deref());
        let models: IndexMap<&str, &Arc<TypeModel>> = resources
            .map(|resource| (resource.model().name.as_str(), resource.model()))
            .collect();
        let models: Vec<&Arc<TypeModel>> = models.into_values().collect();
        for read in driver.unsaved_reads(&models) {
            let Some(hidden) = read.hidden.filter(|_| read.is_replaced) else {
                continue;
            };
            let command = &read.request.command;
            let note = format!("the output of `{command}` is not saved: {hidden} are unknown");
            run.events.run_log().warning(note);
        }
    }
}

impl ConnectedDevice {
    /// Locks the address of a device, opens a session, and loads the state of the device that answers.
    ///
    /// # Errors
    /// Another run has locked the device, it cannot be connected, or the run that is undone was on another device.
    pub(super) async fn connect<S: PreparedSource>(
        run: &mut Running<'_>,
        source: &S,
        prepared: &ConnectInput<'_>,
        locks: &mut Locks<'_>,
    ) -> Result<Self, DeviceRunError> {
        let ConnectInput { catalog, settings } = *prepared;
        let kind = run.request.kind;
        let access = catalog.map_or(kind.access(), |catalog| catalog.access(kind));
        let mut connector = connector(run, source, access).await?;
        if let Some(address) = connector.address() {
            locks.take(&LockSubject::Address(address.clone())).await?;
            // In a fleet, the lease of the device is the lock.
            if access == Access::ReadWrite && run.request.right.is_none() {
                locks.take_for_all_hosts().await?;
            }
            if kind.writes_state() {
                let ends = (run.request.ends_sessions, settings.ends_sessions);
                let store = run.store.clone();
                let load = move || OwnSessions::load(&store, address, ends);
                let sessions = blocking_io::run(load).await?;
                run.sessions = Some(Arc::new(sessions));
                record_sessions(run, &mut connector);
            }
        }
        let opened = until(run.stop.cancelled(), connector.open()).await??;
        let OpenDevice {
            mut session,
            facts,
            identity,
        } = opened;
        let owner = Owner {
            identity,
            address: connector.address().unwrap_or_default(),
            inventory: run.inventory.clone(),
        };
        let undone = catalog.and_then(|catalog| catalog.undo.as_deref());
        match find_state(run, owner, undone, locks).await {
            Ok((owned, state)) => Ok(Self {
                connector,
                session,
                facts,
                access,
                owned,
                state,
                closed_sessions: Vec::new(),
            }),
            Err(error) => {
                session.close().await;
                Err(error)
            }
        }
    }

    /// Reads the facts again in a new session.
    ///
    /// # Errors
    /// There is no session.
    pub(super) async fn open_for_facts<S: PreparedSource>(
        mut self,
        run: &Running<'_>,
        source: &S,
    ) -> Result<Self, DeviceRunError> {
        self.session.close().await;
        self.closed_sessions.push(self.session);
        let connector = connector(run, source, self.access).await?;
        let again = until(run.stop.cancelled(), connector.open()).await??;
        Ok(Self {
            connector,
            session: again.session,
            facts: again.facts,
            ..self
        })
    }

    /// The device of a closed session in a new one.
    ///
    /// # Errors
    /// There is no session, or another device answers.
    pub(super) async fn open_again<S: PreparedSource>(
        run: &Running<'_>,
        source: &S,
        device: ActiveDevice,
    ) -> Result<Self, DeviceRunError> {
        let ActiveDevice {
            access,
            owned,
            state,
            ..
        } = device;
        let connector = connector(run, source, access).await?;
        let again = until(run.stop.cancelled(), connector.open()).await??;
        let OpenDevice {
            session,
            facts,
            identity,
        } = again;
        let session = same_device(session, identity, &owned).await?;
        Ok(Self {
            connector,
            session,
            facts,
            access,
            owned,
            state,
            closed_sessions: Vec::new(),
        })
    }

    /// The device with its catalog. Its owner and its facts are stored, with or without a catalog.
    ///
    /// # Errors
    /// There is no catalog, or the files cannot be written; the session is closed.
    pub(super) async fn with_catalog(
        mut self,
        run: &mut Running<'_>,
        catalog: Result<PreparedCatalog, DeviceRunError>,
    ) -> Result<ReadyDevice, DeviceRunError> {
        run.events.mask.complete();
        self.closed_sessions.clear();
        let masked_facts = run.events.mask.apply(&format!("{:?}", self.facts));
        tracing::info!(facts = %masked_facts, "the facts are read");
        let saved = save_facts(run, self.owned.clone(), self.facts.clone()).await;
        let saved = saved.map_err(DeviceRunError::from);
        match saved.and(catalog) {
            Ok(catalog) => {
                for (level, text) in catalog.log_entries() {
                    run.events.log(level, text);
                }
                Ok(ReadyDevice {
                    device: self,
                    catalog,
                })
            }
            Err(error) => {
                self.session.close().await;
                Err(error)
            }
        }
    }
}

/// Stores who the device is, and its facts.
async fn save_facts(run: &Running<'_>, owned: OwnedState, facts: Facts) -> Result<(), StoreError> {
    if !run.request.kind.writes_state() {
        return Ok(());
    }
    let of_name = run.store.clone();
    let saved = blocking_io::run(move || {
        owned.save_owner()?;
        state_files::save_facts(&of_name, &facts)
    });
    saved.await
}

impl ReadyDevice {
    /// Opens another session if the catalog needs more access than the session has.
    ///
    /// # Errors
    /// There is no session, or another device answers.
    pub(super) async fn with_needed_access<S: PreparedSource>(
        mut self,
        run: &Running<'_>,
        source: &S,
    ) -> Result<Self, DeviceRunError> {
        let device = &mut self.device;
        let access = self.catalog.access(run.request.kind);
        if access == device.access {
            return Ok(self);
        }
        device.session.close().await;
        device.access = access;
        device.connector = connector(run, source, access).await?;
        let OpenDevice {
            session, identity, ..
        } = device.connector.open().await?;
        device.session = same_device(session, identity, &device.owned).await?;
        Ok(self)
    }
}

/// The session, unless another device answers: an address of a pair can have moved to the other unit.
async fn same_device(
    mut session: Box<dyn Session>,
    identity: DeviceIdentity,
    owned: &OwnedState,
) -> Result<Box<dyn Session>, DeviceRunError> {
    if identity.is_other(&owned.owner.identity) {
        session.close().await;
        return Err(DeviceRunError::OtherUnit { identity });
    }
    Ok(session)
}

async fn connector<S: PreparedSource>(
    run: &Running<'_>,
    source: &S,
    access: Access,
) -> Result<DeviceConnector, DeviceRunError> {
    let mut connector = until(run.stop.cancelled(), source.connector(access)).await??;
    connector.set_deadline(&run.deadline);
    connector.set_fence(&run.fence());
    record_sessions(run, &mut connector);
    connector.share_mask(&run.events.mask);
    Ok(connector)
}

/// Records the sessions that write.
fn record_sessions(run: &Running<'_>, connector: &mut DeviceConnector) {
    if let Some(sessions) = &run.sessions {
        let ledger: Arc<dyn SessionLedger> = sessions.clone();
        connector.set_ledger(&ledger, run.request.lock_wait);
    }
}

/// Locks the device that answers, and loads its state. Says so if the state is a new one.
///
/// # Errors
/// Another run has locked the device, its files cannot be read, or the run that is undone was on another device.
async fn find_state(
    run: &mut Running<'_>,
    seen: Owner,
    undone: Option<&UndoRecord>,
    locks: &mut Locks<'_>,
) -> Result<(OwnedState, DeviceState), DeviceRunError> {
    let identity = seen.identity.clone();
    for serial in identity.serials() {
        locks.take(&LockSubject::Serial(serial.to_owned())).await?;
    }
    let store = run.store.clone();
    let owned = blocking_io::run(move || store.owned_by(seen)).await?;
    if let Some(record) = undone
        && !record.is_in(&owned.store)
    {
        let store = owned.store.clone();
        let newest = blocking_io::run(move || UndoRecord::runs(&store))
            .await?
            .pop();
        return Err(DeviceRunError::OtherDevice {
            changed: Box::new(record.owner.clone()),
            hint: undo_hint(run, newest, &identity),
            identity,
        });
    }
    if let Some(known) = owned.known.last() {
        let text = format!(
            "another device answers as {}: {}; the last one was {known}. A new state begins, and the old one \
             is kept{}",
            run.events.device(),
            owned.owner,
            accept_hint(run, &identity),
        );
        run.events.run_log().warning(text);
    }
    let store = owned.store.clone();
    let state = blocking_io::run(move || DeviceState::load(&store)).await?;
    for lost in &state.lost {
        let text =
            format!("{lost}: what it had is lost, and secrets without a digest are set again");
        run.events.run_log().warning(text);
    }
    Ok((owned, state))
}

/// The command that joins the states. Without number and key there is none.
fn accept_hint(run: &Running<'_>, identity: &DeviceIdentity) -> String {
    let device = run.events.device();
    identity.word().map_or_else(String::new, |word| {
        format!(
            ". If it replaces that device, or is the other unit of its pair: `switchtender state-dir accept \
             {device} {word} --state-dir {}`",
            run.store.root().display()
        )
    })
}

fn undo_hint(run: &Running<'_>, newest: Option<String>, identity: &DeviceIdentity) -> String {
    let device = run.events.device();
    match newest {
        Some(run) => format!(
            "undo the last run of this device with `switchtender undo {run} --target {device}`"
        ),
        None => format!(
            "no run of this device is stored{}",
            accept_hint(run, identity)
        ),
    }
}
