//! The API `/api/v1`. The OpenAPI document is generated from the handlers.

mod approvals;
mod configurations;
mod devices;
mod fleet_data;
mod idempotency;
mod nodes;
mod object_body;
mod open_api;
mod releases;
mod requests;
mod runs;

use axum::Json;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::state::WebState;
use super::web_error::WebError;

/// The path of all routes.
pub(super) const PREFIX: &str = "/api/v1";

/// The head of the document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Switchtender",
        description = "State, history and runs of devices. Send a token in the header \
                       `Authorization: Bearer TOKEN`. Errors have the keys `error` and `hint`."
    ),
    servers((url = "/api/v1"))
)]
struct ApiDocument;

type ApiAnswer<T> = Result<Json<T>, WebError>;

/// The routes by the role that they require.
pub(super) struct ApiRoutes {
    pub(super) view: OpenApiRouter<WebState>,
    pub(super) plan: OpenApiRouter<WebState>,
    pub(super) apply: OpenApiRouter<WebState>,
    pub(super) admin: OpenApiRouter<WebState>,
}

impl ApiRoutes {
    pub(super) fn new() -> Self {
        Self {
            view: OpenApiRouter::new()
                .routes(routes!(devices::list))
                .routes(routes!(devices::one))
                .routes(routes!(devices::resources))
                .routes(routes!(devices::resource))
                .routes(routes!(devices::configurations))
                .routes(routes!(devices::configuration))
                .routes(routes!(devices::difference))
                .routes(routes!(configurations::search))
                .routes(routes!(configurations::comparison))
                .routes(routes!(runs::list))
                .routes(routes!(runs::one))
                .routes(routes!(runs::events))
                .routes(routes!(runs::folded))
                .routes(routes!(approvals::list))
                .routes(routes!(approvals::one))
                .routes(routes!(fleet_data::status))
                .routes(routes!(nodes::nodes))
                .routes(routes!(releases::releases))
                .routes(routes!(fleet_data::counts))
                .routes(routes!(fleet_data::drift))
                .routes(routes!(fleet_data::findings)),
            plan: OpenApiRouter::new().routes(routes!(requests::run)),
            apply: OpenApiRouter::new()
                .routes(routes!(requests::pause))
                .routes(routes!(requests::resume))
                .routes(routes!(requests::cancel))
                .routes(routes!(requests::accept_drift))
                .routes(routes!(approvals::request))
                .routes(routes!(approvals::approve))
                .routes(routes!(approvals::reject)),
            admin: OpenApiRouter::new().routes(routes!(fleet_data::audit)),
        }
    }

    /// The document of all routes, as JSON.
    pub(super) fn document() -> String {
        let mut document = ApiDocument::openapi();
        let Self {
            view,
            plan,
            apply,
            admin,
        } = Self::new();
        for routes in [view, plan, apply, admin] {
            document.merge(routes.into_openapi());
        }
        document.info.version = env!("CARGO_PKG_VERSION").to_owned();
        let mut document = serde_json::to_value(document).expect("the document is JSON");
        open_api::complete(&mut document);
        format!("{document:#}")
    }
}

/// The document needs no login.
pub(super) fn document_route() -> axum::Router {
    let document = ApiRoutes::document();
    let headers = [(axum::http::header::CONTENT_TYPE, "application/json")];
    let path = format!("{PREFIX}/openapi.json");
    axum::Router::new().route(&path, get(move || async move { (headers, document) }))
}
