//! The end of a protected run: its changes are confirmed, or the device reverts them.

use std::time::Duration;

use tokio::time::Instant;

use super::{DriverProvider, ProtectionEnd, StartedProtection, Verdict, digest};
use crate::clock;
use crate::driver::Backup;
use crate::read::{ReadRequest, Reads};
use crate::session::{RevertMethod, SessionError};

/// Time of the device to revert after the end of its timer, and of the login after a confirmation.
const MARGIN: Duration = Duration::from_secs(30);
/// The first pause between two logins to a device that is expected to revert; each next is longer.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Why changes are not known to be confirmed.
struct Unconfirmed {
    problem: String,
    /// The device has accepted the confirmation: it reverts nothing any more.
    is_accepted: bool,
}

/// What remains of a run that the device should have reverted.
#[derive(Default)]
struct Remains {
    /// The resources that have the values of the run.
    applied: Vec<String>,
    /// The resources with values that the device does not show.
    hidden: Vec<String>,
}

impl DriverProvider {
    /// Confirms the changes if the run succeeded and a second login reaches the device. Otherwise the
    /// device reverts them, and is read again. `None`: the run was not protected, or changed nothing.
    ///
    /// `is_stopped` ends the wait for the device. Before the wait, `on_wait` receives the reason and the longest time.
    pub async fn end_run(
        &mut self,
        ended: Result<(), String>,
        is_stopped: &(dyn Fn() -> bool + Send + Sync),
        on_wait: &mut (dyn FnMut(&str, Duration) + Send),
    ) -> Option<ProtectionEnd> {
        let started = self.protection.started.take()?;
        let not_tried = |problem: String| Unconfirmed {
            problem,
            is_accepted: false,
        };
        let checked = match (ended, &self.disconnect) {
            (Err(problem), _) => Err(not_tried(problem)),
            (Ok(()), Some(disconnect)) => Err(not_tried(disconnect.reason.clone())),
            (Ok(()), None) => self.confirm_run(&started).await,
        };
        let Err(Unconfirmed {
            problem,
            is_accepted,
        }) = checked
        else {
            return Some(ProtectionEnd {
                verdict: Verdict::Applied,
                not_reverted: Vec::new(),
                hidden: Vec::new(),
                problem: None,
            });
        };
        let wait_end = if is_accepted {
            clock::instant() + MARGIN
        } else {
            started.at + started.limit.timer + started.limit.boot + MARGIN
        };
        let longest = wait_end.saturating_duration_since(clock::instant());
        on_wait(&problem, Duration::from_secs(longest.as_secs()));
        let has_ended = self.revert_run(&started, wait_end, is_stopped).await;
        let (verdict, remains) = if has_ended {
            self.verdict(&started).await
        } else {
            (Verdict::Unknown, Remains::default())
        };
        if verdict == Verdict::Reverted {
            self.state.committed.has_changed = false;
        }
        Some(ProtectionEnd {
            verdict,
            not_reverted: remains.applied,
            hidden: remains.hidden,
            problem: Some(problem),
        })
    }

    /// Confirms the changes after a second login to the same device.
    async fn confirm_run(&mut self, started: &StartedProtection) -> Result<(), Unconfirmed> {
        let failed = |what: &str, error: SessionError| Unconfirmed {
            problem: format!("{what}: {}", error.kind),
            is_accepted: false,
        };
        let requests = self.state.driver.platform().fact_reads();
        let method = self.protection.method;
        let other = self.reconnect.reconnect().await;
        let mut other = other.map_err(|error| failed("the second login failed", error))?;
        let there = other.read_with_timer(&requests, method).await;
        other.close().await;
        self.closed_statistics = self.closed_statistics.plus(other.statistics());
        let there = there.map_err(|error| failed("the second login cannot read", error))?;
        let (there, is_pending) = there;
        // Two devices can have equal facts, but only the changed one has a timer.
        if started.is_visible && is_pending != Some(true) {
            return Err(Unconfirmed {
                problem: "the second login reached a device on which no revert is pending"
                    .to_owned(),
                is_accepted: false,
            });
        }
        let facts = |texts: Vec<String>| {
            let names = requests.iter().map(|request| request.name.clone());
            let reads: Reads = names.zip(texts).collect();
            self.state.driver.platform().facts(&reads)
        };
        let there = facts(there);
        let platform = self.state.driver.platform();
        let known = &self.protection.facts;
        let is_known = there
            .iter()
            .all(|(name, value)| known.get(name) == Some(value))
            && platform.unknown_facts(&there) == platform.unknown_facts(known);
        if !is_known {
            // The run may have changed them.
            let here = self.session.read(&requests).await;
            let here = here.map_err(|error| failed("cannot read the device", error))?;
            if facts(here) != there {
                return Err(Unconfirmed {
                    problem: "the second login reached another device".to_owned(),
                    is_accepted: false,
                });
            }
        }
        let confirmed = self.session.end_protection(method, true).await;
        match confirmed.map_err(|error| failed("cannot confirm the changes", error))? {
            Ok(Some(true)) => Err(Unconfirmed {
                problem: "the device did not accept the confirmation".to_owned(),
                is_accepted: false,
            }),
            Ok(Some(false) | None) => Ok(()),
            Err(error) => Err(Unconfirmed {
                is_accepted: true,
                ..failed("cannot read whether the changes are confirmed", error)
            }),
        }
    }

    /// Waits until the device no longer reverts anything: it is told to revert at once, or its timer
    /// ends. Returns whether that was seen until `wait_end`.
    async fn revert_run(
        &mut self,
        started: &StartedProtection,
        wait_end: Instant,
        is_stopped: &(dyn Fn() -> bool + Send + Sync),
    ) -> bool {
        let timer_end = started.at + started.limit.timer;
        let mut pause = FIRST_PAUSE;
        let mut is_lost = self
            .disconnect
            .as_ref()
            .is_some_and(|disconnect| !disconnect.is_readable);
        loop {
            if is_lost {
                is_lost = !self.log_in_again().await;
            }
            if !is_lost {
                // Without a display, a refusal after the end of the timer means that nothing is pending.
                let is_over = !started.is_visible && clock::instant() >= timer_end;
                match self.revert_now().await {
                    Ok(true) => return true,
                    Err(error) if error.is_refusal() && is_over => return true,
                    Ok(false) => {}
                    // The session may be in a mode that refuses everything.
                    Err(_) => is_lost = true,
                }
            }
            let now = clock::instant();
            if now >= wait_end || is_stopped() {
                return false;
            }
            tokio::time::sleep(pause.min(wait_end - now)).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Reverts the changes, unless the device does so at its next restart. Returns whether it reverts nothing
    /// any more.
    async fn revert_now(&mut self) -> Result<bool, SessionError> {
        let method = self.protection.method;
        let is_pending = self.session.read_with_timer(&[], method).await?.1;
        if is_pending == Some(false) || method == RevertMethod::Reload {
            return Ok(is_pending == Some(false));
        }
        Ok(self.session.end_protection(method, false).await?? != Some(true))
    }

    async fn log_in_again(&mut self) -> bool {
        let Ok(session) = self.reconnect.reconnect().await else {
            return false;
        };
        let broken = std::mem::replace(&mut self.session, session);
        self.closed_statistics = self.closed_statistics.plus(broken.statistics());
        if let Some(disconnect) = &mut self.disconnect {
            disconnect.is_readable = true;
        }
        true
    }

    /// What the device has after a run that was not confirmed, and what remains of the run, if this is
    /// unknown or only a part.
    async fn verdict(&mut self, started: &StartedProtection) -> (Verdict, Remains) {
        match self.read_backup().await {
            Ok((found, _)) if found == started.before => {
                return (Verdict::Reverted, Remains::default());
            }
            Ok(_) => {}
            Err(_) => return (Verdict::Unknown, Remains::default()),
        }
        let Ok(differences) = self.read_differences().await else {
            return (Verdict::Unknown, Remains::default());
        };
        let mut remains = Remains::default();
        for desired in &self.state.committed.applied {
            let reference = desired.reference.to_string();
            if self.state.has_hidden_values(desired) {
                remains.hidden.push(reference);
            } else if !differences.iter().any(|one| *one.reference == reference) {
                remains.applied.push(reference);
            }
        }
        if !self.state.committed.applied.is_empty()
            && remains.applied.len() == self.state.committed.applied.len()
        {
            (Verdict::Applied, Remains::default())
        } else {
            (Verdict::Unknown, remains)
        }
    }

    /// The configuration and the answers that types need, without what changes by itself, and whether
    /// the device reverts changes unless they are confirmed.
    pub(super) async fn read_backup(&mut self) -> Result<(Backup, Option<bool>), SessionError> {
        let method = self.protection.method;
        let requests = self.state.driver.backup_reads();
        let (texts, is_pending) = match self.session.read_with_timer(&requests, method).await {
            Ok((texts, is_pending)) => (texts.into_iter().map(Some).collect(), is_pending),
            Err(error) if error.is_refusal() => {
                let texts = self.read_accepted(&requests).await?;
                (texts, self.session.read_with_timer(&[], method).await?.1)
            }
            Err(error) => return Err(error),
        };
        let answers = requests.iter().zip(texts);
        let reads: Reads = answers
            .filter_map(|(request, text)| Some((request.name.clone(), text?)))
            .collect();
        Ok((self.state.driver.backup(&reads, str::to_owned), is_pending))
    }

    /// The answers of the reads that the device does not refuse.
    async fn read_accepted(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<Option<String>>, SessionError> {
        let mut texts = Vec::new();
        for request in requests {
            match self.session.read(std::slice::from_ref(request)).await {
                Ok(mut answers) => texts.push(answers.pop()),
                Err(error) if error.is_refusal() => texts.push(None),
                Err(error) => return Err(error),
            }
        }
        Ok(texts)
    }

    /// Whether the device still reverts changes of an earlier run unless they are confirmed, and whether
    /// its configuration has this digest. A device that does not print the first reverts them now.
    /// `method` is that of the earlier run.
    ///
    /// # Errors
    /// The device cannot be read.
    pub async fn compare_with_earlier(
        &mut self,
        earlier: &str,
        method: RevertMethod,
    ) -> Result<(bool, bool), SessionError> {
        let own = std::mem::replace(&mut self.protection.method, method);
        let compared = self.compare_digest(earlier).await;
        self.protection.method = own;
        compared
    }

    async fn compare_digest(&mut self, earlier: &str) -> Result<(bool, bool), SessionError> {
        let (mut found, is_pending) = self.read_backup().await?;
        // The device does not print it. A refusal means that nothing is pending.
        if is_pending.is_none() {
            let method = self.protection.method;
            match self.session.end_protection(method, false).await {
                Err(error) if !error.is_refusal() => return Err(error),
                Err(_) => {}
                Ok(_) => (found, _) = self.read_backup().await?,
            }
        }
        Ok((is_pending == Some(true), digest(&found) == earlier))
    }
}
