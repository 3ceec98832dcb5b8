//! The routes with the role that each requires.

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::get;

use super::api::{self, ApiRoutes};
use super::guard::{Guard, RequiredRole, identify, outermost, require};
use super::limits::{REQUEST_LIMIT, limited, with_headers};
use super::state::WebState;
use super::web_error::{WebError, plain_words};
use super::{assets, fleet_link, login, metrics, page_actions, pages, selection_actions};
use crate::serve::access::Role;

/// All routes.
pub(super) fn router(state: WebState) -> Router {
    let guard = Arc::clone(&state.guard);
    let ApiRoutes {
        view,
        plan,
        apply,
        admin,
    } = ApiRoutes::new();
    let of_api = |routes: utoipa_axum::router::OpenApiRouter<WebState>| -> Router<WebState> {
        Router::new().nest(api::PREFIX, routes.into())
    };
    let view = pages::routes()
        .merge(page_actions::view_routes())
        .merge(of_api(view))
        .route("/metrics", get(metrics::metrics));
    let plan = page_actions::plan_routes()
        .merge(selection_actions::plan_routes())
        .merge(of_api(plan));
    let apply = page_actions::apply_routes()
        .merge(selection_actions::apply_routes())
        .merge(of_api(apply));
    let admin = pages::admin_routes().merge(of_api(admin));
    let restricted = [
        (Role::View, view),
        (Role::Plan, plan),
        (Role::Apply, apply),
        (Role::Admin, admin),
    ];
    let mut router = Router::new()
        .route("/readyz", get(metrics::readyz))
        .route("/healthz", get(metrics::healthz));
    for (role, routes) in restricted {
        router = router.merge(requires(&guard, role, routes));
    }
    let is_secure = guard.is_secure;
    let fleet_routes = fleet_link::routes().with_state(state.clone());
    let router = router
        .merge(login::routes(&guard))
        .with_state(state)
        .merge(assets::routes())
        .merge(api::document_route())
        .fallback(|| async { WebError::not_found("there is no such page") })
        .method_not_allowed_fallback(|| async {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            WebError::new(status, "the page does not permit this method")
        });
    let router = limited(router, REQUEST_LIMIT)
        .layer(map_response(with_error_text))
        .layer(from_fn_with_state(Arc::clone(&guard), identify))
        // Workers have limits and tokens of their own.
        .merge(fleet_routes)
        .layer(from_fn_with_state(guard, outermost));
    with_headers(router, is_secure)
}

fn requires(guard: &Arc<Guard>, role: Role, routes: Router<WebState>) -> Router<WebState> {
    let required = RequiredRole {
        guard: Arc::clone(guard),
        role,
    };
    routes.route_layer(from_fn_with_state(required, require))
}

/// Gives the errors of extractors, such as an invalid query, the form of other errors.
async fn with_error_text(response: Response) -> Response {
    use axum::response::IntoResponse as _;
    let status = response.status();
    let is_rejection = status.is_client_error()
        && response.extensions().get::<WebError>().is_none()
        && response
            .headers()
            .get(axum::http::header::CONTENT_TYPE)
            .is_some_and(|value| value.as_bytes().starts_with(b"text/plain"));
    if !is_rejection {
        return response;
    }
    const LONGEST: usize = 1000;
    let text = match axum::body::to_bytes(response.into_body(), LONGEST).await {
        Ok(bytes) => plain_words(&String::from_utf8_lossy(&bytes)),
        Err(_) => "the request is invalid".to_owned(),
    };
    WebError::new(status, text).into_response()
}
