//! A resource: the runs in which it was not unchanged.

use askama::Template;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::device_head::DeviceHead;
use super::{RenderedPage, render};
use crate::history::runs::ResourceRun;
use crate::history::{RunId, runs};
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::PAGE_SIZE;
use crate::serve::web::shared_views::{resource_path, seconds};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;

#[derive(Template)]
#[template(path = "resource.html")]
struct ResourcePage {
    layout: PageLayout,
    head: DeviceHead,
    reference: String,
    rows: Vec<ResourceRunRow>,
    /// The page with older runs.
    older: Option<String>,
}

struct ResourceRunRow {
    run: i64,
    time: String,
    kind: &'static str,
    status: StatusLabel,
    events: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct ResourceQuery {
    reference: String,
    before: Option<RunId>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<ResourceQuery>,
) -> RenderedPage {
    let (device, reference, before) = (name.clone(), query.reference.clone(), query.before);
    let found = state
        .read(&sender.0, move |reader| {
            let Some(found) = reader.fleet_device(&device)? else {
                return Ok(None);
            };
            let limit = PAGE_SIZE as u32;
            let runs: Vec<runs::ResourceRun> =
                reader.resource_history(Some(&device), &reference, before, limit)?;
            Ok(Some((found, runs)))
        })
        .await?;
    let (device, runs) = found.ok_or_else(|| WebState::no_device(&name))?;
    let last = runs.last().filter(|_| runs.len() == PAGE_SIZE);
    let older = last.map(|last| {
        let path = resource_path(&name, &query.reference);
        format!("{path}&before={}", last.run)
    });
    render(&ResourcePage {
        layout: PageLayout::new(&sender.0, &query.reference, "/"),
        head: DeviceHead::new(&state, &sender.0, &device, "/resources"),
        reference: query.reference,
        rows: runs.iter().map(row).collect(),
        older,
    })
}

fn row(found: &ResourceRun) -> ResourceRunRow {
    ResourceRunRow {
        run: found.run.0,
        time: found.ended.map(seconds).unwrap_or_default(),
        kind: found.kind.word(),
        status: StatusLabel::new(found.resource.result().word()),
        events: found
            .resource
            .changes()
            .filter_map(|event| event.text())
            .collect(),
    }
}
