//! Synchronizes one resource: read, compare, change, audit, store (`docs/reference/transaction.md`, section
//! 9).

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::change::{Desired, Instance};
use switchtender_devices::provider::ProviderError;
use switchtender_devices::value::{Attributes, Name, Value};

use crate::catalog::Level;
use crate::catalog::node::NodeId;
use crate::catalog::resource::{Property, Resource};
use crate::catalog::types::ValueStyle;
use crate::compat::Deviation;
use crate::graph::VertexId;

use super::event::{Event, EventStatus};
use super::history::{History, StoredValue};
use super::run::Transaction;
use super::schedule::ScheduleState;
use super::sync::{SyncResult, SyncStep};

/// Why a resource cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub(super) enum EvaluationError {
    /// The catalog, its type or its schedule prevents it.
    #[error("{0}")]
    Unusable(String),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Puppet's own internal error.
    #[error("undefined method `notice' for nil:NilClass")]
    AuditedParameter,
}

/// The resource under evaluation, and the values that its events compare.
pub(super) struct Evaluation {
    pub(crate) id: VertexId,
    pub(crate) node: NodeId,
    pub(crate) resource: Arc<Resource>,
    /// The resource as the provider gets it.
    pub(crate) desired: Arc<Desired>,
    /// Values on the device before any change.
    pub(crate) current: Attributes,
    /// What the device shows for properties whose value cannot be read.
    pub(crate) forms: Attributes,
    /// Values of audited properties that the last run stored.
    pub(crate) recorded: BTreeMap<String, StoredValue>,
}

impl Evaluation {
    /// The instance as it was read; `None` if the device does not have it.
    pub(super) fn instance(&self) -> Option<Instance> {
        if self.current.get("ensure").is_some_and(is_absent) {
            return None;
        }
        let read = self.current.iter().filter(|(name, value)| {
            *name != "ensure" && !matches!(value, Value::Absent | Value::Undef)
        });
        Some(Instance {
            attributes: read
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            ..Instance::default()
        })
    }

    /// Whether the catalog has desired values, but none for `ensure`.
    pub(super) fn lacks_ensure(&self) -> bool {
        let mut properties = self.resource.properties();
        properties.any(|(_, property)| property.desired.is_some())
            && self.resource.desired("ensure").is_none()
    }
}

impl Transaction<'_> {
    /// Evaluates a resource into its status.
    pub(super) async fn evaluate(&mut self, id: VertexId, node: NodeId) {
        let Some(resource) = self.resources.nodes[node.index()].resource.clone() else {
            return;
        };
        let start = self.now();
        if let Err(error) = self.synchronize(id, node, resource).await {
            self.fail_evaluation(id, error.to_string());
        }
        let elapsed = self.now().duration_since(start).unsigned_abs();
        if let Some(status) = self.status_mut(id) {
            status.evaluation_time = Some(elapsed);
        }
    }

    pub(super) fn fail_evaluation(&mut self, id: VertexId, message: String) {
        self.log_vertex(id, Level::Err, format!("Could not evaluate: {message}"));
        let event = self.error_event(message);
        if let Some(status) = self.status_mut(id) {
            status.add(event);
        }
    }

    async fn synchronize(
        &mut self,
        id: VertexId,
        node: NodeId,
        resource: Arc<Resource>,
    ) -> Result<(), EvaluationError> {
        if let Some(reason) = &self.resources.node(node).refusal {
            return Err(EvaluationError::Unusable(reason.to_string()));
        }
        if let Some(reason) = resource.ty.behavior.unusable() {
            return Err(EvaluationError::Unusable(reason));
        }
        if let Ok(ScheduleState::Unusable(reason)) = self.schedule_state(id) {
            return Err(EvaluationError::Unusable(reason));
        }
        let desired = self.desired(node, &resource);
        let properties = managed_properties(&resource);
        let names: Vec<&Name> = properties.iter().map(|(name, _)| *name).collect();
        let current = self.retrieve(&resource, &desired, &names).await?;
        let forms = self.provider.rendered_forms(&desired);

        let now = self.now();
        let has_schedule = self.resources.node(node).meta().schedule.is_some();
        let is_daily = !has_schedule && self.deviations.has(Deviation::ChecksAreStoredDaily);
        let state = self.memory.state(self.progress.memory_index);
        state.record_check(now, is_daily);
        let evaluation = Evaluation {
            id,
            node,
            resource: Arc::clone(&resource),
            desired,
            current,
            forms,
            // Copied before this run's values replace them.
            recorded: state.audited.clone(),
        };
        self.record_audited(&evaluation);
        match self.bring_into_sync(&evaluation).await {
            SyncStep::Ended(result) => self.complete(&evaluation, result),
            SyncStep::Staged(properties) => {
                self.progress.staged.add(evaluation, properties);
                Ok(())
            }
        }
    }

    /// The rest of an evaluation, after the events of its properties.
    pub(super) fn complete(
        &mut self,
        evaluation: &Evaluation,
        result: SyncResult,
    ) -> Result<(), EvaluationError> {
        let id = evaluation.id;
        self.audit(evaluation)?;
        self.remember(id, &evaluation.resource);
        let changed = self.status(id).is_some_and(|status| status.changed);
        if changed && !self.is_noop(evaluation.node) {
            let now = self.now();
            self.memory.state(self.progress.memory_index).synced = Some(now);
        }
        self.log_notes(id, result.notes);
        match result.failure {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    }

    /// The resource as the provider gets it.
    pub(super) fn desired(&mut self, node: NodeId, resource: &Resource) -> Arc<Desired> {
        let only_audited = resource.ty.behavior.values() == ValueStyle::ResourceApi
            && resource
                .properties()
                .any(|(_, property)| property.desired.is_none());
        let as_undef = only_audited && !self.deviations.has(Deviation::ResourceApiAuditReadsOnly);
        if as_undef {
            return resource.to_desired(true);
        }
        self.progress.desired.get(node, resource)
    }

    /// Current values of the resource's properties, in the order of `names`. All are absent if the
    /// instance does not exist.
    pub(super) async fn retrieve(
        &mut self,
        resource: &Resource,
        desired: &Desired,
        names: &[&Name],
    ) -> Result<Attributes, ProviderError> {
        let has_ensure = names.first().is_some_and(|name| *name == "ensure");
        let mut read = if resource.ty.behavior.is_providerless() {
            Attributes::default()
        } else {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            self.provider.retrieve(desired, &names).await?
        };
        let is_removed = has_ensure && is_absent(read.get("ensure").unwrap_or(&Value::Absent));
        let missing = match resource.ty.behavior.values() {
            ValueStyle::ResourceApi => Value::Undef,
            _ => Value::Absent,
        };
        let mut current = Attributes::with_room(names.len());
        for &name in names {
            let value = if is_removed && name == "ensure" {
                Value::Absent
            } else if is_removed {
                missing.clone()
            } else {
                read.remove(name).unwrap_or_else(|| missing.clone())
            };
            current.insert(name, value);
        }
        // The other values are context for the change.
        if !is_removed {
            for (name, value) in read {
                current.insert_missing(name, value);
            }
        }
        Ok(current)
    }

    /// Stores the values that the next run compares, to separate drift from a changed catalog
    /// (section 12).
    fn remember(&mut self, id: VertexId, resource: &Resource) {
        let properties = managed_properties(resource);
        let mut entry = Vec::with_capacity(properties.len());
        for (name, property) in &properties {
            if property.is_some_and(|property| property.sensitive) {
                continue;
            }
            let event = self.status(id).and_then(|status| {
                status
                    .events
                    .iter()
                    .rev()
                    .find(|event| event.property.as_ref() == Some(*name))
            });
            let value = match event {
                Some(event) if event.status != EventStatus::Success => {
                    self.history_value(resource, name, event)
                }
                _ => property
                    .and_then(|property| property.desired)
                    .map_or(Value::Undef, |desired| Value::List(desired.to_vec())),
            };
            entry.push(((*name).clone(), StoredValue(value)));
        }
        let left: History = entry.into_iter().collect();
        if !left.is_empty() {
            self.progress
                .histories
                .push((self.progress.memory_index, left));
        }
    }

    /// The history of a property that is out of sync: the stored value, otherwise the current one.
    fn history_value(&self, resource: &Resource, name: &str, event: &Event) -> Value {
        if let Some(old) = self.memory.system_value(self.progress.memory_index, name) {
            return old.clone();
        }
        let previous = event.previous_value.clone().unwrap_or(Value::Undef);
        match previous {
            Value::List(items) => {
                if !self.deviations.has(Deviation::ListHistoryIsStored) {
                    Value::Undef
                } else if resource.wants_all(name) {
                    Value::List(items)
                } else {
                    Value::List(vec![Value::List(items)])
                }
            }
            other => Value::List(vec![other]),
        }
    }
}

/// The properties that are read and stored: `ensure` first if the type has it, then the properties
/// of the resource.
pub(super) fn managed_properties(resource: &Resource) -> Vec<(&Name, Option<Property<'_>>)> {
    let ensure = resource
        .model()
        .attributes
        .get_key_value("ensure")
        .filter(|(_, attribute)| attribute.is_property())
        .map(|(name, _)| (name, resource.property(name)));
    let others = resource
        .properties()
        .filter(|(name, _)| *name != "ensure")
        .map(|(name, property)| (name, Some(property)));
    ensure.into_iter().chain(others).collect()
}

/// Whether a value of `ensure` means that the instance does not exist.
pub(super) fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Absent) || value.as_str() == Some("absent")
}
