//! The published releases.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::ApiAnswer;
use crate::history::releases::ReleaseEntry;
use crate::serve::web::layout::Sender;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::ErrorBody;

/// The releases, newest first.
#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ReleaseList {
    releases: Vec<ReleaseEntry>,
}

/// List the releases, newest first, each with the nodes that have loaded it
#[utoipa::path(get, path = "/releases", tag = "fleet",
    responses((status = 200, body = ReleaseList),
        (status = 404, description = "The process is no node of a fleet", body = ErrorBody)))]
pub(super) async fn releases(
    State(state): State<WebState>,
    sender: Sender,
) -> ApiAnswer<ReleaseList> {
    let releases = state.releases(&sender.0).await?;
    Ok(Json(ReleaseList { releases }))
}
