//! Scripts and styles, which are part of the program.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Path, content type and content.
const ASSETS: [(&str, &str, &str); 5] = [
    (
        "/assets/htmx.min.js",
        JAVASCRIPT,
        include_str!("assets/htmx.min.js"),
    ),
    (
        "/assets/sse.min.js",
        JAVASCRIPT,
        include_str!("assets/sse.min.js"),
    ),
    (
        "/assets/page.js",
        JAVASCRIPT,
        include_str!("assets/page.js"),
    ),
    (
        "/assets/style.css",
        "text/css; charset=utf-8",
        include_str!("assets/style.css"),
    ),
    (
        "/assets/icon.svg",
        "image/svg+xml",
        include_str!("assets/icon.svg"),
    ),
];

/// The routes of the assets, which need no login.
pub(super) fn routes() -> Router {
    let mut router = Router::new();
    for (path, content_type, content) in ASSETS {
        router = router.route(
            path,
            get(move || async move { asset(content_type, content) }),
        );
    }
    router
}

fn asset(content_type: &'static str, content: &'static str) -> impl IntoResponse {
    // A new version of the program has new assets: browsers ask again after five minutes.
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "max-age=300"),
    ];
    (headers, content)
}
