//! `[protect]` of a command line: the device reverts the changes of a run unless they are confirmed.

use std::num::NonZeroU32;
use std::time::Duration;

use super::candidate_rules::ConfirmRules;
use super::command::ExpectedAnswer;
use crate::document::{Item, KeyValue, Table, keys, text_with};
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

text_with! {
    /// A line with the number of minutes.
    pub(super) struct TimedLine("minutes");
}

keys! {
    /// The device reverts the changes of a run unless they are confirmed.
    pub(super) struct ProtectKeys {
        /// Command that starts the timer, with `{minutes}`.
        begin: Option<TimedLine>,
        /// Command that starts the time again, with `{minutes}`.
        extend: Option<TimedLine>,
        /// Command that confirms the changes.
        keep: Option<String>,
        /// Commands that revert the changes at once.
        revert: Vec<String>,
        /// Command that shows whether the timer runs.
        state: Option<String>,
        /// Pattern of its output with a timer.
        pending: Option<Pattern>,
        /// Pattern of its output without a timer.
        none: Option<Pattern>,
        /// What the device needs for a timed revert.
        condition: Option<ConditionKeys>,
        /// Minutes after which the device reverts.
        minutes: Option<NonZeroU32>,
        /// A scheduled reload, for devices without a timed revert.
        reload: Option<ReloadKeys>,
    }
}

keys! {
    /// What the device needs for a timer.
    pub(super) struct ConditionKeys {
        /// Command that shows it.
        send: String,
        /// Pattern of a line that says it is missing.
        pattern: Pattern,
        /// How to configure it, in the imperative.
        hint: Option<String>,
    }
}

keys! {
    /// The device restarts at a scheduled time, with the saved configuration.
    pub(super) struct ReloadKeys {
        /// Command that schedules the reload, with `{minutes}`.
        begin: TimedLine,
        /// Command that starts the time again, with `{minutes}`.
        extend: Option<TimedLine>,
        /// Command that cancels the reload.
        keep: String,
        /// Command that shows whether a reload is scheduled.
        state: String,
        /// Pattern of its output with a scheduled reload.
        pending: Pattern,
        /// Pattern of its output without one.
        none: Pattern,
        /// What the device needs for a scheduled reload.
        condition: Option<ConditionKeys>,
        /// Minutes after which the device reloads.
        minutes: NonZeroU32,
        /// Minutes until the device accepts logins after the reload.
        boot_minutes: NonZeroU32,
        /// The question whether to save the configuration.
        confirm: Option<UnsavedKeys>,
    }
}

keys! {
    /// The question whether to save the configuration.
    pub(super) struct UnsavedKeys {
        /// Pattern of the question. It refuses the run at `begin`.
        question: Pattern,
        /// The answer at `extend`, which does not save.
        answer: String,
    }
}

impl ProtectMethods {
    /// Reads the section. Mistakes become findings of the file.
    pub(super) fn read(item: &Item<'_>) -> Option<Self> {
        let mut keys = ProtectKeys::read(item)?;
        let reload = keys.reload.take();
        let is_needed = reload.is_none() || keys.begin.is_some();
        Some(Self {
            timed_revert: if is_needed {
                Some(ProtectRules::timed_revert(keys, &item.table()?)?)
            } else {
                None
            },
            reload: reload.map(ProtectRules::from),
        })
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
    fn timed_revert(keys: ProtectKeys, table: &Table<'_>) -> Option<Self> {
        let missing = [
            ("begin", keys.begin.is_none()),
            ("keep", keys.keep.is_none()),
            ("revert", keys.revert.is_empty()),
            ("state", keys.state.is_none()),
            ("pending", keys.pending.is_none()),
            ("none", keys.none.is_none()),
            ("minutes", keys.minutes.is_none()),
        ];
        for (key, _) in missing.iter().filter(|(_, is_missing)| *is_missing) {
            table.missing(key);
        }
        let minutes = keys.minutes?;
        Some(Self {
            confirm: ConfirmRules {
                commit: keys.begin?.with(minutes),
                keep: keys.keep?,
                revert: keys.revert,
            },
            extend: keys.extend.map(|line| line.with(minutes)),
            state: keys.state?,
            pending: keys.pending?,
            none: keys.none?,
            condition: keys.condition.map(RevertCondition::from),
            limit: duration(minutes),
            reload: None,
        })
    }
}

impl From<ReloadKeys> for ProtectRules {
    fn from(keys: ReloadKeys) -> Self {
        Self {
            confirm: ConfirmRules {
                commit: keys.begin.with(keys.minutes),
                keep: keys.keep,
                revert: Vec::new(),
            },
            extend: keys.extend.map(|line| line.with(keys.minutes)),
            state: keys.state,
            pending: keys.pending,
            none: keys.none,
            condition: keys.condition.map(RevertCondition::from),
            limit: duration(keys.minutes),
            reload: Some(ReloadRules {
                boot: duration(keys.boot_minutes),
                unsaved: keys.confirm.map(|keys| ExpectedAnswer {
                    question: keys.question,
                    answer: keys.answer,
                }),
            }),
        }
    }
}

impl From<ConditionKeys> for RevertCondition {
    fn from(keys: ConditionKeys) -> Self {
        Self {
            send: keys.send,
            missing: keys.pattern,
            hint: keys.hint,
        }
    }
}

impl TimedLine {
    fn with(self, minutes: NonZeroU32) -> String {
        self.0.replace("{minutes}", &minutes.to_string())
    }
}

fn duration(minutes: NonZeroU32) -> Duration {
    Duration::from_secs(60 * u64::from(minutes.get()))
}
