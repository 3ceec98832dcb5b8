//! An error of a request. The outermost layer renders it as JSON, as a page or as a part of a page.

use askama::Template;
use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Serialize;

use super::layout::PageLayout;
use crate::history::HistoryError;
use crate::history::folded_runs::FoldedDay;
use crate::history::run_key::RunKey;
use crate::serve::access::{Denied, Principal};
use crate::serve::link::protocol::LINK;

/// Why a request is not answered, with the words of the command line: `error` and `hint`.
#[derive(Clone, Debug)]
pub(crate) struct WebError {
    status: StatusCode,
    body: ErrorBody,
    /// Seconds until the next permitted request.
    retry_after: Option<u64>,
}

/// An error.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ErrorBody {
    /// Why the request failed.
    error: String,
    /// What to do next.
    hint: Option<String>,
    /// The day of a folded run.
    #[serde(skip_serializing_if = "Option::is_none")]
    folded: Option<Box<FoldedDay>>,
    /// Why no run changes a device, in the answer about the state of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_applies: Option<String>,
}

impl WebError {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            body: ErrorBody {
                error: error.into(),
                hint: None,
                folded: None,
                no_applies: None,
            },
            retry_after: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.hint = Some(hint.into());
        self
    }

    /// The state of the process cannot be read: what the process knows of it.
    pub(crate) fn no_applies(mut self, reason: Option<String>) -> Self {
        self.body.no_applies = reason;
        self
    }

    /// A run that is folded: what is known of it.
    pub(crate) fn folded(run: RunKey, day: FoldedDay) -> Self {
        let mut error = Self::new(StatusCode::GONE, day.describe(run)).hint(
            "`keep_unchanged` in serve.toml says how long unchanged runs are stored one by one",
        );
        error.body.folded = Some(Box::new(day));
        error
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// A failure of the process itself. Its text can have paths of the host, so it is only logged.
    pub(crate) fn internal(error: &dyn std::error::Error) -> Self {
        let text = crate::error_chain::chain(&error);
        tracing::error!("cannot answer a request: {text}");
        let text = "the process cannot answer the request";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, text)
            .hint("the log of the process has the reason")
    }

    /// The store cannot be used now, or the process failed.
    pub(crate) fn of_store(error: &HistoryError) -> Self {
        if !error.is_of_the_store() {
            return Self::internal(error);
        }
        tracing::warn!(
            "cannot answer a request: {}",
            crate::error_chain::chain(&error)
        );
        let text = format!("the store cannot be used: {error}");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text).hint(
            "no run changes a device meanwhile; results of runs are stored when the store can be used again",
        )
    }

    /// Why the request is not answered.
    pub(super) fn text(&self) -> &str {
        &self.body.error
    }

    /// Whether the process failed, and not the request.
    pub(super) fn is_server_error(&self) -> bool {
        self.status.is_server_error()
    }

    fn is_login_required(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }
}

impl WebError {
    /// A key of requests that was used before.
    pub(crate) fn of_other_request() -> Self {
        let text = "the `Idempotency-Key` belongs to a different request";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, text).hint("send a new key")
    }
}

impl From<Denied> for WebError {
    fn from(denied: Denied) -> Self {
        let status = match &denied {
            Denied::NoCredentials
            | Denied::UnknownToken
            | Denied::NoWorkerProof
            | Denied::UnknownWorker
            | Denied::UnknownCertificate { .. }
            | Denied::InvalidCertificate(_)
            | Denied::WrongPassword
            | Denied::WrongCode
            | Denied::Provider(_)
            | Denied::TakenName(_) => StatusCode::UNAUTHORIZED,
            Denied::Role { .. } | Denied::Csrf => StatusCode::FORBIDDEN,
            Denied::TwoUsers { .. } => StatusCode::BAD_REQUEST,
            Denied::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Denied::NotRecorded => StatusCode::INTERNAL_SERVER_ERROR,
            Denied::NoStore(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let error = Self::new(status, denied.to_string());
        match denied {
            Denied::NoCredentials => error
                .hint("log in, or send an API token in the header `Authorization: Bearer TOKEN`"),
            Denied::UnknownToken => {
                error.hint("create a token with `switchtender access add-token NAME`")
            }
            Denied::UnknownWorker => error.hint(
                "create a token with `switchtender access add-worker NODE --sites SITE` at a hub",
            ),
            Denied::NoWorkerProof => error.hint(
                "a certificate needs `client_ca_file` in `[web]` of the hub, and no proxy that ends TLS",
            ),
            Denied::UnknownCertificate { .. } => error.hint(
                "name it with `switchtender access add-worker NODE --sites SITE --certificate NAME` at a hub",
            ),
            Denied::InvalidCertificate(_) => {
                error.hint("install a certificate of a CA in `client_ca_file` of the hub")
            }
            Denied::Csrf => error.hint("reload the page"),
            Denied::TwoUsers { .. } => {
                error.hint("let the proxy replace the header of the client, not add one")
            }
            Denied::NotRecorded => error.hint("check the log of the process"),
            Denied::TooMany { retry } => Self {
                retry_after: Some(retry.as_secs() + 1),
                ..error.hint(format!("retry in {} s", retry.as_secs() + 1))
            },
            _ => error,
        }
    }
}

/// The error is rendered by [`rendered`], which has the request.
impl IntoResponse for WebError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    layout: PageLayout,
    title: &'a str,
    error: &'a str,
    hint: Option<&'a str>,
}

/// The form of an error.
#[derive(Clone, Debug)]
pub(super) enum ErrorForm {
    Json,
    /// A line, for programs that expect no page.
    Text,
    /// A message in a page that stays.
    Fragment,
    /// A page; a login is offered, and leads to the path of the request.
    Page {
        path: String,
    },
}

impl ErrorForm {
    pub(super) fn of(path: &str, path_and_query: &str, headers: &HeaderMap) -> Self {
        // Workers are programs, too.
        if path.starts_with("/api/") || path.starts_with(LINK) {
            Self::Json
        } else if path == "/metrics" {
            Self::Text
        } else if headers.contains_key("hx-request") {
            Self::Fragment
        } else {
            Self::Page {
                path: path_and_query.to_owned(),
            }
        }
    }
}

/// The response with its error in the form of the request. A page has the navigation of the sender.
pub(super) fn rendered(mut response: Response, form: &ErrorForm) -> Response {
    let sender = response.extensions_mut().remove::<Principal>();
    let Some(error) = response.extensions_mut().remove::<WebError>() else {
        return response;
    };
    let ErrorBody {
        error: text, hint, ..
    } = &error.body;
    let mut rendered = match form {
        ErrorForm::Json => (error.status, Json(&error.body)).into_response(),
        ErrorForm::Text => (error.status, format!("{text}\n")).into_response(),
        ErrorForm::Fragment if error.is_login_required() => {
            // The session ended while the page was open.
            let mut response = error.status.into_response();
            let headers = response.headers_mut();
            headers.insert("hx-redirect", HeaderValue::from_static("/login"));
            response
        }
        ErrorForm::Fragment => {
            let hint = hint.as_ref().map(|hint| format!("; {hint}"));
            let message = format!("{text}{}", hint.unwrap_or_default());
            (error.status, message).into_response()
        }
        ErrorForm::Page { path } if error.is_login_required() => {
            let next: String = form_urlencode(path);
            Redirect::to(&format!("/login?next={next}")).into_response()
        }
        ErrorForm::Page { .. } => {
            let title = match error.status {
                StatusCode::NOT_FOUND => "Not found".to_owned(),
                StatusCode::FORBIDDEN => "Not permitted".to_owned(),
                StatusCode::GONE => "Folded run".to_owned(),
                status => format!("Error {}", status.as_u16()),
            };
            let page = ErrorPage {
                layout: match &sender {
                    Some(sender) => PageLayout::new(sender, &title, ""),
                    None => PageLayout::without_sender(&title),
                },
                title: &title,
                error: text,
                hint: hint.as_deref(),
            };
            let page = page.render().expect("the template renders");
            (error.status, Html(page)).into_response()
        }
    };
    if let Some(seconds) = error.retry_after {
        (rendered.headers_mut()).insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if [StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE].contains(&error.status) {
        // The rest of the body is not read.
        (rendered.headers_mut()).insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    rendered
}

/// The text of an error of a library in the words of JSON and HTTP.
pub(super) fn plain_words(text: &str) -> String {
    const WORDS: [(&str, &str); 9] = [
        (
            "Failed to deserialize query string: ",
            "the query is invalid: ",
        ),
        ("Failed to deserialize form body: ", "the form is invalid: "),
        ("Failed to deserialize form: ", "the form is invalid: "),
        ("Invalid URL: ", "the path is invalid: "),
        ("Cannot parse ", "cannot read "),
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("unknown variant", "unknown value"),
        ("invalid digit found in string", "not a number"),
    ];
    let text = switchtender_devices::printable::escape(text).into_owned();
    let text = (WORDS.iter()).fold(text, |text, (from, to)| text.replace(from, to));
    // Types of the program are no help.
    match text.split_once(" to a `") {
        Some((before, _)) if before.contains("cannot read ") => format!("{before} as a number"),
        _ => text,
    }
}

fn form_urlencode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
