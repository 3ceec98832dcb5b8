//! The provider for a real device: a driver decides what to send, a session sends it.
//!
//! The first prefetch reads everything that the run needs. Afterwards the state in memory follows
//! the commands that were sent. If the connection breaks in a change, the device is read once
//! more, so that each attribute is reported as done or not applied.

mod committing;
mod confirmation;
mod displaced;
mod inspection;
mod not_understood;
mod own_path;
mod planned_undo;
mod protection;
mod reading;
mod spared;
mod staging;
mod undo;
mod unknown_outcome;
mod verify;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use foldhash::{HashMap, HashSet};

use self::displaced::DisplacedInstances;
use self::inspection::Inspection;
pub use self::planned_undo::PlannedUndo;
use self::protection::Protection;
pub use self::protection::{ProtectPolicy, ProtectionEnd, ProtectionRecord, Verdict};
use self::staging::StagedChanges;
pub use self::undo::{LeftState, UndoneResource};
use self::unknown_outcome::Disconnect;
use super::{CommitResult, Difference, Provider, ProviderError, ProviderErrorKind};
use crate::change::{Change, Desired, Instance};
use crate::driver::{Driver, SecretHistory, UnsupportedType};
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::names::TypeName;
use crate::operation::{Action, Operation};
use crate::read::State;
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

/// Digests of secrets that the device does not print, stored from run to run.
pub trait SecretDigestStore: SecretHistory + Send + Sync {
    /// Stores the digest of a value that was just set.
    fn remember(&self, reference: &str, attribute: &str, value: &Value);
}

/// The effect of operations on a configuration.
#[derive(Clone, Debug, Default)]
pub struct PredictedDiff {
    /// A unified diff; empty without a difference.
    pub diff: String,
    /// Messages about types whose changes the diff does not show.
    pub without_diff: Vec<String>,
}

/// A resource whose change was previewed, as it was read.
#[derive(Clone, Debug)]
pub struct PreviewedInstance {
    /// The resource.
    pub reference: Arc<str>,
    /// All attributes that were read. Values of sensitive ones are marked as such.
    pub attributes: Attributes,
}

/// The changes that were previewed, and their effect. Later previews depend on earlier ones as
/// commits do.
struct Previewed {
    state: State,
    /// The changes, each with the instances of other resources that it removes.
    changes: Vec<(Change, Vec<Instance>)>,
}

/// The provider for one device and one run.
pub struct DriverProvider {
    driver: Driver,
    session: Box<dyn Session>,
    reconnect: Box<dyn Reconnect>,
    memory: Arc<dyn SecretDigestStore>,
    /// Resources that the run will read; empty after the first prefetch.
    expected: Vec<Arc<Desired>>,
    /// Resources of the first prefetch.
    announced: Vec<Arc<Desired>>,
    /// Attributes of resources that this device lacks.
    left_out: Vec<String>,
    /// Messages about attributes without an effect beside what the device has.
    ineffective: Vec<String>,
    /// Resources with values that are masked in saved answers.
    masked: BTreeSet<Arc<str>>,
    /// Types whose reads were sent.
    prefetched_types: HashSet<TypeName>,
    /// The state before the run.
    read: State,
    /// The state with the changes of the run.
    state: State,
    /// The previewed changes, until a change is committed.
    previewed: Mutex<Option<Previewed>>,
    /// The reads that were sent, each with its error if its last answer was none.
    sent_reads: HashMap<String, Option<ProviderError>>,
    /// Resources that this run set without a failure.
    applied: Vec<Arc<Desired>>,
    /// The device accepted at least one change in this run.
    changed: bool,
    /// The changes of which something was sent, each with the instances of other resources that it
    /// removed.
    committed: Vec<(Change, Vec<Instance>)>,
    /// What the run that is undone has left.
    left: Option<Box<dyn LeftState>>,
    /// The run undoes its own changes.
    undoes_run: bool,
    /// Resources that were retrieved and not yet committed.
    inspections: Mutex<HashMap<Arc<str>, Inspection>>,
    displaced: DisplacedInstances,
    staged: StagedChanges,
    disconnect: Option<Disconnect>,
    protection: Protection,
    /// Text that was not understood may be rewritten and removed.
    overwrite_unknown: bool,
    /// Changes of what the session uses are permitted.
    allow_own_path: bool,
    /// The configuration is read for changes whose difference needs it.
    shows_difference: bool,
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
            driver,
            session,
            reconnect,
            memory,
            expected: Vec::new(),
            announced: Vec::new(),
            left_out: Vec::new(),
            ineffective: Vec::new(),
            masked: BTreeSet::new(),
            prefetched_types: HashSet::default(),
            read: State::default(),
            state: State::default(),
            sent_reads: HashMap::default(),
            applied: Vec::new(),
            changed: false,
            committed: Vec::new(),
            left: None,
            undoes_run: false,
            previewed: Mutex::default(),
            inspections: Mutex::default(),
            displaced: DisplacedInstances::default(),
            staged: StagedChanges::default(),
            disconnect: None,
            protection: Protection::default(),
            overwrite_unknown: false,
            allow_own_path: false,
            shows_difference: false,
            proxy_addresses: None,
            closed_statistics: Statistics::default(),
        }
    }

    /// Permits changes that rewrite or remove text that was not understood.
    #[must_use]
    pub fn overwrite_unknown(mut self, permitted: bool) -> Self {
        self.overwrite_unknown = permitted;
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

    /// The configuration diff that these operations would cause, with secrets masked, and the types
    /// whose changes it does not show, with reasons. Pure.
    pub fn predicted_diff<'a>(
        &self,
        operations: impl IntoIterator<Item = (&'a TypeModel, &'a [Operation])>,
    ) -> PredictedDiff {
        let mut after = self.read.clone();
        let mut without_diff = Vec::new();
        for (model, operations) in operations {
            self.driver.predict(model, &mut after, operations);
            if let Err(reason) = self.driver.supports_diff(model, &self.read)
                && !operations.is_empty()
            {
                let message = format!("no difference shown for {}: {reason}", model.name);
                if !without_diff.contains(&message) {
                    without_diff.push(message);
                }
            }
        }
        PredictedDiff {
            diff: self.driver.config_diff(&self.read, &after),
            without_diff,
        }
    }

    /// The resources of all previewed changes as they were before.
    pub fn previewed_instances(&self) -> Vec<PreviewedInstance> {
        let previewed = self.previewed.lock();
        let previewed = previewed.unwrap_or_else(PoisonError::into_inner);
        let changes = previewed.iter().flat_map(|previewed| &previewed.changes);
        let instances = changes.filter_map(|(change, _)| {
            Some(PreviewedInstance {
                reference: Arc::clone(&change.desired.reference),
                attributes: change
                    .current
                    .as_ref()?
                    .with_secrets_marked(&change.desired.model),
            })
        });
        instances.collect()
    }

    /// The difference between the configuration before the run and the last one that was read, as a unified
    /// diff. Reads that the run did not repeat are left out.
    pub fn applied_diff(&self) -> String {
        let before = self.read.shared_with(&self.state);
        self.driver.config_diff(&before, &self.state)
    }

    /// Whether this run changed the device, also if a resource was applied only in part.
    pub fn has_changed(&self) -> bool {
        self.changed
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

    /// Messages about attributes that are left out because this device lacks them.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Messages about declared attributes that have no effect beside what the device has.
    pub fn ineffective(&self) -> &[String] {
        &self.ineffective
    }

    /// A message about values that were not compared, because saved answers have them masked.
    pub fn not_compared(&self) -> Option<String> {
        let names: Vec<&str> = self.masked.iter().map(AsRef::as_ref).collect();
        let message = format!(
            "secrets are masked in the saved answers and were not compared: {}",
            names.join(", ")
        );
        (!names.is_empty()).then_some(message)
    }

    /// Messages for the user about how the session was opened.
    pub fn notes(&self) -> Vec<String> {
        self.session.notes()
    }
}

#[async_trait]
impl Provider for DriverProvider {
    fn name(&self) -> &str {
        &self.driver.platform().name
    }

    fn expect(&mut self, resources: Vec<Arc<Desired>>) {
        // A preview of the run has read everything. The run uses the same state.
        if self.prefetched_types.is_empty() {
            self.expected = resources;
        }
        let previewed = self.previewed.get_mut();
        *previewed.unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType> {
        self.driver.supports(model)
    }

    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        self.driver
            .canonicalize(model, attributes)
            .map_err(|mut errors| errors.remove(0))
    }

    fn in_sync(&self, desired: &Desired, property: &str, _: &Value) -> Option<bool> {
        let all = self.inspections();
        let inspection = all.get(&desired.reference)?;
        Some(!inspection.differs.iter().any(|name| name == property))
    }

    fn rendered_forms(&self, desired: &Desired) -> Attributes {
        let all = self.inspections();
        let current = all
            .get(&desired.reference)
            .and_then(|one| one.current.as_ref());
        current.map_or_else(Attributes::default, |current| current.hashed.clone())
    }

    fn equals_stored(&self, stored: &Desired, current: &Instance, property: &str) -> Option<bool> {
        stored.model.attributes.get(property)?;
        let memory = self.memory.as_ref();
        let differs = self.driver.differs(stored, Some(current), memory);
        Some(!differs.iter().any(|name| name == property))
    }

    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Desired],
    ) -> Result<(), ProviderError> {
        // The first prefetch reads for all announced resources; a later one, for a type that was
        // not announced.
        if !self.expected.is_empty() {
            let expected = std::mem::take(&mut self.expected);
            let desired: Vec<&Desired> = expected.iter().map(Arc::as_ref).collect();
            for desired in &desired {
                let problems = self.driver.left_out(desired).into_iter();
                self.left_out.extend(problems.map(|problem| {
                    let (attribute, message) = (problem.attribute, problem.message);
                    format!("{}: {attribute} {message}", desired.reference)
                }));
            }
            let requests = self.driver.reads_for(&desired);
            self.read_into_state(requests).await?;
            self.prefetched_types
                .extend(expected.iter().map(|desired| desired.model.name.clone()));
            self.announced = expected;
        }
        if self.prefetched_types.insert(model.name.clone()) {
            self.read_into_state(self.driver.reads_for(resources))
                .await?;
        }
        self.check_failed_reads(model)
    }

    async fn retrieve(
        &mut self,
        desired: &Desired,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError> {
        if let Some(disconnect) = &self.disconnect {
            return Err(disconnect.error());
        }
        let inspection = self.with_unread(desired, self.inspect(desired)?);
        if !inspection.differs.is_empty()
            && let Some(reserved) = self.driver.reserved(desired)
        {
            return Err(ProviderError::new(
                ProviderErrorKind::Refused,
                format!("cannot change it: {}", reserved.message),
            ));
        }
        self.check_writable(desired, &inspection)?;
        self.check_left(desired, &inspection).await?;
        self.check_own_path(desired, &inspection).await?;
        self.check_not_understood(desired, &inspection)?;
        if !inspection.differs.is_empty() {
            self.read_for_difference(&desired.model).await?;
        }
        self.note_ineffective(desired, &inspection);
        if !inspection.masked.is_empty() {
            self.masked.insert(Arc::clone(&desired.reference));
        }
        let attributes = inspection.values(properties);
        self.inspections()
            .insert(desired.reference.clone(), inspection);
        Ok(attributes)
    }

    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        let supported = self.driver.supports(model);
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
        self.driver.wider_names(model, names)
    }

    fn displaced(&self, change: &Change) -> Vec<Instance> {
        self.driver.displaced(&self.resolved(change), &self.state)
    }

    fn preview(&self, change: &Change) -> Result<Vec<Operation>, ProviderError> {
        let change = self.resolved(change);
        let mut previewed = self
            .previewed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let previewed = previewed.get_or_insert_with(|| Previewed {
            state: self.state.clone(),
            changes: Vec::new(),
        });
        let state = &mut previewed.state;
        let mut operations = self.render(&change, state)?;
        if let Some(Action::Line(line)) = operations.first_mut().map(|first| &mut first.action)
            && line.warning.is_none()
        {
            line.warning = self.missing(&change.desired, state);
        }
        let displaced = self.driver.displaced(&change, state);
        self.driver
            .predict(&change.desired.model, state, &operations);
        previewed.changes.push((change, displaced));
        Ok(operations)
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
