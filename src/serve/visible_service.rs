//! The process as a sender sees it: what the sender does not see does not exist.
//!
//! Pages, the API and live events reach devices only through it.

use super::access::{DeviceRoles, Role};
use super::condition::Condition;
use super::lease::leases::DeviceOwner;
use super::live_watch::FollowedRun;
use super::service::{Service, ServiceReport};
use crate::history::device_state::KnownDevice;
use crate::history::runs::RunEntry;
use crate::history::{HistoryError, HistoryReader, RunId};
use crate::report::RunStatus;
use crate::store::blocking_io;

/// The service with the roles of a sender.
pub(crate) struct VisibleService<'a> {
    service: &'a Service,
    roles: &'a DeviceRoles,
}

impl<'a> VisibleService<'a> {
    pub(crate) fn new(service: &'a Service, roles: &'a DeviceRoles) -> Self {
        Self { service, roles }
    }

    /// Reads from the store what is of visible devices.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let history = self.service.history();
        if self.roles.sees_all() {
            return history.query(query).await;
        }
        let (roles, fleet) = (self.roles.clone(), self.service.fleet());
        // What the store says of a device can come from the inventory of a command.
        let is_visible = move |stored: &KnownDevice| {
            let device = fleet.known_device(&stored.name).unwrap_or(stored);
            roles.on(device).is_some()
        };
        history.query_visible(is_visible, query).await
    }

    /// The role of the sender for a device of the settings or the store. `None`: for the sender, there is no such
    /// device.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn role_on(&self, device: &str) -> Result<Option<Role>, HistoryError> {
        if let Some(known) = self.service.fleet().known_device(device) {
            return Ok(self.roles.on(known));
        }
        let name = device.to_owned();
        let history = self.service.history();
        let found = history
            .query(move |reader| reader.known_device(&name))
            .await?;
        Ok(found.and_then(|known| self.roles.on(&known)))
    }

    /// The visible devices of the settings.
    pub(crate) fn devices(&self) -> Vec<KnownDevice> {
        let mut devices = self.service.fleet().known();
        devices.retain(|device| self.roles.on(device).is_some());
        devices
    }

    /// Whether the settings have a device.
    pub(crate) fn has_device(&self, device: &str) -> bool {
        let fleet = self.service.fleet();
        let known = fleet.known_device(device);
        known.is_some_and(|known| self.roles.on(known).is_some()) && self.service.has_device(device)
    }

    /// Whether runs never change a device of the settings.
    pub(crate) fn is_plan_only(&self, device: &str) -> bool {
        self.has_device(device) && self.service.is_plan_only(device)
    }

    /// Whether runs change a device only as a person approved.
    pub(crate) fn needs_approval(&self, device: &str) -> bool {
        self.has_device(device) && self.service.needs_approval(device)
    }

    /// The graph of a device's catalog as an SVG image.
    ///
    /// # Errors
    /// Why it is not drawn.
    pub(crate) async fn graph(&self, device: &str) -> Result<String, String> {
        if !self.has_device(device) {
            return Err("the device is not in the inventory any more".to_owned());
        }
        let (fleet, device) = (self.service.fleet(), device.to_owned());
        blocking_io::run(move || fleet.graph(&device)).await
    }

    /// The events of a run until now, and a receiver of those that follow, which has events of all runs. `None`: it is
    /// not in progress.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn live_run(&self, run: RunId) -> Result<Option<FollowedRun>, HistoryError> {
        match self.read(move |reader| reader.run(run)).await? {
            Some(_) => self.service.follow(run).await,
            None => Ok(None),
        }
    }

    /// Why a requested run has not started. `None`: it has.
    pub(crate) async fn wait_reason(&self, run: &RunEntry) -> Option<String> {
        if run.status != RunStatus::Queued {
            return None;
        }
        let owner = self.service.device_owner(&run.device);
        let stopped = match &owner {
            DeviceOwner::Nobody { reason } => Some(reason.clone()),
            DeviceOwner::This => {
                let condition = self.condition();
                condition.no_runs.or(condition.no_applies)
            }
            // The text can name any device.
            DeviceOwner::Other { node, no_applies } => no_applies.as_ref().map(|reason| {
                if self.roles.sees_all() {
                    format!("no run changes a device on the node {node}: {reason}")
                } else {
                    format!("the log of the node {node} has the reason")
                }
            }),
        };
        match stopped {
            Some(reason) => Some(reason),
            None => self.service.wait_reason(run, &owner).await,
        }
    }

    /// The state of the process.
    pub(crate) async fn report(&self) -> ServiceReport {
        ServiceReport {
            condition: self.condition(),
            ..self.service.report().await
        }
    }

    /// What prevents the process from its work. Texts can name any device.
    pub(crate) fn condition(&self) -> Condition {
        let mut condition = self.service.condition();
        if !self.roles.sees_all() {
            let hidden =
                |text: &mut String| "the log of the process has the reason".clone_into(text);
            condition.no_runs.iter_mut().for_each(hidden);
            condition.no_applies.iter_mut().for_each(hidden);
            condition.refused.iter_mut().for_each(hidden);
            condition.no_node.iter_mut().for_each(hidden);
            condition.rejected_settings.iter_mut().for_each(hidden);
            condition.failed_backup.iter_mut().for_each(hidden);
        }
        condition
    }
}
