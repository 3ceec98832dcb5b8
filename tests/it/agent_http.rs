//! Requests to a server on loopback that does what servers do wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use switchtender::agent::ca::certificate_request::{self, CsrAttributes};
use switchtender::agent::ca::key::PrivateKey;
use switchtender::agent::client::endpoint::Endpoint;
use switchtender::agent::http::tls::{RevocationCheck, Trust};
use switchtender::agent::http::{Client, Request, RequestErrorKind};
use switchtender::agent::puppet_conf::{self, HttpSettings, KeyType, PuppetDirectories, Server};
use switchtender::agent::revocation_lists::RevocationLists;
use switchtender_devices::http::Identity;
use switchtender_devices::names::Certname;
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use test_support::proxy_host::certname;

fn http(flags: &[(&str, &str)]) -> HttpSettings {
    let flags: BTreeMap<String, String> = flags
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let home = PuppetDirectories {
        confdir: "/nonexistent".into(),
        vardir: "/nonexistent".into(),
    };
    puppet_conf::read(&flags, &home).unwrap().http
}

fn trust(server: &PuppetServer) -> Trust {
    let crls = server.state().ca.crls();
    trust_with(server, &crls, false)
}

fn trust_with(server: &PuppetServer, crls: &str, leaf_only: bool) -> Trust {
    let ca = server.state().ca.bundle();
    let now = "2026-11-22T00:00:00Z".parse().unwrap();
    let lists = RevocationLists::parse(crls, &ca, now).unwrap();
    Trust::Bundle {
        ca,
        revocation: Some(RevocationCheck {
            lists,
            file: "/x/ssl/crl.pem".into(),
            leaf_only,
        }),
    }
}

fn identity(server: &PuppetServer, name: &str) -> Identity {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let csr =
        certificate_request::create(&certname(name), &key, &[], &CsrAttributes::default(), false)
            .unwrap();
    Identity {
        certificate: server.state().ca.sign(&csr).unwrap(),
        key: key.to_der(),
    }
}

fn client(server: &PuppetServer, flags: &[(&str, &str)]) -> Client {
    let identity = identity(server, "sw1.lab.test");
    let longest = Duration::from_secs(1800);
    Client::new(&http(flags), longest, &trust(server), Some(&identity)).unwrap()
}

fn server_address(server: &PuppetServer) -> Server {
    Server {
        host: "localhost".to_owned(),
        port: server.port(),
    }
}

const NODE: &str = "/puppet/v3/node/sw1.lab.test?environment=production";

fn node() -> Request {
    Request::get(NODE, "application/json")
}

#[tokio::test]
async fn http_requests_have_the_headers_of_the_protocol() {
    let server = PuppetServer::start().await;
    let client = client(
        &server,
        &[("http_extra_headers", "X-Site: lab"), ("profile", "true")],
    );
    let answer = client
        .send(&server_address(&server), &node())
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.text(),
        r#"{"name":"sw1.lab.test","environment":"production"}"#
    );
    let state = server.state();
    let headers = &state.received[0].headers;
    let header = |name: &str| headers.get(name).map(String::as_str);
    assert_eq!(header("accept"), Some("application/json"));
    assert_eq!(header("x-puppet-version"), Some("8.11.0"));
    assert!(header("user-agent").unwrap().starts_with("Switchtender/"));
    assert_eq!(header("x-site"), Some("lab"));
    assert_eq!(header("x-puppet-profiling"), Some("true"));
    assert_eq!(header("content-type"), None);
    assert_eq!(state.received[0].client.as_deref(), Some("sw1.lab.test"));
}

#[tokio::test]
async fn http_errors_name_request_and_server_message() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[]);
    let json = |text: &str| serde_json::json!({"message": text, "issue_kind": "RUNTIME_ERROR"});
    let cases = [
        (
            ServerResponse::json(400, &json("Bad Request: x")),
            "the server responded with 400: Bad Request: x",
        ),
        (
            ServerResponse::text(403, "Forbidden request: /x"),
            "the server responded with 403: Forbidden request: /x",
        ),
        (
            ServerResponse::json(404, &json("Not Found: y")),
            "the server responded with 404: Not Found: y",
        ),
        (
            ServerResponse::text(406, ""),
            "the server responded with 406",
        ),
        (
            ServerResponse::text(429, "slow down"),
            "the server responded with 429: slow down",
        ),
        (
            ServerResponse::json(500, &json("Server Error: z (file: /a.pp, line: 1)")),
            "the server responded with 500: Server Error: z (file: /a.pp, line: 1)",
        ),
        (
            ServerResponse::text(500, "Internal Server Error: java.lang.X\n\tat y"),
            "the server responded with 500: Internal Server Error: java.lang.X at y",
        ),
        (
            ServerResponse::new(503, "text/html", "<html>down</html>"),
            "the server responded with 503: an HTML page",
        ),
    ];
    for (answer, expected) in cases {
        server.state().inject("/puppet/v3/node", [answer]);
        let answer = client
            .send(&server_address(&server), &node())
            .await
            .unwrap();
        let error = answer.expect_success().unwrap_err();
        let port = server.port();
        assert_eq!(
            error.to_string(),
            format!("GET https://localhost:{port}/puppet/v3/node/sw1.lab.test: {expected}")
        );
    }
}

#[tokio::test]
async fn http_retry_after_is_followed() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[]);
    let busy = |status| ServerResponse::text(status, "busy").header("Retry-After", "0");
    server
        .state()
        .inject("/puppet/v3/node", [busy(503), busy(429), busy(503)]);
    let answer = client
        .send(&server_address(&server), &node())
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(server.state().received.len(), 4);
}

#[tokio::test]
async fn http_redirects_preserve_method_and_body() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[]);
    let redirect = |to: &str| ServerResponse::text(307, "").header("Location", to);
    server.state().inject(
        "/old",
        [redirect(
            "/puppet/v3/facts/sw1.lab.test?environment=production",
        )],
    );
    let put = Request::put(
        "/old",
        "application/json",
        "application/json",
        r#"{"name":"sw1.lab.test"}"#,
    );
    let answer = client.send(&server_address(&server), &put).await.unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (200, "0"));
    assert!(server.state().facts.contains_key("sw1.lab.test"));

    server
        .state()
        .inject("/loop", (0..11).map(|_| redirect("/loop")));
    let answer = client
        .send(&server_address(&server), &Request::get("/loop", "*/*"))
        .await
        .unwrap();
    assert_eq!(answer.status, 307, "ten are followed");
    server
        .state()
        .inject("/plain", [redirect("http://localhost/")]);
    let error = client
        .send(&server_address(&server), &Request::get("/plain", "*/*"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the redirect has no valid https URL"),
        "{error}"
    );
}

#[tokio::test]
async fn http_incomplete_late_and_missing_responses_are_distinguished() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[("http_read_timeout", "1")]);
    server.state().inject(
        "/puppet/v3/node",
        [
            ServerResponse::text(200, "half of it").cut(4),
            ServerResponse::text(200, "late").delay(Duration::from_secs(30)),
        ],
    );
    let error = client
        .send(&server_address(&server), &node())
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind, RequestErrorKind::Incomplete(_)),
        "{error}"
    );
    let error = client
        .send(&server_address(&server), &node())
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("no response within 1 s"),
        "{error}"
    );
    assert!(error.is_without_response());

    let gone = server_address(&server);
    server.stop();
    drop(server);
    let error = client.send(&gone, &node()).await.unwrap_err();
    assert!(
        matches!(error.kind, RequestErrorKind::Unreachable(_)),
        "{error}"
    );
    assert!(
        error
            .hint()
            .unwrap()
            .starts_with("check that the server is running")
    );
}

#[tokio::test]
async fn http_revoked_device_certificate_is_a_certificate_error() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[]);
    server.state().ca.revoke(0);
    let error = client
        .send(&server_address(&server), &node())
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind, RequestErrorKind::DeviceCertificate(_)),
        "{error:?}"
    );
    assert!(!error.is_without_response(), "a retry would not help");
    assert!(
        error.hint().unwrap().contains("switchtender cert clean"),
        "{error}"
    );
}

/// A server that rejects a certificate can close the connection before its TLS alert arrives.
#[tokio::test]
async fn http_disconnect_before_the_response_has_a_hint_about_the_certificate() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[]);
    server.state().connection_resets = 1;
    let error = client
        .send(&server_address(&server), &node())
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind, RequestErrorKind::Disconnected(_)),
        "{error:?}"
    );
    assert!(error.is_without_response(), "a retry may help");
    assert!(
        error.hint().unwrap().contains("`switchtender cert show`"),
        "{error}"
    );
    client
        .send(&server_address(&server), &node())
        .await
        .unwrap();
}

#[tokio::test]
async fn http_proxy_carries_requests_through_a_tunnel() {
    let server = PuppetServer::start().await;
    let proxy = tunnel().await;
    let client = client(&server, &tunnelled(&proxy));
    client
        .send(&server_address(&server), &node())
        .await
        .unwrap();
}

fn tunnelled(proxy: &str) -> [(&'static str, &str); 2] {
    let (host, port) = proxy.split_once(':').unwrap();
    [("http_proxy_host", host), ("http_proxy_port", port)]
}

/// An HTTP proxy on loopback that opens tunnels; `host:port`.
async fn tunnel() -> String {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut client = BufReader::new(stream);
                let mut line = String::new();
                client.read_line(&mut line).await.unwrap();
                let mut words = line.split(' ');
                assert_eq!(words.next(), Some("CONNECT"));
                let mut server = TcpStream::connect(words.next().unwrap()).await.unwrap();
                while line != "\r\n" {
                    line.clear();
                    client.read_line(&mut line).await.unwrap();
                }
                let response = b"HTTP/1.1 200 Connection established\r\n\r\n";
                client.write_all(response).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    address.to_string()
}

#[tokio::test]
async fn http_revoked_server_certificate_and_missing_crl_are_errors() {
    let server = PuppetServer::start().await;
    server.state().ca.revoke_server();
    let revoked = client(&server, &[]);
    let error = revoked
        .send(&server_address(&server), &node())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("it is revoked"), "{error}");

    // (lists, `leaf`, the error)
    let server = PuppetServer::start().await;
    let crls = server.state().ca.crls();
    let (issuing, root) = split(&crls);
    server.state().ca.expire_crls(true, false);
    let (expired, _) = split_of(&server);
    server.state().ca.expire_crls(false, true);
    let (_, expired_root) = split_of(&server);
    let missing = "/x/ssl/crl.pem has no CRL of a CA in its chain";
    let has_expired = |name: &str| {
        format!(
            "The CRL issued by 'CN={name}' has expired, verify time is synchronized (/x/ssl/crl.pem, valid until 2021-01-01T00:00:00Z)"
        )
    };
    let of_server = has_expired("Puppet CA: puppetserver.test");
    let of_root = has_expired("Puppet Root CA: test");
    for (lists, leaf_only, expected) in [
        (crls.clone(), false, None),
        (crls.clone(), true, None),
        (root.clone(), false, Some(missing)),
        (root.clone(), true, Some(missing)),
        (issuing.clone(), false, Some(missing)),
        (issuing.clone(), true, None),
        (format!("{expired}{root}"), false, Some(&*of_server)),
        (format!("{expired}{root}"), true, Some(&*of_server)),
        (format!("{issuing}{expired_root}"), false, Some(&*of_root)),
        (format!("{issuing}{expired_root}"), true, None),
    ] {
        let trust = trust_with(&server, &lists, leaf_only);
        let client = Client::new(&http(&[]), Duration::ZERO, &trust, None).unwrap();
        let outcome = client.send(&server_address(&server), &node()).await;
        match (outcome, expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => {
                assert!(error.to_string().contains(expected), "{leaf_only}: {error}");
                assert!(error.hint().unwrap().contains("the next run downloads it"));
            }
            (outcome, expected) => panic!("{leaf_only} {expected:?}: {outcome:?}"),
        }
    }
}

/// The list of the CA that issued the server's certificate, and the list of the root.
fn split(crls: &str) -> (String, String) {
    let mut lists = crls.split_inclusive("-----END X509 CRL-----\n");
    let mut next = || lists.next().unwrap().to_owned();
    (next(), next())
}

fn split_of(server: &PuppetServer) -> (String, String) {
    split(&server.state().ca.crls())
}

#[tokio::test]
async fn http_revoked_intermediate_certificate_is_an_error_with_chain() {
    let server = PuppetServer::start().await;
    server.state().ca.revoke_intermediate();
    let crls = server.state().ca.crls();
    for (leaf_only, expected) in [(false, Some("it is revoked")), (true, None)] {
        let trust = trust_with(&server, &crls, leaf_only);
        let client = Client::new(&http(&[]), Duration::ZERO, &trust, None).unwrap();
        let error = client.send(&server_address(&server), &node()).await.err();
        let error = error.map(|error| error.to_string());
        match expected {
            Some(expected) => assert!(error.unwrap().contains(expected)),
            None => assert_eq!(error, None),
        }
    }
}

#[tokio::test]
async fn http_responses_are_limited_by_their_kind() {
    let server = PuppetServer::start().await;
    let client = client(&server, &[]);
    let server_address = server_address(&server);
    let certname = Certname::parse("sw1.lab.test").unwrap();
    let endpoint = Endpoint {
        client: &client,
        server: &server_address,
        certname: &certname,
        transaction_uuid: "f60e5a29-ee26-4276-a0c3-39eeb8a34fb1",
    };
    let long = |length: usize| ServerResponse::text(200, &" ".repeat(length));
    server
        .state()
        .inject("/puppet/v3/node", [long((16 << 20) + 1)]);
    let error = endpoint.node("production", "production").await.unwrap_err();
    let expected = "unusable response: it is larger than 16 MiB";
    assert!(error.to_string().ends_with(expected), "{error}");

    server.state().inject("/puppet-ca/", [long((1 << 20) + 1)]);
    let get = Request::get("/puppet-ca/v1/certificate/ca", "text/plain");
    let error = client.send(&server_address, &get).await.unwrap_err();
    let expected = "unusable response: it is larger than 1 MiB";
    assert!(error.to_string().ends_with(expected), "{error}");
}

#[tokio::test]
async fn http_root_certificate_alone_does_not_verify_the_server() {
    let server = PuppetServer::start().await;
    let bundle = server.state().ca.bundle();
    let root = bundle
        .split_inclusive("-----END CERTIFICATE-----\n")
        .nth(1)
        .unwrap()
        .to_owned();
    let trust = Trust::Bundle {
        ca: root,
        revocation: None,
    };
    let client = Client::new(&http(&[]), Duration::ZERO, &trust, None).unwrap();
    let error = client
        .send(&server_address(&server), &node())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
}
