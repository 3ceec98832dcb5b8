//! Commits the candidate configuration that the requests of a change have written, or discards it.

use super::RestSession;
use super::tasks::outcome_of_task;
use crate::dialogue::rest_rules::UserCandidateRules;
use crate::operation::{OperationResult, Outcome, Request};
use crate::session::error::SessionErrorKind;

impl RestSession {
    /// Ends the candidate of a change. If the device refused a request or the commit, it is discarded,
    /// and the results are those of a change without effect.
    pub(super) async fn end_candidate(
        &mut self,
        rules: &UserCandidateRules,
        results: &mut [OperationResult],
    ) {
        let is_done = |outcome: &Outcome| matches!(outcome, Outcome::Done { .. });
        let is_unsent =
            |outcome: &Outcome| matches!(outcome, Outcome::NotSent | Outcome::Refused { .. });
        if results.iter().all(|result| is_unsent(&result.outcome)) {
            return;
        }
        let user = self.client.user().to_owned();
        let ending = if results.iter().all(|result| is_done(&result.outcome)) {
            self.commit_candidate(rules, &user).await
        } else {
            Some(Outcome::NotSent)
        };
        let Some(ending) = ending else {
            return;
        };
        // After a commit with an unknown outcome there may be no candidate.
        if !matches!(ending, Outcome::Unknown { .. }) {
            self.abort_candidate(&rules.abort(&user)).await;
        }
        for result in results {
            if is_done(&result.outcome) {
                result.outcome = ending.clone();
            }
        }
    }

    /// Discards the candidate. If the device refuses it, the session ends, because the next commit
    /// would contain it.
    async fn abort_candidate(&mut self, abort: &Request) {
        let failure = match self.client.send(abort, None).await {
            Ok(answer) if answer.is_success() => return,
            Ok(answer) => SessionErrorKind::HttpStatus {
                method: abort.method,
                path: abort.path.clone(),
                status: answer.status,
                message: self.client.render_message(&answer),
            },
            Err(kind) => kind,
        };
        self.broken = Some(failure);
    }

    /// The outcome of a check or a commit that did not succeed; `None`: the changes are applied.
    async fn commit_candidate(
        &mut self,
        rules: &UserCandidateRules,
        user: &str,
    ) -> Option<Outcome> {
        for request in rules.commit(user) {
            let answer = self.client.send(&request, None).await;
            let task = match (&self.rules.tasks, &answer) {
                (Some(tasks), Ok(answer)) if answer.is_success() => {
                    outcome_of_task(&self.client, tasks, answer).await
                }
                _ => None,
            };
            let outcome = task.unwrap_or_else(|| self.outcome(&request, answer));
            if !matches!(outcome, Outcome::Done { .. }) {
                return Some(outcome);
            }
        }
        None
    }
}
