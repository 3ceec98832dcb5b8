//! The nodes, sites and shards of the fleet.

use axum::Json;
use axum::extract::State;

use super::ApiAnswer;
use crate::serve::lease::fleet_status::FleetStatus;
use crate::serve::web::layout::Sender;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::ErrorBody;

/// Show the nodes, sites and shards of a fleet with one PostgreSQL database
#[utoipa::path(get, path = "/nodes", tag = "fleet",
    responses((status = 200, body = FleetStatus),
        (status = 404, description = "The process is no node of a fleet", body = ErrorBody)))]
pub(super) async fn nodes(State(state): State<WebState>, sender: Sender) -> ApiAnswer<FleetStatus> {
    Ok(Json(state.fleet_status(&sender.0).await?))
}
