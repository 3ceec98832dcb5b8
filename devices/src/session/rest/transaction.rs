//! Sends the requests of a change together, so that the device applies all of them or none.

use super::RestSession;
use crate::clock;
use crate::dialogue::rest_rules::TransactionRules;
use crate::http::header::HeaderName;
use crate::operation::{
    Action, Operation, OperationResult, Outcome, Precondition, Request, UnknownCause,
};
use crate::session::error::SessionErrorKind;

/// Why a transaction was not committed.
enum TransactionError {
    /// The device refused the request with this index; `None`: the transaction itself.
    Refused(Option<usize>, String),
    /// The commit was sent, and its outcome is unknown.
    Unknown(String, UnknownCause),
}

/// The requests of operations that a transaction can contain; `None` if there is only one, or one
/// with a condition.
pub(super) fn members(operations: &[Operation]) -> Option<Vec<&Request>> {
    let requests = operations.iter().map(|operation| match &operation.action {
        Action::Request(request) if request.precondition == Precondition::None => Some(request),
        _ => None,
    });
    let requests: Vec<&Request> = requests.collect::<Option<_>>()?;
    (requests.len() > 1).then_some(requests)
}

impl RestSession {
    /// The results of requests that are sent as one transaction.
    pub(super) async fn commit_together(
        &mut self,
        rules: &TransactionRules,
        requests: &[&Request],
    ) -> Vec<OperationResult> {
        let started = clock::instant();
        let result = self.send_together(rules, requests).await;
        self.writes += requests.len() as u64;
        let took = started.elapsed();
        let results = (0..requests.len()).map(|index| match &result {
            Ok(()) => OperationResult::new(
                Outcome::Done {
                    messages: Vec::new(),
                },
                took,
            ),
            Err(TransactionError::Refused(refused, message))
                if refused.is_none_or(|refused| refused == index) =>
            {
                let message = message.clone();
                OperationResult::new(Outcome::Refused { message }, took)
            }
            Err(TransactionError::Refused(..)) => OperationResult::not_sent(),
            Err(TransactionError::Unknown(reason, cause)) => OperationResult::new(
                Outcome::Unknown {
                    reason: reason.clone(),
                    cause: *cause,
                },
                took,
            ),
        });
        results.collect()
    }

    async fn send_together(
        &self,
        rules: &TransactionRules,
        requests: &[&Request],
    ) -> Result<(), TransactionError> {
        let refused = |message: String| TransactionError::Refused(None, message);
        let begin = rules.begin();
        let begin = self
            .with_version(&begin)
            .await
            .map_err(refused)?
            .unwrap_or(begin);
        let answer = self.client.send(&begin, None).await;
        let answer = answer.map_err(|kind| refused(kind.to_string()))?;
        if !answer.is_success() {
            return Err(refused(self.client.render_message(&answer)));
        }
        let Some(id) = rules.id_in(&answer.body) else {
            let command = format!("{} {}", begin.method, begin.path);
            return Err(refused(format!(
                "the answer to `{command}` has no transaction"
            )));
        };
        let header = rules.header.as_ref();
        let header = header.and_then(|name| name.parse::<HeaderName>().ok());
        let header = header.map(|name| (name, id.clone()));
        for (index, request) in requests.iter().enumerate() {
            let member = rules.member(request, &id);
            let message = match self.client.send(&member, header.as_ref()).await {
                Ok(answer) if answer.is_success() => continue,
                Ok(answer) => self.client.render_message(&answer),
                Err(kind) => kind.to_string(),
            };
            // The device drops it at the end of its time, too.
            let _ = self.client.send(&rules.abort(&id), None).await;
            return Err(TransactionError::Refused(Some(index), message));
        }
        let commit = rules.commit(&id);
        match self.client.send(&commit, None).await {
            Ok(answer) if answer.is_success() && rules.is_committed(&answer.body) => Ok(()),
            Ok(answer) if answer.is_unclear_after_write() => {
                let kind = SessionErrorKind::HttpStatus {
                    method: commit.method,
                    path: commit.path,
                    status: answer.status,
                    message: self.client.render_message(&answer),
                };
                Err(TransactionError::Unknown(
                    kind.to_string(),
                    UnknownCause::Gateway,
                ))
            }
            Ok(answer) => {
                let message = self.client.render_message(&answer);
                let message = if message.is_empty() {
                    "the device did not commit the transaction".to_owned()
                } else {
                    message
                };
                Err(refused(message))
            }
            Err(kind) => Err(TransactionError::Unknown(
                kind.render_for(&format!("{} {}", commit.method, commit.path)),
                UnknownCause::NoAnswer,
            )),
        }
    }
}
