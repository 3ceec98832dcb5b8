//! Restarts: at once, or scheduled by `reload in`.
//!
//! From `reload` and `show reload` in the Configuration Fundamentals command reference (Cisco IOS 12.4 and 15.1). The message on the
//! terminals is that of recorded sessions, not of the reference.

use std::time::{Duration, Instant};

use super::device::Device;

/// The reason without a text of the user.
pub(super) const REASON: &str = "Reload Command";
pub(super) const NOT_SCHEDULED: &str = "No reload is scheduled.\n";

/// The latest time in minutes: "within approximately 24 days".
const LATEST: u64 = 24 * 24 * 60;

/// A restart at a point in time.
#[derive(Debug, Clone)]
pub(super) struct ScheduledReload {
    /// The time.
    pub at: Instant,
    /// The reason.
    pub reason: String,
    /// The device does not restart.
    pub is_lost: bool,
}

/// A restart that the user has not confirmed.
#[derive(Debug, Clone)]
pub(super) struct RequestedReload {
    /// `None`: at once.
    pub minutes: Option<u64>,
    /// The reason.
    pub reason: String,
    /// The device does not restart.
    pub is_lost: bool,
}

/// Reads `[hhh:]mm`.
pub(super) fn parse_delay(word: &str) -> Option<u64> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten()
    };
    let minutes = match word.split_once(':') {
        Some((hours, minutes)) => {
            let minutes = number(minutes).filter(|minutes| *minutes < 60)?;
            number(hours)?.checked_mul(60)?.checked_add(minutes)?
        }
        None => number(word)?,
    };
    (1..=LATEST).contains(&minutes).then_some(minutes)
}

/// `1 hour and 20 minutes`
fn render(minutes: u64) -> String {
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    let (hours, rest) = (minutes / 60, minutes % 60);
    let rest = format!("{rest} minute{}", plural(rest));
    match hours {
        0 => rest,
        _ => format!("{hours} hour{} and {rest}", plural(hours)),
    }
}

/// The message on all terminals.
pub(super) fn broadcast(text: &str) -> String {
    format!("\n\n\n\u{7}***\n*** --- SHUTDOWN {text} ---\n***\n")
}

/// `0:10:00`
pub(super) fn countdown(left: Duration) -> String {
    let seconds = left.as_secs();
    format!(
        "in {}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

impl RequestedReload {
    /// The text before the confirmation.
    pub(super) fn question(&self) -> String {
        let proceed = "Proceed with reload? [confirm]";
        match self.minutes {
            None => proceed.to_owned(),
            Some(minutes) => format!(
                "{}Reload reason: {}\n{proceed}",
                scheduled_for(minutes),
                self.reason
            ),
        }
    }
}

fn scheduled_for(minutes: u64) -> String {
    format!(
        "Reload scheduled for {:02}:{:02}:00 UTC Mon Jan 1 2024 (in {})\n",
        minutes / 60 % 24,
        minutes % 60,
        render(minutes)
    )
}

impl Device {
    /// Whether the running configuration is not the saved one. The VLANs of a VTP server are in `vlan.dat`.
    pub(super) fn is_modified(&self) -> bool {
        let Some((hostname, saved)) = &self.startup else {
            return true;
        };
        let running = &self.configuration;
        let has_vlans = running.vtp.is_local();
        self.hostname != *hostname
            || running.root != saved.root
            || running.snmp_users != saved.snmp_users
            || has_vlans && (running.vlans != saved.vlans || running.vtp != saved.vtp)
    }

    /// Schedules a restart, instead of an earlier one.
    pub(super) fn schedule_reload(&mut self, minutes: u64, requested: RequestedReload) {
        self.reload = Some(ScheduledReload {
            at: self.now() + Duration::from_secs(60 * minutes),
            reason: requested.reason,
            is_lost: requested.is_lost,
        });
    }

    /// The output of `show reload`.
    pub(super) fn show_reload(&self) -> String {
        match (&self.reload, self.time_to_reload()) {
            (Some(reload), Some(left)) => {
                let minutes = left.as_secs().div_ceil(60);
                format!(
                    "{}Reload reason: {}\n",
                    scheduled_for(minutes),
                    reload.reason
                )
            }
            _ => NOT_SCHEDULED.to_owned(),
        }
    }

    /// The time until the scheduled restart.
    pub(super) fn time_to_reload(&self) -> Option<Duration> {
        let reload = self.reload.as_ref()?;
        Some(reload.at.saturating_duration_since(self.now()))
    }

    /// Restarts if it is time.
    pub(super) fn reload_at_its_time(&mut self) {
        let now = self.now();
        if let Some(reload) = self.reload.take_if(|reload| reload.at <= now)
            && !reload.is_lost
        {
            self.restart();
        }
    }

    /// Starts again with the saved configuration. Timers do not survive.
    pub(super) fn restart(&mut self) {
        if let Some((hostname, configuration)) = self.startup.clone() {
            self.restore(hostname, configuration);
        }
        self.revert = None;
        self.reload = None;
        self.restarts += 1;
    }
}
