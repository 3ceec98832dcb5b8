//! The chart of runs and drift of the last day, week or month.

use jiff::{SignedDuration, Timestamp};

use crate::history::counts::PeriodCounts;
use crate::history::devices::DeviceResult;
use crate::history::{HistoryError, HistoryReader};
use crate::serve::web::chart::{self, ChartPeriod};
use crate::serve::web::shared_views::seconds;
use crate::serve::web::status_label::StatusLabel;

/// The results in a bar from the bottom to the top, which is seen first.
const RESULTS: [DeviceResult; 7] = [
    DeviceResult::Unchanged,
    DeviceResult::Changed,
    DeviceResult::Pending,
    DeviceResult::Interrupted,
    DeviceResult::NotRun,
    DeviceResult::Unreachable,
    DeviceResult::Failed,
];

/// A chart with its numbers, and links to the other ones.
pub(super) struct FleetChart {
    pub(super) svg: String,
    /// The results that occur.
    pub(super) legend: Vec<StatusLabel>,
    pub(super) numbers: Vec<ChartNumbers>,
    pub(super) periods: Vec<PeriodLink>,
}

/// The numbers of a period in the order of the legend.
pub(super) struct ChartNumbers {
    pub(super) start: String,
    pub(super) runs: Vec<u64>,
    pub(super) drifted: u64,
}

pub(super) struct PeriodLink {
    pub(super) name: &'static str,
    pub(super) path: String,
    pub(super) is_current: bool,
}

/// The time that a chart covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChartRange {
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

    /// The range of a parameter.
    pub(super) fn of(word: &str) -> Self {
        let mut all = Self::ALL.iter();
        let found = all.find(|(_, _, own)| *own == word);
        found.map_or(Self::Day, |(range, _, _)| *range)
    }

    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(range, _, _)| *range == self);
        found.map_or("day", |(_, _, word)| word)
    }

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
        let occurs = |result: &str| {
            let mut all = periods.iter().flat_map(|period| &period.runs);
            all.any(|(other, count)| *other == result && *count > 0)
        };
        let results = RESULTS.iter().map(|result| result.word());
        let results: Vec<&str> = results.filter(|result| occurs(result)).collect();
        let numbers = periods.iter().rev().map(|period| ChartNumbers {
            start: seconds(period.start),
            runs: (period.runs.iter())
                .filter(|(result, _)| results.contains(result))
                .map(|(_, count)| *count)
                .collect(),
            drifted: period.drifted,
        });
        Self {
            svg: chart::svg(&periods, range.word()),
            numbers: numbers.collect(),
            legend: results.into_iter().map(StatusLabel::new).collect(),
            periods: (ChartRange::ALL.iter())
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
    let runs_of = |result: DeviceResult| counts.runs.get(result.word()).copied().unwrap_or(0);
    let results = RESULTS.iter();
    ChartPeriod {
        start: counts.start,
        label: range.label(counts.start),
        runs: results
            .map(|result| (result.word(), u64::from(runs_of(*result))))
            .collect(),
        drifted: u64::from(counts.devices_with_drift),
    }
}
