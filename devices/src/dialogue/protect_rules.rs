//! `[protect]` of a command line: the device reverts the changes of a run unless they are confirmed.

use std::time::Duration;

use super::candidate_rules::ConfirmRules;
use crate::document::Table;
use crate::pattern::Pattern;

/// The commands for a timed revert, sent in the mode for reads.
#[derive(Clone, Debug)]
pub(crate) struct ProtectRules {
    /// `commit` starts the timer.
    pub(crate) confirm: ConfirmRules,
    /// Starts the time of a running timer again.
    pub(crate) extend: Option<String>,
    /// Prints whether the timer runs.
    pub(crate) state: String,
    /// Output of `state` while the timer runs.
    pub(crate) pending: Pattern,
    /// Output of `state` without a timer.
    pub(crate) none: Pattern,
    /// The command that prints what the device lacks for a timed revert, and the line that says so.
    pub(crate) condition: Option<(String, Pattern)>,
    /// The time after which the device reverts the changes.
    pub(crate) limit: Duration,
}

impl ProtectRules {
    /// Reads the section. Mistakes become findings of the table.
    pub(super) fn read(table: &Table<'_>) -> Option<Self> {
        let minutes = table.required("minutes").and_then(|item| {
            let minutes = item.integer()?;
            let minutes = u16::try_from(minutes).ok().filter(|minutes| *minutes > 0);
            if minutes.is_none() {
                item.error("bad-number", "`minutes` must be 1 or more");
            }
            minutes
        });
        let minutes = minutes.map_or(0, u64::from);
        let with_time = |line: String| line.replace("{minutes}", &minutes.to_string());
        let begin = table.required_string("begin").map(with_time);
        let extend = table.string("extend").map(with_time);
        let keep = table.required_string("keep");
        let revert = table.required("revert");
        let state = table.required_string("state");
        let pending = table.required_pattern("pending");
        let none = table.required_pattern("none");
        let condition = table.table("condition").and_then(|table| {
            let send = table.required_string("send");
            let missing = table.required_pattern("missing");
            table.finish();
            Some((send?, missing?))
        });
        table.finish();
        Some(Self {
            confirm: ConfirmRules {
                commit: begin?,
                keep: keep?,
                revert: revert?.strings()?,
            },
            extend,
            state: state?,
            pending: pending?,
            none: none?,
            condition,
            limit: Duration::from_secs(60 * minutes),
        })
    }
}
