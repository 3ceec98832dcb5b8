//! The body of a request: a JSON object, with errors in words of the API.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::serve::web::web_error::{WebError, plain_words};

/// A JSON object with the keys of `T`.
pub(super) struct ObjectBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for ObjectBody<T> {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &S) -> Result<Self, WebError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let is_json = content_type.is_some_and(|value| {
            let essence = value.as_bytes().split(|byte| *byte == b';').next();
            essence.is_some_and(|text| text.trim_ascii().eq_ignore_ascii_case(b"application/json"))
        });
        if !is_json {
            let text = "the body of the request is not JSON";
            let error = WebError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
            return Err(error.hint("send the header `Content-Type: application/json`"));
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejection| {
            WebError::new(rejection.status(), "the body of the request is incomplete")
        })?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = format!("the body is not valid JSON: line {line}, column {column}");
            WebError::invalid(text)
        })?;
        if !value.is_object() {
            let error = WebError::invalid("the body is not a JSON object");
            return Err(error.hint("send an object, such as `{}`"));
        }
        let parsed = serde_json::from_value(value);
        let parsed = parsed.map_err(|error| {
            let text = plain_words(&error.to_string());
            WebError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the body is invalid: {text}"),
            )
        })?;
        Ok(Self(parsed))
    }
}
