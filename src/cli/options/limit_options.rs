//! The options of limits for the changes of a device.

use crate::fleet::change_limits::ChangeLimits;

/// Limits per device. A device that would exceed one is not changed at all.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Refuse a device whose run would change more than N resources
    #[arg(long, value_name = "N", help_heading = "Limits per device")]
    pub(crate) max_changes: Option<usize>,

    /// Refuse a device whose run would remove more than N resources
    #[arg(long, value_name = "N", help_heading = "Limits per device")]
    pub(crate) max_removals: Option<usize>,

    /// Refuse a device whose catalog shuts down more than this share of its interfaces
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Limits per device")]
    pub(crate) max_shutdown: Option<u8>,
}

impl LimitArgs {
    pub(crate) fn change_limits(&self) -> ChangeLimits {
        ChangeLimits {
            changes: self.max_changes,
            removals: self.max_removals,
        }
    }
}

/// A share in percent, `10` or `10%`.
pub(crate) fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<u8>().ok();
    let number = number.filter(|number| *number <= 100);
    number.ok_or_else(|| "a number from 0 to 100 is required".to_owned())
}
