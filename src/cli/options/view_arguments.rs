//! The options about the output of a run.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::report::UNREACHABLE;

/// The output of a run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) filter: ViewFilter,

    /// Write the output about each device to DIR/<device>.txt, or <device>.json with --output json, and
    /// print only the summary
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) output_dir: Option<PathBuf>,
}

/// The devices that text output shows.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ViewFilter {
    /// Print only the summary
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,

    /// Show only devices with this status; the summary counts all devices
    #[arg(
        long,
        value_enum,
        value_name = "STATUS,…",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    only: Vec<StatusFilter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StatusFilter {
    /// Changed, or would be changed
    Changed,
    /// Would be changed
    Pending,
    /// Failed, or could not run
    Failed,
    /// Could not run, for another reason than the connection
    #[value(name = "not run", alias = "not-run", alias = "not_run")]
    NotRun,
    /// Could not be connected
    Unreachable,
    Unchanged,
}

impl ViewArgs {
    /// The selected devices, on standard output.
    pub(crate) fn of(filter: ViewFilter) -> Self {
        Self {
            filter,
            output_dir: None,
        }
    }
}

impl ViewFilter {
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the user selects by status.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.only.is_empty()
    }

    /// Shows the devices that failed or could not run.
    pub(crate) fn failures() -> Self {
        Self {
            quiet: false,
            only: vec![StatusFilter::Failed],
        }
    }

    /// Whether a device with this status is shown.
    pub(crate) fn shows(&self, status: &str) -> bool {
        let is_of = |filter: &StatusFilter| match filter {
            StatusFilter::Changed => matches!(status, "changed" | "pending"),
            StatusFilter::Pending => status == "pending",
            StatusFilter::Unchanged => status == "unchanged",
            StatusFilter::NotRun => status == "not run",
            StatusFilter::Unreachable => status == UNREACHABLE,
            StatusFilter::Failed => !matches!(status, "changed" | "pending" | "unchanged"),
        };
        self.only.is_empty() || self.only.iter().any(is_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_statuses_are_accepted_and_select_their_devices() {
        let all = [
            "unchanged",
            "changed",
            "pending",
            "failed",
            "not run",
            UNREACHABLE,
        ];
        for (text, expected) in [
            ("changed", &["changed", "pending"][..]),
            ("pending", &["pending"]),
            ("unchanged", &["unchanged"]),
            ("not run", &["not run"]),
            ("not-run", &["not run"]),
            (UNREACHABLE, &[UNREACHABLE]),
            ("failed", &["failed", "not run", UNREACHABLE]),
        ] {
            let filter = ViewFilter {
                quiet: false,
                only: vec![StatusFilter::from_str(text, false).unwrap()],
            };
            let selected: Vec<&str> = all
                .into_iter()
                .filter(|status| filter.shows(status))
                .collect();
            assert_eq!(selected, expected, "{text}");
        }
    }
}
