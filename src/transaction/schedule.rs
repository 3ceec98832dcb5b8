//! Whether the schedule of a resource permits it to be applied now (`docs/reference/transaction.md`, section
//! 12).

use crate::catalog::types::{PeriodRule, Schedule};
use crate::compat::Deviation;
use crate::graph::VertexId;

use super::run::{Transaction, TransactionError};

/// The state of a schedule.
pub(super) enum ScheduleState {
    Now,
    NotNow,
    /// The schedule does not exist, or it cannot be evaluated.
    Unusable(String),
}

impl Transaction<'_> {
    pub(super) fn schedule_state(
        &mut self,
        id: VertexId,
    ) -> Result<ScheduleState, TransactionError> {
        let vertex = self.graph.vertex(id);
        let node = self.resources.node(vertex.node());
        // Markers have no schedule: contents do not inherit the schedule of a container.
        if self.settings.ignore_schedules || vertex.is_marker() {
            return Ok(ScheduleState::Now);
        }
        let Some(name) = &node.meta().schedule else {
            return Ok(ScheduleState::Now);
        };
        let found = self
            .resources
            .find_by_name("schedule", name)
            .and_then(|id| self.resources.resource(id))
            .map(Schedule::of);
        let Some(schedule) = found else {
            return self.unusable(format!("Could not find schedule {name}"));
        };
        // This creates the entry of the resource, as in Puppet.
        let checked = self.memory.state(self.progress.memory_index).checked;
        let now = self.now().to_zoned(self.zone.clone());
        if schedule.divides_by_zero(&now) {
            return self.unusable("divided by 0".to_owned());
        }
        let puppet = schedule.allows(checked, &now, PeriodRule::Puppet);
        let sound = schedule.allows(checked, &now, PeriodRule::Sound);
        let allowed = if puppet != sound && self.deviations.has(Deviation::PeriodsAreCompared) {
            sound
        } else {
            puppet
        };
        Ok(if allowed {
            ScheduleState::Now
        } else {
            ScheduleState::NotNow
        })
    }

    fn unusable(&self, message: String) -> Result<ScheduleState, TransactionError> {
        let taken = self
            .deviations
            .has(Deviation::UnusableScheduleFailsResource);
        if taken {
            Ok(ScheduleState::Unusable(message))
        } else {
            Err(TransactionError { message })
        }
    }
}
