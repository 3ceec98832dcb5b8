//! How a fact shows that a device is the unit of a pair that does not carry the traffic.

use super::facts::Facts;
use crate::document::keys;

keys! {
    /// `[standby]` of a platform.
    pub(crate) struct StandbyRule {
        /// The fact with its state.
        fact: String,
        /// The states of a unit that does not carry the traffic.
        values: Vec<String>,
    }
}

impl StandbyRule {
    pub(super) fn fact(&self) -> &str {
        &self.fact
    }

    /// The state of the unit, if it does not carry the traffic. A device that does not say is not one.
    pub(super) fn state<'f>(&self, facts: &'f Facts) -> Option<&'f str> {
        let state = facts.get(&self.fact)?;
        let is_standby = self.values.iter().any(|value| value == state);
        is_standby.then_some(state.as_str())
    }
}
