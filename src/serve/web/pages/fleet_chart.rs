//! The chart of runs and drift of the last day, week or month.

use jiff::{SignedDuration, Timestamp};

use crate::history::counts::PeriodCounts;
use crate::history::{HistoryError, HistoryReader};
use crate::serve::web::chart::{self, ChartPeriod};

/// A chart with links to the other ones.
pub(super) struct FleetChart {
    pub(super) svg: String,
    pub(super) periods: Vec<PeriodLink>,
}

pub(super) struct PeriodLink {
    pub(super) name: &'static str,
    pub(super) path: String,
    pub(super) is_current: bool,
}

/// The time that a chart covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChartRange {
    #[default]
    Day,
    Week,
    Month,
}

impl ChartRange {
    const ALL: [(Self, &str, &str); 3] = [
        (Self::Day, "Day", "day"),
        (Self::Week, "Week", "week"),
        (Self::Month, "Month", "month"),
    ];

    /// Hours of the chart and of each bar.
    fn hours(self) -> (i64, u32) {
        match self {
            Self::Day => (24, 1),
            Self::Week => (7 * 24, 6),
            Self::Month => (30 * 24, 24),
        }
    }

    fn label(self, start: Timestamp) -> String {
        let format = match self {
            Self::Day => "%H:%M",
            Self::Week => "%a %H:%M",
            Self::Month => "%d %b",
        };
        start.strftime(format).to_string()
    }

    /// The counts up to now.
    pub(super) fn read(
        self,
        reader: &HistoryReader<'_>,
        now: Timestamp,
    ) -> Result<Vec<PeriodCounts>, HistoryError> {
        let (hours, step) = self.hours();
        let from = now - SignedDuration::from_hours(hours - i64::from(step));
        reader.period_counts(from, now, step)
    }
}

impl FleetChart {
    pub(super) fn new(range: ChartRange, counts: &[PeriodCounts]) -> Self {
        let periods: Vec<ChartPeriod> = counts.iter().map(|one| period(range, one)).collect();
        let links = ChartRange::ALL.iter();
        Self {
            svg: chart::svg(&periods),
            periods: links
                .map(|&(other, name, word)| PeriodLink {
                    name,
                    path: format!("/?chart={word}"),
                    is_current: other == range,
                })
                .collect(),
        }
    }
}

fn period(range: ChartRange, counts: &PeriodCounts) -> ChartPeriod {
    let sum = |statuses: &[&str]| -> u64 {
        let found = statuses
            .iter()
            .filter_map(|status| counts.runs.get(*status));
        found.map(|count| u64::from(*count)).sum()
    };
    ChartPeriod {
        label: range.label(counts.start),
        unchanged: sum(&["unchanged", "pending"]),
        changed: sum(&["changed"]),
        failed: sum(&["failed", "not run", "interrupted"]),
        drifted: Some(u64::from(counts.devices_with_drift)),
    }
}
