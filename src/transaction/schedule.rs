//! Whether a resource's schedule allows it to be applied now (`docs/transaction.md`, section 12).

use crate::catalog::types::{Numbering, Schedule};
use crate::deviations::Deviation;
use crate::graph::VertexId;

use super::run::{Run, RunError};

/// What a schedule says.
pub(super) enum Scheduled {
    Now,
    NotNow,
    /// There is no schedule of the name.
    Unknown(String),
}

impl Run<'_> {
    pub(super) fn scheduled(&mut self, id: VertexId) -> Result<Scheduled, RunError> {
        let vertex = self.graph.vertex(id);
        let node = self.resources.node(vertex.node());
        // Markers have none: it is not inherited by what a container contains.
        if self.settings.ignore_schedules || vertex.is_marker() {
            return Ok(Scheduled::Now);
        }
        let Some(name) = &node.meta.schedule else {
            return Ok(Scheduled::Now);
        };
        let found = self
            .resources
            .find_by_name("schedule", name)
            .and_then(|id| self.resources.resource(id))
            .map(Schedule::of);
        let Some(schedule) = found else {
            let message = format!("Could not find schedule {name}");
            return if self
                .deviations
                .take(Deviation::UnknownScheduleFailsResource)
            {
                Ok(Scheduled::Unknown(message))
            } else {
                Err(RunError { message })
            };
        };
        // Whoever asks about a resource remembers it.
        let checked = self.memory.state_of(node.reference.as_str()).checked;
        let now = self.now().to_zoned(self.zone.clone());
        let puppet = schedule.allows(checked, &now, Numbering::Puppet);
        let sound = schedule.allows(checked, &now, Numbering::Sound);
        let allowed = if puppet != sound && self.deviations.take(Deviation::PeriodNumbersAreSound) {
            sound
        } else {
            puppet
        };
        Ok(if allowed {
            Scheduled::Now
        } else {
            Scheduled::NotNow
        })
    }
}
