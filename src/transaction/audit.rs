//! Auditing properties (`docs/reference/transaction.md`, section 10).

use sha2::{Digest, Sha256};
use switchtender_devices::value::{Name, Value};

use crate::catalog::Level;
use crate::compat::Deviation;

use super::evaluate::{Evaluation, EvaluationError};
use super::event::EventStatus;
use super::history::StoredValue;
use super::property_event::{OutOfSync, REDACTED, render_value};
use super::run::Transaction;

impl Transaction<'_> {
    /// The audited names; `all` means every property.
    fn audited(&self, evaluation: &Evaluation) -> Vec<Name> {
        let audit = &self.resources.node(evaluation.node).meta().audit;
        if audit == &["all"] {
            let properties = evaluation.resource.model().properties();
            properties.map(|property| property.name.clone()).collect()
        } else {
            audit.clone()
        }
    }

    pub(super) fn is_audited(&self, evaluation: &Evaluation, property: &str) -> bool {
        let audited = self.audited(evaluation);
        audited.iter().any(|name| name == property)
    }

    /// Stores the values that the next run compares: those before any change.
    pub(super) fn record_audited(&mut self, evaluation: &Evaluation) {
        for name in self.audited(evaluation) {
            let value = audited_value(evaluation, &name);
            let value = self.stored_value(evaluation, &name, value);
            let state = self.memory.state(self.progress.memory_index);
            state.audited.insert(name.to_string(), StoredValue(value));
        }
    }

    /// A value in its stored form: a digest of a secret is enough to detect a change.
    fn stored_value(&self, evaluation: &Evaluation, name: &str, value: Value) -> Value {
        let sensitive = is_sensitive(evaluation, name, &value);
        if !sensitive
            || matches!(value, Value::Absent | Value::Undef)
            || !self.deviations.has(Deviation::SecretsAreHidden)
        {
            return match value {
                Value::Sensitive(inner) => *inner,
                value => value,
            };
        }
        let reference = self.resources.node(evaluation.node).reference.as_str();
        let mut digest = Sha256::new();
        for part in [reference, name, &value.unwrap_sensitive().inspect()] {
            digest.update(part.as_bytes());
            digest.update([0]);
        }
        Value::String(format!("sha256:{}", hex::encode(digest.finalize())))
    }

    /// ` (previously recorded value was OLD)`, for a change of an audited property.
    pub(super) fn audit_note(&self, evaluation: &Evaluation, property: &OutOfSync) -> String {
        if !self.is_audited(evaluation, &property.name) {
            return String::new();
        }
        match evaluation.recorded.get(property.name.as_str()) {
            Some(StoredValue(old))
                // Puppet takes a recorded `false` for no recorded value.
                if !matches!(old, Value::Undef | Value::Bool(false))
                    && self.differs(evaluation, property, old) =>
            {
                format!(
                    " (previously recorded value was {})",
                    render_value(old, property.sensitive)
                )
            }
            _ => String::new(),
        }
    }

    fn differs(&self, evaluation: &Evaluation, property: &OutOfSync, old: &Value) -> bool {
        let current = audited_value(evaluation, &property.name);
        let current = self.stored_value(evaluation, &property.name, current);
        !current.equals(old)
    }

    /// Reports changes of audited properties that have no other event.
    ///
    /// # Errors
    /// A parameter is audited. Parameters have no value on the device.
    pub(super) fn audit(&mut self, evaluation: &Evaluation) -> Result<(), EvaluationError> {
        let resource = &evaluation.resource;
        for name in self.audited(evaluation) {
            let recorded = evaluation.recorded.get(name.as_str());
            if resource.property(&name).is_none() {
                if self.deviations.has(Deviation::AuditOfParametersWarns) {
                    self.log_vertex(
                        evaluation.id,
                        Level::Warning,
                        format!("cannot audit {name}: a parameter has no value on the device"),
                    );
                    continue;
                }
                if recorded.is_some() {
                    continue;
                }
                return Err(EvaluationError::AuditedParameter);
            }
            let current = audited_value(evaluation, &name);
            let audited = OutOfSync {
                name: name.clone(),
                sensitive: is_sensitive(evaluation, &name, &current),
                current,
                desired: resource.desired(&name).map_or(Value::Undef, |desired| {
                    self.event_value(resource, desired.into_owned())
                }),
                refusal: None,
            };
            let Some(StoredValue(old)) = recorded else {
                let is_declared = resource
                    .property(&name)
                    .is_some_and(|found| found.sensitive);
                let has_value = !matches!(audited.current, Value::Absent | Value::Undef);
                let is_hidden = is_declared || (audited.sensitive && has_value);
                let text = if is_hidden {
                    REDACTED.to_owned()
                } else {
                    audited.current.ruby_to_s()
                };
                self.log_property(
                    evaluation.id,
                    &name,
                    Level::Notice,
                    format!("audit change: newly-recorded value {text}"),
                );
                continue;
            };
            let has_event = self.status(evaluation.id).is_some_and(|status| {
                let mut events = status.events.iter();
                events.any(|event| event.property.as_deref() == Some(name.as_str()))
            });
            if has_event || !self.differs(evaluation, &audited, old) {
                continue;
            }
            let mut event = self.property_event(evaluation, &audited);
            event.status = EventStatus::Audit;
            event.audited = true;
            event.message = Some(format!(
                "audit change: previously recorded value {} has been changed to {}",
                render_value(old, audited.sensitive),
                render_value(&audited.current, audited.sensitive)
            ));
            self.record(evaluation, event);
        }
        Ok(())
    }
}

/// The value of a property before any change, or what the device shows for it.
fn audited_value(evaluation: &Evaluation, name: &str) -> Value {
    match evaluation.current.get(name) {
        None | Some(Value::Absent | Value::Undef) => {
            let form = evaluation.forms.get(name).or(evaluation.current.get(name));
            form.cloned().unwrap_or(Value::Undef)
        }
        Some(value) => value.clone(),
    }
}

/// Whether the value of a property is not stored and not printed.
fn is_sensitive(evaluation: &Evaluation, name: &str, value: &Value) -> bool {
    let resource = &evaluation.resource;
    let model = resource.model().attributes.get(name);
    resource
        .property(name)
        .is_some_and(|property| property.sensitive)
        || model.is_some_and(|attribute| attribute.sensitive)
        || matches!(value, Value::Sensitive(_))
}
