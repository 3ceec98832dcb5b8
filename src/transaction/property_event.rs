//! What is told of a property that is not as it is wanted (`docs/transaction.md`, section 9).

use std::collections::BTreeMap;

use switchtender_devices::model::Style;
use switchtender_devices::provider::{ProviderError, ProviderErrorKind};
use switchtender_devices::value::{Name, Value};

use crate::catalog::resource::{NodeId, Resource};
use crate::catalog::{Level, manifest_position};
use crate::compat::Deviation;

use super::evaluate::is_absent;
use super::event::{Event, EventStatus};
use super::history::Stored;
use super::run::Run;

/// What stands in messages and events for a secret.
pub(super) const REDACTED: &str = "[redacted]";

/// A property that is not as it is wanted.
pub(super) struct OutOfSync {
    pub name: Name,
    pub current: Value,
    /// As it is shown and told to the provider's side.
    pub desired: Value,
    pub sensitive: bool,
    /// Cannot be changed any more, for this reason.
    pub refused: Option<String>,
}

impl OutOfSync {
    fn shown(&self, value: &Value) -> String {
        shown(value, self.sensitive)
    }
}

pub(super) fn shown(value: &Value, sensitive: bool) -> String {
    if sensitive {
        REDACTED.to_owned()
    } else {
        value.display()
    }
}

impl Run<'_> {
    /// An event of a property, without status and message.
    pub(super) fn property_event(
        &self,
        resource: &Resource,
        property: &OutOfSync,
        recorded: &BTreeMap<String, Stored>,
    ) -> Event {
        let name = &property.name;
        let traits = resource.ty.behaviour.traits(name, &property.desired);
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
        let historical = recorded.get(name.as_str()).map(|stored| redact(&stored.0));
        Event {
            property: Some(name.clone()),
            previous_value: Some(redact(&property.current)),
            desired_value: Some(redact(&property.desired)),
            historical_value: historical,
            redacted: property.sensitive.then_some(true),
            message: None,
            invalidates_refreshes: traits.invalidates_refreshes,
            ..self.plain_event(event_name, EventStatus::Success, String::new())
        }
    }

    /// Marks an event as corrective if the device differs from what the last run left.
    fn correct(&self, resource: &Resource, property: &OutOfSync, mut event: Event) -> Event {
        if property.sensitive || !resource.ty.behaviour.idempotent(&property.name) {
            return event;
        }
        let Some(stored) = self.memory.system_value(self.place, &property.name) else {
            return event;
        };
        let values: &[Value] = match stored {
            Value::List(items) => items,
            other => std::slice::from_ref(other),
        };
        if !self.in_sync(resource, None, &property.name, &property.current, values) {
            event.corrective_change = true;
            if let Some(message) = &mut event.message {
                message.push_str(" (corrective)");
            }
        }
        event
    }

    pub(super) fn success_event(
        &self,
        node: NodeId,
        resource: &Resource,
        property: &OutOfSync,
        recorded: &BTreeMap<String, Stored>,
    ) -> Event {
        let mut event = self.property_event(resource, property, recorded);
        let text = if property.sensitive {
            format!("changed {REDACTED} to {REDACTED}")
        } else {
            change_text(resource, property)
        };
        event.message = Some(text + &self.audit_note(node, property, recorded));
        event.audited = self.is_audited(node, resource, &property.name);
        self.correct(resource, property, event)
    }

    pub(super) fn noop_event(
        &self,
        node: NodeId,
        resource: &Resource,
        property: &OutOfSync,
        recorded: &BTreeMap<String, Stored>,
    ) -> Event {
        let mut event = self.property_event(resource, property, recorded);
        let text = if !property.sensitive && self.deviations.has(Deviation::NoopText) {
            change_text(resource, property) + " (noop)"
        } else {
            format!(
                "current_value {}, should be {} (noop)",
                property.shown(&property.current),
                property.shown(&property.desired)
            )
        };
        event.message = Some(text + &self.audit_note(node, property, recorded));
        event.status = EventStatus::Noop;
        event.audited = self.is_audited(node, resource, &property.name);
        self.correct(resource, property, event)
    }

    pub(super) fn failure_event(
        &mut self,
        node: NodeId,
        resource: &Resource,
        property: &OutOfSync,
        recorded: &BTreeMap<String, Stored>,
        error: &ProviderError,
    ) -> Event {
        let own_setter = resource
            .ty
            .behaviour
            .traits(&property.name, &property.desired)
            .own_setter;
        let alone = !self.deviations.has(Deviation::FailuresLoggedOnce);
        let why = if error.kind == ProviderErrorKind::Internal && own_setter {
            let place = self.resources.node(node).place.clone();
            let text = format!(
                "Could not set '{}' on {}: {}{}",
                if property.sensitive && self.deviations.has(Deviation::SecretsAreHidden) {
                    REDACTED.to_owned()
                } else {
                    property.desired.unwrap_sensitive().ruby_to_s()
                },
                property.name,
                error.message,
                manifest_position(place.as_ref())
            );
            if alone {
                self.say(Level::Err, text.clone());
                self.say(
                    Level::Err,
                    format!("{text}\nWrapped exception:\n{}", error.message),
                );
            }
            text
        } else {
            if alone {
                self.say(Level::Err, error.message.clone());
            }
            error.message.clone()
        };
        let mut event = self.property_event(resource, property, recorded);
        event.status = EventStatus::Failure;
        event.failure = Some(error.kind);
        event.message = Some(format!(
            "change from {} to {} failed: {why}",
            property.shown(&property.current),
            property.shown(&property.desired)
        ));
        self.correct(resource, property, event)
    }
}

/// `defined 'P' as NEW`, `P changed OLD to NEW`, `created` and so on.
fn change_text(resource: &Resource, property: &OutOfSync) -> String {
    let name = &property.name;
    if let Some(text) = resource.ty.behaviour.change_text(name) {
        return text;
    }
    let is_ensure = name == "ensure";
    let from_absent =
        matches!(property.current, Value::Absent) || (is_ensure && is_absent(&property.current));
    let to_absent =
        matches!(property.desired, Value::Absent) || (is_ensure && is_absent(&property.desired));
    if is_ensure
        && resource.model().style == Style::Classic
        && resource.ty.behaviour.standard_ensure()
    {
        if from_absent || property.current == Value::Undef {
            return "created".to_owned();
        }
        if to_absent {
            return "removed".to_owned();
        }
    }
    let (current, desired) = (
        property.shown(&property.current),
        property.shown(&property.desired),
    );
    if from_absent {
        format!("defined '{name}' as {desired}")
    } else if to_absent {
        format!("undefined '{name}' from {current}")
    } else {
        format!("{name} changed {current} to {desired}")
    }
}
