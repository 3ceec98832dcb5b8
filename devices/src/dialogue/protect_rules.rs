//! `[protect]` of a command line: the device reverts the changes of a run unless they are confirmed.

use std::time::Duration;

use super::candidate_rules::ConfirmRules;
use super::command::ExpectedAnswer;
use crate::document::{Item, Table};
use crate::pattern::Pattern;

/// How a device reverts the changes of a protected run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RevertMethod {
    /// It restores the configuration from before the run.
    #[default]
    TimedRevert,
    /// It restarts at a scheduled time, with the saved configuration.
    Reload,
}

/// Why a device cannot revert changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertAbsence {
    /// The reason, if possible in the text of the device.
    pub reason: String,
    /// How to configure the device, in the imperative.
    pub hint: Option<String>,
}

impl RevertMethod {
    /// The absence of the method on the platform.
    pub(crate) fn absence(self) -> RevertAbsence {
        RevertAbsence {
            reason: self.absence_reason().to_owned(),
            hint: None,
        }
    }

    fn absence_reason(self) -> &'static str {
        match self {
            RevertMethod::TimedRevert => "the device has no timed revert",
            RevertMethod::Reload => "the device has no scheduled reload",
        }
    }
}

/// The methods of a platform.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProtectMethods {
    timed_revert: Option<ProtectRules>,
    reload: Option<ProtectRules>,
}

/// The commands of one method, sent in the mode for reads.
#[derive(Clone, Debug)]
pub(crate) struct ProtectRules {
    /// `commit` starts the timer. A reload has no `revert`.
    pub(crate) confirm: ConfirmRules,
    /// Starts the time of a running timer again.
    pub(crate) extend: Option<String>,
    /// Prints whether the timer runs.
    pub(crate) state: String,
    /// Output of `state` while the timer runs.
    pub(crate) pending: Pattern,
    /// Output of `state` without a timer.
    pub(crate) none: Pattern,
    pub(crate) condition: Option<RevertCondition>,
    /// The time after which the device reverts the changes.
    pub(crate) limit: Duration,
    /// What only a reload has.
    pub(crate) reload: Option<ReloadRules>,
}

/// What the device needs for a method.
#[derive(Clone, Debug)]
pub(crate) struct RevertCondition {
    /// The command that prints what is absent.
    pub(crate) send: String,
    /// The line of its output about this.
    pub(crate) missing: Pattern,
    /// How to configure it.
    pub(crate) hint: Option<String>,
}

/// How a device restarts.
#[derive(Clone, Debug)]
pub(crate) struct ReloadRules {
    /// The time until the device accepts logins again.
    pub(crate) boot: Duration,
    /// The question whether to save the configuration, and the answer that does not save it.
    pub(crate) unsaved: Option<ExpectedAnswer>,
}

impl ProtectMethods {
    /// Reads the section. Mistakes become findings of the table.
    pub(super) fn read(table: &Table<'_>) -> Self {
        let reload = table.table("reload");
        let has_own = reload.is_none() || table.get("begin").is_some();
        let methods = Self {
            timed_revert: has_own.then(|| ProtectRules::read(table, false)).flatten(),
            reload: reload.and_then(|table| ProtectRules::read(&table, true)),
        };
        table.finish();
        methods
    }

    pub(crate) fn of(&self, method: RevertMethod) -> Option<&ProtectRules> {
        match method {
            RevertMethod::TimedRevert => self.timed_revert.as_ref(),
            RevertMethod::Reload => self.reload.as_ref(),
        }
    }

    /// The commands that print the state of a timer, and what a device lacks for it.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &String> {
        let all = self.timed_revert.iter().chain(&self.reload);
        all.flat_map(|rules| {
            let condition = rules.condition.iter().map(|condition| &condition.send);
            condition.chain([&rules.state])
        })
    }
}

impl ProtectRules {
    fn read(table: &Table<'_>, is_reload: bool) -> Option<Self> {
        let limit = minutes(table, "minutes");
        let number = limit.map_or(0, |limit| limit.as_secs() / 60);
        let with_time = |line: String| line.replace("{minutes}", &number.to_string());
        let timed = |item: Item<'_>| item.string_with(&["minutes"]).map(with_time);
        let begin = table.required("begin").and_then(timed);
        let extend = table.get("extend").and_then(timed);
        let keep = table.required_string("keep");
        let revert = if is_reload {
            Some(Vec::new())
        } else {
            table.required("revert").and_then(|item| item.strings())
        };
        let state = table.required_string("state");
        let pending = table.required_pattern("pending");
        let none = table.required_pattern("none");
        let condition = table.table("condition").and_then(|table| {
            let send = table.required_string("send");
            let missing = table.required_pattern("missing");
            let hint = table.string("hint");
            table.finish();
            Some(RevertCondition {
                send: send?,
                missing: missing?,
                hint,
            })
        });
        let reload = is_reload.then(|| ReloadRules::read(table));
        Some(Self {
            confirm: ConfirmRules {
                commit: begin?,
                keep: keep?,
                revert: revert?,
            },
            extend,
            state: state?,
            pending: pending?,
            none: none?,
            condition,
            limit: limit?,
            reload,
        })
    }
}

impl ReloadRules {
    /// Reads the keys that only a reload has.
    fn read(table: &Table<'_>) -> Self {
        let boot = minutes(table, "boot_minutes");
        let unsaved = table.table("unsaved").and_then(|table| {
            let question = table.required_pattern("question");
            let answer = table.required_string("answer");
            table.finish();
            Some(ExpectedAnswer {
                question: question?,
                answer: answer?,
            })
        });
        table.finish();
        Self {
            boot: boot.unwrap_or_default(),
            unsaved,
        }
    }
}

/// A required number of minutes.
fn minutes(table: &Table<'_>, key: &str) -> Option<Duration> {
    let item = table.required(key)?;
    let minutes = item.integer()?;
    let minutes = u16::try_from(minutes).ok().filter(|minutes| *minutes > 0);
    if minutes.is_none() {
        item.error("bad-number", format!("`{key}` must be 1 or more"));
    }
    minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)))
}
