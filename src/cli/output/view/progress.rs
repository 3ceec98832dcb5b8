//! The progress bar of a run over several devices, on standard error.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::report::RunStatus;

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(500);

/// Finished devices, and how many of them changed and failed.
pub(super) struct DeviceProgress {
    bar: ProgressBar,
    /// Nothing is changed: pending changes are counted.
    noop: bool,
    changed: usize,
    failed: usize,
}

impl DeviceProgress {
    /// A bar for so many devices, if standard error is a terminal.
    pub(super) fn new(devices: usize, noop: bool) -> Self {
        let bar = if std::io::stderr().is_terminal() && devices > 1 {
            let style =
                ProgressStyle::with_template("{bar:30} {pos}/{len} devices{msg}, {elapsed}")
                    .expect("the template is well-formed");
            ProgressBar::new(devices as u64).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        let progress = Self {
            bar,
            noop,
            changed: 0,
            failed: 0,
        };
        progress.update();
        // The time passes also while no device ends.
        progress.bar.enable_steady_tick(TICK);
        progress
    }

    /// Counts other devices from zero.
    pub(super) fn restart(&mut self, devices: usize, noop: bool) {
        (self.noop, self.changed, self.failed) = (noop, 0, 0);
        self.bar.reset();
        self.bar.set_length(devices as u64);
        self.update();
    }

    /// The bar, unless it is hidden.
    pub(super) fn bar(&self) -> Option<ProgressBar> {
        (!self.bar.is_hidden()).then(|| self.bar.clone())
    }

    /// Adds a device.
    pub(super) fn advance(&mut self, status: RunStatus) {
        match status {
            RunStatus::Changed | RunStatus::Pending => self.changed += 1,
            RunStatus::Unchanged => {}
            _ => self.failed += 1,
        }
        // Devices that are not started were not counted.
        if self.bar.length() == Some(self.bar.position()) {
            self.bar.inc_length(1);
        }
        // Never more changed devices than devices.
        self.bar.inc(1);
        self.update();
    }

    fn update(&self) {
        let verb = if self.noop { "to change" } else { "changed" };
        let text = format!(", {} {verb}, {} failed", self.changed, self.failed);
        self.bar.set_message(text);
    }

    /// Calls a function that prints while the bar is hidden.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
