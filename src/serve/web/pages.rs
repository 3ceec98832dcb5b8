//! The pages. Each file has one, with the data of its template.

mod accepted_drift;
mod approvals;
mod audit;
mod compare;
mod configuration;
mod device;
mod device_head;
mod findings;
mod fleet;
mod fleet_chart;
mod fleet_column;
mod fleet_query;
mod graph;
mod nodes;
mod releases;
mod resource;
mod resources;
mod run;
mod runs;
mod search;

use askama::Template;
use axum::Router;
use axum::response::Html;
use axum::routing::get;

pub(super) use fleet::matching_devices;

use super::state::WebState;
use super::web_error::WebError;

pub(super) use accepted_drift::page as accepted_drift;

/// The pages that the role `view` permits.
pub(super) fn routes() -> Router<WebState> {
    Router::new()
        .route("/", get(fleet::page))
        .route("/runs", get(runs::page))
        .route("/runs/{id}", get(run::page))
        .route("/runs/{id}/body", get(run::body))
        .route("/approvals", get(approvals::page))
        .route("/approvals/{id}", get(approvals::one))
        .route("/findings", get(findings::page))
        .route("/nodes", get(nodes::page))
        .route("/releases", get(releases::page))
        .route("/search", get(search::page))
        .route("/compare", get(compare::page))
        .route("/devices/{name}", get(device::page))
        .route("/devices/{name}/resources", get(resources::page))
        .route("/devices/{name}/resource", get(resource::page))
        .route("/devices/{name}/configuration", get(configuration::page))
        .route("/devices/{name}/graph", get(graph::page))
        .route("/devices/{name}/graph.svg", get(graph::image))
}

/// The pages that the role `admin` permits.
pub(super) fn admin_routes() -> Router<WebState> {
    Router::new().route("/audit", get(audit::page))
}

/// A page, or a part of one.
type RenderedPage = Result<Html<String>, WebError>;

fn render(template: &impl Template) -> RenderedPage {
    let text = template
        .render()
        .map_err(|error| WebError::internal(&error));
    Ok(Html(text?))
}
