//! Plans that need the approval of a person: the list, and one plan with its difference.

use askama::Template;
use axum::extract::{Path, State};

use super::{RenderedPage, render};
use crate::clock;
use crate::fleet::stored_plan::StoredPlan;
use crate::history::RunId;
use crate::history::approvals::{ApprovalEntry, ApprovalState};
use crate::serve::access::{Principal, Role};
use crate::serve::web::actions;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::linked_resource::LinkedResource;
use crate::serve::web::shared_views::{
    DiffLine, NamedValue, device_path, diff_lines, requester_text, seconds,
};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;
use crate::serve::web::web_error::WebError;

/// Number of approvals on the page.
const NEWEST: u32 = 200;

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsPage {
    layout: PageLayout,
    rows: Vec<ApprovalRow>,
}

struct ApprovalRow {
    id: i64,
    device: String,
    device_path: String,
    state: StatusLabel,
    author: String,
    created: String,
    expires: String,
}

#[derive(Template)]
#[template(path = "approval.html")]
struct ApprovalPage {
    layout: PageLayout,
    row: ApprovalRow,
    plan_run: RunId,
    /// The run that applies the plan.
    run: Option<RunId>,
    summary: Vec<NamedValue>,
    resources: Vec<LinkedResource>,
    difference: Vec<DiffLine>,
    /// What the sender may do.
    may_approve: bool,
    may_reject: bool,
    is_own: bool,
}

pub(super) async fn page(State(state): State<WebState>, sender: Sender) -> RenderedPage {
    let now = clock::timestamp();
    let approvals = state
        .read(&sender.0, move |reader| reader.approvals(None, now, NEWEST))
        .await?;
    render(&ApprovalsPage {
        layout: PageLayout::new(&sender.0, "Approvals", "/approvals"),
        rows: approvals.iter().map(row).collect(),
    })
}

pub(super) async fn one(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<String>,
) -> RenderedPage {
    let number = id.parse().map_err(|_| WebState::no_approval(&id))?;
    let (approval, plan) = actions::approval(&state, &sender.0, number).await?;
    let plan = plan.map(|plan| serde_json::from_str::<StoredPlan>(&plan));
    let plan = plan
        .transpose()
        .map_err(|error| WebError::internal(&error))?;
    let record = plan.as_ref().and_then(|plan| {
        let planned = plan.devices.get(&approval.device)?;
        Some(planned.record(&plan.created))
    });
    let resources = record.as_ref().map_or(&[][..], |record| &record.resources);
    let is_own = is_own(&approval, &sender.0);
    let role = state.service(&sender.0).role_on(&approval.device).await;
    let role = role.map_err(|error| WebError::of_store(&error))?;
    let may_reject = approval.state == ApprovalState::Waiting
        && role >= Some(Role::Apply)
        && sender.0.person().is_some();
    render(&ApprovalPage {
        layout: PageLayout::new(&sender.0, "Approval", "/approvals"),
        row: row(&approval),
        plan_run: approval.plan_run,
        run: approval.run,
        summary: summary(&approval),
        resources: (resources.iter())
            .map(|status| LinkedResource::new(&approval.device, status))
            .collect(),
        difference: diff_lines(record.as_ref().map_or("", |record| &record.difference)),
        may_approve: may_reject && !is_own,
        may_reject,
        is_own,
    })
}

fn is_own(approval: &ApprovalEntry, sender: &Principal) -> bool {
    approval.person.is_some() && approval.person == sender.person()
}

fn row(approval: &ApprovalEntry) -> ApprovalRow {
    ApprovalRow {
        id: approval.id,
        device: approval.device.clone(),
        device_path: device_path(&approval.device),
        state: StatusLabel::new(approval.state.word()),
        author: requester_text(&approval.author),
        created: seconds(approval.created),
        expires: seconds(approval.expires),
    }
}

fn summary(approval: &ApprovalEntry) -> Vec<NamedValue> {
    let mut rows = vec![
        NamedValue::new("Requested by", requester_text(&approval.author)),
        NamedValue::time("Requested", approval.created),
        NamedValue::time("Expires", approval.expires),
    ];
    let decision = match approval.state {
        ApprovalState::Rejected => "Rejected by",
        _ => "Approved by",
    };
    if let Some(by) = &approval.decided_by {
        rows.push(NamedValue::new(decision, by.clone()));
    }
    rows.extend(
        approval
            .decided
            .map(|time| NamedValue::time("Decided", time)),
    );
    if let Some(reason) = &approval.reason {
        rows.push(NamedValue::new("Reason", reason.clone()));
    }
    rows
}
