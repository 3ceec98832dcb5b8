//! Resources as the device has them after a change with an unknown outcome.

use std::sync::{Mutex, PoisonError};

use super::DeviceState;
use crate::change::{Change, Desired};
use crate::driver::SecretHistory;
use crate::operation::UnknownCause;
use crate::provider::{CommitResult, ProviderError, ProviderErrorKind};
use crate::value::{Name, Value};

/// A resource after an unknown outcome, as the device has it.
pub(in crate::provider) struct FoundState {
    /// Attributes that do not have the desired value.
    differs: Vec<Name>,
    /// Those of them that the device does not show.
    unreadable: Vec<String>,
}

impl FoundState {
    /// Attributes of the change that do not have the desired value.
    pub(in crate::provider) fn missing(&self, change: &Change) -> Vec<&str> {
        let differs = self.differs.iter();
        let missing = differs.filter(|name| concerns(change, name));
        missing.map(Name::as_str).collect()
    }

    /// Attributes of the change of which the device shows another value.
    pub(in crate::provider) fn missing_values(&self, change: &Change) -> Vec<&str> {
        let mut missing = self.missing(change);
        missing.retain(|name| !self.unreadable.iter().any(|unreadable| unreadable == name));
        missing
    }

    /// The message about a change without a failed attribute.
    pub(in crate::provider) fn render(&self, change: &Change, reason: &str) -> String {
        let state = match self.missing(change).as_slice() {
            [] => "it was applied".to_owned(),
            missing => format!("it was applied, except {}", missing.join(", ")),
        };
        format!("{reason}; the device was read again: {state}")
    }
}

/// Records the attributes for which the driver needs the history, because the device does not show
/// their values.
#[derive(Default)]
pub(in crate::provider) struct UnreadableAttributes(Mutex<Vec<String>>);

impl UnreadableAttributes {
    pub(in crate::provider) fn into_names(self) -> Vec<String> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretHistory for UnreadableAttributes {
    fn matches_last_set(&self, _: &str, attribute: &str, _: &Value) -> Option<bool> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.push(attribute.to_owned());
        None
    }
}

impl DeviceState {
    /// Compares the resource of a change with the last answers.
    pub(in crate::provider) fn found_after(
        &self,
        change: &Change,
    ) -> Result<FoundState, ProviderError> {
        let unreadable = UnreadableAttributes::default();
        let current = self
            .driver
            .instance(&change.desired, &self.now)
            .map_err(|error| ProviderError::failed(error.to_string()))?;
        let resolved = self
            .driver
            .resolve(&change.desired, current.as_ref(), &self.now);
        let differs = self
            .driver
            .differs(&resolved, current.as_ref(), &unreadable);
        Ok(FoundState {
            differs,
            unreadable: unreadable.into_names(),
        })
    }

    /// Whether the device does not show whether it has all values of a resource.
    pub(in crate::provider) fn has_hidden_values(&self, desired: &Desired) -> bool {
        let hidden = UnreadableAttributes::default();
        let current = self.driver.instance(desired, &self.now).ok().flatten();
        let desired = self.driver.resolve(desired, current.as_ref(), &self.now);
        self.driver.differs(&desired, current.as_ref(), &hidden);
        !hidden.into_names().is_empty()
    }
}

/// Whether a change concerns an attribute: its own ones; for a new or removed instance, all.
fn concerns(change: &Change, name: &Name) -> bool {
    change.is_create_or_remove() || change.attributes.contains(name)
}

pub(in crate::provider) fn is_unknown(outcome: &Result<(), ProviderError>) -> bool {
    matches!(outcome, Err(error) if error.kind == ProviderErrorKind::Unknown)
}

/// Replaces unknown outcomes, and successes that the device does not show. Returns whether an
/// attribute failed.
pub(in crate::provider) fn report_as_found(
    change: &Change,
    committed: &mut CommitResult,
    found: &FoundState,
    (reason, cause): (&str, UnknownCause),
) -> bool {
    for (name, outcome) in &mut committed.attributes {
        let is_missing = found.differs.contains(name) && concerns(change, name);
        let is_unreadable = found.unreadable.iter().any(|unreadable| name == unreadable);
        if is_missing && is_unreadable && is_unknown(outcome) {
            *outcome = Err(ProviderError::new(
                ProviderErrorKind::Unknown,
                format!(
                    "{reason}; the device does not show its value: it is unknown whether it was applied"
                ),
            ));
        } else if is_missing && !is_unreadable && (is_unknown(outcome) || outcome.is_ok()) {
            // The device can accept a command that takes effect only later: it creates a VLAN when
            // its mode is left.
            let (kind, state) = if cause.may_be_pending() {
                (
                    ProviderErrorKind::Unknown,
                    "the value is unknown, not present yet",
                )
            } else {
                (ProviderErrorKind::NotSent, "it was not applied")
            };
            *outcome = Err(ProviderError::new(
                kind,
                format!("{reason}; the device was read again: {state}"),
            ));
        } else if !is_missing && is_unknown(outcome) {
            *outcome = Ok(());
        }
    }
    let mut attributes = committed.attributes.iter();
    attributes.any(|(_, outcome)| outcome.is_err())
}
