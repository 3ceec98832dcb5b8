//! Commits that the device reverts unless they are confirmed: the device is read first.

use super::DriverProvider;
use crate::change::Change;
use crate::operation::Outcome;
use crate::provider::{CommitResult, ProviderError, ProviderErrorKind};

impl DriverProvider {
    /// Confirms the last commit if the device has the values that were set. Otherwise the commit is
    /// reverted, and its resources fail.
    pub(super) async fn confirm_commits(&mut self, commits: &mut [(&Change, &mut CommitResult)]) {
        if !self.session.awaits_confirmation() {
            return;
        }
        let mut reason = None;
        for (change, _) in commits.iter() {
            reason = self.missing_after(change).await;
            if reason.is_some() {
                break;
            }
        }
        let keeps = reason.is_none();
        let settled = match self.disconnect {
            // The device reverts the commit itself.
            Some(_) => Ok(()),
            None => self.session.confirm(keeps).await,
        };
        let failure = match (reason, settled) {
            (None, Ok(())) => return,
            (None, Err(error)) => {
                self.mark_lost(&error);
                let text = format!(
                    "cannot confirm the commit, which the device then reverts: {}",
                    error.kind
                );
                ProviderError::new(ProviderErrorKind::Unknown, text)
            }
            (Some(reason), Ok(())) => {
                let text = format!("the commit was reverted: {reason}");
                ProviderError::new(ProviderErrorKind::Refused, text)
            }
            (Some(reason), Err(error)) => {
                self.mark_lost(&error);
                let text = format!(
                    "the commit is not confirmed, so that the device reverts it: {reason}; {}",
                    error.kind
                );
                ProviderError::new(ProviderErrorKind::Unknown, text)
            }
        };
        for (change, committed) in commits {
            for (_, outcome) in &mut committed.attributes {
                if outcome.is_ok() {
                    *outcome = Err(failure.clone());
                }
            }
            for (_, result) in &mut committed.operations {
                if matches!(result.outcome, Outcome::Done { .. }) {
                    let message = failure.to_string();
                    result.outcome = Outcome::Refused { message };
                }
            }
            if self.disconnect.is_none() && self.read_again(change).await.is_err() {
                tracing::warn!("cannot read the device after a commit was reverted");
            }
        }
    }

    /// Reads a resource again. Returns why the device does not have the values that were set.
    async fn missing_after(&mut self, change: &Change) -> Option<String> {
        match self.read_again(change).await {
            Ok(found) => match found.missing_values(change).as_slice() {
                [] => None,
                missing => Some(format!(
                    "the device does not have the value that was set: {}",
                    missing.join(", ")
                )),
            },
            Err(error) => Some(format!("cannot read the device again: {error}")),
        }
    }
}
