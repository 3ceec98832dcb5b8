//! Collects what a run would change from its events.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;
use switchtender_devices::provider::state::{PlannedUndo, PreviewedInstance};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::value::Value;

use super::{PlannedChange, PlannedOperation, PlannedResource};
use crate::catalog::{ResourceRef, rich_data};
use crate::store::secret_digests::SecretDigests;
use crate::transaction::{
    CommandKind, CommandRecord, Event, EventStatus, OperationRecord, ResourceStatus, RunEvent,
};

/// Collects the changes of a run without writes.
pub(crate) struct PlanCollector<'a> {
    mask: &'a SecretMask,
    digests: &'a SecretDigests,
    pub(crate) resources: Vec<PlannedResource>,
    /// The operations of resources whose evaluation is not complete.
    operations: HashMap<ResourceRef, Vec<PlannedOperation>>,
    /// Why resources failed.
    pub(crate) failures: BTreeMap<String, String>,
    /// Secrets have digests in the plan.
    pub(crate) has_secrets: bool,
}

impl<'a> PlanCollector<'a> {
    pub(crate) fn new(mask: &'a SecretMask, digests: &'a SecretDigests) -> Self {
        Self {
            mask,
            digests,
            resources: Vec::new(),
            operations: HashMap::new(),
            failures: BTreeMap::new(),
            has_secrets: false,
        }
    }

    /// Adds what was read.
    pub(crate) fn add_instances(&mut self, instances: Vec<PreviewedInstance>) {
        for PreviewedInstance {
            reference,
            attributes,
        } in instances
        {
            let mut resources = self.resources.iter_mut();
            let Some(found) = resources.find(|planned| *planned.resource == *reference) else {
                continue;
            };
            for (name, value) in attributes.iter() {
                let text = match value {
                    Value::Sensitive(secret) => {
                        self.has_secrets = true;
                        self.digests.of_text(&secret.display())
                    }
                    value => self.mask.apply(&value.display()),
                };
                found.read.insert(name.to_string(), text);
            }
        }
    }

    /// Adds what cannot be undone.
    pub(crate) fn add_undo(&mut self, undo: &PlannedUndo) {
        for (reference, undo) in &undo.resources {
            let mut resources = self.resources.iter_mut();
            if let Some(found) = resources.find(|planned| *planned.resource == **reference) {
                let reasons = undo.not_restored.iter();
                let reasons = reasons.map(|reason| self.mask.apply(reason));
                found.not_restored.extend(reasons);
            }
        }
    }

    /// Adds an event.
    pub(crate) fn fold(&mut self, event: &RunEvent) {
        let status = match event {
            RunEvent::Operations {
                reference,
                operations,
                ..
            } => {
                let planned = operations.iter().map(|record| self.operation(record));
                let planned: Vec<PlannedOperation> = planned.collect();
                let all = self.operations.entry(reference.clone()).or_default();
                all.extend(planned);
                return;
            }
            RunEvent::Resource(status) => status,
            _ => return,
        };
        let operations = self
            .operations
            .remove(&status.reference)
            .unwrap_or_default();
        if status.is_default || status.is_declared_noop {
            return;
        }
        let mut events = status.events.iter();
        let failure = events.find(|event| event.status == EventStatus::Failure);
        if let Some(message) = failure.and_then(|event| event.message.as_deref()) {
            let reason = self.mask.apply(message);
            self.failures.insert(status.reference.to_string(), reason);
        }
        let resource = self.resource(status, operations);
        let mut operations = resource.operations.iter();
        self.has_secrets |= operations.any(|operation| !operation.secrets.is_empty());
        if !(resource.changes.is_empty() && resource.operations.is_empty()) {
            self.resources.push(resource);
        }
    }

    fn resource(
        &self,
        status: &ResourceStatus,
        operations: Vec<PlannedOperation>,
    ) -> PlannedResource {
        let events = status.events.iter();
        let pending = events.filter(|event| event.status == EventStatus::Noop);
        PlannedResource {
            resource: status.reference.to_string(),
            file: status.file.as_deref().map(str::to_owned),
            line: status.line,
            read: BTreeMap::new(),
            not_restored: Vec::new(),
            changes: pending.filter_map(|event| self.change(event)).collect(),
            operations,
        }
    }

    fn operation(&self, record: &OperationRecord) -> PlannedOperation {
        let action = &record.operation.action;
        let secrets = action.secrets().into_iter();
        let mut command = CommandRecord {
            // Only what is sent counts when plans are compared.
            kind: CommandKind::default(),
            attributes: Vec::new(),
            warning: None,
            ..CommandRecord::planned(&record.operation)
        };
        for text in command.texts_mut() {
            *text = self.mask.apply(text);
        }
        PlannedOperation {
            command,
            secrets: secrets.map(|text| self.digests.of_text(text)).collect(),
        }
    }

    fn change(&self, event: &Event) -> Option<PlannedChange> {
        let plain = |value: &Option<Value>| {
            let masked = value.as_ref().map(|value| self.mask.apply_to_value(value));
            masked.as_ref().map_or(Json::Null, rich_data::write_plain)
        };
        Some(PlannedChange {
            property: event.property.as_ref()?.to_string(),
            from: plain(&event.previous_value),
            to: plain(&event.desired_value),
        })
    }
}
