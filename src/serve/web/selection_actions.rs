//! The buttons for several devices: plan, run, pause, resume.

use axum::Router;
use axum::extract::{RawForm, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use futures_util::StreamExt as _;

use super::action_sender::{ActionSender, PageSender};
use super::actions;
use super::page_actions::{prompted, redirect, refresh};
use super::pages::matching_devices;
use super::state::WebState;
use super::web_error::WebError;
use crate::inventory::range;
use crate::run_kind::RunKind;
use crate::serve::request::RequestedKind;

/// Devices of one request.
const MAX_DEVICES: usize = 1000;

/// Actions at the same time: the history commits them together.
const PARALLEL: usize = 16;

/// The actions that the role `plan` permits.
pub(super) fn plan_routes() -> Router<WebState> {
    Router::new().route("/selection/plan", post(plan))
}

/// The actions that the role `apply` permits.
pub(super) fn apply_routes() -> Router<WebState> {
    Router::new()
        .route("/selection/run", post(run))
        .route("/selection/pause", post(pause))
        .route("/selection/resume", post(resume))
}

/// What is done with each device.
#[derive(Clone, Copy)]
enum DeviceAction<'a> {
    Run(RequestedKind),
    Pause(&'a str),
    Resume,
}

async fn plan(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    RawForm(form): RawForm,
) -> Result<Response, WebError> {
    let action = DeviceAction::Run(RequestedKind(Some(RunKind::Plan)));
    act(&state, &sender, &form, action).await?;
    Ok(redirect("/runs"))
}

async fn run(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    RawForm(form): RawForm,
) -> Result<Response, WebError> {
    let action = DeviceAction::Run(RequestedKind(None));
    act(&state, &sender, &form, action).await?;
    Ok(redirect("/runs"))
}

async fn pause(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    headers: HeaderMap,
    RawForm(form): RawForm,
) -> Result<Response, WebError> {
    let reason = prompted(&headers);
    let action = DeviceAction::Pause(&reason);
    act(&state, &sender, &form, action).await?;
    Ok(refresh())
}

async fn resume(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    RawForm(form): RawForm,
) -> Result<Response, WebError> {
    act(&state, &sender, &form, DeviceAction::Resume).await?;
    Ok(refresh())
}

/// Does an action with each selected device.
///
/// # Errors
/// It is refused for some of them, which the error names. The others have it.
async fn act(
    state: &WebState,
    sender: &ActionSender,
    form: &[u8],
    action: DeviceAction<'_>,
) -> Result<(), WebError> {
    let devices = selected(state, sender, form).await?;
    let count = devices.len();
    let results = futures_util::stream::iter(devices.into_iter().map(|device| async move {
        let result = match action {
            DeviceAction::Run(kind) => {
                let run = actions::request_run(state, sender, &device, kind, None);
                run.await.map(|_| ())
            }
            DeviceAction::Pause(reason) => actions::pause(state, sender, &device, reason).await,
            DeviceAction::Resume => actions::resume(state, sender, &device).await,
        };
        (device, result)
    }));
    let results: Vec<_> = results.buffered(PARALLEL).collect().await;
    let refused = results
        .iter()
        .filter_map(|(device, result)| Some((device.as_str(), result.as_ref().err()?)));
    let refused: Vec<(&str, &WebError)> = refused.collect();
    let Some((_, first)) = refused.first() else {
        return Ok(());
    };
    let names = range::of_names(refused.iter().map(|(device, _)| *device));
    let text = format!(
        "done for {} of {count} devices; not for {}: {}",
        count - refused.len(),
        names.join(", "),
        first.text()
    );
    Err(WebError::new(StatusCode::CONFLICT, text))
}

/// The selected devices: those of the form, or all that match its filter.
async fn selected(
    state: &WebState,
    sender: &ActionSender,
    form: &[u8],
) -> Result<Vec<String>, WebError> {
    let fields = || form_urlencoded::parse(form);
    let devices = if fields().any(|(name, _)| name == "all") {
        matching_devices(state, &sender.principal, form).await?
    } else {
        let named = fields().filter(|(name, _)| name == "device");
        named.map(|(_, value)| value.into_owned()).collect()
    };
    match devices.len() {
        0 => Err(WebError::invalid("no device is selected")),
        count if count > MAX_DEVICES => {
            let text = format!("{count} devices are selected; the limit is {MAX_DEVICES}");
            Err(WebError::invalid(text).hint("select fewer with the filter"))
        }
        _ => Ok(devices),
    }
}
