//! The running configuration of a device, and the difference between any two versions.

use askama::Template;
use axum::extract::{Path, Query, State};
use jiff::Timestamp;
use serde::Deserialize;

use super::device_head::DeviceHead;
use super::{RenderedPage, render};
use crate::coverage::LineClass;
use crate::coverage::line_classes::LineClasses;
use crate::report::coverage_page;
use crate::report::difference::DiffLineKind;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::encode;
use crate::serve::web::shared_views::{DiffLine, device_path, diff_lines, seconds};
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::WebError;

/// Number of versions on the page.
const VERSIONS: u32 = 500;

#[derive(Template)]
#[template(path = "device_configuration.html")]
struct ConfigurationPage {
    layout: PageLayout,
    head: DeviceHead,
    versions: Vec<VersionOption>,
    /// The times of the lines: of one configuration, or of a difference.
    from: Option<String>,
    to: Option<String>,
    legend: Vec<(&'static str, String)>,
    lines: Vec<DiffLine>,
}

struct VersionOption {
    id: String,
    time: String,
    run: i64,
    added: u32,
    removed: u32,
    /// The configuration itself.
    path: String,
    /// The difference to the version before. `None`: it is the first one.
    difference_path: Option<String>,
    is_from: bool,
    is_to: bool,
}

#[derive(Deserialize)]
pub(super) struct ConfigurationQuery {
    /// Times of versions. Empty: the complete configuration, and the newest one.
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<ConfigurationQuery>,
) -> RenderedPage {
    let (from, to) = (time(&query.from)?, time(&query.to)?);
    let device = name.clone();
    let found = state
        .read(&sender.0, move |reader| {
            let Some(found) = reader.fleet_device(&device)? else {
                return Ok(None);
            };
            let versions = reader.configurations(&device, VERSIONS, 0)?;
            let to = to.or_else(|| versions.first().map(|version| version.time));
            let lines = match (from, to) {
                (Some(from), Some(to)) => {
                    diff_lines(&reader.configuration_difference(&device, from, to)?)
                }
                (None, Some(to)) => {
                    let found = reader.configuration_at(&device, to)?;
                    let text = found.map(|(_, text)| text).unwrap_or_default();
                    let is_newest = versions.first().is_some_and(|newest| newest.time <= to);
                    let classes = reader.line_classes(&device)?;
                    complete(&text, &classes, is_newest)
                }
                (_, None) => Vec::new(),
            };
            Ok(Some((found, versions, to, lines)))
        })
        .await?;
    let (device, versions, to, lines) = found.ok_or_else(|| WebState::no_device(&name))?;
    render(&ConfigurationPage {
        layout: PageLayout::new(&sender.0, &name, "/"),
        head: DeviceHead::new(&state, &sender.0, &device, "/configuration"),
        from: from.map(seconds),
        to: to.map(seconds),
        versions: (versions.iter().enumerate())
            .map(|(at, version)| {
                let path = format!("{}/configuration", device_path(&name));
                let to_time = encode(&version.time.to_string());
                let before = versions.get(at + 1).map(|before| before.time.to_string());
                VersionOption {
                    id: version.time.to_string(),
                    time: seconds(version.time),
                    run: version.run.0,
                    added: version.lines_added,
                    removed: version.lines_removed,
                    difference_path: before
                        .map(|before| format!("{path}?from={}&to={to_time}", encode(&before))),
                    path: format!("{path}?to={to_time}"),
                    is_from: from == Some(version.time),
                    is_to: to == Some(version.time),
                }
            })
            .collect(),
        legend: legend(&lines),
        lines,
    })
}

fn time(text: &str) -> Result<Option<Timestamp>, WebError> {
    if text.is_empty() {
        Ok(None)
    } else {
        text.parse().map(Some).map_err(|_| {
            let text = switchtender_devices::printable::escape(text);
            WebError::invalid(format!("`{text}` is no time"))
                .hint("write a time as 2026-01-31T12:00:00Z")
        })
    }
}

/// The lines of a complete configuration. Classes are those of the newest one.
fn complete(text: &str, classes: &LineClasses, is_newest: bool) -> Vec<DiffLine> {
    let is_known = is_newest && classes.len() == text.lines().count();
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| DiffLine {
            kind: DiffLineKind::Same,
            text: switchtender_devices::printable::escape(line).into_owned(),
            class: classes.get(index).filter(|_| is_known),
        })
        .collect()
}

/// The classes that lines have, with the class of the style sheet.
fn legend(lines: &[DiffLine]) -> Vec<(&'static str, String)> {
    let classes = LineClass::ALL.iter();
    let used = classes.filter(|class| lines.iter().any(|line| line.class == Some(**class)));
    used.map(|class| (class.word(), coverage_page::style(*class)))
        .collect()
}
