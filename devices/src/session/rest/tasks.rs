//! Waits for requests that a device continues after its answer.

use std::time::Duration;

use tokio::time::sleep;

use super::client::{HttpAnswer, RestClient};
use super::read_request;
use crate::clock;
use crate::dialogue::rest_rules::{TaskRules, TaskState};
use crate::duration;
use crate::operation::{Outcome, UnknownCause};
use crate::session::error::SessionErrorKind;

const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The outcome of the task that an accepted request started; `None`: the answer is final.
pub(super) async fn outcome_of_task(
    client: &RestClient,
    rules: &TaskRules,
    answer: &HttpAnswer,
) -> Option<Outcome> {
    let path = rules.task_in(&answer.body)?;
    let started = clock::instant();
    let mut pause = FIRST_PAUSE;
    let unknown = |reason: String| {
        Some(Outcome::Unknown {
            reason: format!("cannot read the result of the task `{path}`: {reason}"),
            cause: UnknownCause::Gateway,
        })
    };
    loop {
        match client.read(&read_request(&path, None)).await {
            Ok(state) if state.is_success() => match rules.state_in(&state.body) {
                TaskState::Running => {}
                TaskState::Done => {
                    return Some(Outcome::Done {
                        messages: Vec::new(),
                    });
                }
                TaskState::Failed => {
                    let message = client.render_message(&state);
                    let message = if message.is_empty() {
                        format!("the task `{path}` failed")
                    } else {
                        message
                    };
                    return Some(Outcome::Refused { message });
                }
            },
            Ok(state) => return unknown(client.render_message(&state)),
            Err(kind @ SessionErrorKind::Stopped { .. }) => return unknown(kind.to_string()),
            Err(kind) => return unknown(kind.to_string()),
        }
        if started.elapsed() + pause > rules.limit {
            let limit = duration::render(rules.limit);
            return unknown(format!("it did not end within {limit}"));
        }
        sleep(pause).await;
        pause = (pause * 2).min(rules.interval.max(FIRST_PAUSE));
    }
}
