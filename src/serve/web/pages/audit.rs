//! The newest entries of the audit log, of a time, user or action.

use askama::Template;
use axum::extract::{Query, State};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::{RenderedPage, render};
use crate::serve::access::AuditFilter;
use crate::serve::audit_copies::NodeAuditEntry;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::WebError;

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Number of entries.
const NEWEST: u32 = 200;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    layout: PageLayout,
    query: AuditForm,
    entries: Vec<NodeAuditEntry>,
    /// They are those of all nodes of a fleet.
    has_nodes: bool,
}

#[derive(Deserialize)]
pub(super) struct AuditForm {
    #[serde(default)]
    user: String,
    #[serde(default)]
    action: String,
    /// The first day, in UTC.
    #[serde(default)]
    from: String,
    /// The last day, in UTC.
    #[serde(default)]
    to: String,
}

impl AuditForm {
    fn filter(&self) -> Result<AuditFilter, WebError> {
        let text_of = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let until = day(&self.to)?.and_then(|start| start.checked_add(DAY).ok());
        Ok(AuditFilter {
            since: day(&self.from)?,
            until,
            actor: text_of(&self.user),
            action: text_of(&self.action),
        })
    }
}

/// The start of a day; `None` for the empty field of a form.
fn day(text: &str) -> Result<Option<Timestamp>, WebError> {
    if text.is_empty() {
        return Ok(None);
    }
    let start = format!("{text}T00:00:00Z").parse();
    let invalid = |_| WebError::invalid(format!("`{text}` is no day, such as 2026-11-24"));
    start.map(Some).map_err(invalid)
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<AuditForm>,
) -> RenderedPage {
    let entries = state.process().audit_entries(query.filter()?, NEWEST).await;
    render(&AuditPage {
        layout: PageLayout::new(&sender.0, "Audit log", "/audit"),
        query,
        has_nodes: state.process().leases().is_some(),
        entries: entries.map_err(|error| WebError::internal(&error))?,
    })
}
