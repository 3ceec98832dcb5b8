//! Limits of size and time of a request, and the headers of every answer.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::map_response_with_state;
use axum::response::{IntoResponse as _, Response};
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

use super::web_error::WebError;

/// Maximum size of a body, in bytes.
const MAX_BODY: usize = 64 << 10;

/// Limit for the time in which a request is received and answered. A slow sender does not hold a
/// connection. An event stream counts as answered when it begins.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(10);

const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Adds the limits to routes.
pub(super) fn limited(router: Router, time: Duration) -> Router {
    let timeout = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time);
    router
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(timeout)
        .layer(map_response_with_state(time, with_reason))
}

/// Gives the refusals of the limits the form of other errors.
async fn with_reason(State(time): State<Duration>, response: Response) -> Response {
    let status = response.status();
    let text = match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            format!("the body of the request has more than {MAX_BODY} bytes")
        }
        StatusCode::REQUEST_TIMEOUT => {
            let seconds = time.as_secs();
            format!("the request was not received and answered within {seconds} s")
        }
        _ => return response,
    };
    WebError::new(status, text).into_response()
}

/// Adds headers to all answers that do not have them.
pub(super) fn with_headers(router: Router, is_secure: bool) -> Router {
    let router = HEADERS.into_iter().fold(router, |router, (name, value)| {
        let value = HeaderValue::from_static(value);
        router.layer(SetResponseHeaderLayer::if_not_present(name, value))
    });
    if !is_secure {
        return router;
    }
    router.layer(SetResponseHeaderLayer::overriding(
        header::STRICT_TRANSPORT_SECURITY,
        HeaderValue::from_static("max-age=31536000"),
    ))
}
