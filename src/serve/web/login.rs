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

use super::guard::{COOKIE, Guard, RequiredRole, has_own_origin, require, session_cookie};
use super::layout::{Sender, SenderAddress};
use super::web_error::WebError;
use crate::clock;
use crate::serve::access::{AuditEntry, Denied, Login, Role};

/// The routes that need no login, and the logout.
pub(super) fn routes(guard: &Arc<Guard>) -> Router {
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
        .merge(logout)
        .with_state(Arc::clone(guard))
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

async fn page(Query(query): Query<LoginQuery>) -> Response {
    let page = LoginPage {
        next: own_path(&query.next),
        user: "",
        error: None,
        code: query.code.as_deref(),
    };
    rendered(StatusCode::OK, &page)
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
    match login.await {
        Ok(login) => logged_in(&guard, &login, &form.next),
        Err(denied) => refused(&denied, &form.next, ""),
    }
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
    match login.await {
        Ok(login) => logged_in(&guard, &login, &form.next),
        Err(denied) => refused(&denied, &form.next, &form.user),
    }
}

async fn logout(
    State(guard): State<Arc<Guard>>,
    sender: Sender,
    address: SenderAddress,
    headers: HeaderMap,
) -> Response {
    if let Some(session) = session_cookie(&headers) {
        guard.access.logout(session);
        let address = address.0.0.to_string();
        let entry = AuditEntry::new(&sender.0, &address, "logout", clock::timestamp());
        // The session ends also if the log cannot be written.
        guard.access.record(entry).await;
    }
    let cookie = cookie("", 0, guard.is_secure);
    let headers = [
        (header::SET_COOKIE, cookie),
        (
            header::HeaderName::from_static("hx-redirect"),
            HeaderValue::from_static("/login"),
        ),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn logged_in(guard: &Guard, login: &Login, next: &str) -> Response {
    tracing::info!(user = login.user, "login");
    let seconds = crate::serve::access::SESSION_LIMIT.as_secs();
    let cookie = cookie(login.session.expose(), seconds, guard.is_secure);
    let headers = [(header::SET_COOKIE, cookie)];
    (headers, Redirect::to(own_path(next))).into_response()
}

fn cookie(secret: &str, seconds: u64, is_secure: bool) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let text =
        format!("{COOKIE}={secret}; HttpOnly; SameSite=Lax; Path=/; Max-Age={seconds}{secure}");
    let mut value = HeaderValue::from_str(&text).expect("a secret is ASCII");
    value.set_sensitive(true);
    value
}

fn refused(denied: &Denied, next: &str, user: &str) -> Response {
    match denied {
        Denied::TooMany { .. } | Denied::NotRecorded => {
            WebError::from(denied.clone()).into_response()
        }
        _ => {
            let page = LoginPage {
                next: own_path(next),
                user,
                error: Some(&denied.to_string()),
                code: None,
            };
            rendered(StatusCode::UNAUTHORIZED, &page)
        }
    }
}

fn rendered(status: StatusCode, page: &LoginPage<'_>) -> Response {
    let page = page.render().expect("the template renders");
    (status, Html(page)).into_response()
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
