//! The provider for a real device: a driver decides what to send, a session sends it.
//!
//! The first prefetch reads everything that the run needs. Afterwards the state in memory follows
//! the commands that were sent. If the connection breaks in a change, the device is read once
//! more, so that each attribute is reported as done or not applied.

mod committing;
mod confirmation;
mod own_path;
mod protection;
mod reading;
mod spared;
mod staging;
mod undo;
mod unknown_outcome;
mod unsaved;
mod verify;

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;

use self::protection::Protection;
pub use self::protection::{ProtectPolicy, ProtectionEnd, ProtectionRecord, Verdict};
pub use self::undo::UndoneResource;
use self::unknown_outcome::Disconnect;
pub use self::unsaved::SavedBefore;
use super::state::{DeviceState, SecretDigestStore};
use super::{CommitResult, Difference, Provider, ProviderError};
use crate::change::{Change, Desired, Instance};
use crate::driver::{Driver, UnsupportedType};
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::operation::Operation;
use crate::session::{Session, SessionError, Statistics};
use crate::value::{Attributes, Value};

/// Opens another session to the device of a run.
#[async_trait]
pub trait Reconnect: Send + Sync {
    /// Opens another session.
    ///
    /// # Errors
    /// The session could not be opened.
    async fn reconnect(&self) -> Result<Box<dyn Session>, SessionError>;

    /// The addresses of the device that the session may use.
    async fn addresses(&self) -> Vec<IpAddr> {
        Vec::new()
    }

    /// The addresses of this host from which the session comes.
    async fn proxy_addresses(&self) -> Vec<IpAddr> {
        Vec::new()
    }

    /// The user of the session.
    fn user(&self) -> Option<&str> {
        None
    }
}

/// The provider for one device and one run.
pub struct DriverProvider {
    state: DeviceState,
    session: Box<dyn Session>,
    reconnect: Box<dyn Reconnect>,
    disconnect: Option<Disconnect>,
    protection: Protection,
    /// Changes of what the session uses are permitted.
    allow_own_path: bool,
    /// The configuration is read for changes whose difference needs it.
    shows_difference: bool,
    /// Before the first change, the saved configuration is compared with the running one.
    compares_saved: bool,
    saved_before: SavedBefore,
    /// The addresses of this host from which the session comes, once they were needed.
    proxy_addresses: Option<Vec<IpAddr>>,
    /// Statistics of closed sessions.
    closed_statistics: Statistics,
}

impl DriverProvider {
    /// A provider for one run.
    pub fn new(
        driver: Driver,
        session: Box<dyn Session>,
        reconnect: Box<dyn Reconnect>,
        memory: Arc<dyn SecretDigestStore>,
    ) -> Self {
        Self {
            state: DeviceState::new(driver, memory, session.saved_answers().is_some()),
            session,
            reconnect,
            disconnect: None,
            protection: Protection::default(),
            allow_own_path: false,
            shows_difference: false,
            compares_saved: false,
            saved_before: SavedBefore::default(),
            proxy_addresses: None,
            closed_statistics: Statistics::default(),
        }
    }

    /// What the run knows of the device.
    pub fn state(&self) -> &DeviceState {
        &self.state
    }

    /// Permits changes that rewrite or remove text that was not understood.
    #[must_use]
    pub fn overwrite_unknown(mut self, permitted: bool) -> Self {
        self.state.overwrite_unknown = permitted;
        self
    }

    /// Reads the configuration for the first change whose difference needs it.
    #[must_use]
    pub fn show_difference(mut self, enabled: bool) -> Self {
        self.shows_difference = enabled;
        self
    }

    /// Round trips, reads and writes of all sessions of this run.
    pub fn statistics(&self) -> Statistics {
        self.closed_statistics.plus(self.session.statistics())
    }

    /// Whether the connection broke after a change was sent. Saving would keep that change over a
    /// restart, which otherwise restores the saved configuration.
    pub fn is_disconnected_after_change(&self) -> bool {
        self.disconnect
            .as_ref()
            .is_some_and(|disconnect| disconnect.after_change)
    }

    /// Saves the running configuration as the startup configuration. Returns the device's answer.
    ///
    /// # Errors
    /// The device did not confirm the save.
    pub async fn save(&mut self) -> Result<String, SessionError> {
        self.session.save().await
    }

    /// Closes the session. Returns messages for the user.
    pub async fn close(&mut self) -> Vec<String> {
        self.session.close().await
    }

    /// Messages for the user about how the session was opened.
    pub fn notes(&self) -> Vec<String> {
        self.session.notes()
    }
}

#[async_trait]
impl Provider for DriverProvider {
    fn name(&self) -> &str {
        &self.state.driver.platform().name
    }

    fn expect(&mut self, resources: Vec<Arc<Desired>>) {
        self.state.expect(resources);
    }

    fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType> {
        self.state.driver.supports(model)
    }

    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        self.state
            .driver
            .canonicalize(model, attributes)
            .map_err(|mut errors| errors.remove(0))
    }

    fn in_sync(&self, desired: &Desired, property: &str, _: &Value) -> Option<bool> {
        let inspection = self.state.inspections.get(&desired.reference)?;
        Some(!inspection.differs.iter().any(|name| name == property))
    }

    fn rendered_forms(&self, desired: &Desired) -> Attributes {
        let inspections = &self.state.inspections;
        let current = inspections
            .get(&desired.reference)
            .and_then(|one| one.current.as_ref());
        current.map_or_else(Attributes::default, |current| current.hashed.clone())
    }

    fn equals_stored(&self, stored: &Desired, current: &Instance, property: &str) -> Option<bool> {
        stored.model.attributes.get(property)?;
        let memory = self.state.memory.as_ref();
        let differs = self.state.driver.differs(stored, Some(current), memory);
        Some(!differs.iter().any(|name| name == property))
    }

    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Desired],
    ) -> Result<(), ProviderError> {
        // The first prefetch reads for all announced resources; a later one, for a type that was
        // not announced.
        if !self.state.reads.expected.is_empty() {
            let expected = std::mem::take(&mut self.state.reads.expected);
            let requests = self.state.first_reads(&expected);
            self.read_into_state(requests).await?;
            self.state.announce(expected);
        }
        if self.state.reads.types.insert(model.name.clone()) {
            let requests = self.state.driver.reads_for(resources);
            self.read_into_state(requests).await?;
        }
        self.state.check_failed_reads(model)
    }

    async fn retrieve(
        &mut self,
        desired: &Desired,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError> {
        if let Some(disconnect) = &self.disconnect {
            return Err(disconnect.error());
        }
        let inspection = self.state.inspect(desired)?;
        let inspection = self.state.with_unread(desired, inspection);
        self.state.check_writable(desired, &inspection)?;
        self.check_left(desired, &inspection).await?;
        self.check_own_path(desired, &inspection).await?;
        self.state.check_not_understood(desired, &inspection)?;
        if !inspection.differs.is_empty() {
            self.read_for_difference(&desired.model).await?;
        }
        self.state.note_inspection(desired, &inspection);
        let attributes = inspection.values(properties);
        let reference = Arc::clone(&desired.reference);
        self.state.inspections.insert(reference, inspection);
        Ok(attributes)
    }

    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        let supported = self.state.driver.supports(model);
        supported.map_err(|error| ProviderError::failed(error.to_string()))?;
        self.read_instances(model).await
    }

    async fn keep(
        &mut self,
        model: &Arc<TypeModel>,
        instances: &[Instance],
    ) -> Result<Vec<Option<String>>, ProviderError> {
        self.spared(model, instances).await
    }

    fn wider_names(&self, model: &TypeModel, names: &Attributes) -> Vec<Attributes> {
        self.state.driver.wider_names(model, names)
    }

    fn displaced(&self, change: &Change) -> Vec<Instance> {
        self.state.displaced_by(change)
    }

    fn preview(&mut self, change: &Change) -> Result<Vec<Operation>, ProviderError> {
        self.state.preview(change)
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        self.commit_change(change).await
    }

    fn stage(&mut self, change: &Change) -> Result<bool, ProviderError> {
        self.stage_change(change)
    }

    async fn commit_staged(&mut self) -> Vec<CommitResult> {
        self.commit_staged_changes().await
    }

    async fn refresh(&mut self, desired: &Desired) -> Option<CommitResult> {
        self.send_refresh(desired).await
    }

    async fn verify(&mut self) -> Result<Vec<Difference>, ProviderError> {
        self.read_differences().await
    }

    fn disconnected(&self) -> Option<&str> {
        self.disconnect
            .as_ref()
            .map(|disconnect| disconnect.reason.as_str())
    }
}
