//! Protection of a run: the device reverts its changes unless a second login reaches the device.
//!
//! [`DriverProvider::ensure_protected`] starts the timed revert before the first change, and
//! [`DriverProvider::end_run`] ends it after the last one. Nothing else confirms or reverts.

mod ending;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::DriverProvider;
use super::unknown_outcome::Disconnect;
use crate::clock;
use crate::driver::{Backup, Facts};
use crate::provider::ProviderError;
use crate::session::{RevertAbsence, RevertLimit, RevertMethod, SessionError, SessionErrorKind};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// With an unknown verdict: resources with changed values that the device does not show.
    pub hidden: Vec<String>,
    /// Why the changes were not confirmed.
    pub problem: Option<String>,
}

/// Stores that a protected run has started, for the case that this process ends early.
#[async_trait]
pub trait ProtectionRecord: Send + Sync {
    /// Stores the digest of the configuration before the first change, and how the device reverts.
    ///
    /// # Errors
    /// It is not stored.
    async fn start(&self, digest: &str, method: RevertMethod) -> Result<(), String>;
}

/// The protection of a run.
#[derive(Default)]
pub(super) struct Protection {
    policy: ProtectPolicy,
    /// A scheduled reload protects a device without a timed revert.
    allows_reload: bool,
    method: RevertMethod,
    /// A change of this run is permitted only because it is protected.
    is_needed: bool,
    record: Option<Box<dyn ProtectionRecord>>,
    /// The facts at the first login.
    facts: Facts,
    started: Option<StartedProtection>,
    /// Why the run goes on without protection.
    absence: Option<String>,
}

/// A timer that was started.
struct StartedProtection {
    at: Instant,
    /// The device prints whether the timer runs.
    is_visible: bool,
    limit: RevertLimit,
    /// The configuration before the first change.
    before: Backup,
}

/// Why a timer did not begin.
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
        match &error.kind {
            // The user can do something about it, and has permitted the reload.
            SessionErrorKind::UnsavedConfiguration { .. } => {
                let hint = error.hint().unwrap_or_default();
                BeginError::Uncertain(format!("{}; {hint}", error.kind))
            }
            kind if error.is_refusal() => BeginError::Unavailable(kind.to_string()),
            _ => BeginError::Lost(error),
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

    /// Permits a scheduled reload if the device has no timed revert.
    #[must_use]
    pub fn allow_reload(mut self, permitted: bool) -> Self {
        self.protection.allows_reload = permitted;
        self
    }

    /// Why the device cannot revert changes, as far as it says so before.
    ///
    /// # Errors
    /// The device cannot be read.
    pub async fn missing_for_revert(&mut self) -> Result<Option<RevertAbsence>, SessionError> {
        let method = RevertMethod::TimedRevert;
        let missing = self.session.missing_for_revert(method).await?;
        if missing.is_none() || !self.protection.allows_reload {
            return Ok(missing);
        }
        let reload = RevertMethod::Reload;
        if self.session.missing_for_revert(reload).await?.is_some() {
            return Ok(missing);
        }
        self.protection.method = reload;
        Ok(None)
    }

    /// The time after which the device reloads unless the changes are confirmed. `None`: it does not
    /// reload.
    pub fn reload_limit(&self) -> Option<RevertLimit> {
        match self.protection.method {
            RevertMethod::TimedRevert => None,
            method => self.session.revert_limit(method),
        }
    }

    /// Whether a timer was started.
    pub fn has_protection(&self) -> bool {
        self.protection.started.is_some()
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
        let is_protected = started.is_some() || matches!(self.missing_for_revert().await, Ok(None));
        self.protection.is_needed |= is_protected;
        is_protected
    }

    /// Why the run goes on without protection, if it does.
    pub fn unprotected(&self) -> Option<&str> {
        self.protection.absence.as_deref()
    }

    /// Starts the timer before the first change, and its time again before it ends.
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
            |started: &StartedProtection| clock::instant() < started.at + started.limit.timer / 2;
        let result = match started {
            Some(started) if is_fresh(started) => return Ok(()),
            Some(_) => self.extend_protection().await,
            None => self.begin_protection().await,
        };
        match result {
            Ok(()) => Ok(()),
            Err(BeginError::Unavailable(reason))
                if self.protection.policy == ProtectPolicy::Auto
                    && !self.protection.is_needed
                    && self.protection.started.is_none() =>
            {
                self.protection.absence = Some(reason);
                Ok(())
            }
            Err(error) => {
                let disconnect = self.disconnect.insert(Disconnect {
                    is_readable: !matches!(error, BeginError::Lost(_)),
                    reason: format!("the run is not protected: {}", error.into_reason()),
                    after_change: self.state.committed.has_changed,
                });
                Err(disconnect.error())
            }
        }
    }

    /// Starts the timer. A scheduled reload is tried if the device has no timed revert, or refuses it.
    async fn begin_protection(&mut self) -> Result<(), BeginError> {
        if self.protection.allows_reload
            && self.protection.method == RevertMethod::TimedRevert
            && let Some(absence) = self.missing_for_revert().await?
        {
            return Err(BeginError::Unavailable(absence.reason));
        }
        match self.begin_method().await {
            Err(BeginError::Unavailable(_)) if self.can_try_reload() => {
                self.protection.method = RevertMethod::Reload;
                self.begin_method().await
            }
            result => result,
        }
    }

    fn can_try_reload(&self) -> bool {
        let Protection {
            allows_reload,
            method,
            started,
            ..
        } = &self.protection;
        *allows_reload
            && *method == RevertMethod::TimedRevert
            && started.is_none()
            && self.session.revert_limit(RevertMethod::Reload).is_some()
    }

    async fn begin_method(&mut self) -> Result<(), BeginError> {
        let method = self.protection.method;
        let Some(limit) = self.session.revert_limit(method) else {
            return Err(BeginError::Unavailable(method.absence().reason));
        };
        let (before, is_pending) = self.read_backup().await?;
        if is_pending == Some(true) {
            let reason = match method {
                RevertMethod::TimedRevert => {
                    "the device already reverts earlier changes unless they are confirmed"
                }
                RevertMethod::Reload => "a reload of the device is already scheduled",
            };
            return Err(BeginError::Uncertain(reason.to_owned()));
        }
        if let Some(record) = &self.protection.record {
            let stored = record.start(&digest(&before), method).await;
            stored.map_err(BeginError::Uncertain)?;
        }
        self.protection.started = Some(StartedProtection {
            at: clock::instant(),
            is_visible: is_pending.is_some(),
            limit,
            before,
        });
        let state = match self.session.protect(method).await {
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
            let reason = match method {
                RevertMethod::TimedRevert => {
                    "the device accepted the timed revert and did not start it"
                }
                RevertMethod::Reload => "the device accepted the reload and did not schedule it",
            };
            return Err(BeginError::Unavailable(reason.to_owned()));
        }
        Ok(())
    }

    async fn extend_protection(&mut self) -> Result<(), BeginError> {
        let method = self.protection.method;
        let is_running = self.session.protect(method).await?? != Some(false);
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
