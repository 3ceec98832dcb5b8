//! The provider for a real device: a driver decides what to send, a session sends it.
//!
//! The first prefetch reads everything that the run needs. Afterwards the state in memory follows
//! the commands that were sent. If the connection breaks in a change, the device is read once
//! more, so that each attribute is reported as done or not applied.

mod displaced;
mod not_understood;
mod spared;
mod unknown_outcome;
mod verify;

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use foldhash::{HashMap, HashSet};

use self::displaced::DisplacedInstances;
use self::unknown_outcome::{Disconnect, render_operation};
use super::{CommitResult, Difference, Note, Provider, ProviderError, ProviderErrorKind};
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::driver::{Driver, SecretHistory, UnsupportedType};
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::names::TypeName;
use crate::operation::{Action, Operation, OperationResult, Outcome};
use crate::read::{CONFIG, ReadRequest, Reads, State};
use crate::session::{Session, SessionError, Statistics};
use crate::value::{Attributes, Name, Value};

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

/// The provider for one device and one run.
pub struct DriverProvider {
    driver: Driver,
    session: Box<dyn Session>,
    reconnect: Box<dyn Reconnect>,
    memory: Arc<dyn SecretDigestStore>,
    /// Resources that the run will read; empty after the first prefetch.
    expected: Vec<Arc<Desired>>,
    /// Attributes of resources that this device lacks.
    left_out: Vec<String>,
    /// Types whose reads were sent.
    prefetched_types: HashSet<TypeName>,
    /// The state before the run.
    read: State,
    /// The state with the changes of the run.
    state: State,
    /// The state with the previewed changes, until a change is committed. Later previews depend on
    /// earlier ones as commits do.
    previewed: Mutex<Option<State>>,
    /// The reads that were sent, each with its error if its last answer was none.
    sent_reads: HashMap<String, Option<ProviderError>>,
    /// Resources that this run set without a failure.
    applied: Vec<Arc<Desired>>,
    /// The device accepted at least one change in this run.
    changed: bool,
    /// Resources that were retrieved and not yet committed.
    inspections: Mutex<HashMap<Arc<str>, Inspection>>,
    displaced: DisplacedInstances,
    disconnect: Option<Disconnect>,
    /// Text that was not understood may be rewritten and removed.
    overwrite_unknown: bool,
    /// Statistics of closed sessions.
    closed_statistics: Statistics,
}

/// The comparison of a resource with the state.
#[derive(Clone)]
struct Inspection {
    /// The resource with device-dependent values resolved, if it has any.
    resolved: Option<Arc<Desired>>,
    current: Option<Arc<Instance>>,
    differs: Vec<Name>,
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
            left_out: Vec::new(),
            prefetched_types: HashSet::default(),
            read: State::default(),
            state: State::default(),
            sent_reads: HashMap::default(),
            applied: Vec::new(),
            changed: false,
            previewed: Mutex::default(),
            inspections: Mutex::default(),
            displaced: DisplacedInstances::default(),
            disconnect: None,
            overwrite_unknown: false,
            closed_statistics: Statistics::default(),
        }
    }

    /// Permits changes that rewrite or remove text that was not understood.
    #[must_use]
    pub fn overwrite_unknown(mut self, permitted: bool) -> Self {
        self.overwrite_unknown = permitted;
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

    /// Messages for the user about how the session was opened.
    pub fn notes(&self) -> Vec<String> {
        self.session.notes()
    }

    /// Sends the reads and parses the answers. A failed read fails only the types that need it:
    /// call [`check_failed_reads`](Self::check_failed_reads) for each.
    async fn read_state(&mut self, requests: Vec<ReadRequest>) -> Result<State, ProviderError> {
        if let Some(disconnect) = self
            .disconnect
            .as_ref()
            .filter(|disconnect| !disconnect.is_readable)
        {
            return Err(disconnect.error());
        }
        let names = || requests.iter().map(|request| request.name.as_str());
        tracing::debug!(
            reads = names().collect::<Vec<_>>().join(" "),
            "reading from the device"
        );
        let mut reads = Reads::default();
        match self.session.read(&requests).await {
            Ok(texts) => {
                for (request, text) in requests.into_iter().zip(texts) {
                    self.sent_reads.insert(request.name.clone(), None);
                    reads.insert(request.name, text);
                }
            }
            Err(error) if error.is_refusal() => {
                for request in requests {
                    let answer = self.session.read(std::slice::from_ref(&request)).await;
                    let refused = match answer {
                        Ok(mut texts) => {
                            reads.insert(request.name.clone(), texts.pop().unwrap_or_default());
                            None
                        }
                        Err(error) if error.is_refusal() => {
                            Some(ProviderError::failed(error.kind.to_string()))
                        }
                        Err(error) => return Err(self.mark_lost(&error)),
                    };
                    self.sent_reads.insert(request.name, refused);
                }
            }
            Err(error) => return Err(self.mark_lost(&error)),
        }
        let (state, errors) = self.driver.platform().parse_answers(&reads, &self.state);
        for error in errors {
            let failed = ProviderError::failed(error.to_string());
            self.sent_reads.insert(error.read, Some(failed));
        }
        Ok(state)
    }

    /// Reads, and adds the answers to the state.
    async fn read_into_state(&mut self, requests: Vec<ReadRequest>) -> Result<(), ProviderError> {
        let read = self.read_state(requests).await?;
        self.state.extend(read.clone());
        self.read.extend(read);
        Ok(())
    }

    /// All instances of a type. Reads what was not read before.
    async fn read_instances(
        &mut self,
        model: &Arc<TypeModel>,
    ) -> Result<Vec<Instance>, ProviderError> {
        let all = self.driver.reads(&[model]);
        let missing = all
            .into_iter()
            .filter(|request| !self.sent_reads.contains_key(&request.name));
        self.read_into_state(missing.collect()).await?;
        self.check_failed_reads(model)?;
        self.driver
            .instances(model, &self.state)
            .map_err(|error| ProviderError::failed(error.to_string()))
    }

    /// Fails if a read failed that the type needs.
    fn check_failed_reads(&self, model: &Arc<TypeModel>) -> Result<(), ProviderError> {
        let refused = |name: &str| self.sent_reads.get(name).cloned().flatten();
        let mut requests = self.driver.reads(&[model]).into_iter();
        requests
            .find_map(|request| refused(&request.name))
            .map_or(Ok(()), Err)
    }

    /// Compares a resource with the state.
    fn inspect(&self, desired: &Desired) -> Result<Inspection, ProviderError> {
        let current = self
            .driver
            .instance(desired, &self.state)
            .map_err(|error| ProviderError::failed(error.to_string()))?;
        let current = current.or_else(|| self.displaced.get(desired).cloned());
        let desired = self.driver.resolve(desired, current.as_ref());
        let differs = self
            .driver
            .differs(&desired, current.as_ref(), self.memory.as_ref());
        let resolved = match desired {
            Cow::Borrowed(_) => None,
            Cow::Owned(resolved) => Some(Arc::new(resolved)),
        };
        Ok(Inspection {
            resolved,
            current: current.map(Arc::new),
            differs,
        })
    }

    fn inspections(&self) -> MutexGuard<'_, HashMap<Arc<str>, Inspection>> {
        self.inspections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The change with device-dependent values resolved.
    fn resolved(&self, change: &Change) -> Change {
        match self.inspections().get(&change.desired.reference) {
            Some(inspection) => Change {
                desired: Arc::clone(inspection.resolved.as_ref().unwrap_or(&change.desired)),
                current: inspection.current.as_deref().cloned(),
                attributes: change.attributes.clone(),
                kind: change.kind,
            },
            None => change.clone(),
        }
    }

    /// The operations of a change. A removal inside a block that the run has removed sends nothing:
    /// the line that enters the block would create it again.
    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, ProviderError> {
        let operations = self.driver.render(change, state);
        let operations = operations.map_err(|error| ProviderError::failed(error.to_string()))?;
        let has_block = |state: &State, header: &str| {
            let mut nodes = state.tree(CONFIG).into_iter().flat_map(|tree| &tree.nodes);
            nodes.any(|node| node.text.eq_ignore_ascii_case(header))
        };
        let is_inside_removed = |operation: &Operation| match &operation.action {
            Action::Line(line) => line.mode.first().is_some_and(|header| {
                let header = header.reveal();
                has_block(&self.read, &header) && !has_block(state, &header)
            }),
            Action::Request(_) => false,
        };
        if change.kind == ChangeKind::Remove && operations.iter().all(is_inside_removed) {
            return Ok(Vec::new());
        }
        Ok(operations)
    }

    /// Stores digests of the secrets that this change set.
    fn remember(&self, change: &Change, committed: &CommitResult) {
        if change.desired.is_absent() {
            return;
        }
        let failed = |name: &str| {
            committed
                .attributes
                .iter()
                .any(|(attr, outcome)| attr == name && outcome.is_err())
        };
        if failed("ensure") {
            return;
        }
        for (name, value) in &change.desired.attributes {
            let changed = change.is_create_or_remove() || change.attributes.contains(name);
            if matches!(value, Value::Sensitive(_)) && changed && !failed(name) {
                self.memory.remember(&change.desired.reference, name, value);
            }
        }
    }
}

#[async_trait]
impl Provider for DriverProvider {
    fn name(&self) -> &str {
        &self.driver.platform().name
    }

    fn expect(&mut self, resources: Vec<Arc<Desired>>) {
        self.expected = resources;
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
        let inspection = self.inspect(desired)?;
        if !inspection.differs.is_empty()
            && let Some(reserved) = self.driver.reserved(desired)
        {
            return Err(ProviderError::new(
                ProviderErrorKind::Refused,
                format!("cannot change it: {}", reserved.message),
            ));
        }
        self.check_not_understood(desired, &inspection)?;
        let mut attributes = Attributes::default();
        for property in properties {
            let value = match (*property, &inspection.current) {
                ("ensure", Some(_)) => Value::Symbol("present".to_owned()),
                ("ensure", None) => Value::Symbol("absent".to_owned()),
                (name, Some(current)) => current
                    .attributes
                    .get(name)
                    .cloned()
                    .unwrap_or(Value::Absent),
                (_, None) => Value::Absent,
            };
            attributes.insert((*property).to_owned(), value);
        }
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

    fn displaced(&self, change: &Change) -> Vec<Instance> {
        self.driver.displaced(&self.resolved(change), &self.state)
    }

    fn preview(&self, change: &Change) -> Result<Vec<Operation>, ProviderError> {
        let change = self.resolved(change);
        let mut previewed = self
            .previewed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let state = previewed.get_or_insert_with(|| self.state.clone());
        let operations = self.render(&change, state)?;
        self.driver
            .predict(&change.desired.model, state, &operations);
        Ok(operations)
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        let change = self.resolved(change);
        let failed = |error: ProviderError| CommitResult {
            attributes: change
                .reported_attributes()
                .map(|name| (name, Err(error.clone())))
                .collect(),
            ..CommitResult::default()
        };
        if let Some(disconnect) = &self.disconnect {
            return failed(disconnect.error());
        }
        let operations = match self.render(&change, &self.state) {
            Ok(operations) => operations,
            Err(error) => return failed(error),
        };
        tracing::debug!(
            resource = &*change.desired.reference,
            kind = ?change.kind,
            operations = operations.len(),
            "changing the device"
        );
        *self
            .previewed
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner) = None;
        let displaced = self.driver.displaced(&change, &self.state);
        let results = self.session.commit(&operations).await;
        let (mut done, mut notes) = (Vec::new(), Vec::new());
        for (operation, result) in operations.iter().zip(&results) {
            if let Outcome::Done { messages } = &result.outcome {
                done.push(operation.clone());
                let warnings = messages.iter().map(|line| {
                    format!(
                        "the device answered `{}`: {line}",
                        render_operation(operation)
                    )
                });
                notes.extend(warnings.map(Note::warning));
                notes.extend(operation.warning().map(Note::warning));
            }
        }
        self.changed |= !done.is_empty();
        self.driver
            .predict(&change.desired.model, &mut self.state, &done);
        let sent: Vec<(Operation, OperationResult)> = operations.into_iter().zip(results).collect();
        let mut committed = CommitResult::from_operations(&change, sent);
        committed.notes = notes;
        self.reconcile_unknown(&change, &mut committed).await;
        self.record_displaced(&change, displaced);
        self.remember(&change, &committed);
        if committed
            .attributes
            .iter()
            .all(|(_, outcome)| outcome.is_ok())
        {
            self.applied.push(Arc::clone(&change.desired));
        }
        self.inspections().remove(&change.desired.reference);
        committed
    }

    async fn refresh(&mut self, desired: &Desired) -> Option<CommitResult> {
        if !self.driver.has_refresh(&desired.model) {
            return None;
        }
        let failed = |error: ProviderError| {
            Some(CommitResult {
                failure: Some(error),
                ..CommitResult::default()
            })
        };
        if let Some(disconnect) = &self.disconnect {
            return failed(disconnect.error());
        }
        let current = self.driver.instance(desired, &self.state).ok().flatten();
        let operations = match self.driver.refresh(desired, current.as_ref()) {
            Ok(operations) => operations,
            Err(error) => return failed(ProviderError::failed(error.to_string())),
        };
        let results = self.session.commit(&operations).await;
        let failure = results.iter().find_map(ProviderError::from_result);
        Some(CommitResult {
            operations: operations.into_iter().zip(results).collect(),
            failure,
            ..CommitResult::default()
        })
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
