//! Properties that are not as they are wanted: told, or brought into sync (`docs/transaction.md`,
//! section 9).
//!
//! Events are made before the change and get their outcome after it: what they say is what the
//! device answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::change::{Change, Instance, Wanted};
use switchtender_devices::model::Role;
use switchtender_devices::provider::{
    CommitResult, Note, NoteLevel, ProviderError, ProviderErrorKind,
};
use switchtender_devices::value::{Attributes, Name, Value};

use crate::catalog::Level;
use crate::catalog::resource::{NodeId, Resource};
use crate::catalog::types::Values;
use crate::compat::Deviation;
use crate::graph::VertexId;

use super::evaluate::is_absent;
use super::event::{Event, EventStatus, OperationRecord, RunEvent};
use super::history::Stored;
use super::property_event::{OutOfSync, shown};
use super::run::Run;

/// What remains to be told of a change when its properties were.
#[derive(Default)]
pub(super) struct Flushed {
    pub notes: Vec<Note>,
    /// The change failed as a whole.
    pub failure: Option<ProviderError>,
}

impl Run<'_> {
    /// Handles everything that is out of sync; what is to be told of the change as a whole is
    /// returned.
    pub(super) async fn bring_into_sync(
        &mut self,
        id: VertexId,
        node: NodeId,
        resource: &Arc<Resource>,
        wanted: &Arc<Wanted>,
        current: &Attributes,
        recorded: &BTreeMap<String, Stored>,
    ) -> Flushed {
        let ensure = resource.model().attributes.get_key_value("ensure");
        let ensure = ensure.and_then(|(name, _)| self.out_of_sync(resource, wanted, name, current));
        let properties: Vec<OutOfSync> = match ensure {
            Some(ensure) => vec![ensure],
            None if current.get("ensure").is_some_and(is_absent) => {
                self.say_of(
                    id,
                    Level::Debug,
                    "Nothing to manage: no ensure and the resource doesn't exist",
                );
                return Flushed::default();
            }
            None => resource
                .properties()
                .filter(|(name, _)| *name != "ensure")
                .filter_map(|(name, _)| self.out_of_sync(resource, wanted, name, current))
                .collect(),
        };
        if properties.is_empty() {
            return Flushed::default();
        }
        let change = change(wanted, current, &properties);
        if self.is_noop(node) {
            // What needs no provider sends nothing.
            if !resource.ty.behaviour.providerless() {
                self.preview(id, node, resource, &change);
            }
            for property in &properties {
                let event = self.noop_event(node, resource, property, recorded);
                self.record(id, node, event);
            }
            return Flushed::default();
        }
        let committed = self.commit(id, node, resource, change, &properties).await;
        self.tell(id, node, resource, &properties, recorded, committed)
    }

    /// A property's difference, if it has one.
    fn out_of_sync(
        &self,
        resource: &Resource,
        wanted: &Wanted,
        name: &Name,
        current: &Attributes,
    ) -> Option<OutOfSync> {
        let property = resource.property(name)?;
        let values = property.wanted?;
        let plain = resource.wanted(name)?;
        let current_value = current.get(name)?;
        if self.in_sync(resource, Some(wanted), name, current_value, values) {
            return None;
        }
        // Puppet cannot tell a wanted false from nothing wanted.
        if resource.ty.behaviour.values() == Values::Classic
            && *plain == Value::Bool(false)
            && !self.deviations.has(Deviation::FalseIsEnforced)
        {
            return None;
        }
        let desired = self.desired(resource, plain.into_owned());
        Some(OutOfSync {
            refused: self.refused_init_only(resource, name, current, &desired, property.sensitive),
            name: name.clone(),
            current: current_value.clone(),
            desired,
            sensitive: property.sensitive,
        })
    }

    /// A wanted value as events tell it.
    pub(super) fn desired(&self, resource: &Resource, wanted: Value) -> Value {
        match wanted {
            Value::Bool(truth)
                if resource.ty.behaviour.values() == Values::ResourceApi
                    && !self.deviations.has(Deviation::ResourceApiBooleansAlike) =>
            {
                Value::Symbol(truth.to_string())
            }
            other => other,
        }
    }

    /// Why an init-only attribute of something that exists stays as it is.
    fn refused_init_only(
        &self,
        resource: &Resource,
        name: &str,
        current: &Attributes,
        desired: &Value,
        sensitive: bool,
    ) -> Option<String> {
        let attribute = resource.model().attributes.get(name)?;
        let value = current.get(name)?;
        if attribute.role != Role::InitOnly
            || matches!(value, Value::Undef | Value::Absent)
            || !self.deviations.has(Deviation::InitOnlyIsChecked)
        {
            return None;
        }
        Some(format!(
            "Attempting to change `{name}` init_only attribute value from `{}` to `{}`",
            shown(value, sensitive),
            shown(desired, sensitive)
        ))
    }

    /// Whether a current value counts as one of those that are wanted. Also asked with remembered
    /// values, without the resource as it is wanted.
    pub(super) fn in_sync(
        &self,
        resource: &Resource,
        wanted: Option<&Wanted>,
        name: &str,
        current: &Value,
        values: &[Value],
    ) -> bool {
        let behaviour = &resource.ty.behaviour;
        if let Some(answer) = behaviour.in_sync(resource, name, current, values) {
            return answer;
        }
        if let Some(answer) = wanted.and_then(|wanted| self.provider.in_sync(wanted, name, current))
        {
            return answer;
        }
        let current = current.unwrap_sensitive();
        if name == "ensure"
            && behaviour.values() != Values::Classic
            && let Some(value) = values.first()
        {
            // Whether a name or a text: what counts is what it says.
            return match (is_absent(current), is_absent(value)) {
                (false, false) => current.as_str() == value.as_str(),
                (is, wanted) => is == wanted,
            };
        }
        match behaviour.values() {
            Values::Classic if values.is_empty() => {
                // An empty list says nothing to Puppet; to us, that nothing is wanted.
                let empty = match current {
                    Value::List(items) => items.is_empty(),
                    other => matches!(other, Value::Absent | Value::Undef),
                };
                empty
                    || !resource.wants_all(name)
                    || wanted.is_none()
                    || !self.deviations.has(Deviation::FalseIsEnforced)
            }
            Values::Classic if resource.wants_all(name) => current.matches_list(values),
            Values::Classic => values.iter().any(|value| current.matches(value)),
            Values::ResourceApi => values
                .first()
                .is_none_or(|value| current.matches(value.unwrap_sensitive())),
            Values::Canonical => values
                .first()
                .is_none_or(|value| current.equals(value.unwrap_sensitive())),
        }
    }

    /// Says what would be sent.
    fn preview(&mut self, id: VertexId, node: NodeId, resource: &Resource, change: &Change) {
        let behaviour = &resource.ty.behaviour;
        // Neither a message nor what needs no provider reaches the device.
        if behaviour.message(resource).is_some()
            || behaviour.providerless()
            || (change.attributes.is_empty() && !change.is_whole())
        {
            return;
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
                self.tell_operations(id, node, records);
            }
            Err(error) => self.say_of(
                id,
                Level::Warning,
                format!("what would be sent cannot be told: {error}"),
            ),
        }
    }

    fn tell_operations(&mut self, id: VertexId, node: NodeId, records: Vec<OperationRecord>) {
        if records.is_empty() {
            return;
        }
        let operations: Arc<[OperationRecord]> = records.into();
        if let Some(status) = self.status_mut(id) {
            status.operations = Arc::clone(&operations);
        }
        self.sink.emit(RunEvent::Operations {
            reference: self.resources.node(node).reference.clone(),
            operations,
        });
    }

    async fn commit(
        &mut self,
        id: VertexId,
        node: NodeId,
        resource: &Resource,
        change: Change,
        properties: &[OutOfSync],
    ) -> CommitResult {
        if let Some(message) = resource.ty.behaviour.message(resource) {
            let level = self
                .resources
                .node(node)
                .meta()
                .level
                .unwrap_or(Level::Notice);
            let text = if properties.iter().any(|property| property.sensitive) {
                "Sensitive [value redacted]".to_owned()
            } else {
                message.text
            };
            if message.with_path {
                self.say_of_property(id, "message", level, text);
            } else {
                self.say(level, text);
            }
            return CommitResult::default();
        }
        if resource.ty.behaviour.providerless()
            || (change.attributes.is_empty() && !change.is_whole())
        {
            return CommitResult::default();
        }
        let mut committed = self.provider.commit(&change).await;
        let records = std::mem::take(&mut committed.operations)
            .into_iter()
            .map(|(operation, result)| OperationRecord {
                operation,
                result: Some((result.outcome, result.duration)),
            })
            .collect();
        self.tell_operations(id, node, records);
        if resource.ty.behaviour.values() == Values::ResourceApi {
            self.settle_as_resource_api(&mut committed);
        }
        committed
    }

    /// Puppet's Resource API tells success first; what went wrong comes after it.
    fn settle_as_resource_api(&self, committed: &mut CommitResult) {
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

    /// Tells the events of a change with their outcomes.
    fn tell(
        &mut self,
        id: VertexId,
        node: NodeId,
        resource: &Resource,
        properties: &[OutOfSync],
        recorded: &BTreeMap<String, Stored>,
        committed: CommitResult,
    ) -> Flushed {
        for property in properties {
            let outcome = match &property.refused {
                Some(why) => Err(ProviderError::new(ProviderErrorKind::Refused, why.clone())),
                None => committed
                    .attributes
                    .iter()
                    .find(|(name, _)| *name == property.name)
                    .map_or(Ok(()), |(_, outcome)| outcome.clone()),
            };
            let event = match outcome {
                Ok(()) => self.success_event(node, resource, property, recorded),
                Err(error) => self.failure_event(node, resource, property, recorded, &error),
            };
            self.record(id, node, event);
        }
        Flushed {
            notes: committed.notes,
            failure: committed.failure,
        }
    }

    /// Says what the provider has to say about a change.
    pub(super) fn tell_notes(&mut self, id: VertexId, notes: Vec<Note>) {
        for note in notes {
            let level = match note.level {
                NoteLevel::Notice => Level::Notice,
                NoteLevel::Warning => Level::Warning,
                NoteLevel::Error => Level::Err,
            };
            if note.about_resource {
                self.say_of(id, level, note.message);
            } else {
                self.say(level, note.message);
            }
        }
    }

    /// Adds an event to the status and says it.
    fn record(&mut self, id: VertexId, node: NodeId, event: Event) {
        let level = if event.status == EventStatus::Failure {
            Level::Err
        } else {
            self.resources
                .node(node)
                .meta()
                .level
                .unwrap_or(Level::Notice)
        };
        let property = event.property.clone();
        let message = event.message.clone().unwrap_or_default();
        if let Some(status) = self.status_mut(id) {
            status.add(event);
        }
        self.say_of_property(id, property.as_deref().unwrap_or_default(), level, message);
    }
}

/// The change that brings these properties into sync.
fn change(wanted: &Arc<Wanted>, current: &Attributes, properties: &[OutOfSync]) -> Change {
    let differing = properties
        .iter()
        .filter(|property| property.refused.is_none())
        .map(|property| property.name.clone())
        .collect();
    let exists = !current.get("ensure").is_some_and(is_absent);
    let instance = || Instance {
        attributes: current
            .iter()
            .filter(|(name, value)| {
                *name != "ensure" && !matches!(value, Value::Absent | Value::Undef)
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        ..Instance::default()
    };
    Change::new(Arc::clone(wanted), exists.then(instance), differing)
}
