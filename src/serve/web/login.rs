//! Login and logout of browsers.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Form, Router};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::guard::{
    COOKIE, Guard, RequiredRole, cookie as request_cookie, has_own_origin, require, session_cookie,
};
use super::layout::{Sender, SenderAddress};
use super::pager::encode;
use super::state::WebState;
use super::web_error::WebError;
use crate::clock;
use crate::serve::access::{
    AuditEntry, CALLBACK, Denied, LOGIN_LIMIT, Login, LoginContext, OidcError, ProviderAnswer, Role,
};

/// The cookie of a login at the provider.
const LOGIN_COOKIE: &str = "switchtender_login";

/// The routes that need no login, and the logout.
pub(super) fn routes(guard: &Arc<Guard>) -> Router<WebState> {
    let required = RequiredRole {
        guard: Arc::clone(guard),
        role: Role::View,
    };
    let logout = Router::new()
        .route("/logout", post(logout))
        .route_layer(axum::middleware::from_fn_with_state(required, require));
    Router::new()
        .route("/login", get(page).post(login))
        .route("/login/code", post(login_with_code))
        .route("/login/oidc", get(begin_at_provider))
        .route(CALLBACK, get(login_at_provider))
        .merge(logout)
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    next: &'a str,
    /// The user of a failed login.
    user: &'a str,
    error: Option<&'a str>,
    /// The code of a link. A click redeems it: previews of links and other sites do not.
    code: Option<&'a str>,
    /// The link to the provider of logins, and its host.
    provider: Option<(String, String)>,
}

#[derive(Deserialize)]
struct LoginQuery {
    #[serde(default)]
    next: String,
    /// A code for one login.
    code: Option<String>,
}

#[derive(Deserialize)]
struct LoginForm {
    user: String,
    password: SecretString,
    #[serde(default)]
    next: String,
}

#[derive(Deserialize)]
struct CodeForm {
    code: SecretString,
    #[serde(default)]
    next: String,
}

async fn page(State(guard): State<Arc<Guard>>, Query(query): Query<LoginQuery>) -> Response {
    let code = query.code.as_deref();
    LoginForms {
        guard: &guard,
        user: "",
        code,
    }
    .page(StatusCode::OK, &query.next, None)
}

/// The answer of the provider.
#[derive(Deserialize)]
struct ProviderQuery {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
}

/// Leads to the page of the provider.
async fn begin_at_provider(
    State(guard): State<Arc<Guard>>,
    Query(query): Query<LoginQuery>,
) -> Response {
    let Some(provider) = &guard.oidc else {
        return no_provider();
    };
    let started = provider.begin(own_path(&query.next), login_context(&guard));
    match started.await {
        Ok((url, state)) => {
            let cookie = cookie(LOGIN_COOKIE, &state, LOGIN_LIMIT.as_secs(), guard.is_secure);
            let headers = [(header::SET_COOKIE, cookie)];
            (headers, Redirect::to(url.as_str())).into_response()
        }
        Err(error) => failed_at_provider(&guard, &error, &query.next),
    }
}

/// The browser comes back from the provider.
async fn login_at_provider(
    State(state): State<WebState>,
    Extension(address): SenderAddress,
    headers: HeaderMap,
    Query(query): Query<ProviderQuery>,
) -> Response {
    let guard = &state.guard;
    let Some(provider) = &guard.oidc else {
        return no_provider();
    };
    let (now, time) = (clock::instant(), clock::timestamp());
    let answer = ProviderAnswer {
        state: &query.state,
        code: query.code.as_deref(),
        error: query.error.as_deref(),
        cookie: request_cookie(&headers, LOGIN_COOKIE),
    };
    let secrets = state.process().fleet().secrets_of_settings();
    let context = login_context(guard);
    let (found, next) = match provider.finish(&answer, &secrets, context).await {
        Ok((user, next)) => (Ok(user), next),
        Err(error @ (OidcError::Unavailable(_) | OidcError::NoStore(_) | OidcError::Unknown)) => {
            return failed_at_provider(guard, &error, "");
        }
        Err(error) => (Err(error), String::new()),
    };
    let login = (guard.access).login_of_provider(found, address.0, now, time);
    let end = LoginEnd {
        next: &next,
        user: "",
    };
    finished(guard, login.await, end)
}

fn login_context(guard: &Guard) -> LoginContext<'_> {
    LoginContext {
        once: &guard.access.once,
        now: clock::instant(),
        time: clock::timestamp(),
    }
}

fn no_provider() -> Response {
    WebError::not_found("there is no provider of logins").into_response()
}

/// Local users can log in while the provider is away.
fn failed_at_provider(guard: &Guard, error: &OidcError, next: &str) -> Response {
    let status = match error {
        OidcError::Unavailable(_) => StatusCode::BAD_GATEWAY,
        OidcError::NoStore(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNAUTHORIZED,
    };
    let error = error.to_string();
    LoginForms {
        guard,
        user: "",
        code: None,
    }
    .page(status, next, Some(&error))
}

async fn login_with_code(
    State(guard): State<Arc<Guard>>,
    Extension(address): SenderAddress,
    headers: HeaderMap,
    Form(form): Form<CodeForm>,
) -> Response {
    if !has_own_origin(&headers) {
        return WebError::from(Denied::Csrf).into_response();
    }
    let (now, time) = (clock::instant(), clock::timestamp());
    let code = form.code.expose_secret();
    let login = (guard.access).login_with_code(code, address.0, now, time);
    let end = LoginEnd {
        next: &form.next,
        user: "",
    };
    finished(&guard, login.await, end)
}

async fn login(
    State(guard): State<Arc<Guard>>,
    Extension(address): SenderAddress,
    headers: HeaderMap,
    Form(form): Form<LoginForm>,
) -> Response {
    if !has_own_origin(&headers) {
        return WebError::from(Denied::Csrf).into_response();
    }
    let (now, time) = (clock::instant(), clock::timestamp());
    let login = (guard.access).login(&form.user, form.password, address.0, now, time);
    let end = LoginEnd {
        next: &form.next,
        user: &form.user,
    };
    finished(&guard, login.await, end)
}

async fn logout(
    State(guard): State<Arc<Guard>>,
    sender: Sender,
    address: SenderAddress,
    headers: HeaderMap,
) -> Response {
    if let Some(session) = session_cookie(&headers) {
        if let Err(denied) = guard.access.logout(session).await {
            return WebError::from(denied).into_response();
        }
        let address = address.0.0.to_string();
        let entry = AuditEntry::new(&sender.0, &address, "logout", clock::timestamp());
        // The session has ended also if the log cannot be written.
        guard.access.record(entry).await;
    }
    let cookie = cookie(COOKIE, "", 0, guard.is_secure);
    let headers = [
        (header::SET_COOKIE, cookie),
        (
            header::HeaderName::from_static("hx-redirect"),
            HeaderValue::from_static("/login"),
        ),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn finished(guard: &Guard, login: Result<Login, Denied>, end: LoginEnd<'_>) -> Response {
    match login {
        Ok(login) => logged_in(guard, &login, end.next),
        Err(denied) => refused(guard, &denied, end),
    }
}

fn logged_in(guard: &Guard, login: &Login, next: &str) -> Response {
    tracing::info!(user = login.user, "login");
    let seconds = crate::serve::access::SESSION_LIMIT.as_secs();
    let cookie = cookie(COOKIE, login.session.expose(), seconds, guard.is_secure);
    let headers = [(header::SET_COOKIE, cookie)];
    (headers, Redirect::to(own_path(next))).into_response()
}

fn cookie(name: &str, secret: &str, seconds: u64, is_secure: bool) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let text =
        format!("{name}={secret}; HttpOnly; SameSite=Lax; Path=/; Max-Age={seconds}{secure}");
    let mut value = HeaderValue::from_str(&text).expect("a secret is ASCII");
    value.set_sensitive(true);
    value
}

fn refused(guard: &Guard, denied: &Denied, end: LoginEnd<'_>) -> Response {
    let LoginEnd { next, user } = end;
    match denied {
        Denied::TooMany { .. } | Denied::NotRecorded | Denied::NoStore(_) => {
            WebError::from(denied.clone()).into_response()
        }
        _ => LoginForms {
            guard,
            user,
            code: None,
        }
        .page(StatusCode::UNAUTHORIZED, next, Some(&denied.to_string())),
    }
}

/// A login that is refused: the page after it, and the name that is filled in.
struct LoginEnd<'a> {
    next: &'a str,
    user: &'a str,
}

/// The ways to log in.
struct LoginForms<'a> {
    guard: &'a Guard,
    /// The name that is filled in.
    user: &'a str,
    code: Option<&'a str>,
}

impl LoginForms<'_> {
    fn page(&self, status: StatusCode, next: &str, error: Option<&str>) -> Response {
        let next = own_path(next);
        let provider = self.guard.oidc.as_ref().map(|provider| {
            let path = format!("/login/oidc?next={}", encode(next));
            (path, provider.host())
        });
        let page = LoginPage {
            next,
            user: self.user,
            error,
            code: self.code,
            provider,
        };
        let page = page.render().expect("the template renders");
        (status, Html(page)).into_response()
    }
}

/// A path of this server, or the first page: a login leads to no other site.
fn own_path(next: &str) -> &str {
    let is_path = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    if is_path && next.chars().all(|letter| letter.is_ascii_graphic()) {
        next
    } else {
        "/"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_leads_to_own_paths_only() {
        assert_eq!(own_path("/devices/sw1?page=2"), "/devices/sw1?page=2");
        for foreign in [
            "",
            "//evil.test",
            "https://evil.test",
            "/\\evil.test",
            "/a\nb",
            "javascript:1",
        ] {
            assert_eq!(own_path(foreign), "/", "{foreign:?}");
        }
    }
}
