//! Brings properties that are out of sync into sync, or reports them (`docs/reference/transaction.md`,
//! section 9).
//!
//! Events get their outcome from the answer of the device.

use std::sync::Arc;

use switchtender_devices::change::Change;
use switchtender_devices::model::{ArrayKind, Role, ValueSpec};
use switchtender_devices::provider::{
    CommitResult, Note, NoteLevel, ProviderError, ProviderErrorKind,
};
use switchtender_devices::value::{Name, Value};

use crate::catalog::Level;
use crate::catalog::node::NodeId;
use crate::catalog::resource::Resource;
use crate::catalog::types::ValueStyle;
use crate::compat::Deviation;
use crate::graph::VertexId;

use super::command_record::CommandRecord;
use super::evaluate::{Evaluation, is_absent};
use super::event::{Event, EventStatus, LogEntry, LogKind, OperationRecord, RunEvent};
use super::property_event::OutOfSync;
use super::run::Transaction;

/// What is left after the properties of a resource were compared.
pub(super) enum SyncStep {
    /// Nothing: they are in sync, or their events are out.
    Ended(SyncResult),
    /// The change waits for others, and with it the events of these properties.
    Staged(Vec<OutOfSync>),
}

impl From<ProviderError> for SyncStep {
    fn from(error: ProviderError) -> Self {
        SyncStep::Ended(SyncResult {
            failure: Some(error),
            ..SyncResult::default()
        })
    }
}

/// The part of a change's result that is reported after its properties.
#[derive(Default)]
pub(super) struct SyncResult {
    pub(crate) notes: Vec<Note>,
    /// The change failed as a unit.
    pub(crate) failure: Option<ProviderError>,
}

/// Values that count as in sync.
#[derive(Clone, Copy)]
pub(super) enum Expected<'a> {
    /// From the catalog.
    Desired(&'a [Value]),
    /// From the history of the last run.
    Stored(&'a [Value]),
}

impl Transaction<'_> {
    /// Handles all properties that are out of sync.
    pub(super) async fn bring_into_sync(&mut self, evaluation: &Evaluation) -> SyncStep {
        let in_sync = || SyncStep::Ended(SyncResult::default());
        let resource = &evaluation.resource;
        let ensure = resource
            .model()
            .attributes
            .get_key_value("ensure")
            .and_then(|(name, _)| self.out_of_sync(evaluation, name));
        let properties: Vec<OutOfSync> = match ensure {
            Some(ensure) => vec![ensure],
            None if evaluation.current.get("ensure").is_some_and(is_absent) => {
                if self.deviations.has(Deviation::SilentErrorsWarn) && evaluation.lacks_ensure() {
                    let message = "it does not exist and has no `ensure`: nothing is managed";
                    self.log_vertex(evaluation.id, Level::Warning, message);
                } else {
                    let message = "Nothing to manage: no ensure and the resource doesn't exist";
                    self.log_vertex(evaluation.id, Level::Debug, message);
                }
                return in_sync();
            }
            None => resource
                .properties()
                .filter(|(name, _)| *name != "ensure")
                .filter_map(|(name, _)| self.out_of_sync(evaluation, name))
                .collect(),
        };
        if properties.is_empty() {
            return in_sync();
        }
        let change = change(evaluation, &properties);
        if let Err(error) = self.check_displaced(evaluation, &change).await {
            return error.into();
        }
        if let Err(error) = self.check_bound(evaluation, &change).await {
            return error.into();
        }
        if self.is_noop(evaluation.node) {
            if let Err(error) = self.preview(evaluation, &change) {
                return self.reject(evaluation, &properties, error);
            }
            for property in &properties {
                let event = self.noop_event(evaluation, property);
                self.record(evaluation, event);
            }
            return in_sync();
        }
        if needs_provider(resource, &change) {
            match self.stage(evaluation, &change).await {
                Ok(true) => return SyncStep::Staged(properties),
                Ok(false) => {}
                Err(error) => return self.reject(evaluation, &properties, error),
            }
        }
        let committed = self.commit(evaluation, change, &properties).await;
        SyncStep::Ended(self.emit_outcomes(evaluation, &properties, committed))
    }

    /// A property's difference, if it has one.
    pub(super) fn out_of_sync(&self, evaluation: &Evaluation, name: &Name) -> Option<OutOfSync> {
        let resource = &evaluation.resource;
        let property = resource.property(name)?;
        let expected = Expected::Desired(property.desired?);
        let desired = resource.desired(name)?;
        let current = evaluation.current.get(name)?;
        if self.in_sync(evaluation, name, current, expected) {
            return None;
        }
        if !self.deviations.has(Deviation::FalseIsEnforced) && is_ignored(resource, name, &desired)
        {
            return None;
        }
        if !self.deviations.has(Deviation::ListOrderIsCompared)
            && differs_in_order_only(resource, name, current, &desired)
        {
            return None;
        }
        let desired = self.event_value(resource, desired.into_owned());
        let mut property = OutOfSync {
            name: name.clone(),
            current: current.clone(),
            desired,
            sensitive: property.sensitive,
            refusal: None,
        };
        property.refusal = self.init_only_refusal(resource, &property);
        Some(property)
    }

    /// A desired value in the form of events.
    pub(super) fn event_value(&self, resource: &Resource, desired: Value) -> Value {
        match desired {
            Value::Bool(truth)
                if resource.ty.is_resource_api()
                    && !self.deviations.has(Deviation::ResourceApiBooleansAlike) =>
            {
                Value::Symbol(truth.to_string())
            }
            other => other,
        }
    }

    /// The reason why an init-only attribute of an existing instance cannot change.
    fn init_only_refusal(&self, resource: &Resource, property: &OutOfSync) -> Option<String> {
        let attribute = resource.model().attributes.get(&property.name)?;
        if attribute.role != Role::InitOnly
            || matches!(property.current, Value::Undef | Value::Absent)
            || !self.deviations.has(Deviation::InitOnlyIsChecked)
        {
            return None;
        }
        Some(format!(
            "Attempting to change `{}` init_only attribute value from `{}` to `{}`",
            property.name,
            property.render(&property.current),
            property.render(&property.desired)
        ))
    }

    /// Whether a current value is one of the expected ones.
    pub(super) fn in_sync(
        &self,
        evaluation: &Evaluation,
        name: &str,
        current: &Value,
        expected: Expected<'_>,
    ) -> bool {
        let resource = &evaluation.resource;
        let behavior = &resource.ty.behavior;
        let (Expected::Desired(values) | Expected::Stored(values)) = expected;
        let is_desired = matches!(expected, Expected::Desired(_));
        if let Some(answer) = behavior.in_sync(resource, name, current, values) {
            return answer;
        }
        if is_desired
            && let Some(answer) = self.provider.in_sync(&evaluation.desired, name, current)
        {
            return answer;
        }
        let current = current.unwrap_sensitive();
        if name == "ensure"
            && behavior.values() != ValueStyle::Classic
            && let Some(value) = values.first()
        {
            // Symbols and strings of the same text are equal.
            return match (is_absent(current), is_absent(value)) {
                (false, false) => current.as_str() == value.as_str(),
                (current, desired) => current == desired,
            };
        }
        match behavior.values() {
            ValueStyle::Classic if values.is_empty() => {
                // Puppet ignores a desired empty list.
                let empty = match current {
                    Value::List(items) => items.is_empty(),
                    other => matches!(other, Value::Absent | Value::Undef),
                };
                empty
                    || !resource.wants_all(name)
                    || !is_desired
                    || !self.deviations.has(Deviation::FalseIsEnforced)
            }
            ValueStyle::Classic if resource.wants_all(name) => current.matches_list(values),
            ValueStyle::Classic => values.iter().any(|value| current.matches(value)),
            ValueStyle::ResourceApi => values
                .first()
                .is_none_or(|value| current.matches(value.unwrap_sensitive())),
            ValueStyle::Canonical => values
                .first()
                .is_none_or(|value| current.equals(value.unwrap_sensitive())),
        }
    }

    /// Emits the operations that a run without noop would send.
    ///
    /// # Errors
    /// The change cannot be written as operations.
    fn preview(&mut self, evaluation: &Evaluation, change: &Change) -> Result<(), ProviderError> {
        if !needs_provider(&evaluation.resource, change) {
            return Ok(());
        }
        match self.provider.preview(change) {
            Ok(operations) => {
                let records = operations
                    .into_iter()
                    .map(|operation| OperationRecord {
                        operation,
                        result: None,
                    })
                    .collect();
                self.emit_operations(evaluation.id, evaluation.node, records);
            }
            // An earlier change may create the object.
            Err(error) if error.kind == ProviderErrorKind::LacksObject => self.log_vertex(
                evaluation.id,
                Level::Warning,
                format!("cannot preview the commands: {error}"),
            ),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Emits operations of a resource and adds them to its status.
    pub(super) fn emit_operations(
        &mut self,
        id: VertexId,
        node: NodeId,
        records: Vec<OperationRecord>,
    ) {
        if records.is_empty() {
            return;
        }
        let commands: Arc<[CommandRecord]> = records.iter().map(CommandRecord::new).collect();
        if let Some(status) = self.status_mut(id) {
            status.operations = if status.operations.is_empty() {
                Arc::clone(&commands)
            } else {
                let all = status.operations.iter().chain(commands.iter());
                all.cloned().collect()
            };
        }
        self.sink.emit(RunEvent::Operations {
            reference: self.resources.node(node).reference.clone(),
            operations: records.into(),
            commands,
        });
    }

    async fn commit(
        &mut self,
        evaluation: &Evaluation,
        change: Change,
        properties: &[OutOfSync],
    ) -> CommitResult {
        let resource = &evaluation.resource;
        if let Some(message) = resource.ty.behavior.message(resource) {
            let level = self.log_level(evaluation);
            let text = if properties.iter().any(|property| property.sensitive) {
                "Sensitive [value redacted]".to_owned()
            } else {
                message.text
            };
            if message.with_path {
                self.log_property(evaluation.id, "message", level, text);
            } else {
                self.log(level, text);
            }
            return CommitResult::default();
        }
        if !needs_provider(resource, &change) {
            return CommitResult::default();
        }
        let committed = self.provider.commit(&change).await;
        self.report_operations(evaluation, committed)
    }

    /// Emits the operations of a change with their results.
    pub(super) fn report_operations(
        &mut self,
        evaluation: &Evaluation,
        mut committed: CommitResult,
    ) -> CommitResult {
        let records = std::mem::take(&mut committed.operations)
            .into_iter()
            .map(|(operation, result)| OperationRecord {
                operation,
                result: Some((result.outcome, result.duration)),
            })
            .collect();
        self.emit_operations(evaluation.id, evaluation.node, records);
        if evaluation.resource.ty.is_resource_api() {
            self.hide_outcomes_as_resource_api(&mut committed);
        }
        committed
    }

    /// Puppet's Resource API reports success before it reports a failure.
    pub(super) fn hide_outcomes_as_resource_api(&self, committed: &mut CommitResult) {
        let failed = committed
            .attributes
            .iter()
            .find_map(|(_, outcome)| outcome.as_ref().err().cloned());
        if let Some(failed) = failed
            && !self.deviations.has(Deviation::OutcomeBeforeEvent)
        {
            committed.attributes.clear();
            committed.failure.get_or_insert(failed);
        }
    }

    /// Emits the events of a change with their outcomes.
    pub(super) fn emit_outcomes(
        &mut self,
        evaluation: &Evaluation,
        properties: &[OutOfSync],
        committed: CommitResult,
    ) -> SyncResult {
        for property in properties {
            let outcome = match &property.refusal {
                Some(reason) => Err(ProviderError::new(
                    ProviderErrorKind::Refused,
                    reason.clone(),
                )),
                None => committed
                    .attributes
                    .iter()
                    .find(|(name, _)| *name == property.name)
                    .map_or(Ok(()), |(_, outcome)| outcome.clone()),
            };
            let event = match outcome {
                Ok(()) => self.success_event(evaluation, property),
                Err(error) => self.failure_event(evaluation, property, &error),
            };
            self.record(evaluation, event);
        }
        SyncResult {
            notes: committed.notes,
            failure: committed.failure,
        }
    }

    /// Logs the provider's notes about a change.
    pub(super) fn log_notes(&mut self, id: VertexId, notes: Vec<Note>) {
        for note in notes {
            let level = match note.level {
                NoteLevel::Notice => Level::Notice,
                NoteLevel::Warning => Level::Warning,
                NoteLevel::Error => Level::Err,
            };
            if note.about_resource {
                self.log_vertex(id, level, note.message);
            } else {
                self.log(level, note.message);
            }
        }
    }

    /// Adds an event to the status and logs it.
    pub(super) fn record(&mut self, evaluation: &Evaluation, event: Event) {
        let level = match event.status {
            EventStatus::Failure => Level::Err,
            _ => self.log_level(evaluation),
        };
        let property = event.property.clone();
        let message = event.message.clone().unwrap_or_default();
        let kind = LogKind::of_event(&event);
        if let Some(status) = self.status_mut(evaluation.id) {
            status.add(event);
        }
        let property = property.as_deref().unwrap_or_default();
        let entry = self.property_entry(evaluation.id, property, level, message);
        self.sink.emit(LogEntry { kind, ..entry }.into());
    }

    /// The level of messages about changes: the resource's `loglevel`, otherwise notice.
    fn log_level(&self, evaluation: &Evaluation) -> Level {
        let meta = self.resources.node(evaluation.node).meta();
        meta.level.unwrap_or(Level::Notice)
    }
}

/// Whether Puppet ignores a desired value: it cannot distinguish `false`, or an empty list, from no
/// desired value. Allowed values become symbols, which it distinguishes.
fn is_ignored(resource: &Resource, name: &str, desired: &Value) -> bool {
    if resource.ty.is_resource_api() {
        return false;
    }
    let attribute = resource.model().attributes.get(name);
    let is_allowed = |value: &Value| {
        attribute.is_some_and(|attribute| {
            let mut specs = attribute.values.iter();
            specs.any(|spec| matches!(spec, ValueSpec::Literal(literal) if literal == value))
        })
    };
    match desired {
        Value::Bool(false) => {
            resource.ty.behavior.values() == ValueStyle::Classic || !is_allowed(desired)
        }
        // Classic types compare lists by themselves.
        Value::List(items) => {
            items.is_empty() && resource.ty.behavior.values() == ValueStyle::Canonical
        }
        _ => false,
    }
}

/// Whether a change reaches the device.
fn needs_provider(resource: &Resource, change: &Change) -> bool {
    let behavior = &resource.ty.behavior;
    behavior.message(resource).is_none()
        && !behavior.is_providerless()
        && (!change.attributes.is_empty() || change.is_create_or_remove())
}

/// The change that brings these properties into sync.
fn change(evaluation: &Evaluation, properties: &[OutOfSync]) -> Change {
    let differing = properties
        .iter()
        .filter(|property| property.refusal.is_none())
        .map(|property| property.name.clone())
        .collect();
    Change::new(
        Arc::clone(&evaluation.desired),
        evaluation.instance(),
        differing,
    )
}

/// Whether two lists have the same elements, where the model compares their order.
fn differs_in_order_only(
    resource: &Resource,
    name: &str,
    current: &Value,
    desired: &Value,
) -> bool {
    let Some(attribute) = resource.model().attributes.get(name) else {
        return false;
    };
    let (Some(current), Some(desired)) = (current.as_list(), desired.as_list()) else {
        return false;
    };
    attribute.array == Some(ArrayKind::Sequence)
        && current.len() == desired.len()
        && current.iter().all(|element| desired.contains(element))
}
