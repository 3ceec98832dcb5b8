//! Protection of a run: the device reverts its changes unless a second login reaches the device.
//!
//! [`DriverProvider::ensure_protected`] starts the timed revert before the first change, and
//! [`DriverProvider::end_run`] ends it after the last one. Nothing else confirms or reverts.

mod ending;
#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::DriverProvider;
use super::unknown_outcome::Disconnect;
use crate::clock;
use crate::driver::{Backup, Facts};
use crate::provider::ProviderError;
use crate::session::SessionError;

/// Whether the changes of a run are reverted unless they are confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtectPolicy {
    /// Never.
    #[default]
    Off,
    /// If the device has a timed revert.
    Auto,
    /// A device without a timed revert is not changed.
    Required,
}

impl ProtectPolicy {
    /// The words of the policies.
    pub const WORDS: [(&str, ProtectPolicy); 3] = [
        ("off", ProtectPolicy::Off),
        ("auto", ProtectPolicy::Auto),
        ("required", ProtectPolicy::Required),
    ];
}

/// What a device has after a protected run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The device has the values that were set.
    Applied,
    /// The device has the configuration from before the run.
    Reverted,
    /// Neither was seen.
    Unknown,
}

impl Verdict {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Applied => "applied",
            Verdict::Reverted => "reverted",
            Verdict::Unknown => "unknown",
        }
    }
}

/// How a protected run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectionEnd {
    /// What the device has.
    pub verdict: Verdict,
    /// With an unknown verdict: resources that still have the values of the run, although the device no
    /// longer reverts anything.
    pub not_reverted: Vec<String>,
    /// Why the changes were not confirmed.
    pub problem: Option<String>,
}

/// Stores that a protected run has started, for the case that this process ends early.
#[async_trait]
pub trait ProtectionRecord: Send + Sync {
    /// Stores the digest of the configuration before the first change.
    ///
    /// # Errors
    /// It is not stored.
    async fn start(&self, digest: &str) -> Result<(), String>;
}

/// The protection of a run.
#[derive(Default)]
pub(super) struct Protection {
    policy: ProtectPolicy,
    record: Option<Box<dyn ProtectionRecord>>,
    /// The facts at the first login.
    facts: Facts,
    started: Option<StartedProtection>,
    /// Why the run goes on without protection.
    absence: Option<String>,
}

/// A timed revert.
struct StartedProtection {
    at: Instant,
    /// The device prints whether the timer runs.
    is_visible: bool,
    limit: Duration,
    /// The configuration before the first change.
    before: Backup,
}

/// Why a timed revert did not begin.
enum BeginError {
    /// The device has none, or refuses it.
    Unavailable(String),
    /// It is not certain what the device does.
    Uncertain(String),
    Lost(SessionError),
}

impl BeginError {
    fn into_reason(self) -> String {
        match self {
            BeginError::Unavailable(reason) | BeginError::Uncertain(reason) => reason,
            BeginError::Lost(error) => error.kind.to_string(),
        }
    }
}

impl From<SessionError> for BeginError {
    fn from(error: SessionError) -> Self {
        match error.is_refusal() {
            true => BeginError::Unavailable(error.kind.to_string()),
            false => BeginError::Lost(error),
        }
    }
}

impl DriverProvider {
    /// Protects the run.
    #[must_use]
    pub fn protect(
        mut self,
        policy: ProtectPolicy,
        facts: Facts,
        record: Box<dyn ProtectionRecord>,
    ) -> Self {
        self.protection.policy = policy;
        self.protection.facts = facts;
        self.protection.record = Some(record);
        self
    }

    /// Why the device cannot start a timed revert, as far as it says so before.
    ///
    /// # Errors
    /// The device cannot be read.
    pub async fn missing_for_revert(&mut self) -> Result<Option<String>, SessionError> {
        self.session.missing_for_revert().await
    }

    /// Whether the device would revert a change of this run.
    pub(super) async fn is_protected(&mut self) -> bool {
        let Protection {
            policy,
            started,
            absence,
            ..
        } = &self.protection;
        if *policy == ProtectPolicy::Off || absence.is_some() {
            return false;
        }
        started.is_some() || matches!(self.missing_for_revert().await, Ok(None))
    }

    /// Why the run goes on without protection, if it does.
    pub fn unprotected(&self) -> Option<&str> {
        self.protection.absence.as_deref()
    }

    /// Starts the timed revert before the first change, and its time again before it ends.
    pub(super) async fn ensure_protected(&mut self) -> Result<(), ProviderError> {
        if let Some(StartedProtection {
            at,
            is_visible: false,
            ..
        }) = &mut self.protection.started
        {
            // Each commit starts the time again.
            *at = clock::instant();
            return Ok(());
        }
        let Protection {
            policy,
            started,
            absence,
            ..
        } = &self.protection;
        if *policy == ProtectPolicy::Off || absence.is_some() {
            return Ok(());
        }
        let is_fresh =
            |started: &StartedProtection| clock::instant() < started.at + started.limit / 2;
        let result = match started {
            Some(started) if is_fresh(started) => return Ok(()),
            Some(_) => self.extend_protection().await,
            None => self.begin_protection().await,
        };
        match result {
            Ok(()) => Ok(()),
            Err(BeginError::Unavailable(reason))
                if self.protection.policy == ProtectPolicy::Auto
                    && self.protection.started.is_none() =>
            {
                self.protection.absence = Some(reason);
                Ok(())
            }
            Err(error) => {
                let disconnect = self.disconnect.insert(Disconnect {
                    is_readable: !matches!(error, BeginError::Lost(_)),
                    reason: format!("the run is not protected: {}", error.into_reason()),
                    after_change: self.changed,
                });
                Err(disconnect.error())
            }
        }
    }

    async fn begin_protection(&mut self) -> Result<(), BeginError> {
        let Some(limit) = self.session.revert_limit() else {
            let reason = "the device has no timed revert".to_owned();
            return Err(BeginError::Unavailable(reason));
        };
        let (before, is_pending) = self.read_backup().await?;
        if is_pending == Some(true) {
            let reason = "the device already reverts earlier changes unless they are confirmed";
            return Err(BeginError::Uncertain(reason.to_owned()));
        }
        if let Some(record) = &self.protection.record {
            let stored = record.start(&digest(&before)).await;
            stored.map_err(BeginError::Uncertain)?;
        }
        self.protection.started = Some(StartedProtection {
            at: clock::instant(),
            is_visible: is_pending.is_some(),
            limit,
            before,
        });
        let state = match self.session.protect().await {
            Ok(state) => state?,
            Err(error) => {
                // If the answer is lost, the timer may run.
                if error.is_refusal() {
                    self.protection.started = None;
                }
                return Err(error.into());
            }
        };
        if state == Some(false) {
            self.protection.started = None;
            let reason = "the device accepted the timed revert and did not start it";
            return Err(BeginError::Unavailable(reason.to_owned()));
        }
        Ok(())
    }

    async fn extend_protection(&mut self) -> Result<(), BeginError> {
        let is_running = self.session.protect().await?? != Some(false);
        match &mut self.protection.started {
            Some(started) if is_running => {
                started.at = clock::instant();
                Ok(())
            }
            _ => {
                let reason = "the device has reverted the changes before the end of the run";
                Err(BeginError::Uncertain(reason.to_owned()))
            }
        }
    }
}

fn digest(backup: &Backup) -> String {
    let mut hash = Sha256::new();
    for part in [&backup.configuration, &backup.answers] {
        let text = part.as_deref().unwrap_or_default();
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hex::encode(hash.finalize())
}
