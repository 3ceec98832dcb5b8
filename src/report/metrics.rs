//! The numbers of a report (`docs/reference/transaction.md`, section 17, *Metrics*).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::transaction::{EventStatus, ResourceStatus};

use super::RunRecord;

type Flag = fn(&ResourceStatus) -> bool;

/// One category of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: &'static str,
    /// Name and value, in Puppet's order.
    pub values: Vec<(String, Number)>,
}

/// The value of a metric; serialized as a JSON number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// Number of resources, changes or events.
    Count(u64),
    /// Duration in seconds.
    Seconds(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Count(count) => count as f64,
            Number::Seconds(seconds) => seconds,
        }
    }
}

impl RunRecord {
    /// Seconds by category, the total included.
    pub(crate) fn phases(&self) -> BTreeMap<String, f64> {
        let phases = self.time_metric().values.into_iter();
        phases.map(|(name, value)| (name, value.as_f64())).collect()
    }

    /// All categories: `resources`, `time`, `changes`, `events`.
    pub fn metrics(&self) -> Vec<Metric> {
        vec![
            self.resource_metric(),
            self.time_metric(),
            Metric {
                name: "changes",
                values: vec![("total".to_owned(), Number::Count(self.changes()))],
            },
            self.event_metric(),
        ]
    }

    fn resource_metric(&self) -> Metric {
        let count = |flag: Flag| {
            Number::Count(self.resources.iter().filter(|status| flag(status)).count() as u64)
        };
        let flags: [(&str, Flag); 9] = [
            ("total", |_| true),
            ("skipped", |status| status.skipped.is_some()),
            ("failed", |status| status.failed),
            ("failed_to_restart", |status| status.failed_to_restart),
            ("restarted", |status| status.restarted),
            ("changed", |status| status.changed),
            ("out_of_sync", |status| status.out_of_sync),
            // Always 0: Puppet sets the flag on a status that it then replaces.
            ("scheduled", |_| false),
            ("corrective_change", |status| status.corrective_change),
        ];
        Metric {
            name: "resources",
            values: flags
                .map(|(name, flag)| (name.to_owned(), count(flag)))
                .to_vec(),
        }
    }

    fn time_metric(&self) -> Metric {
        let mut values: Vec<(String, Number)> = self
            .times
            .iter()
            .map(|(name, seconds)| (name.clone(), Number::Seconds(*seconds)))
            .collect();
        let total = match self.ended {
            Some(ended) => ended
                .duration_since(self.context.time)
                .as_secs_f64()
                .max(0.0),
            None => self.times.values().sum(),
        };
        values.push(("total".to_owned(), Number::Seconds(total)));
        Metric {
            name: "time",
            values,
        }
    }

    fn event_metric(&self) -> Metric {
        let events = || self.resources.iter().flat_map(|status| &status.events);
        let count =
            |desired: EventStatus| events().filter(|one| one.status == desired).count() as u64;
        let mut values = vec![
            ("total".to_owned(), Number::Count(events().count() as u64)),
            (
                "failure".to_owned(),
                Number::Count(count(EventStatus::Failure)),
            ),
            (
                "success".to_owned(),
                Number::Count(count(EventStatus::Success)),
            ),
        ];
        for (name, status) in [("noop", EventStatus::Noop), ("audit", EventStatus::Audit)] {
            let count = count(status);
            if count > 0 {
                values.push((name.to_owned(), Number::Count(count)));
            }
        }
        Metric {
            name: "events",
            values,
        }
    }
}
