//! The findings about the last catalogs of all devices.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::fleet_query::unknown;
use super::{RenderedPage, render};
use crate::diagnostic::severity_word;
use crate::history::devices::DeviceFindings;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::line_query::names;
use crate::serve::web::pager::{PAGE_SIZE, Pager};
use crate::serve::web::select_option::{SelectOption, options};
use crate::serve::web::shared_views::device_path;
use crate::serve::web::state::WebState;

/// Text of a device that was not understood is listed with the findings.
const NOT_UNDERSTOOD: &str = "not-understood";

#[derive(Template)]
#[template(path = "findings.html")]
struct FindingsPage {
    layout: PageLayout,
    filter: FindingsQuery,
    /// Why the filter has no meaning.
    problem: Option<String>,
    rows: Vec<FindingRow>,
    pager: Pager,
}

struct FindingRow {
    path: String,
    device: String,
    severity: String,
    code: String,
    message: String,
    help: Option<String>,
    position: String,
}

#[derive(Deserialize)]
pub(super) struct FindingsQuery {
    #[serde(default, rename = "q")]
    text: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    severity: String,
    page: Option<usize>,
}

impl FindingsQuery {
    fn severities(&self) -> Vec<SelectOption> {
        let all = [
            ("", "All findings"),
            ("error", "Errors"),
            ("warning", "Warnings"),
            ("note", "Notes"),
        ];
        options(all, Some(&self.severity))
    }

    /// Why the filter has no meaning.
    fn problem(&self) -> Option<String> {
        let severities = self.severities();
        let is_known = severities
            .iter()
            .any(|option| option.value == self.severity);
        let words = severities.iter().map(|option| option.value.as_str());
        (!is_known).then(|| unknown("severity", &self.severity, words))
    }

    fn is_empty(&self) -> bool {
        [&self.text, &self.target, &self.severity]
            .iter()
            .all(|field| field.trim().is_empty())
    }

    fn selects(&self, row: &FindingRow) -> bool {
        let text = self.text.trim();
        let has = |field: &str| field.to_lowercase().contains(&text.to_lowercase());
        (self.severity.is_empty() || row.severity == self.severity)
            && (text.is_empty() || has(&row.device) || has(&row.code) || has(&row.message))
    }
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<FindingsQuery>,
) -> RenderedPage {
    let visible = state.service(&sender.0).devices();
    let selected = match query.problem() {
        Some(problem) => Err(problem),
        None => names(&query.target, &visible),
    };
    let (found, problem) = match selected {
        Ok(names) => {
            let names = names.map(Vec::from_iter);
            let read = state.read(&sender.0, move |reader| {
                reader.findings(names.as_ref(), u32::MAX, 0)
            });
            (read.await?, None)
        }
        // A filter without a meaning selects nothing.
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let rows = found.iter().flat_map(rows);
    let mut rows: Vec<FindingRow> = rows.filter(|row| query.selects(row)).collect();
    let total = rows.len();
    let offset = Pager::offset(query.page).min(total);
    rows.drain(..offset);
    rows.truncate(PAGE_SIZE);
    let parameters = vec![
        ("q", query.text.clone()),
        ("target", query.target.clone()),
        ("severity", query.severity.clone()),
    ];
    render(&FindingsPage {
        layout: PageLayout::new(&sender.0, "Findings", "/findings"),
        pager: Pager::new("/findings", parameters, query.page.unwrap_or(1), total),
        problem,
        filter: query,
        rows,
    })
}

fn rows(device: &DeviceFindings) -> Vec<FindingRow> {
    let path = device_path(&device.device);
    let row = |severity: &str, code: &str, message: String| FindingRow {
        path: path.clone(),
        device: device.device.clone(),
        severity: severity.to_owned(),
        code: code.to_owned(),
        message,
        help: None,
        position: String::new(),
    };
    let findings = device.findings.iter().map(|found| FindingRow {
        help: found.help.clone(),
        position: found.position().unwrap_or_default(),
        ..row(
            severity_word(found.severity),
            &found.code,
            found.message.clone(),
        )
    });
    let texts = device.not_understood.iter().map(|found| {
        let message = format!("{}: {}", found.type_name, found.text);
        row("warning", NOT_UNDERSTOOD, message)
    });
    findings.chain(texts).collect()
}
