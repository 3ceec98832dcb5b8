//! The progress of a run on standard error: a bar for several devices, the time for one, and what waits.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use switchtender_devices::duration;
use switchtender_devices::names::DeviceName;

use crate::report::RunStatus;

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(500);

/// Finished devices, and how many of them changed and failed.
pub(super) struct DeviceProgress {
    bar: ProgressBar,
    /// Nothing is changed: pending changes are counted.
    noop: bool,
    is_fleet: bool,
    changed: usize,
    failed: usize,
    /// The devices that may revert their changes, and the longest wait for one of them.
    waiting: BTreeSet<DeviceName>,
    longest: Duration,
}

impl DeviceProgress {
    /// The progress of so many devices, if standard error is a terminal.
    pub(super) fn new(devices: usize, noop: bool) -> Self {
        let is_fleet = devices > 1;
        let bar = if std::io::stderr().is_terminal() {
            let template = if is_fleet {
                "{bar:30} {pos}/{len} devices{msg}, {elapsed}"
            } else {
                "{spinner} {msg}, {elapsed}"
            };
            let style =
                ProgressStyle::with_template(template).expect("the template is well-formed");
            ProgressBar::new(devices as u64).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        let progress = Self {
            bar,
            noop,
            is_fleet,
            changed: 0,
            failed: 0,
            waiting: BTreeSet::new(),
            longest: Duration::ZERO,
        };
        progress.update();
        // The time passes also while no device ends.
        progress.bar.enable_steady_tick(TICK);
        progress
    }

    /// Counts other devices from zero.
    pub(super) fn restart(&mut self, devices: usize, noop: bool) {
        (self.noop, self.changed, self.failed) = (noop, 0, 0);
        self.waiting.clear();
        self.bar.reset();
        self.bar.set_length(devices as u64);
        self.update();
    }

    /// The bar, unless it is hidden.
    pub(super) fn bar(&self) -> Option<ProgressBar> {
        (!self.bar.is_hidden()).then(|| self.bar.clone())
    }

    /// The run waits until a device has reverted its changes, at most so long.
    pub(super) fn wait(&mut self, device: &DeviceName, longest: Duration) {
        self.waiting.insert(device.clone());
        self.longest = self.longest.max(longest);
        self.update();
    }

    /// Adds a device.
    pub(super) fn advance(&mut self, device: &DeviceName, status: RunStatus) {
        self.waiting.remove(device);
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
        let verb = match (self.is_fleet, self.noop) {
            (true, true) => "to change",
            (true, false) => "changed",
            (false, true) => "planning",
            (false, false) => "applying",
        };
        let mut text = if self.is_fleet {
            format!(", {} {verb}, {} failed", self.changed, self.failed)
        } else {
            verb.to_owned()
        };
        if !self.waiting.is_empty() {
            let devices = if self.is_fleet {
                format!("{} ", self.waiting.len())
            } else {
                String::new()
            };
            let limit = duration::render(self.longest);
            text += &format!(", {devices}waiting for a revert (at most {limit})");
        }
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
