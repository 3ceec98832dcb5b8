//! Actions of pages and the API: run, pause, resume. Each is in the audit log before it begins.

use jiff::Timestamp;

use super::state::WebState;
use super::web_error::WebError;
use axum::http::StatusCode;

use switchtender_devices::printable;

use crate::clock;
use crate::error_chain::chain;
use crate::git::GitError;
use crate::history::device_state::Pause;
use crate::history::idempotency::KeyedRequest;
use crate::history::{Requester, RequesterKind, RunId};
use crate::run_kind::RunKind;
use crate::serve::accept_drift::{AcceptDriftError, AcceptedDrift};
use crate::serve::access::{AuditEntry, AuditResult, Denied, Principal, Role};
use crate::serve::request::{DeviceRequest, RequestedKind, RunRequestError};

/// Maximum length of the reason of a pause, in characters.
const MAX_REASON: usize = 500;

/// Who requests an action, and through what.
pub(super) struct ActionSender<'a> {
    pub(super) principal: &'a Principal,
    pub(super) address: String,
    pub(super) kind: RequesterKind,
}

impl ActionSender<'_> {
    fn requester(&self) -> Requester {
        Requester {
            kind: self.kind,
            name: self.principal.name.clone(),
        }
    }

    async fn record(
        &self,
        state: &WebState,
        action: &str,
        target: &str,
        time: Timestamp,
        refusal: Option<WebError>,
    ) -> Result<(), WebError> {
        let result = if refusal.is_some() {
            AuditResult::Refused
        } else {
            AuditResult::Accepted
        };
        let entry = AuditEntry::new(self.principal, &self.address, action, time);
        let entry = entry.target(target).result(result);
        // An action that cannot be recorded does not happen.
        let recorded = state.guard.access.audit.append(entry).await;
        recorded.map_err(|error| WebError::internal(&error))?;
        refusal.map_or(Ok(()), Err)
    }
}

/// The role that a run requires.
pub(super) fn required_role(kind: RequestedKind) -> Role {
    match kind.0 {
        Some(RunKind::Plan) => Role::Plan,
        None | Some(RunKind::Noop | RunKind::Apply) => Role::Apply,
    }
}

/// Why a sender may not do something with a device: the sender does not see it, or lacks the role for it.
pub(super) async fn refusal(
    state: &WebState,
    sender: &ActionSender<'_>,
    device: &str,
    required: Role,
) -> Result<Option<WebError>, WebError> {
    let role = state.service(sender.principal).role_on(device).await;
    let role = role.map_err(|error| WebError::internal(&error))?;
    Ok(match role {
        None => Some(unknown_device(device)),
        Some(role) if role < required => Some(Denied::Role { required }.into()),
        Some(_) => None,
    })
}

/// Requests a run.
pub(super) async fn request_run(
    state: &WebState,
    sender: &ActionSender<'_>,
    device: &str,
    kind: RequestedKind,
    key: Option<KeyedRequest>,
) -> Result<RunId, WebError> {
    let action = kind.0.map_or("run", RunKind::word);
    let refusal = match refusal(state, sender, device, required_role(kind)).await? {
        None => {
            let refusal = state.process().check_request(device, kind).err();
            refusal.map(|error| failed(&error))
        }
        refusal => refusal,
    };
    sender
        .record(state, action, device, clock::timestamp(), refusal)
        .await?;
    let request = DeviceRequest {
        device: device.to_owned(),
        kind,
        requester: sender.requester(),
        key,
    };
    state
        .process()
        .request(request)
        .await
        .map_err(|error| failed(&error))
}

/// Withdraws a run that has not started.
pub(super) async fn cancel_run(
    state: &WebState,
    sender: &ActionSender<'_>,
    run: RunId,
) -> Result<bool, WebError> {
    let refusal = match state.require_run(sender.principal, run).await {
        Ok(found) => refusal(state, sender, &found.device, Role::Apply).await?,
        Err(unknown) => Some(unknown),
    };
    sender
        .record(
            state,
            "cancel",
            &run.to_string(),
            clock::timestamp(),
            refusal,
        )
        .await?;
    state
        .process()
        .cancel(run)
        .await
        .map_err(|error| failed(&error))
}

/// Accepts the drift of a device.
pub(super) async fn accept_drift(
    state: &WebState,
    sender: &ActionSender<'_>,
    device: &str,
) -> Result<AcceptedDrift, WebError> {
    let refusal = refusal(state, sender, device, Role::Apply).await?;
    sender
        .record(state, "accept-drift", device, clock::timestamp(), refusal)
        .await?;
    let requester = sender.requester();
    let accepted = state.process().accept_drift(device, &requester).await;
    accepted.map_err(|error| {
        let refused = match error {
            AcceptDriftError::NoState(_)
            | AcceptDriftError::Nothing { .. }
            | AcceptDriftError::Uncommitted(_)
            | AcceptDriftError::Git(GitError::BranchExists(_)) => StatusCode::CONFLICT,
            AcceptDriftError::Read(_) | AcceptDriftError::Git(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        let web_error = WebError::new(refused, chain(&error));
        match error.hint() {
            Some(hint) => web_error.hint(hint),
            None => web_error,
        }
    })
}

/// Pauses the scheduled runs of a device.
pub(super) async fn pause(
    state: &WebState,
    sender: &ActionSender<'_>,
    device: &str,
    reason: &str,
) -> Result<(), WebError> {
    let now = clock::timestamp();
    let refusal = if reason.chars().count() > MAX_REASON {
        Some(WebError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("the reason has more than {MAX_REASON} characters"),
        ))
    } else {
        current_device_refusal(state, sender, device).await?
    };
    sender.record(state, "pause", device, now, refusal).await?;
    let pause = Pause {
        since: now,
        // It is shown on pages and in logs.
        reason: printable::escape(reason).into_owned(),
        by: sender.requester(),
    };
    let paused = state.process().set_pause(device, Some(pause)).await;
    paused.map_err(|error| failed(&error))
}

/// Resumes the scheduled runs of a device.
pub(super) async fn resume(
    state: &WebState,
    sender: &ActionSender<'_>,
    device: &str,
) -> Result<(), WebError> {
    let refusal = current_device_refusal(state, sender, device).await?;
    sender
        .record(state, "resume", device, clock::timestamp(), refusal)
        .await?;
    state
        .process()
        .set_pause(device, None)
        .await
        .map_err(|error| failed(&error))
}

/// As [`refusal`], of what needs a device of the settings and the role `apply`.
async fn current_device_refusal(
    state: &WebState,
    sender: &ActionSender<'_>,
    device: &str,
) -> Result<Option<WebError>, WebError> {
    let refusal = refusal(state, sender, device, Role::Apply).await?;
    let is_current = state.process().has_device(device);
    Ok(refusal.or_else(|| (!is_current).then(|| unknown_device(device))))
}

fn unknown_device(device: &str) -> WebError {
    failed(&RunRequestError::UnknownDevice(device.to_owned()))
}

fn failed(error: &RunRequestError) -> WebError {
    match error {
        RunRequestError::UnknownDevice(_) => WebError::not_found(error.to_string()),
        RunRequestError::PlanOnly(_) => WebError::new(StatusCode::CONFLICT, error.to_string())
            .hint("request a plan, or set `mode = \"apply\"` for the device in serve.toml"),
        RunRequestError::Stopping | RunRequestError::NoSpace(_) => {
            WebError::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
        }
        RunRequestError::History(error) if error.is_full() => {
            let failed = WebError::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string());
            match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        }
        RunRequestError::History(error) => WebError::internal(error),
    }
}
