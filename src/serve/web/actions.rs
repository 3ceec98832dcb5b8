//! Actions of pages and the API: run, pause, resume. Each is in the audit log before it begins, and again if it fails.

use super::action_sender::ActionSender;
use super::state::WebState;
use super::web_error::WebError;
use axum::http::StatusCode;

use switchtender_devices::printable;

use crate::clock;
use crate::error_chain::chain;
use crate::git::GitError;
use crate::history::RunId;
use crate::history::approvals::{ApprovalDecision, ApprovalEntry, ApprovalState};
use crate::history::device_state::Pause;
use crate::history::idempotency::KeyedRequest;
use crate::run_kind::RunKind;
use crate::serve::accept_drift::{AcceptDriftError, AcceptedDrift};
use crate::serve::access::{AuditEntry, AuditResult, Denied, Principal, Role};
use crate::serve::approvals::approval_target;
use crate::serve::request::{DeviceRequest, RequestedKind, RunRequestError};
use crate::serve::run_store::StoreProblem;

/// Maximum length of the reason of a pause, in characters.
const MAX_REASON: usize = 500;

const NOT_WAITING: &str = "the plan does not wait for an approval";

impl ActionSender {
    fn action<'a>(&'a self, state: &'a WebState, name: &'a str, target: &'a str) -> Action<'a> {
        Action {
            state,
            sender: self,
            name,
            target,
        }
    }
}

/// An action of a sender, for the audit log.
struct Action<'a> {
    state: &'a WebState,
    sender: &'a ActionSender,
    name: &'a str,
    target: &'a str,
}

impl Action<'_> {
    /// Records the action and does it, unless it is refused. A second entry says that it failed.
    async fn perform<T>(
        &self,
        refusal: Option<WebError>,
        work: impl Future<Output = Result<T, WebError>>,
    ) -> Result<T, WebError> {
        let result = match &refusal {
            None => AuditResult::Accepted,
            Some(refusal) if refusal.is_server_error() => AuditResult::Failed,
            Some(_) => AuditResult::Refused,
        };
        let access = &self.state.guard.access;
        // An action that cannot be recorded does not happen.
        let recorded = access.audit.append(self.entry(result)).await;
        recorded.map_err(|error| WebError::internal(&error))?;
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let done = work.await;
        if done.is_err() {
            access.record(self.entry(AuditResult::Failed)).await;
        }
        done
    }

    fn entry(&self, result: AuditResult) -> AuditEntry {
        let (sender, time) = (self.sender, clock::timestamp());
        let entry = AuditEntry::new(
            &sender.principal,
            &sender.address.0.to_string(),
            self.name,
            time,
        );
        entry.target(self.target).result(result)
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
    sender: &ActionSender,
    device: &str,
    required: Role,
) -> Result<Option<WebError>, WebError> {
    let role = state.service(&sender.principal).role_on(device).await;
    let role = role.map_err(|error| WebError::of_store(&error))?;
    Ok(match role {
        None => Some(unknown_device(device)),
        Some(role) if role < required => Some(Denied::Role { required }.into()),
        Some(_) => None,
    })
}

/// Requests a run.
pub(super) async fn request_run(
    state: &WebState,
    sender: &ActionSender,
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
    let request = DeviceRequest {
        device: device.to_owned(),
        kind,
        requester: sender.requester(),
        key,
    };
    let work = async {
        let requested = state.process().request(request).await;
        requested.map_err(|error| failed(&error))
    };
    sender
        .action(state, action, device)
        .perform(refusal, work)
        .await
}

/// Withdraws a run that has not started.
pub(super) async fn cancel_run(
    state: &WebState,
    sender: &ActionSender,
    run: &str,
) -> Result<bool, WebError> {
    let found = state.require_run(&sender.principal, run, |reader, run| reader.run(run));
    let found = found.await;
    let refusal = match &found {
        Ok(found) => refusal(state, sender, &found.device, Role::Apply).await?,
        Err(unknown) => Some(unknown.clone()),
    };
    let subject = found
        .as_ref()
        .map_or(run.to_owned(), |found| found.id.to_string());
    let work = async {
        let canceled = state.process().cancel(found?.id).await;
        canceled.map_err(|error| failed(&error))
    };
    sender
        .action(state, "cancel", &subject)
        .perform(refusal, work)
        .await
}

/// Accepts the drift of a device.
pub(super) async fn accept_drift(
    state: &WebState,
    sender: &ActionSender,
    device: &str,
) -> Result<AcceptedDrift, WebError> {
    let refusal = refusal(state, sender, device, Role::Apply).await?;
    let work = async {
        let requester = sender.requester();
        let accepted = state.process().accept_drift(device, &requester).await;
        accepted.map_err(|error| not_accepted(&error))
    };
    sender
        .action(state, "accept-drift", device)
        .perform(refusal, work)
        .await
}

fn not_accepted(error: &AcceptDriftError) -> WebError {
    let status = match error {
        AcceptDriftError::NoState(_)
        | AcceptDriftError::Nothing { .. }
        | AcceptDriftError::Uncommitted(_)
        | AcceptDriftError::Git(GitError::BranchExists(_)) => StatusCode::CONFLICT,
        AcceptDriftError::Read(_) | AcceptDriftError::Git(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let web_error = WebError::new(status, chain(error));
    match error.hint() {
        Some(hint) => web_error.hint(hint),
        None => web_error,
    }
}

/// Pauses the scheduled runs of a device.
pub(super) async fn pause(
    state: &WebState,
    sender: &ActionSender,
    device: &str,
    reason: &str,
) -> Result<(), WebError> {
    let refusal = if reason.chars().count() > MAX_REASON {
        Some(long_reason())
    } else {
        current_device_refusal(state, sender, device).await?
    };
    let pause = Pause {
        since: clock::timestamp(),
        // It is shown on pages and in logs.
        reason: printable::escape(reason).into_owned(),
        by: sender.requester(),
    };
    sender
        .action(state, "pause", device)
        .perform(refusal, set_pause(state, device, Some(pause)))
        .await
}

/// Resumes the scheduled runs of a device.
pub(super) async fn resume(
    state: &WebState,
    sender: &ActionSender,
    device: &str,
) -> Result<(), WebError> {
    let refusal = current_device_refusal(state, sender, device).await?;
    sender
        .action(state, "resume", device)
        .perform(refusal, set_pause(state, device, None))
        .await
}

async fn set_pause(state: &WebState, device: &str, pause: Option<Pause>) -> Result<(), WebError> {
    let set = state.process().set_pause(device, pause).await;
    set.map_err(|error| failed(&error))
}

/// As [`refusal`], of what needs a device of the settings and the role `apply`.
async fn current_device_refusal(
    state: &WebState,
    sender: &ActionSender,
    device: &str,
) -> Result<Option<WebError>, WebError> {
    let refusal = refusal(state, sender, device, Role::Apply).await?;
    let is_current = state.process().has_device(device);
    Ok(refusal.or_else(|| (!is_current).then(|| unknown_device(device))))
}

fn unknown_device(device: &str) -> WebError {
    failed(&RunRequestError::UnknownDevice(device.to_owned()))
}

/// An approval of a device that the sender sees, with its plan as JSON.
pub(super) async fn approval(
    state: &WebState,
    sender: &Principal,
    id: i64,
) -> Result<(ApprovalEntry, Option<String>), WebError> {
    let now = clock::timestamp();
    let found = state.read(sender, move |reader| reader.approval(id, now));
    found.await?.ok_or_else(|| WebState::no_approval(id))
}

/// Requests a plan that runs after the approval of another person.
pub(super) async fn request_approval(
    state: &WebState,
    sender: &ActionSender,
    device: &str,
) -> Result<i64, WebError> {
    let refusal = match refusal(state, sender, device, Role::Apply).await? {
        None => {
            let refusal = state.process().check_approval_request(device).err();
            refusal.map(|error| failed(&error))
        }
        refusal => refusal,
    };
    let work = async {
        let (process, person) = (state.process(), sender.principal.person());
        let requested = process.request_approval(device, sender.requester(), person);
        requested.await.map_err(|error| failed(&error))
    };
    sender
        .action(state, "request-approval", device)
        .perform(refusal, work)
        .await
}

/// Approves a plan, or rejects it for a reason.
pub(super) async fn decide(
    state: &WebState,
    sender: &ActionSender,
    id: i64,
    rejection: Option<&str>,
) -> Result<(), WebError> {
    let action = if rejection.is_some() {
        "reject"
    } else {
        "approve"
    };
    let found = approval(state, &sender.principal, id).await;
    let (target, refusal) = match found {
        Err(unknown) => (format!("approval {id}"), Some(unknown)),
        Ok((found, _)) => {
            let refusal = match refusal(state, sender, &found.device, Role::Apply).await? {
                None => undecidable(&found, &sender.principal, rejection),
                refusal => refusal,
            };
            (approval_target(&found.device, id), refusal)
        }
    };
    let decision = ApprovalDecision {
        is_approved: rejection.is_none(),
        by: sender.principal.name.clone(),
        reason: printable::escape(rejection.unwrap_or_default()).into_owned(),
        time: clock::timestamp(),
    };
    let work = async {
        let decided = state.process().decide(id, decision).await;
        if decided.map_err(|error| WebError::of_store(&error))? {
            Ok(())
        } else {
            Err(WebError::new(StatusCode::CONFLICT, NOT_WAITING))
        }
    };
    sender
        .action(state, action, &target)
        .perform(refusal, work)
        .await
}

/// Why a person may not decide about a plan.
fn undecidable(
    approval: &ApprovalEntry,
    sender: &Principal,
    rejection: Option<&str>,
) -> Option<WebError> {
    let forbidden = |text: &str| Some(WebError::new(StatusCode::FORBIDDEN, text));
    let Some(person) = sender.person() else {
        let refused = forbidden("only a person approves or rejects a plan");
        let hint =
            "log in as a user, or name the user of the token: `access add-token --user NAME`";
        return refused.map(|error| error.hint(hint));
    };
    if rejection.is_none() && approval.person.as_ref() == Some(&person) {
        let refused = forbidden("the author of a plan cannot approve it");
        return refused.map(|error| error.hint("ask another person"));
    }
    if rejection.is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        return Some(long_reason());
    }
    if approval.state != ApprovalState::Waiting {
        let hint = format!("its state is `{}`; request a new plan", approval.state);
        return Some(WebError::new(StatusCode::CONFLICT, NOT_WAITING).hint(hint));
    }
    None
}

fn long_reason() -> WebError {
    let text = format!("the reason has more than {MAX_REASON} characters");
    WebError::new(StatusCode::UNPROCESSABLE_ENTITY, text)
}

fn failed(error: &RunRequestError) -> WebError {
    match error {
        RunRequestError::NeedsApproval(device) => {
            let hint = format!(
                "request a plan that another person approves: `POST /api/v1/devices/{device}/approvals`"
            );
            WebError::new(StatusCode::CONFLICT, error.to_string()).hint(hint)
        }
        RunRequestError::NoApproval(_) => WebError::new(StatusCode::CONFLICT, error.to_string())
            .hint("request a run, or name the device in `[approval]` of serve.toml"),
        RunRequestError::OtherRequest => WebError::of_other_request(),
        RunRequestError::UnknownDevice(_) => WebError::not_found(error.to_string()),
        RunRequestError::PlanOnly(_) => WebError::new(StatusCode::CONFLICT, error.to_string())
            .hint("request a plan, or set `mode = \"apply\"` for the device in serve.toml"),
        RunRequestError::Stopping | RunRequestError::NoSpace(_) => {
            WebError::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
        }
        RunRequestError::Store(error) if error.problem == StoreProblem::Unreachable => {
            let failed = WebError::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string());
            match &error.hint {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        }
        RunRequestError::Store(error) => WebError::internal(error),
    }
}
