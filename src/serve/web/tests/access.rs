//! Who may do what: roles, sessions, CSRF tokens, host names, TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::harness::{PASSWORD, TestOptions, TestServer, text};
use super::{Certificate, Client};
use crate::serve::access::Role;
use crate::serve::tls_files::TlsFiles;
use crate::serve::web::WebSettings;
use crate::serve::web::tls::ServerTls;

#[tokio::test(flavor = "multi_thread")]
async fn access_of_each_role_ends_where_the_next_begins() {
    let server = TestServer::start(TestOptions::default()).await;
    let roles = [Role::View, Role::Plan, Role::Apply, Role::Admin];
    for role in roles {
        let mut found = Vec::new();
        let plan = server.post(role, "/api/v1/devices/sw1/runs", &json!({"kind": "plan"}));
        let apply = server.post(role, "/api/v1/devices/sw1/runs", &json!({"kind": "apply"}));
        let pause = server.post(
            role,
            "/api/v1/devices/sw1/pause",
            &json!({"reason": "test"}),
        );
        let audit = server.get(role, "/api/v1/audit");
        let pages = server.get(role, "/");
        for request in [pages, plan, apply, pause, audit] {
            found.push(request.send().await.unwrap().status().as_u16());
        }
        let expected: &[u16] = match role {
            Role::View => &[200, 403, 403, 403, 403],
            Role::Plan => &[200, 202, 403, 403, 403],
            Role::Apply => &[200, 202, 202, 204, 403],
            Role::Admin => &[200, 202, 202, 204, 200],
        };
        assert_eq!(found, expected, "{role:?}");
    }
    let log = fs::read_to_string(server.paths.audit_log()).unwrap();
    let actions: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let counted = |action: &str| {
        actions
            .iter()
            .filter(|entry| entry["action"] == action)
            .count()
    };
    assert_eq!(
        (counted("plan"), counted("apply"), counted("pause")),
        (3, 2, 2),
        "{log}"
    );
    let refused = actions.iter().filter(|entry| entry["result"] == "refused");
    let targets: Vec<&str> = refused
        .map(|entry| entry["target"].as_str().unwrap())
        .collect();
    assert_eq!(targets.len(), 8, "{log}");
    assert!(targets.contains(&"GET /api/v1/audit"), "{log}");
    assert!(targets.contains(&"POST /api/v1/devices/sw1/runs"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn access_without_login_is_refused_except_for_health() {
    let server = TestServer::start(TestOptions::default()).await;
    let status = |path: &str| {
        let request = server.client.get(server.url(path));
        async move { request.send().await.unwrap() }
    };
    for path in [
        "/healthz",
        "/readyz",
        "/login",
        "/assets/style.css",
        "/api/v1/openapi.json",
    ] {
        assert_eq!(status(path).await.status(), 200, "{path}");
    }
    for path in ["/api/v1/devices", "/api/v1/runs/1/events"] {
        let (code, body) = text(status(path).await).await;
        assert_eq!(code, 401, "{path}");
        assert!(
            body.contains("a login or an API token is required"),
            "{body}"
        );
    }
    let metrics = text(status("/metrics").await).await;
    assert_eq!(
        metrics,
        (401, "a login or an API token is required\n".to_owned())
    );
    let page = status("/devices/sw0?x=1").await;
    assert_eq!(page.status(), 303);
    let location = page.headers()["location"].to_str().unwrap();
    assert_eq!(location, "/login?next=%2Fdevices%2Fsw0%3Fx%3D1");
    let wrong = server.client.get(server.url("/")).bearer_auth("swt_wrong");
    assert_eq!(wrong.send().await.unwrap().status(), 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn access_of_a_session_needs_the_csrf_token_of_its_page() {
    let server = TestServer::start(TestOptions::default()).await;
    let login = |password: &str, origin: &str| {
        let body = format!(
            "user=alice&password={}&next=%2Fruns",
            password.replace(' ', "+")
        );
        let request = server
            .client
            .post(server.url("/login"))
            .header("origin", origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.body(body);
        async move { request.send().await.unwrap() }
    };
    assert_eq!(login(PASSWORD, "https://evil.test").await.status(), 403);
    let (status, body) = text(login("wrong", &server.url).await).await;
    assert_eq!(status, 401);
    assert!(body.contains("user or password is wrong"), "{body}");
    let answer = login(PASSWORD, &server.url).await;
    assert_eq!(answer.status(), 303);
    assert_eq!(answer.headers()["location"], "/runs");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for flag in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let page = server
        .client
        .get(server.url("/devices/sw0"))
        .header("cookie", &cookie);
    let (status, page) = text(page.send().await.unwrap()).await;
    assert_eq!(status, 200);
    let token = page.split("\"X-CSRF-Token\": \"").nth(1).unwrap();
    let token = token.split('"').next().unwrap();
    let plan = |token: Option<&str>, origin: &str| {
        let request = server.client.post(server.url("/devices/sw0/plan"));
        let mut request = request.header("cookie", &cookie).header("origin", origin);
        if let Some(token) = token {
            request = request.header("x-csrf-token", token);
        }
        async move { request.send().await.unwrap() }
    };
    assert_eq!(plan(None, &server.url).await.status(), 403);
    assert_eq!(plan(Some("wrong"), &server.url).await.status(), 403);
    assert_eq!(plan(Some(token), "https://evil.test").await.status(), 403);
    let answer = plan(Some(token), &server.url).await;
    assert_eq!(answer.status(), 204);
    assert!(
        answer.headers()["hx-redirect"]
            .to_str()
            .unwrap()
            .starts_with("/runs/")
    );
    let logout = server
        .client
        .post(server.url("/logout"))
        .header("cookie", &cookie);
    let logout = logout.header("x-csrf-token", token).send().await.unwrap();
    assert_eq!(logout.status(), 204);
    let page = server.client.get(server.url("/")).header("cookie", &cookie);
    assert_eq!(page.send().await.unwrap().status(), 303);
    let log = fs::read_to_string(server.paths.audit_log()).unwrap();
    let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["action"], &last["actor"]),
        (&json!("logout"), &json!("alice"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn access_under_a_foreign_host_name_is_refused() {
    let settings = WebSettings {
        server_names: vec!["proxy.test".to_owned()],
        ..WebSettings::default()
    };
    let server = TestServer::start(TestOptions {
        settings,
        ..TestOptions::default()
    })
    .await;
    for (host, status) in [
        ("evil.test", 421),
        ("evil.test:8440", 421),
        ("proxy.test", 200),
        ("PROXY.test:8440", 200),
        ("localhost:1", 200),
        ("192.0.2.1:8440", 200),
        ("[::1]:8440", 200),
    ] {
        let request = server.get(Role::View, "/").header("host", host);
        assert_eq!(request.send().await.unwrap().status(), status, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn access_has_headers_that_forbid_foreign_scripts() {
    let server = TestServer::start(TestOptions::default()).await;
    let answer = server.get(Role::View, "/").send().await.unwrap();
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.headers()["x-frame-options"], "DENY");
    assert_eq!(answer.headers()["cache-control"], "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn access_over_tls_has_secure_cookies() {
    let dir = tempfile::tempdir().unwrap();
    let files = TlsFiles {
        certificate: dir.path().join("cert.pem"),
        key: dir.path().join("key.pem"),
    };
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(&files.certificate, made.cert.pem()).unwrap();
    fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    fs::set_permissions(&files.key, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = WebSettings {
        tls: Some(ServerTls {
            files,
            client_ca_file: None,
        }),
        ..WebSettings::default()
    };
    let server = TestServer::start(TestOptions {
        settings,
        ..TestOptions::default()
    })
    .await;
    let root = Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let client = Client::builder()
        .tls_certs_only([root])
        .redirect(super::redirect::Policy::none())
        .build()
        .unwrap();
    // A preview of the link, and a form of another site, do not use the code.
    for request in [client.head(&server.link), client.get(&server.link)] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert!(!answer.headers().contains_key("set-cookie"));
    }
    let (_, code) = server.link.split_once("?code=").unwrap();
    let redeem = || {
        let request = client.post(server.url("/login/code"));
        let form = "application/x-www-form-urlencoded";
        request
            .header("content-type", form)
            .body(format!("code={code}"))
    };
    let foreign = redeem().header("origin", "https://evil.test");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    let answer = redeem().send().await.unwrap();
    assert_eq!(answer.status(), 303);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    assert!(answer.headers().contains_key("strict-transport-security"));
    // The code was for one login.
    assert_eq!(redeem().send().await.unwrap().status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn access_of_programs_on_the_host_is_by_a_token_in_a_file() {
    let server = TestServer::start(TestOptions::default()).await;
    let path = server.paths.local_token();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let token = fs::read_to_string(path).unwrap();
    let request = server
        .client
        .get(server.url("/api/v1/audit"))
        .bearer_auth(token);
    assert_eq!(request.send().await.unwrap().status(), 200);
    let url = fs::read_to_string(server.paths.url()).unwrap();
    assert_eq!(url, server.url);
}
