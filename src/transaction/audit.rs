//! Watching properties (`docs/transaction.md`, section 10).

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use switchtender_devices::value::{Attributes, Name, Value};

use crate::catalog::Level;
use crate::catalog::resource::{NodeId, Resource};
use crate::compat::Deviation;
use crate::graph::VertexId;

use super::event::EventStatus;
use super::history::Stored;
use super::property_event::{OutOfSync, REDACTED, shown};
use super::run::Run;

impl Run<'_> {
    /// The audited names, `all` being every property.
    fn audited(&self, node: NodeId, resource: &Resource) -> Vec<Name> {
        let audit = &self.resources.node(node).meta().audit;
        if audit == &["all"] {
            resource
                .model()
                .properties()
                .map(|property| property.name.clone())
                .collect()
        } else {
            audit.clone()
        }
    }

    pub(super) fn is_audited(&self, node: NodeId, resource: &Resource, property: &str) -> bool {
        let audit = &self.resources.node(node).meta().audit;
        !audit.is_empty()
            && self
                .audited(node, resource)
                .iter()
                .any(|name| name == property)
    }

    /// Keeps the values that the next run compares with: those from before any change.
    pub(super) fn record_audited(
        &mut self,
        node: NodeId,
        resource: &Resource,
        reference: &str,
        current: &Attributes,
    ) {
        for name in self.audited(node, resource) {
            let value = current.get(&name).cloned().unwrap_or(Value::Undef);
            let value = self.storable(resource, reference, &name, value);
            let state = self.memory.state(self.place);
            state.audited.insert(name.to_string(), Stored(value));
        }
    }

    /// A value as it is stored: secrets as a digest, which tells whether they changed.
    fn storable(&self, resource: &Resource, reference: &str, name: &str, value: Value) -> Value {
        let sensitive = resource
            .property(name)
            .is_some_and(|property| property.sensitive)
            || matches!(value, Value::Sensitive(_));
        if !sensitive
            || matches!(value, Value::Absent | Value::Undef)
            || !self.deviations.has(Deviation::SecretsAreHidden)
        {
            return match value {
                Value::Sensitive(inner) => *inner,
                value => value,
            };
        }
        let mut digest = Sha256::new();
        for part in [reference, name, &value.unwrap_sensitive().inspect()] {
            digest.update(part.as_bytes());
            digest.update([0]);
        }
        let hex: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Value::String(format!("sha256:{hex}"))
    }

    /// ` (previously recorded value was OLD)`, for a change of an audited property.
    pub(super) fn audit_note(
        &self,
        node: NodeId,
        property: &OutOfSync,
        recorded: &BTreeMap<String, Stored>,
    ) -> String {
        let Some(resource) = self.resources.resource(node) else {
            return String::new();
        };
        if !self.is_audited(node, resource, &property.name) {
            return String::new();
        }
        match recorded.get(property.name.as_str()) {
            Some(Stored(old)) if *old != Value::Undef && self.differs(node, property, old) => {
                format!(
                    " (previously recorded value was {})",
                    shown(old, property.sensitive)
                )
            }
            _ => String::new(),
        }
    }

    fn differs(&self, node: NodeId, property: &OutOfSync, old: &Value) -> bool {
        let reference = self.resources.node(node).reference.as_str();
        let current = match self.resources.resource(node) {
            Some(resource) => self.storable(
                resource,
                reference,
                &property.name,
                property.current.clone(),
            ),
            None => property.current.clone(),
        };
        !current.equals(old)
    }

    /// Tells what the audited properties that were not handled have become.
    ///
    /// # Errors
    /// A parameter is audited, which has no value on the device.
    pub(super) fn audit(
        &mut self,
        id: VertexId,
        node: NodeId,
        resource: &Resource,
        current: &Attributes,
        recorded: &BTreeMap<String, Stored>,
    ) -> Result<(), String> {
        for name in self.audited(node, resource) {
            let Some(property) = resource.property(&name) else {
                if self.deviations.has(Deviation::AuditOfParametersWarns) {
                    self.say_of(
                        id,
                        Level::Warning,
                        format!("{name} is a parameter: it has no value on the device to audit"),
                    );
                    continue;
                }
                if recorded.contains_key(name.as_str()) {
                    continue;
                }
                return Err("undefined method `notice' for nil:NilClass".to_owned());
            };
            let value = current.get(&name).cloned().unwrap_or(Value::Undef);
            let watched = OutOfSync {
                name: name.clone(),
                current: value,
                desired: resource.wanted(&name).map_or(Value::Undef, |wanted| {
                    self.desired(resource, wanted.into_owned())
                }),
                sensitive: property.sensitive,
                refused: None,
            };
            let Some(Stored(old)) = recorded.get(name.as_str()) else {
                let text = if watched.sensitive {
                    REDACTED.to_owned()
                } else {
                    watched.current.ruby_to_s()
                };
                self.say_of_property(
                    id,
                    &name,
                    Level::Notice,
                    format!("audit change: newly-recorded value {text}"),
                );
                continue;
            };
            let handled = self.status(id).is_some_and(|status| {
                status
                    .events
                    .iter()
                    .any(|event| event.property.as_deref() == Some(name.as_str()))
            });
            if handled || !self.differs(node, &watched, old) {
                continue;
            }
            let mut event = self.property_event(resource, &watched, recorded);
            event.status = EventStatus::Audit;
            event.audited = true;
            let message = format!(
                "audit change: previously recorded value {} has been changed to {}",
                shown(old, watched.sensitive),
                shown(&watched.current, watched.sensitive)
            );
            event.message = Some(message.clone());
            let level = self
                .resources
                .node(node)
                .meta()
                .level
                .unwrap_or(Level::Notice);
            self.say_of_property(id, &name, level, message);
            if let Some(status) = self.status_mut(id) {
                status.add(event);
            }
        }
        Ok(())
    }
}
