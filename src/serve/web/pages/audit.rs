//! The newest entries of the audit log.

use askama::Template;
use axum::extract::State;

use super::{RenderedPage, render};
use crate::serve::access::StoredAuditEntry;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::WebError;
use crate::store::blocking_io;

/// Number of entries.
const NEWEST: usize = 200;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    layout: PageLayout,
    entries: Vec<StoredAuditEntry>,
}

pub(super) async fn page(State(state): State<WebState>, sender: Sender) -> RenderedPage {
    let log = state.guard.access.audit.clone();
    let entries = blocking_io::run(move || log.newest(NEWEST)).await;
    render(&AuditPage {
        layout: PageLayout::new(&state.guard, &sender.0, "Audit log", "/audit"),
        entries: entries.map_err(|error| WebError::internal(&error))?,
    })
}
