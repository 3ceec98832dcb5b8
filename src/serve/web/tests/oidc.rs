//! Logins at a provider of OpenID Connect, which is a small server of its own: discovery, keys, authorization, token.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{KeyPair, PKCS_ED25519, SigningKey as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchtender_devices::task;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::harness::{PASSWORD, TestOptions, TestServer, text};
use crate::clock;
use crate::serve::access::OidcSettings;
use crate::serve::web::{WebSettings, listener};

type Query1 = HashMap<String, String>;

/// What the provider does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    WrongNonce,
    WrongAudience,
    WrongIssuer,
    Expired,
    UnknownKey,
    WrongSignature,
    /// The algorithm `none`, without a signature.
    Unsigned,
    NoGroup,
    NameOfLocalUser,
}

struct Provider {
    issuer: String,
    key: KeyPair,
    other_key: KeyPair,
    fault: Mutex<Fault>,
    groups: Mutex<Value>,
    /// The authorization requests by their codes.
    codes: Mutex<HashMap<String, Query1>>,
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

async fn discovery(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let issuer = &provider.issuer;
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    }))
}

async fn keys(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let x = encode(provider.key.public_key_raw());
    Json(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": "one", "x": x}]}))
}

/// The user has logged in at the provider: back to the pages with a code.
async fn authorize(State(provider): State<Arc<Provider>>, Query(query): Query<Query1>) -> Redirect {
    let code = format!("code-{}", provider.codes.lock().unwrap().len());
    let (redirect, state) = (query["redirect_uri"].clone(), query["state"].clone());
    provider.codes.lock().unwrap().insert(code.clone(), query);
    Redirect::to(&format!("{redirect}?code={code}&state={state}"))
}

async fn token(
    State(provider): State<Arc<Provider>>,
    headers: HeaderMap,
    Form(form): Form<Query1>,
) -> Response {
    let refused = |text: &str| {
        let body = Json(json!({"error": "invalid_grant", "error_description": text}));
        (StatusCode::BAD_REQUEST, body).into_response()
    };
    let Some(request) = provider.codes.lock().unwrap().remove(&form["code"]) else {
        return refused("unknown code");
    };
    // RFC 7636: the challenge is the digest of the verifier.
    let challenge = encode(Sha256::digest(&form["code_verifier"]));
    if request["code_challenge"] != challenge || request["code_challenge_method"] != "S256" {
        return refused("wrong verifier");
    }
    let login = format!("Basic {}", STANDARD.encode("switchtender:client-s3cret"));
    if headers
        .get("authorization")
        .and_then(|value| value.to_str().ok())
        != Some(&login)
    {
        return refused("wrong client");
    }
    let fault = *provider.fault.lock().unwrap();
    let now = clock::timestamp().as_second();
    let if_fault =
        |one, wrong: &str, right: &str| if fault == one { wrong } else { right }.to_owned();
    let claims = json!({
        "iss": if_fault(Fault::WrongIssuer, "https://other.test", &provider.issuer),
        "aud": if_fault(Fault::WrongAudience, "other", "switchtender"),
        "sub": "user-17",
        "exp": if fault == Fault::Expired { now - 3600 } else { now + 600 },
        "iat": now - if fault == Fault::Expired { 7200 } else { 0 },
        "nonce": if_fault(Fault::WrongNonce, "other", &request["nonce"]),
        "preferred_username": if_fault(Fault::NameOfLocalUser, "alice", "carol"),
        "groups": if fault == Fault::NoGroup { json!(["guests"]) } else { provider.groups.lock().unwrap().clone() },
    });
    let header = match fault {
        Fault::Unsigned => json!({"alg": "none"}),
        Fault::UnknownKey => json!({"alg": "EdDSA", "kid": "two"}),
        _ => json!({"alg": "EdDSA", "kid": "one"}),
    };
    let signed = format!(
        "{}.{}",
        encode(header.to_string()),
        encode(claims.to_string())
    );
    let signature = match fault {
        Fault::Unsigned => Vec::new(),
        Fault::WrongSignature | Fault::UnknownKey => {
            provider.other_key.sign(signed.as_bytes()).unwrap()
        }
        _ => provider.key.sign(signed.as_bytes()).unwrap(),
    };
    Json(json!({
        "access_token": "unused", "token_type": "Bearer",
        "id_token": format!("{signed}.{}", encode(signature)),
    }))
    .into_response()
}

/// A provider on loopback, until it is dropped.
async fn start_provider() -> (Arc<Provider>, AbortOnDropHandle<()>) {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let key = || KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let provider = Arc::new(Provider {
        issuer: format!("http://{}/realm", socket.local_addr().unwrap()),
        key: key(),
        other_key: key(),
        fault: Mutex::new(Fault::None),
        groups: Mutex::new(json!(["net-admins"])),
        codes: Mutex::default(),
    });
    let router = Router::new()
        .route("/realm/.well-known/openid-configuration", get(discovery))
        .route("/realm/keys", get(keys))
        .route("/realm/authorize", get(authorize))
        .route("/realm/token", post(token))
        .with_state(Arc::clone(&provider));
    let serving = listener::serve(socket, None, router, CancellationToken::new());
    (provider, task::spawn(serving))
}

/// A server with the directory of its secret.
async fn start_server(provider: &Provider) -> (TestServer, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("oidc.secret");
    fs::write(&secret, "client-s3cret\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let server = TestServer::start(TestOptions {
        settings: settings(&table(provider), dir.path()),
        ..TestOptions::default()
    });
    (server.await, dir)
}

fn table(provider: &Provider) -> String {
    format!(
        "issuer = \"{}\"\nclient_id = \"switchtender\"\nclient_secret = {{ file = \"oidc.secret\" }}\n\
         scopes = [\"groups\"]\n[role.net-admins]\nrole = \"admin\"\n[role.viewers]\nrole = \"view\"\n\
         [role.site-zero]\nrole = \"apply\"\ndevices = \"site = site-0\"\n",
        provider.issuer
    )
}

fn settings(table: &str, directory: &Path) -> WebSettings {
    WebSettings {
        oidc: Some(OidcSettings::of_text(table, directory)),
        ..WebSettings::default()
    }
}

/// The cookies of a browser after an answer.
fn cookie(answer: &super::Response) -> String {
    let cookies = answer.headers().get_all("set-cookie").iter();
    let pairs = cookies.map(|value| value.to_str().unwrap().split(';').next().unwrap());
    let pairs: Vec<&str> = pairs.filter(|pair| !pair.ends_with('=')).collect();
    pairs.join("; ")
}

fn location(answer: &super::Response) -> String {
    answer.headers()["location"].to_str().unwrap().to_owned()
}

/// Follows a login with a browser until the answer to the callback.
async fn log_in(server: &TestServer) -> super::Response {
    let begin = server.client.get(server.url("/login/oidc?next=%2Fruns"));
    let started = begin.send().await.unwrap();
    assert_eq!(started.status(), 303, "{}", started.text().await.unwrap());
    let state = cookie(&started);
    let at_provider = server.client.get(location(&started)).send().await.unwrap();
    let back = location(&at_provider);
    assert!(
        back.starts_with(&server.url("/login/oidc/callback?")),
        "{back}"
    );
    server
        .client
        .get(back)
        .header("cookie", state)
        .send()
        .await
        .unwrap()
}

async fn page(server: &TestServer, path: &str, session: &str) -> (u16, String) {
    let request = server
        .client
        .get(server.url(path))
        .header("cookie", session);
    text(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn oidc_login_gives_the_roles_of_the_claims() {
    let (provider, _task) = start_provider().await;
    let (server, _dir) = start_server(&provider).await;
    let (_, login) = text(
        server
            .client
            .get(server.url("/login"))
            .send()
            .await
            .unwrap(),
    )
    .await;
    assert!(login.contains("Log in at 127.0.0.1"), "{login}");
    let answer = log_in(&server).await;
    assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
    assert_eq!(location(&answer), "/runs");
    let admin = cookie(&answer);
    let (status, body) = page(&server, "/audit", &admin).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("carol"), "{body}");

    // Several values: `view` for all devices, and `apply` for those of one site.
    *provider.groups.lock().unwrap() = json!(["viewers", "site-zero"]);
    let mixed = cookie(&log_in(&server).await);
    let (_, own) = page(&server, "/devices/sw0", &mixed).await;
    assert!(own.contains("/devices/sw0/run"), "{own}");
    let (status, other) = page(&server, "/devices/sw1", &mixed).await;
    assert_eq!(status, 200);
    assert!(!other.contains("/devices/sw1/run"), "{other}");
    let run = async |device: &str| {
        let (_, page) = page(&server, "/", &mixed).await;
        let token = page.split("\"X-CSRF-Token\": \"").nth(1).unwrap();
        let token = token.split('"').next().unwrap().to_owned();
        let request = server
            .client
            .post(server.url(&format!("/devices/{device}/run")));
        let request = request
            .header("cookie", &mixed)
            .header("x-csrf-token", token);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((run("sw0").await, run("sw1").await), (204, 403));

    // Only devices of one site.
    *provider.groups.lock().unwrap() = json!(["site-zero"]);
    let limited = cookie(&log_in(&server).await);
    assert_eq!(page(&server, "/devices/sw0", &limited).await.0, 200);
    assert_eq!(page(&server, "/devices/sw1", &limited).await.0, 404);
    let (_, fleet) = page(&server, "/", &limited).await;
    assert!(fleet.contains("sw0") && !fleet.contains("sw1"), "{fleet}");
}

#[tokio::test(flavor = "multi_thread")]
async fn oidc_sessions_end_with_the_settings_of_their_login() {
    let (provider, _task) = start_provider().await;
    let (server, secrets) = start_server(&provider).await;
    let session = cookie(&log_in(&server).await);
    let dir = Arc::clone(&server.dir);
    drop(server);
    let same = settings(&table(&provider), secrets.path());
    let reduced = table(&provider).replace("\"admin\"", "\"view\"");
    let reduced = settings(&reduced, secrets.path());
    for (settings, is_open) in [
        (same, true),
        (reduced, false),
        (WebSettings::default(), false),
    ] {
        let server = TestServer::start(TestOptions {
            settings,
            dir: Some(Arc::clone(&dir)),
            ..TestOptions::default()
        });
        let (status, body) = page(&server.await, "/audit", &session).await;
        assert_eq!(status == 200, is_open, "{status}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oidc_tokens_that_are_wrong_are_refused() {
    let (provider, _task) = start_provider().await;
    let (server, _dir) = start_server(&provider).await;
    for (fault, expected) in [
        (Fault::WrongNonce, "nonce"),
        (Fault::WrongAudience, "audience"),
        (Fault::WrongIssuer, "issuer"),
        (Fault::Expired, "expired"),
        (Fault::UnknownKey, "No matching key"),
        (Fault::WrongSignature, "ignature"),
        (Fault::Unsigned, "token of the provider is invalid"),
        (Fault::NoGroup, "`carol` has no role"),
        (Fault::NameOfLocalUser, "a local user has the name `alice`"),
    ] {
        *provider.fault.lock().unwrap() = fault;
        let (status, body) = text(log_in(&server).await).await;
        assert_eq!(status, 401, "{fault:?}: {body}");
        assert!(
            body.to_lowercase().contains(&expected.to_lowercase()),
            "{fault:?}: {body}"
        );
    }
    let log = fs::read_to_string(server.paths.audit_log()).unwrap();
    let refused = log.lines().filter(|line| line.contains("\"refused\""));
    assert_eq!(refused.count(), 9, "{log}");

    // The answer belongs to the browser that began, and is valid once.
    *provider.fault.lock().unwrap() = Fault::None;
    let begin = server.client.get(server.url("/login/oidc"));
    let started = begin.send().await.unwrap();
    let state = cookie(&started);
    let at_provider = server.client.get(location(&started)).send().await.unwrap();
    let back = location(&at_provider);
    let callback = async |cookie: &str| {
        let request = server.client.get(&back).header("cookie", cookie);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(callback("").await, 401);
    assert_eq!(callback("switchtender_login=other").await, 401);
    assert_eq!(callback(&state).await, 303);
    assert_eq!(callback(&state).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn oidc_provider_that_is_unreachable_does_not_exclude_local_users() {
    let (provider, task) = start_provider().await;
    let (server, _dir) = start_server(&provider).await;
    task.abort();
    let _ = task.await;
    let begin = server.client.get(server.url("/login/oidc"));
    let (status, body) = text(begin.send().await.unwrap()).await;
    assert_eq!(status, 502, "{body}");
    assert!(
        body.contains("the provider of the login cannot be used"),
        "{body}"
    );
    assert!(body.contains("name=\"password\""), "{body}");
    let login = server.client.post(server.url("/login"));
    let login = login.header("content-type", "application/x-www-form-urlencoded");
    let body = format!("user=alice&password={}", PASSWORD.replace(' ', "+"));
    let answer = login.body(body).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    assert_eq!(page(&server, "/", &cookie(&answer)).await.0, 200);
}
