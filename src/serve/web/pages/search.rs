//! Searches the newest configurations of all visible devices.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::{RenderedPage, render};
use crate::history::configuration_search::FoundConfigurations;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::line_query::LineQuery;
use crate::serve::web::pager::{PAGE_SIZE, Pager};
use crate::serve::web::shared_views::{device_path, seconds};
use crate::serve::web::state::WebState;

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    layout: PageLayout,
    query: SearchForm,
    /// Why nothing is searched.
    problem: Option<String>,
    summary: String,
    devices: Vec<FoundDevice>,
    pager: Pager,
}

struct FoundDevice {
    name: String,
    path: String,
    time: String,
    hits: Vec<Hit>,
    /// Further lines that match.
    more: usize,
}

struct Hit {
    number: usize,
    section: Vec<String>,
    text: String,
}

#[derive(Deserialize)]
pub(super) struct SearchForm {
    #[serde(default, rename = "q")]
    text: String,
    #[serde(default)]
    target: String,
    /// Not empty: the text is a regular expression.
    #[serde(default)]
    regex: String,
    /// Not empty: the devices without such a line.
    #[serde(default)]
    absent: String,
    page: Option<usize>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<SearchForm>,
) -> RenderedPage {
    let found = find(&state, &sender, &query).await?;
    let (found, problem) = match found {
        Ok(found) => (found, None),
        Err(problem) => (FoundConfigurations::default(), problem),
    };
    let parameters = vec![
        ("q", query.text.clone()),
        ("target", query.target.clone()),
        ("regex", query.regex.clone()),
        ("absent", query.absent.clone()),
    ];
    let page = query.page.unwrap_or(1);
    render(&SearchPage {
        layout: PageLayout::new(&sender.0, "Search", "/search"),
        summary: summary(&query, &found),
        pager: Pager::new("/search", parameters, page, found.total),
        query,
        problem,
        devices: devices(found),
    })
}

/// What is found, or why nothing is searched; `None`: there is no text.
async fn find(
    state: &WebState,
    sender: &Sender,
    query: &SearchForm,
) -> Result<Result<FoundConfigurations, Option<String>>, crate::serve::web::web_error::WebError> {
    if query.text.trim().is_empty() {
        return Ok(Err(None));
    }
    let lines = LineQuery {
        text: query.text.trim_end(),
        is_regex: !query.regex.is_empty(),
        is_absent: !query.absent.is_empty(),
        target: &query.target,
    };
    let visible = state.service(&sender.0).devices();
    let mut search = match lines.search(&visible) {
        Ok(search) => search,
        Err(problem) => return Ok(Err(Some(problem))),
    };
    search.limit = PAGE_SIZE;
    search.offset = Pager::offset(query.page);
    let found = state.read(&sender.0, move |reader| {
        reader.search_configurations(&search)
    });
    Ok(Ok(found.await?))
}

fn summary(query: &SearchForm, found: &FoundConfigurations) -> String {
    let number = if query.absent.is_empty() { "a" } else { "no" };
    let (total, searched) = (found.total, found.searched);
    format!("{total} of {searched} configurations have {number} line with it.")
}

fn devices(found: FoundConfigurations) -> Vec<FoundDevice> {
    let escape = |text: &str| switchtender_devices::printable::escape(text).into_owned();
    let devices = found.devices.into_iter();
    devices
        .map(|device| FoundDevice {
            path: device_path(&device.device),
            time: seconds(device.time),
            more: device.line_count - device.lines.len(),
            hits: (device.lines.iter())
                .map(|line| Hit {
                    number: line.number,
                    section: line.section.iter().map(|line| escape(line)).collect(),
                    text: escape(&line.text),
                })
                .collect(),
            name: device.device,
        })
        .collect()
}
