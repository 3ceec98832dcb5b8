//! The resources of a device's catalog with their last status.

use askama::Template;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::device_head::DeviceHead;
use super::{RenderedPage, render};
use crate::history::resource_search::ResourceRow;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::{PAGE_SIZE, Pager};
use crate::serve::web::shared_views::{resource_path, seconds};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;
use crate::transaction::file_line;

#[derive(Template)]
#[template(path = "device_resources.html")]
struct ResourcesPage {
    layout: PageLayout,
    head: DeviceHead,
    text: String,
    rows: Vec<ResourceLink>,
    pager: Pager,
}

struct ResourceLink {
    path: String,
    reference: String,
    status: StatusLabel,
    run: i64,
    time: String,
    position: String,
}

#[derive(Deserialize)]
pub(super) struct ResourcesQuery {
    #[serde(default, rename = "q")]
    text: String,
    page: Option<usize>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<ResourcesQuery>,
) -> RenderedPage {
    let (device, text) = (name.clone(), query.text.trim().to_owned());
    let offset = u32::try_from(Pager::offset(query.page)).unwrap_or(u32::MAX);
    let found = state
        .read(&sender.0, move |reader| {
            let Some(found) = reader.fleet_device(&device)? else {
                return Ok(None);
            };
            let rows = reader.search_resources(&device, &text, PAGE_SIZE as u32, offset)?;
            let total = reader.count_resources(&device, &text)?;
            Ok(Some((found, rows, total)))
        })
        .await?;
    let (device, rows, total) = found.ok_or_else(|| WebState::no_device(&name))?;
    let head = DeviceHead::new(&state, &sender.0, &device, "/resources");
    let path = format!("{}/resources", head.path);
    let parameters = vec![("q", query.text.clone())];
    render(&ResourcesPage {
        layout: PageLayout::new(&state.guard, &sender.0, &name, "/"),
        pager: Pager::new(path, parameters, query.page.unwrap_or(1), total as usize),
        head,
        rows: rows.iter().map(|row| link(&name, row)).collect(),
        text: query.text,
    })
}

fn link(device: &str, row: &ResourceRow) -> ResourceLink {
    ResourceLink {
        path: resource_path(device, &row.resource),
        reference: row.resource.clone(),
        status: StatusLabel::new(row.status.word()),
        run: row.run.0,
        time: row.ended.map(seconds).unwrap_or_default(),
        position: file_line(row.file.as_deref(), row.line).unwrap_or_default(),
    }
}
