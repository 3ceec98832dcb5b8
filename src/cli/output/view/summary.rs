//! The end of a run: a table of few devices, totals of many, and the reasons of failures.

use std::time::Duration;

use indexmap::IndexMap;
use switchtender_devices::provider::driver_provider::Verdict;

use super::device_names::wrapped;
use super::{DeviceSummary, table};
use crate::cli::options::view_arguments::ViewFilter;
use crate::counted::counted;
use crate::inventory::{SavePolicy, range};
use crate::report::{RunCounts, RunRecord, RunStatus, UNREACHABLE};
use crate::run_kind::RunKind;
use crate::terminal_text::{Style, TerminalText};

/// Maximum number of rows; more devices are listed by status.
pub(crate) const MAX_ROWS: usize = 20;

/// The results of all devices.
pub(super) struct Summary<'a> {
    /// In the order of the inventory.
    pub(super) all: &'a [DeviceSummary],
    pub(super) filter: &'a ViewFilter,
    /// Nothing was changed; pending changes are counted.
    pub(super) noop: bool,
    pub(super) colored: bool,
    /// The output above the summary has no reasons of failures.
    pub(super) has_reasons: bool,
    /// Duration of the whole run.
    pub(super) took: Duration,
    pub(super) kind: RunKind,
    /// The batches that have started, and all of them.
    pub(super) batches: Option<(usize, usize)>,
    /// The reports and changes of the run are in the state directory.
    pub(super) is_stored: bool,
}

/// Why a device failed or could not run.
pub(super) struct FailureReason {
    pub(super) text: String,
    /// The text without what names the device.
    pub(super) common: String,
}

/// The devices with one reason.
struct FailureGroup<'a> {
    names: Vec<&'a str>,
    /// The reason of the first one.
    first: String,
    /// All reasons have the same text.
    is_equal: bool,
}

/// The columns of the table about a run.
const COLUMNS: [&str; 8] = [
    "Device",
    "Status",
    "Resources",
    "Changed",
    "Failed",
    "Skipped",
    "Commands",
    "Time",
];
/// Those of a plan.
const PLAN_COLUMNS: [&str; 8] = [
    "Device",
    "Status",
    "Resources",
    "To change",
    "Failed",
    "Skipped",
    "Commands",
    "Time",
];

/// Shares of the lines of the configuration.
const COVERAGE_COLUMNS: [&str; 2] = ["Managed", "Covered"];

/// All columns and statuses.
#[cfg(test)]
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let statuses = STATUSES.into_iter();
    let columns = COLUMNS.into_iter().chain(PLAN_COLUMNS);
    columns.chain(COVERAGE_COLUMNS).chain(statuses)
}

const STATUSES: [&str; 6] = [
    "unchanged",
    "changed",
    "pending",
    "failed",
    UNREACHABLE,
    "not run",
];

impl Summary<'_> {
    /// `reason` is the error of a device that failed or could not run.
    pub(super) fn text(&self, reason: impl Fn(&DeviceSummary) -> FailureReason) -> TerminalText {
        let is_selected = |ended: &&DeviceSummary| {
            let is_few = self.all.len() <= MAX_ROWS || ended.status() != RunStatus::Unchanged;
            is_few && self.filter.shows(ended.status_word())
        };
        let selected: Vec<&DeviceSummary> = self.all.iter().filter(is_selected).collect();
        let mut text = TerminalText::with_colors(self.colored);
        let has_table = (1..=MAX_ROWS).contains(&selected.len());
        if has_table {
            text.append(&self.table(&selected));
        }
        if self.all.len() > 1 {
            if has_table {
                text.end_line();
            }
            self.add_totals(&mut text, has_table);
            for status in [RunStatus::Changed, RunStatus::Pending] {
                let listed = selected.iter().filter(|ended| ended.status() == status);
                let names: Vec<&str> = listed.map(|ended| ended.device.as_str()).collect();
                if !has_table && !names.is_empty() {
                    add_painted_list(&mut text, status.word(), names);
                }
            }
        }
        if self.all.len() > 1 || self.has_reasons {
            self.add_reasons(&mut text, reason);
        }
        for (heading, names) in [
            (
                "changed in spite of noop (noop => false in the catalog):",
                self.names(|ended| {
                    let has_changed = |counts: RunCounts| counts.changed > 0;
                    self.noop && ended.counts().is_some_and(has_changed)
                }),
            ),
            ("reverted:", self.with_verdict(Verdict::Reverted)),
            ("undone:", self.with(|record| record.is_undone)),
            (
                "unknown whether reverted:",
                self.with_verdict(Verdict::Unknown),
            ),
            (
                "text not understood on:",
                self.with(|record| record.counts.not_understood > 0),
            ),
        ] {
            if !names.is_empty() {
                add_list(&mut text, heading, names);
            }
        }
        self.add_unsaved(&mut text);
        self.add_next(&mut text);
        text
    }

    /// Adds commands that follow a run over many devices.
    fn add_next(&self, text: &mut TerminalText) {
        if !self.is_long() || !self.is_stored || self.filter.is_quiet() {
            return;
        }
        let has = |status: RunStatus| self.all.iter().any(|ended| ended.status() == status);
        let has_failures = has(RunStatus::Failed) || has(RunStatus::NotRun);
        let next = [
            (
                self.kind == RunKind::Apply && has_failures,
                "`switchtender report --only failed` shows the failures",
            ),
            (
                self.kind == RunKind::Apply && has(RunStatus::Changed),
                "`switchtender undo --last` restores what was before",
            ),
        ];
        let next = next.into_iter().filter(|(applies, _)| *applies);
        for (_, command) in next {
            text.paint(Style::BoldCyan, "next")
                .line(format_args!(": {command}"));
        }
    }

    /// Whether the end has batches, rates and what is next.
    fn is_long(&self) -> bool {
        self.all.len() > MAX_ROWS || self.batches.is_some()
    }

    /// Warns of changes that a restart of their device loses.
    fn add_unsaved(&self, text: &mut TerminalText) {
        let unsaved = |by_policy: bool| {
            self.with(move |record| {
                let policy = record.not_saved;
                policy.is_some_and(|policy| (policy == SavePolicy::Never) == by_policy)
            })
        };
        for (names, advice) in [
            (
                unsaved(true),
                "set `save_config = \"on_change\"` in the inventory, or save them on the device",
            ),
            (unsaved(false), "save them on the device"),
        ] {
            if names.is_empty() {
                continue;
            }
            let heading = "not saved:";
            for line in wrapped(heading, &range::of_names(names)) {
                match line.strip_prefix(heading) {
                    Some(rest) => text.paint(Style::Yellow, heading).line(rest),
                    None => text.line(line),
                };
            }
            text.line(format_args!(
                "  a restart of the device loses the changes: {advice}"
            ));
        }
    }

    /// Adds the reasons of failures, each with its devices.
    fn add_reasons(
        &self,
        text: &mut TerminalText,
        reason: impl Fn(&DeviceSummary) -> FailureReason,
    ) {
        for status in ["failed", UNREACHABLE, "not run"] {
            let failed = self.all.iter();
            let failed = failed.filter(|ended| ended.status_word() == status);
            let mut groups: IndexMap<String, FailureGroup<'_>> = IndexMap::default();
            for ended in failed {
                let FailureReason { text, common } = reason(ended);
                let group = groups.entry(common).or_insert_with(|| FailureGroup {
                    names: Vec::new(),
                    first: text.clone(),
                    is_equal: true,
                });
                group.names.push(ended.device.as_str());
                group.is_equal &= group.first == text;
            }
            for group in groups.into_values() {
                let FailureGroup { names, first, .. } = &group;
                let example = match (group.is_equal, names.as_slice()) {
                    (false, [example, others @ ..]) => {
                        format!(" ({example}; {} alike)", counted(others.len(), "other"))
                    }
                    _ => String::new(),
                };
                let names = range::of_names(names.iter().copied()).join(", ");
                text.paint(table::color(status), status)
                    .line(format_args!(": {names}: {first}{example}"));
            }
        }
    }

    fn with_verdict(&self, verdict: Verdict) -> Vec<&str> {
        self.with(|record| record.protection == Some(verdict))
    }

    fn with(&self, has: impl Fn(&RunRecord) -> bool) -> Vec<&str> {
        self.names(|ended| ended.record.as_ref().is_some_and(&has))
    }

    fn names(&self, has: impl Fn(&DeviceSummary) -> bool) -> Vec<&str> {
        let devices = self.all.iter().filter(|ended| has(ended));
        devices.map(|ended| ended.device.as_str()).collect()
    }

    /// Adds the totals. Those of a table are in its rows.
    fn add_totals(&self, text: &mut TerminalText, has_table: bool) {
        let statuses: Vec<&str> = self.all.iter().map(DeviceSummary::status_word).collect();
        text.add(totals(&statuses));
        if !has_table {
            let counts = self.all.iter().filter_map(DeviceSummary::counts);
            let [changes, commands] = run_totals(counts, self.noop);
            if changes > 0 {
                let (changes, commands) =
                    (counted(changes, "change"), counted(commands, "command"));
                text.add(format_args!("; {changes}, {commands}"));
            }
        }
        let seconds = self.took.as_secs_f64();
        text.add(format_args!(" in {seconds:.1}s"));
        let run = self.all.iter().filter(|ended| ended.took > Duration::ZERO);
        if self.is_long() && seconds >= 1.0 {
            let rate = run.count() as f64 / seconds;
            text.add(format_args!(", {rate:.1} devices per second"));
        }
        if let Some((started, all)) = self.batches {
            text.add(format_args!("; {started} of {all} batches"));
        }
        text.end_line();
    }

    fn table(&self, selected: &[&DeviceSummary]) -> TerminalText {
        let mut header = if self.noop { PLAN_COLUMNS } else { COLUMNS }.to_vec();
        let mut rows: Vec<Vec<String>> = selected.iter().map(|ended| self.row(ended)).collect();
        let coverage = |ended: &DeviceSummary| ended.record.as_ref()?.coverage.clone();
        if selected.iter().any(|ended| coverage(ended).is_some()) {
            let before_time = header.len() - 1;
            header.splice(before_time..before_time, COVERAGE_COLUMNS);
            for (row, ended) in rows.iter_mut().zip(selected) {
                let cells = match coverage(ended) {
                    Some(coverage) => [coverage.managed(), coverage.covered()],
                    None => ["-", "-"].map(str::to_owned),
                };
                row.splice(before_time..before_time, cells);
            }
        }
        table::render(&header, &rows, self.colored)
    }

    fn row(&self, ended: &DeviceSummary) -> Vec<String> {
        let mut row = vec![ended.device.to_string(), ended.status_word().to_owned()];
        match &ended.counts() {
            Some(counts) => {
                let (changed, sent) = changed_and_sent(counts, self.noop);
                let numbers = [
                    counts.resources,
                    changed,
                    counts.failed,
                    counts.skipped,
                    sent,
                ];
                row.extend(numbers.iter().map(ToString::to_string));
            }
            None => row.extend(std::iter::repeat_n("-".to_owned(), 5)),
        }
        row.push(format!("{:.1}s", ended.took.as_secs_f64()));
        row
    }
}

/// The number of devices, and of those with each status.
pub(crate) fn totals(all: &[&str]) -> String {
    let counts = STATUSES.iter().filter_map(|status| {
        let count = all.iter().filter(|other| *other == status).count();
        (count > 0).then(|| format!("{count} {status}"))
    });
    let counts: Vec<String> = counts.collect();
    match all.len() {
        0 => "0 devices".to_owned(),
        1 => format!("1 device: {}", counts.join(", ")),
        number => format!("{number} devices: {}", counts.join(", ")),
    }
}

/// The changes and commands of all devices.
pub(super) fn run_totals(counts: impl Iterator<Item = RunCounts>, noop: bool) -> [usize; 2] {
    counts.fold([0, 0], |[changes, commands], counts| {
        let (changed, sent) = changed_and_sent(&counts, noop);
        [changes + changed, commands + sent]
    })
}

/// The changes and commands of a run, or those that it would have.
fn changed_and_sent(counts: &RunCounts, noop: bool) -> (usize, usize) {
    if noop {
        (counts.pending, counts.to_send)
    } else {
        (counts.changed, counts.operations)
    }
}

/// Adds a list below a status in its color.
fn add_painted_list(text: &mut TerminalText, status: &'static str, names: Vec<&str>) {
    let heading = format!("{status}:");
    for line in wrapped(&heading, &range::of_names(names)) {
        match line.strip_prefix(status) {
            Some(rest) => text.paint(table::color(status), status).line(rest),
            None => text.line(line),
        };
    }
}

fn add_list(text: &mut TerminalText, heading: &str, names: Vec<&str>) {
    for line in wrapped(heading, &range::of_names(names)) {
        text.line(line);
    }
}
