//! What every request passes: host name, sender, role, CSRF token, metrics.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::request_metrics::RequestMetrics;
use super::web_error::{ErrorForm, WebError, rendered};
use super::web_settings::WebSettings;
use crate::clock;
use crate::serve::access::{
    AccessControl, Denied, OidcProvider, Principal, RequestOrigin, Role, TokenText, is_same_origin,
};
use crate::serve::lease::protocol::PROTOCOL;
use crate::serve::link::protocol::{LINK, PROTOCOL_HEADER};

/// The cookie of a session.
pub(super) const COOKIE: &str = "switchtender_session";

/// The header with the CSRF token.
const CSRF_HEADER: &str = "x-csrf-token";

/// Checks requests.
pub(crate) struct Guard {
    pub(crate) access: AccessControl,
    /// Host names of the server. Addresses and `localhost` need no entry.
    pub(crate) server_names: Vec<String>,
    /// Cookies are sent over TLS only.
    pub(crate) is_secure: bool,
    /// The provider of logins.
    pub(super) oidc: Option<OidcProvider>,
    pub(super) metrics: RequestMetrics,
}

impl Guard {
    pub(crate) fn new(
        access: AccessControl,
        settings: &WebSettings,
        oidc: Option<OidcProvider>,
    ) -> Self {
        Self {
            access,
            server_names: settings.server_names.clone(),
            is_secure: settings.is_secure(),
            oidc,
            metrics: RequestMetrics::default(),
        }
    }

    /// A name that another site chose can lead a browser to this server; an address cannot.
    fn is_own_name(&self, host: &str) -> bool {
        let name = without_port(host);
        is_address_or_localhost(host)
            || (self.server_names.iter()).any(|own| own.eq_ignore_ascii_case(name))
    }

    /// The client of a request, and the sender.
    async fn sender(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
    ) -> (ClientAddress, Result<Option<Principal>, Denied>) {
        let authorization = text(headers, &header::AUTHORIZATION);
        let origin = RequestOrigin {
            peer,
            bearer: authorization.and_then(|value| value.strip_prefix("Bearer ")),
            session: session_cookie(headers),
            header: &|name| {
                let values = headers.get_all(name).iter();
                let texts = values.map(|value| value.to_str().unwrap_or_default().to_owned());
                texts.collect()
            },
        };
        let (now, time) = (clock::instant(), clock::timestamp());
        let client = ClientAddress(self.access.client(&origin));
        let found = self.access.principal(&origin, now, time).await;
        (client, found)
    }
}

/// Whether a host of a request is an address or this host.
pub(super) fn is_address_or_localhost(host: &str) -> bool {
    let name = without_port(host);
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The address of the client, also behind a trusted proxy.
#[derive(Clone, Copy)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// The secret of the session.
pub(super) fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    cookie(headers, COOKIE)
}

/// The value of a cookie.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, expected: &str) -> Option<&'a str> {
    let cookies = text(headers, &header::COOKIE)?;
    let mut cookies = cookies
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    cookies
        .find(|(name, _)| *name == expected)
        .map(|(_, value)| value)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether headers permit a request with side effects from a browser.
pub(super) fn has_own_origin(headers: &HeaderMap) -> bool {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    is_same_origin(value("origin"), value("sec-fetch-site"), value("host"))
}

/// Checks the host name, renders errors and records metrics.
pub(super) async fn outermost(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let start = clock::instant();
    let method = request.method().clone();
    let uri = request.uri();
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let form = ErrorForm::of(uri.path(), target, request.headers());
    let is_of_link = uri.path().starts_with(LINK);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let host = text(request.headers(), &header::HOST).unwrap_or_default();
    let response = if guard.is_own_name(host) {
        next.run(request).await
    } else {
        WebError::new(
            StatusCode::MISDIRECTED_REQUEST,
            format!(
                "`{}` is not a name of this server",
                switchtender_devices::printable::escape(host)
            ),
        )
        .hint("add it to `server_names` in the `[web]` table")
        .into_response()
    };
    let mut response = rendered(response, &form);
    if is_of_link {
        // Workers know the answer of a hub by it: proxies on the way have answers of their own.
        (response.headers_mut()).insert(PROTOCOL_HEADER, HeaderValue::from(PROTOCOL));
    }
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let took = clock::instant().duration_since(start);
    (guard.metrics).record(route, method.as_str(), response.status().as_u16(), took);
    response
}

/// Adds the sender to the request.
pub(super) async fn identify(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Response {
    // Health checks are not limited, and have no sender.
    if ["/healthz", "/readyz"].contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let headers = request.headers().clone();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.expect("each connection has an address").0.ip();
    let (client, sender) = guard.sender(&headers, peer).await;
    request.extensions_mut().insert(client);
    match sender {
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal.clone());
            let mut response = next.run(request).await;
            // The page of an error has the navigation of the sender.
            response.extensions_mut().insert(principal);
            response
        }
        Ok(None) => next.run(request).await,
        Err(denied) => WebError::from(denied).into_response(),
    }
}

/// A role that a group of routes requires.
#[derive(Clone)]
pub(super) struct RequiredRole {
    pub(super) guard: Arc<Guard>,
    pub(super) role: Role,
}

/// Refuses senders without the role, and requests that another site makes in their name.
pub(super) async fn require(
    State(required): State<RequiredRole>,
    request: Request,
    next: Next,
) -> Response {
    let Err(denied) = check(&required, &request) else {
        return next.run(request).await;
    };
    let extensions = request.extensions();
    let sender = (
        extensions.get::<Principal>(),
        extensions.get::<ClientAddress>(),
    );
    if let (Some(principal), Some(client)) = sender {
        let target = format!("{} {}", request.method(), request.uri().path());
        let access = &required.guard.access;
        access.record_refused(principal, client.0, &target).await;
    }
    WebError::from(denied).into_response()
}

fn check(required: &RequiredRole, request: &Request) -> Result<(), Denied> {
    let principal = request.extensions().get::<Principal>();
    let principal = principal.ok_or(Denied::NoCredentials)?;
    let role = match required.role {
        // The audit log names all devices.
        Role::Admin => principal.roles.of_fleet(),
        _ => Some(principal.roles.highest()),
    };
    if role < Some(required.role) {
        let required = required.role;
        return Err(Denied::Role { required });
    }
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_safe && principal.needs_csrf_token() {
        let headers = request.headers();
        let token = headers
            .get(CSRF_HEADER)
            .and_then(|value| value.to_str().ok());
        // Digests are compared, so that the time is independent of the text.
        let digest = |text: &str| TokenText::received(text).digest();
        let expected = digest(&principal.csrf_token);
        let is_valid = token.is_some_and(|token| digest(token) == expected);
        if !is_valid || !has_own_origin(headers) {
            return Err(Denied::Csrf);
        }
    }
    Ok(())
}
