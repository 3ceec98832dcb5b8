//! A run: result, changes with operations and answers, difference, details, messages, timings. Live while it runs.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};

use super::{RenderedPage, render};
use crate::history::runs::RunDetail;
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::linked_resource::LinkedResource;
use crate::serve::web::shared_views::{
    DiffLine, NamedValue, device_path, diff_lines, duration, requester, requester_text, run_status,
};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;
use crate::serve::web::web_error::WebError;
use crate::transaction::LogEntry;

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage {
    layout: PageLayout,
    title: &'static str,
    device: String,
    device_path: String,
    body: RunView,
}

/// The part that is replaced when the run ends.
#[derive(Template)]
#[template(path = "run_body.html")]
struct RunViewPart {
    body: RunView,
}

struct RunView {
    id: i64,
    is_live: bool,
    status: StatusLabel,
    kind: &'static str,
    /// What happened, in numbers.
    numbers: Vec<String>,
    error: Option<String>,
    hint: Option<String>,
    summary: Vec<NamedValue>,
    problems: Vec<Arc<LogEntry>>,
    messages: Vec<Arc<LogEntry>>,
    phases: Vec<NamedValue>,
    resources_title: &'static str,
    resources: Vec<LinkedResource>,
    unchanged: u32,
    difference: Vec<DiffLine>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<String>,
) -> RenderedPage {
    let detail = read(&state, &sender, &id).await?;
    let waits_because = state.service(&sender.0).wait_reason(&detail.run).await;
    render(&RunPage {
        layout: PageLayout::new(&sender.0, &format!("Run {}", detail.run.id), "/runs"),
        title: match detail.run.kind {
            RunKind::Apply => "Run of",
            RunKind::Noop => "Run without changes (noop) of",
            RunKind::Plan => "Plan of",
        },
        device: detail.run.device.clone(),
        device_path: device_path(&detail.run.device),
        body: RunView::new(detail, waits_because),
    })
}

pub(super) async fn body(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<String>,
) -> RenderedPage {
    let detail = read(&state, &sender, &id).await?;
    let waits_because = state.service(&sender.0).wait_reason(&detail.run).await;
    render(&RunViewPart {
        body: RunView::new(detail, waits_because),
    })
}

async fn read(state: &WebState, sender: &Sender, id: &str) -> Result<RunDetail, WebError> {
    let found = state.require_run(&sender.0, id, |reader, run| reader.run_detail(run));
    found.await
}

impl RunView {
    fn new(detail: RunDetail, waits_because: Option<String>) -> Self {
        let run = &detail.run;
        let mut summary = summary(&detail);
        summary.extend(waits_because.map(|reason| NamedValue::new("Waits", reason)));
        let record = detail.record.as_ref();
        let logs = record.map(|record| record.logs.clone()).unwrap_or_default();
        let (problems, messages) = logs
            .into_iter()
            .partition::<Vec<_>, _>(|entry| entry.level.is_problem());
        let phases = record.map(RunRecord::phases).unwrap_or_default();
        let resources = record.map_or(&[][..], |record| &record.resources);
        let listed = u32::try_from(resources.len()).unwrap_or(u32::MAX);
        Self {
            id: run.id.0,
            is_live: !run.status.is_ended(),
            status: run_status(run),
            kind: run.kind.word(),
            numbers: numbers(&detail),
            // Why a run waits is in the summary.
            error: run
                .error
                .clone()
                .filter(|_| run.status != RunStatus::Queued),
            hint: run.hint.clone(),
            summary,
            problems,
            messages,
            phases: (phases.into_iter())
                .map(|(name, seconds)| NamedValue::new(name, format!("{seconds:.3} s")))
                .collect(),
            resources_title: match run.kind {
                RunKind::Apply => "Changes",
                RunKind::Noop | RunKind::Plan => "Changes to make",
            },
            resources: (resources.iter())
                .map(|status| LinkedResource::new(&run.device, status))
                .collect(),
            unchanged: run.counts.resources.saturating_sub(listed),
            difference: diff_lines(record.map_or("", |record| &record.difference)),
        }
    }
}

/// What happened: resources, commands, duration.
fn numbers(detail: &RunDetail) -> Vec<String> {
    let run = &detail.run;
    let mut numbers = Vec::new();
    if let Some(record) = &detail.record {
        let counts = record.counts;
        numbers.push(counts.text());
        let commands = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 command {what}")),
            count => Some(format!("{count} commands {what}")),
        };
        numbers.extend(commands(counts.operations, "sent"));
        numbers.extend(commands(counts.to_send, "to send"));
    }
    if run.started.is_some() && run.ended.is_some() {
        numbers.push(format!("{} s", duration(run)));
    }
    numbers
}

fn summary(detail: &RunDetail) -> Vec<NamedValue> {
    let run = &detail.run;
    let further = detail.further_requesters.iter().map(requester_text);
    let requesters: Vec<String> = [requester(run)].into_iter().chain(further).collect();
    let mut rows = vec![
        NamedValue::new("Requested by", requesters.join(", ")),
        NamedValue::time("Requested", run.queued),
    ];
    rows.extend(run.started.map(|time| NamedValue::time("Start", time)));
    rows.extend(run.ended.map(|time| NamedValue::time("End", time)));
    let version = detail.record.as_ref().and_then(RunRecord::version);
    rows.extend(version.map(|version| NamedValue::new("Catalog version", version)));
    let revision = run.revision.as_ref();
    rows.extend(revision.map(|revision| NamedValue::new("Commit", revision.to_string())));
    rows.push(NamedValue::new("Number", run.id.to_string()));
    rows.push(NamedValue::new("UUID", run.uuid.to_string()));
    let release = run
        .release
        .map(|release| NamedValue::new("Release", release.to_string()));
    rows.extend(release);
    let node = run.node.as_ref();
    rows.extend(node.map(|node| NamedValue::new("Node", node.clone())));
    if run.is_late {
        let late = "the result came after another node had taken the device over, and says nothing about it";
        rows.push(NamedValue::new("Late", late));
    }
    rows
}
