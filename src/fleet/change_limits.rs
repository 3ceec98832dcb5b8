//! Limits for the changes of one device's run. A run that would exceed one changes nothing.

use switchtender_devices::diagnostic::Diagnostic;

use crate::report::RunCounts;

/// Maximum numbers for the run of one device. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangeLimits {
    /// Resources that the run changes.
    pub(crate) changes: Option<usize>,
    /// Resources that the run removes.
    pub(crate) removals: Option<usize>,
}

impl ChangeLimits {
    /// These limits; those of the device where there is none.
    #[must_use]
    pub(super) fn or(self, device: Self) -> Self {
        Self {
            changes: self.changes.or(device.changes),
            removals: self.removals.or(device.removals),
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// The limits that the changes of a plan exceed.
    pub(crate) fn exceeded_by(&self, planned: &RunCounts) -> Vec<Diagnostic> {
        let limits = [
            ("max-changes", "change", planned.to_change, self.changes),
            ("max-removals", "remove", planned.to_remove, self.removals),
        ];
        let exceeded = limits.into_iter().filter_map(|(code, verb, count, limit)| {
            let limit = limit.filter(|limit| count > *limit)?;
            let plural = if count == 1 { "" } else { "s" };
            let message =
                format!("the run would {verb} {count} resource{plural}, the limit is {limit}");
            let key = code.replace('-', "_");
            let help = format!(
                "check the plan, or raise the limit: --{code}, or `{key}` in [defaults] or the table of the device"
            );
            Some(Diagnostic::error(code, message).help(help))
        });
        exceeded.collect()
    }
}
