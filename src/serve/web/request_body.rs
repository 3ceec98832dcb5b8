//! Receives the body of a request within limits of size and time, before anything else reads it.

use std::time::Duration;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::web_error::WebError;

/// Maximum size of a body, in bytes.
const MAX_BODY: usize = 64 << 10;

/// Limit for the time in which a body is received.
pub(super) const BODY_LIMIT: Duration = Duration::from_secs(10);

/// Replaces the body of a request by its bytes. A slow sender does not hold a connection.
pub(super) async fn receive_body(
    State(limit): State<Duration>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let is_too_large = body.size_hint().lower() > MAX_BODY as u64;
    let received = if is_too_large {
        return too_large();
    } else {
        tokio::time::timeout(limit, to_bytes(body, MAX_BODY)).await
    };
    match received {
        Ok(Ok(bytes)) => {
            next.run(Request::from_parts(parts, Body::from(bytes)))
                .await
        }
        // The sender of a body that broke off does not read the answer.
        Ok(Err(_)) => too_large(),
        Err(_) => {
            let seconds = limit.as_secs();
            let text = format!("the body of the request did not arrive within {seconds} s");
            WebError::new(StatusCode::REQUEST_TIMEOUT, text).into_response()
        }
    }
}

fn too_large() -> Response {
    let text = format!("the body of the request has more than {MAX_BODY} bytes");
    WebError::new(StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
}
