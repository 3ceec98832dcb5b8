//! Events of properties that are out of sync (`docs/reference/transaction.md`, section 9).

use switchtender_devices::model::Style;
use switchtender_devices::provider::{ProviderError, ProviderErrorKind};
use switchtender_devices::value::{Name, Value};

use crate::catalog::resource::Resource;
use crate::catalog::{Level, manifest_position};
use crate::compat::Deviation;

use super::evaluate::{Evaluation, is_absent};
use super::event::{Event, EventStatus};
use super::run::Transaction;
use super::sync::Expected;

/// Replaces a secret in messages and events.
pub(super) const REDACTED: &str = "[redacted]";

/// A property that is out of sync.
pub(super) struct OutOfSync {
    pub(crate) name: Name,
    pub(crate) current: Value,
    /// In the form of events.
    pub(crate) desired: Value,
    pub(crate) sensitive: bool,
    /// The reason why it cannot change any more.
    pub(crate) refusal: Option<String>,
}

impl OutOfSync {
    pub(super) fn render(&self, value: &Value) -> String {
        render_value(value, self.sensitive)
    }
}

pub(super) fn render_value(value: &Value, sensitive: bool) -> String {
    if sensitive {
        REDACTED.to_owned()
    } else {
        value.display()
    }
}

impl Transaction<'_> {
    /// An event of a property, without status and message.
    pub(super) fn property_event(&self, evaluation: &Evaluation, property: &OutOfSync) -> Event {
        let resource = &evaluation.resource;
        let name = &property.name;
        let traits = resource.ty.behavior.traits(name, &property.desired);
        let event_name = match traits.event {
            Some(event) => event.to_owned(),
            None if name == "ensure" => {
                let verb = match property.desired.as_str() {
                    Some("present") => "created",
                    Some("absent") => "removed",
                    _ => "changed",
                };
                format!("{}_{verb}", resource.model().name)
            }
            None => format!("{name}_changed"),
        };
        let redact = |value: &Value| {
            if property.sensitive && *value != Value::Undef {
                REDACTED.into()
            } else {
                value.clone()
            }
        };
        let historical = evaluation
            .recorded
            .get(name.as_str())
            .map(|stored| redact(&stored.0));
        Event {
            property: Some(name.clone()),
            previous_value: Some(redact(&property.current)),
            desired_value: Some(redact(&property.desired)),
            historical_value: historical,
            redacted: property.sensitive.then_some(true),
            message: None,
            invalidates_refreshes: traits.invalidates_refreshes,
            ..self.new_event(event_name, EventStatus::Success, String::new())
        }
    }

    /// Marks an event as corrective if the device differs from the values that the last run stored.
    fn mark_corrective(
        &self,
        evaluation: &Evaluation,
        property: &OutOfSync,
        mut event: Event,
    ) -> Event {
        if property.sensitive || !evaluation.resource.ty.behavior.idempotent(&property.name) {
            return event;
        }
        let Some(stored) = self
            .memory
            .system_value(self.progress.memory_index, &property.name)
        else {
            return event;
        };
        let values: &[Value] = match stored {
            Value::List(items) => items,
            other => std::slice::from_ref(other),
        };
        let value = evaluation.resource.of_alternatives(&property.name, values);
        let is_equal = value
            .zip(evaluation.instance())
            .and_then(|(value, current)| {
                let mut stored = (*evaluation.desired).clone();
                stored
                    .attributes
                    .insert(property.name.clone(), value.into_owned());
                self.provider
                    .equals_stored(&stored, &current, &property.name)
            });
        let is_equal = is_equal.unwrap_or_else(|| {
            let expected = Expected::Stored(values);
            self.in_sync(evaluation, &property.name, &property.current, expected)
        });
        if !is_equal {
            event.corrective_change = true;
            if let Some(message) = &mut event.message {
                message.push_str(" (corrective)");
            }
        }
        event
    }

    pub(super) fn success_event(&self, evaluation: &Evaluation, property: &OutOfSync) -> Event {
        let mut event = self.property_event(evaluation, property);
        let text = if property.sensitive {
            format!("changed {REDACTED} to {REDACTED}")
        } else {
            change_text(&evaluation.resource, property)
        };
        event.message = Some(text + &self.audit_note(evaluation, property));
        event.audited = self.is_audited(evaluation, &property.name);
        self.mark_corrective(evaluation, property, event)
    }

    pub(super) fn noop_event(&self, evaluation: &Evaluation, property: &OutOfSync) -> Event {
        let mut event = self.property_event(evaluation, property);
        let text = if !property.sensitive && self.deviations.has(Deviation::NoopText) {
            change_text(&evaluation.resource, property) + " (noop)"
        } else {
            format!(
                "current_value {}, should be {} (noop)",
                property.render(&property.current),
                property.render(&property.desired)
            )
        };
        event.message = Some(text + &self.audit_note(evaluation, property));
        event.status = EventStatus::Noop;
        event.audited = self.is_audited(evaluation, &property.name);
        self.mark_corrective(evaluation, property, event)
    }

    pub(super) fn failure_event(
        &mut self,
        evaluation: &Evaluation,
        property: &OutOfSync,
        error: &ProviderError,
    ) -> Event {
        let own_setter = evaluation
            .resource
            .ty
            .behavior
            .traits(&property.name, &property.desired)
            .own_setter;
        let log_cause = !self.deviations.has(Deviation::FailuresLoggedOnce);
        let cause = if error.kind == ProviderErrorKind::Internal && own_setter {
            let position = self.resources.node(evaluation.node).position.clone();
            let text = format!(
                "Could not set '{}' on {}: {}{}",
                if property.sensitive && self.deviations.has(Deviation::SecretsAreHidden) {
                    REDACTED.to_owned()
                } else {
                    property.desired.unwrap_sensitive().ruby_to_s()
                },
                property.name,
                error.message,
                manifest_position(position.as_ref())
            );
            if log_cause {
                self.log(Level::Err, text.clone());
                self.log(
                    Level::Err,
                    format!("{text}\nWrapped exception:\n{}", error.message),
                );
            }
            text
        } else {
            if log_cause {
                self.log(Level::Err, error.message.clone());
            }
            error.message.clone()
        };
        let mut event = self.property_event(evaluation, property);
        event.status = EventStatus::Failure;
        event.message = Some(format!(
            "change from {} to {} failed: {cause}",
            property.render(&property.current),
            property.render(&property.desired)
        ));
        self.mark_corrective(evaluation, property, event)
    }
}

/// `defined 'P' as NEW`, `P changed OLD to NEW`, `created` and so on.
fn change_text(resource: &Resource, property: &OutOfSync) -> String {
    let name = &property.name;
    if let Some(text) = resource.ty.behavior.change_text(name) {
        return text;
    }
    let is_ensure = name == "ensure";
    let from_absent =
        matches!(property.current, Value::Absent) || (is_ensure && is_absent(&property.current));
    let to_absent =
        matches!(property.desired, Value::Absent) || (is_ensure && is_absent(&property.desired));
    if is_ensure
        && resource.model().style == Style::Classic
        && resource.ty.behavior.has_standard_ensure()
    {
        if from_absent || property.current == Value::Undef {
            return "created".to_owned();
        }
        if to_absent {
            return "removed".to_owned();
        }
    }
    let (current, desired) = (
        property.render(&property.current),
        property.render(&property.desired),
    );
    if from_absent {
        format!("defined '{name}' as {desired}")
    } else if to_absent {
        format!("undefined '{name}' from {current}")
    } else {
        format!("{name} changed {current} to {desired}")
    }
}
