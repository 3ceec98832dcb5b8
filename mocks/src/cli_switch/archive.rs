//! The configuration archive, and changes that are reverted unless they are confirmed.
//!
//! From "Configuration Rollback Confirmed Change" (Cisco IOS XE 17.x, System Management) and the command reference of
//! `configure revert`, `show archive` and `show archive config rollback timer`. The text about a second timer is not documented.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::{Configuration, Device};

/// Configurations in the archive unless `maximum` is set.
const MAXIMUM: usize = 10;
const NOT_ENABLED: &str = " Archive feature not enabled\n";
const NONE_PENDING: &str = "%No Rollback Confirmed Change pending\n";

/// A configuration in the archive.
#[derive(Debug, Clone)]
pub(super) struct ArchivedConfig {
    /// Name of the file.
    pub name: String,
    /// Host name.
    pub hostname: String,
    /// The configuration.
    pub configuration: Arc<Configuration>,
}

/// A configuration that is restored at a point in time.
#[derive(Debug, Clone)]
pub(super) struct Revert {
    /// The time.
    pub at: Instant,
    /// Minutes of the timer.
    pub minutes: u64,
    /// The configuration to restore.
    pub archived: ArchivedConfig,
    /// The device restores nothing.
    pub is_lost: bool,
}

impl Device {
    /// Adds the running configuration to the archive. Returns the name of the file; `None` without a
    /// path.
    pub(super) fn archive_config(&mut self) -> Option<ArchivedConfig> {
        let root = &self.configuration.root;
        let block = root.find("archive")?.block.as_ref()?;
        let path = block.value("path")?;
        let maximum = block
            .value("maximum")
            .and_then(|number| number.parse().ok());
        let archived = ArchivedConfig {
            name: format!("{path}-Jan--1-00-00-00.000-{}", self.archive_number),
            hostname: self.hostname.clone(),
            configuration: self.configuration.clone(),
        };
        self.archive_number += 1;
        self.archive.push(archived.clone());
        if self.archive.len() > maximum.unwrap_or(MAXIMUM) {
            self.archive.remove(0);
        }
        Some(archived)
    }

    /// The answer to `archive config`.
    pub(super) fn archive_answer(&mut self) -> &'static str {
        match self.archive_config() {
            Some(_) => "",
            None => " Archive feature not enabled\n% Error caught by command handler\n",
        }
    }

    /// The output of `show archive`.
    pub(super) fn show_archive(&self) -> String {
        let root = &self.configuration.root;
        let block = root.find("archive").and_then(|entry| entry.block.as_ref());
        let Some(path) = block.and_then(|block| block.value("path")) else {
            return NOT_ENABLED.to_owned();
        };
        let mut text = format!(
            "The maximum archive configurations allowed is {}.\n\
             There are currently {} archive configurations saved.\n\
             The next archive file will be named {path}-<timestamp>-{}\n Archive #  Name\n",
            block
                .and_then(|block| block.value("maximum"))
                .unwrap_or("10"),
            self.archive.len(),
            self.archive_number
        );
        for (index, archived) in self.archive.iter().enumerate() {
            let is_last = index + 1 == self.archive.len();
            let mark = if is_last { " <- Most Recent" } else { "" };
            let _ = writeln!(text, "   {:<8} {}{mark}", index + 1, archived.name);
        }
        text
    }

    /// Starts the timer of `configure terminal revert timer`.
    ///
    /// # Errors
    /// The refusal of the device.
    pub(super) fn begin_timed_change(&mut self, minutes: u64) -> Result<String, &'static str> {
        if self.revert.is_some() {
            return Err("%Rollback Confirmed Change already pending\n");
        }
        let Some(archived) = self.archive_config() else {
            return Err("%Turn config archive on before using Rollback Confirmed Change\n");
        };
        let text = format!(
            "Rollback Confirmed Change: Backing up current running config to {}\n\n",
            archived.name
        );
        self.revert = Some(Revert {
            at: self.now() + Duration::from_secs(60 * minutes),
            minutes,
            archived,
            is_lost: false,
        });
        Ok(text)
    }

    /// `configure confirm`
    pub(super) fn confirm_change(&mut self) -> &'static str {
        match self.revert.take() {
            Some(_) => "",
            None => NONE_PENDING,
        }
    }

    /// `configure revert now`
    pub(super) fn revert_now(&mut self) -> String {
        let Some(revert) = self.revert.take() else {
            return NONE_PENDING.to_owned();
        };
        let text = format!(
            "Rollback Confirmed Change: Rolling to: {}\n\nTotal number of passes: 1\nRollback Done\n\n",
            revert.archived.name
        );
        self.carry_out_revert(revert);
        text
    }

    /// `configure revert timer`
    pub(super) fn reset_revert_timer(&mut self, minutes: u64) -> &'static str {
        let at = self.now() + Duration::from_secs(60 * minutes);
        match &mut self.revert {
            Some(revert) => {
                (revert.at, revert.minutes) = (at, minutes);
                ""
            }
            None => NONE_PENDING,
        }
    }

    /// The output of `show archive config rollback timer`.
    pub(super) fn show_rollback_timer(&self) -> String {
        match &self.revert {
            Some(revert) => format!(
                "Time configured(or reconfigured): 00:00:00 UTC Mon Jan 1 2024\n\
                 Timer type: absolute timer\nTimer value: {} min\nUser: admin\n",
                revert.minutes
            ),
            None => NONE_PENDING.to_owned(),
        }
    }

    /// `configure replace` with a file of the archive or the saved configuration.
    pub(super) fn replace_config(&mut self, file: &str) -> String {
        let archived = self.archive.iter().find(|archived| archived.name == file);
        let found = match file {
            "nvram:startup-config" | "startup-config" => self.startup.clone(),
            _ => {
                archived.map(|archived| (archived.hostname.clone(), archived.configuration.clone()))
            }
        };
        match found {
            Some((hostname, configuration)) => {
                self.restore(hostname, configuration);
                "Total number of passes: 1\nRollback Done\n\n".to_owned()
            }
            None => format!("%Error opening {file} (No such file or directory)\n"),
        }
    }

    /// Restores the configuration from before a timed change whose time is over, and restarts if a reload is
    /// due.
    pub(super) fn expire(&mut self) {
        let now = self.now();
        if let Some(revert) = self.revert.take_if(|revert| revert.at <= now) {
            self.carry_out_revert(revert);
        }
        self.reload_at_its_time();
    }

    fn carry_out_revert(&mut self, revert: Revert) {
        if !revert.is_lost {
            self.restore(revert.archived.hostname, revert.archived.configuration);
        }
    }

    /// Replaces the lines of the configuration. VLANs and VTP are among them only if no VTP server has them
    /// in `vlan.dat`.
    pub(super) fn restore(&mut self, hostname: String, configuration: Arc<Configuration>) {
        let (vlans, vtp) = (
            self.configuration.vlans.clone(),
            self.configuration.vtp.clone(),
        );
        self.hostname = hostname;
        self.configuration = configuration;
        if !self.configuration.vtp.is_local() {
            self.edit().vlans = vlans;
            self.edit().vtp = vtp;
        }
        self.is_cut_off = false;
    }

    /// The time on the clock of the device.
    pub(super) fn now(&self) -> Instant {
        crate::clock::instant() + self.clock_advance
    }
}
