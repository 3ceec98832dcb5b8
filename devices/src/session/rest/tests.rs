//! The REST session against a scripted server.

mod server;

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use self::server::{HttpsTestServer, LOGIN, LOGOUT, POOLS, Reply, script, seen, serve};
use super::*;
use crate::diagnostic::Source;
use crate::document::{Findings, read};
use crate::secret::Text;
use crate::secret_mask::SecretMask;
use crate::session::connect_params::{
    LimitSettings, RestLogin, RestOptions, SshOptions, TlsPolicy,
};
use crate::session::deadline::Deadline;
use crate::session::scripted::{TEST_TIMEOUT, closed_port};

/// On a busy machine, too. Who waits for an answer, or tries again, gives up after as long.
const LONG_ENOUGH_TO_LOG_IN: Duration = Duration::from_secs(2);

fn target(server: &HttpsTestServer) -> ConnectParams {
    ConnectParams {
        device: "lb1".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(server.port),
        user: "admin".to_owned(),
        password: Some(SecretString::from("pw-\"secret\"")),
        enable_password: None,
        ssh: SshOptions::default(),
        rest: RestOptions {
            tls: TlsPolicy::CaFile(server.ca.clone()),
            ..RestOptions::default()
        },
        connect_timeout: TEST_TIMEOUT,
        command_timeout: TEST_TIMEOUT,
        limits: LimitSettings::default(),
        deadline: Deadline::default(),
        transcript: None,
        mask: SecretMask::default(),
    }
}

fn rules() -> Arc<RestRules> {
    let text = include_str!("../../../definitions/f5_bigip/platform.toml");
    let source = Source::new("f5_bigip/platform.toml", text);
    let findings = Findings::new(&source);
    let rules = read(&findings, RestRules::read);
    let messages: Vec<_> = findings
        .into_list()
        .into_iter()
        .map(|found| found.message)
        .collect();
    assert_eq!(messages, [""; 0]);
    Arc::new(rules.expect("read"))
}

async fn open(target: &ConnectParams) -> Result<RestSession, SessionErrorKind> {
    RestSession::open(target, &rules(), Access::ReadWrite).await
}

fn get(path: &str) -> ReadRequest {
    ReadRequest {
        name: path.to_owned(),
        command: path.to_owned(),
        optional: false,
        answer: crate::read::answer_rule::AnswerRule::default(),
    }
}

fn pools() -> [ReadRequest; 1] {
    [get("/mgmt/tm/ltm/pool")]
}

fn operation(method: Method, path: &str, body: Option<Text>, idempotent: bool) -> Operation {
    Operation {
        attributes: Vec::new(),
        action: Action::Request(Request {
            method,
            path: path.to_owned(),
            body,
            idempotent,
        }),
    }
}

async fn commit(session: &mut RestSession, operations: &[Operation]) -> Vec<String> {
    let results = session.commit(operations).await;
    results
        .into_iter()
        .map(|result| match result.outcome {
            Outcome::Done { messages } if messages.is_empty() => "done".to_owned(),
            Outcome::Done { messages } => format!("done: {}", messages.join("; ")),
            Outcome::Refused { message } => format!("refused: {message}"),
            Outcome::NotSent => "not sent".to_owned(),
            Outcome::Unknown { reason, .. } => format!("unknown: {reason}"),
        })
        .collect()
}

#[tokio::test]
async fn token_is_requested_used_and_revoked() {
    let server = serve(script(&[])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    let texts = session.read(&pools()).await.expect("read");
    assert_eq!(texts, [r#"{"items":[]}"#]);
    assert_eq!(session.close().await, [""; 0]);
    let log = server.seen.lock().expect("free").clone();
    assert_eq!(
        log[0].0,
        format!(
            "{LOGIN} {}",
            r#"{"username":"admin","password":"pw-\"secret\"","loginProviderName":"tmos"}"#
        )
    );
    assert!(log[0].1.to_lowercase().starts_with("authorization: basic"));
    assert_eq!(log[1].0, POOLS);
    assert_eq!(log[1].1.to_lowercase(), "x-f5-auth-token: t0k3n");
    assert_eq!(log[2].0, LOGOUT);
    assert_eq!(log.len(), 3);
    assert_eq!(session.statistics().round_trips, 3);
}

#[tokio::test]
async fn basic_auth_is_used_without_tokens() {
    let server = serve(script(&[(LOGIN, &[Reply::Json(404, "{}")])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    session.read(&pools()).await.expect("read");
    session.close().await;
    let log = server.seen.lock().expect("free").clone();
    assert!(log[1].1.to_lowercase().starts_with("authorization: basic"));
    assert_eq!(log.len(), 2, "nothing to give back");
}

#[tokio::test]
async fn login_sends_a_wrong_password_once() {
    let refusal = Reply::Json(401, r#"{"code":401,"message":"Authentication failed."}"#);
    for login in [RestLogin::Auto, RestLogin::Basic] {
        let server = serve(script(&[
            (LOGIN, std::slice::from_ref(&refusal)),
            (POOLS, std::slice::from_ref(&refusal)),
        ]))
        .await;
        let mut target = target(&server);
        target.rest.login = login;
        let error = match open(&target).await {
            Err(kind) => kind,
            Ok(mut session) => session.read(&pools()).await.expect_err("refused").kind,
        };
        assert!(
            matches!(error, SessionErrorKind::LoginRefused { .. }),
            "{error}"
        );
        assert_eq!(seen(&server).len(), 1);
        assert!(error.hint().expect("one").contains("tried once"));
    }
}

#[tokio::test]
async fn token_is_renewed_once_after_expiry() {
    let expired = Reply::Json(401, "{}");
    let good = Reply::Json(200, "{}");
    let server = serve(script(&[(POOLS, &[expired.clone(), good, expired])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    session
        .read(&pools())
        .await
        .expect("read after a new login");
    assert_eq!(
        seen(&server)
            .iter()
            .filter(|line| line.starts_with(LOGIN))
            .count(),
        2
    );
    // Refused with a fresh token, too: that is no matter of time.
    session.read(&pools()).await.expect_err("refused");
    assert_eq!(
        seen(&server)
            .iter()
            .filter(|line| line.starts_with(LOGIN))
            .count(),
        3
    );
}

#[tokio::test]
async fn certificates_are_verified_by_policy() {
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    let other = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:\
                 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";
    target.rest.tls = TlsPolicy::Fingerprint(server.fingerprint.clone());
    open(&target).await.expect("the pinned one");
    target.rest.tls = TlsPolicy::Fingerprint(other.to_owned());
    let error = open(&target).await.err().expect("another one");
    assert!(
        matches!(error, SessionErrorKind::CertificateFingerprint { .. }),
        "{error}"
    );
    target.rest.tls = TlsPolicy::System;
    let error = open(&target).await.err().expect("not trusted");
    assert!(
        matches!(
            &error,
            SessionErrorKind::CertificateUntrusted { found: Some(found), .. }
                if *found == server.fingerprint.replace(':', "").to_lowercase()
        ),
        "{error}"
    );
    target.rest.tls = TlsPolicy::Ignore;
    let session = open(&target).await.expect("opened");
    assert!(session.notes()[0].contains("is not verified"));
}

#[tokio::test]
async fn first_certificate_is_stored_and_then_required() {
    let server = serve(script(&[])).await;
    let file = server.directory.path().join("state/lb1.fingerprint");
    let mut first = target(&server);
    first.rest.tls = TlsPolicy::TrustOnFirstUse(file.clone());
    let session = open(&first).await.expect("first contact");
    assert!(
        session.notes()[0].contains("first connection to"),
        "{:?}",
        session.notes()
    );
    let again = open(&first).await.expect("same certificate");
    assert_eq!(again.notes(), [""; 0]);
    let impostor = serve(script(&[])).await;
    let mut target = target(&impostor);
    target.rest.tls = TlsPolicy::TrustOnFirstUse(file);
    let error = open(&target).await.err().expect("another certificate");
    assert!(
        matches!(error, SessionErrorKind::CertificateFingerprint { .. }),
        "{error}"
    );
    assert_eq!(seen(&impostor), [""; 0], "no password for a stranger");
}

#[tokio::test]
async fn read_is_repeated_after_transient_errors() {
    let good = Reply::Json(200, "{}");
    let busy = r#"{"code":400,"message":"There is an active asynchronous task executing."}"#;
    let faults = [
        Reply::Json(503, "{}"),
        Reply::Json(400, busy),
        Reply::HangUp,
        Reply::Half,
        Reply::Html,
        Reply::Empty,
    ];
    for fault in faults {
        let server = serve(script(&[(POOLS, &[fault, good.clone()])])).await;
        let mut session = open(&target(&server)).await.expect("opened");
        assert_eq!(session.read(&pools()).await.expect("read"), ["{}"]);
        assert_eq!(
            seen(&server).iter().filter(|line| *line == POOLS).count(),
            2
        );
    }
}

#[tokio::test]
async fn read_reports_permanent_errors() {
    let cases: [(Reply, &str); 5] = [
        (
            Reply::Html,
            "lb1: invalid answer to `GET /mgmt/tm/ltm/pool`: \
             an HTML page instead of JSON",
        ),
        (
            Reply::Empty,
            "lb1: invalid answer to `GET /mgmt/tm/ltm/pool`: an empty answer",
        ),
        (
            Reply::Json(403, r#"{"code":403,"message":"01070ff0:3: No access"}"#),
            "lb1: GET /mgmt/tm/ltm/pool failed with status 403: No access (01070ff0:3)",
        ),
        (
            Reply::Nothing,
            "lb1: no answer to `GET /mgmt/tm/ltm/pool` within 2s",
        ),
        (
            Reply::HangUp,
            "lb1: the connection ended after `GET /mgmt/tm/ltm/pool`",
        ),
    ];
    let all = cases.map(|(reply, expected)| async move {
        let server = serve(script(&[(POOLS, &[reply])])).await;
        let mut target = target(&server);
        target.command_timeout = LONG_ENOUGH_TO_LOG_IN;
        let mut session = open(&target).await.expect("opened");
        let error = session.read(&pools()).await.expect_err("fault");
        assert!(error.to_string().starts_with(expected), "{error}");
    });
    futures::future::join_all(all).await;
}

#[tokio::test]
async fn connect_error_names_a_server_without_tls() {
    use tokio::io::AsyncWriteExt as _;
    let plain = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .expect("bound");
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    target.port = Some(plain.local_addr().expect("bound").port());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = plain.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let error = open(&target).await.err().expect("no TLS").to_string();
    assert!(
        error.ends_with("the server does not speak TLS; check the port"),
        "{error}"
    );
}

#[tokio::test]
async fn connect_error_names_an_unreachable_device() {
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    let (_socket, port) = closed_port();
    target.port = Some(port);
    let error = open(&target).await.err().expect("unreachable");
    assert!(
        matches!(error, SessionErrorKind::Unreachable { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn commit_reports_writes_as_answered() {
    let pool = "/mgmt/tm/ltm/pool";
    let server = serve(script(&[
        ("POST /mgmt/tm/ltm/pool", &[Reply::Json(200, "{}")]),
        (
            "PATCH /mgmt/tm/ltm/pool/~Common~web",
            &[Reply::Json(400, r#"{"code":400,"message":"01070734:3: Configuration error: the secret top-secret is \"bad\""}"#)],
        ),
        ("DELETE /mgmt/tm/ltm/pool/~Common~gone", &[Reply::HangUp, Reply::Json(404, r#"{"message":"was not found."}"#)]),
    ]))
    .await;
    let mut session = open(&target(&server)).await.expect("opened");
    let mut body = Text::plain(r#"{"password":""#);
    body.push_secret("top-secret");
    body.push(r#""}"#);
    let operations = [
        operation(
            Method::Post,
            pool,
            Some(Text::plain(r#"{"name":"web"}"#)),
            false,
        ),
        operation(Method::Delete, &format!("{pool}/~Common~gone"), None, true),
        operation(
            Method::Patch,
            &format!("{pool}/~Common~web"),
            Some(body),
            true,
        ),
        operation(Method::Post, pool, None, false),
    ];
    assert_eq!(
        commit(&mut session, &operations).await,
        [
            "done",
            "done: was not found.",
            "refused: Configuration error: the secret •••• is \"bad\" (01070734:3)",
            "not sent",
        ]
    );
    assert_eq!(session.statistics().writes, 3);
}

#[tokio::test]
async fn commit_reports_unknown_after_a_lost_answer() {
    for fault in [Reply::HangUp, Reply::Half, Reply::Nothing] {
        let line = "POST /mgmt/tm/ltm/pool";
        let server = serve(script(&[(line, std::slice::from_ref(&fault))])).await;
        let mut target = target(&server);
        if matches!(fault, Reply::Nothing) {
            target.command_timeout = LONG_ENOUGH_TO_LOG_IN;
        }
        let mut session = open(&target).await.expect("opened");
        let post = operation(Method::Post, "/mgmt/tm/ltm/pool", None, false);
        let outcomes = commit(&mut session, &[post.clone(), post]).await;
        assert!(outcomes[0].starts_with("unknown: "), "{outcomes:?}");
        assert_eq!(outcomes[1], "not sent");
        assert_eq!(seen(&server).iter().filter(|seen| *seen == line).count(), 1);
    }
}

#[tokio::test]
async fn commit_repeats_an_idempotent_write() {
    let line = "PATCH /mgmt/tm/sys/ntp";
    let good = Reply::Json(200, "{}");
    let server = serve(script(&[(
        line,
        &[Reply::HangUp, Reply::Json(503, "{}"), good],
    )]))
    .await;
    let mut session = open(&target(&server)).await.expect("opened");
    let patch = operation(
        Method::Patch,
        "/mgmt/tm/sys/ntp",
        Some(Text::plain("{}")),
        true,
    );
    assert_eq!(commit(&mut session, &[patch]).await, ["done"]);
}

#[tokio::test]
async fn read_only_session_sends_only_get() {
    let server = serve(script(&[])).await;
    let mut session = RestSession::open(&target(&server), &rules(), Access::ReadOnly)
        .await
        .expect("opened");
    session.read(&pools()).await.expect("read");
    let post = operation(Method::Post, "/mgmt/tm/ltm/pool", None, false);
    assert_eq!(
        commit(&mut session, std::slice::from_ref(&post)).await,
        ["not sent"]
    );
    let Action::Request(request) = post.action else {
        unreachable!("made as a request");
    };
    let error = session.client.send(&request).await.expect_err("barred");
    assert!(
        matches!(error, SessionErrorKind::ReadOnly { .. }),
        "{error}"
    );
    let error = session.save().await.expect_err("barred");
    assert!(
        matches!(error.kind, SessionErrorKind::ReadOnly { .. }),
        "{error}"
    );
    session.close().await;
    let methods: Vec<_> = seen(&server)
        .iter()
        .map(|line| line.split(' ').next().expect("a method").to_owned())
        .collect();
    assert_eq!(methods, ["POST", "GET", "DELETE"]);
}

#[tokio::test]
async fn read_limits_concurrent_requests() {
    let server = serve(script(&[])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    let requests: Vec<_> = (0..20).flat_map(|_| pools()).collect();
    session.read(&requests).await.expect("read");
    let (_, most) = *server.most_at_once.lock().expect("free");
    assert!(most <= 4, "{most} at once");
}

#[tokio::test]
async fn read_of_an_optional_missing_object_is_empty() {
    let server = serve(script(&[])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    let mut request = get("/mgmt/tm/not/here");
    let error = session
        .read(std::slice::from_ref(&request))
        .await
        .expect_err("404");
    assert!(
        error
            .to_string()
            .contains("failed with status 404: no such thing"),
        "{error}"
    );
    request.optional = true;
    assert_eq!(session.read(&[request]).await.expect("empty"), [""]);
}

#[tokio::test]
async fn save_sends_the_save_request() {
    let save = "POST /mgmt/tm/sys/config";
    let server = serve(script(&[(save, &[Reply::Json(200, "{}")])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    session.save().await.expect("saved");
    assert_eq!(
        seen(&server)[1],
        format!("{save} {}", r#"{"command":"save"}"#)
    );
}

#[tokio::test]
async fn secrets_are_masked_in_the_transcript() {
    let server = serve(script(&[(
        POOLS,
        &[Reply::Json(
            200,
            r#"{"password":"pw-\"secret\"","token":"T0K3N"}"#,
        )],
    )]))
    .await;
    let path = server.directory.path().join("lb1.log");
    let mut target = target(&server);
    target.transcript = Some(path.clone());
    let mut session = open(&target).await.expect("opened");
    session.read(&pools()).await.expect("read");
    session.close().await;
    drop(session);
    let transcript = std::fs::read_to_string(path).expect("written");
    assert!(
        transcript.contains("> GET /mgmt/tm/ltm/pool"),
        "{transcript}"
    );
    for secret in ["secret", "T0K3N"] {
        assert!(!transcript.contains(secret), "{transcript}");
    }
}

#[tokio::test]
async fn jump_host_forwards_requests() {
    use crate::session::ssh::tests::{ServerBehavior, serve as serve_ssh, target_of};
    let jump = serve_ssh(ServerBehavior::forwarding()).await;
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    target.ssh.jump = Some(Box::new(target_of(&jump)));
    let mut session = open(&target).await.expect("reached");
    session.read(&pools()).await.expect("read");
    assert_eq!(session.close().await, [""; 0]);
    assert!(!server.seen.lock().expect("not poisoned").is_empty());

    // The certificate is still that of the device.
    target.rest.tls = TlsPolicy::System;
    let error = open(&target).await.err().expect("not trusted");
    assert!(
        matches!(
            error,
            SessionErrorKind::CertificateUntrusted { found: Some(_), .. }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn jump_host_errors_name_the_jump_host() {
    use crate::session::ssh::tests::{ServerBehavior, serve as serve_ssh, target_of};
    let jump = serve_ssh(ServerBehavior::forwarding()).await;
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    let mut hop = target_of(&jump);
    hop.password = Some(SecretString::from("not-it"));
    target.ssh.jump = Some(Box::new(hop.clone()));
    let error = open(&target).await.err().expect("refused");
    assert_eq!(
        error.to_string(),
        "jump host 127.0.0.1: the device refused the login of admin"
    );
    let (_socket, port) = closed_port();
    target.ssh.jump = Some(Box::new(target_of(&jump)));
    target.port = Some(port);
    let error = open(&target).await.err().expect("unreachable");
    assert!(
        error
            .to_string()
            .starts_with(&format!("cannot connect to 127.0.0.1:{port}: jump host: ")),
        "{error}"
    );
    target.rest.proxy = Some(SecretString::from("http://127.0.0.1:1").into());
    let error = open(&target).await.err().expect("both set");
    assert!(error.to_string().contains("exclude each other"), "{error}");
}

#[tokio::test]
async fn deletion_of_a_missing_object_is_done() {
    // docs/reference/devices/f5_bigip.md section 4.
    let missing = || {
        Reply::Json(
            404,
            r#"{"code":404,"message":"01020036:3: The requested Pool (/Common/web) was not found.","errorStack":[],"apiError":3}"#,
        )
    };
    let done = "done: The requested Pool (/Common/web) was not found. (01020036:3)";
    let unregistered = Reply::Json(
        404,
        r#"{"code":404,"message":"Public URI path not registered: /mgmt/tm"}"#,
    );
    let cases: [(&[Reply], &str); 5] = [
        (&[missing()], done),
        (&[Reply::HangUp, missing()], done),
        (&[Reply::Json(503, "{}"), missing()], done),
        (
            std::slice::from_ref(&unregistered),
            "refused: Public URI path not registered: /mgmt/tm",
        ),
        (&[Reply::Json(404, "")], "refused: status 404"),
    ];
    for (replies, expected) in cases {
        let line = "DELETE /mgmt/tm/ltm/pool/~Common~web";
        let server = serve(script(&[(line, replies)])).await;
        let mut session = open(&target(&server)).await.expect("opened");
        let delete = operation(Method::Delete, "/mgmt/tm/ltm/pool/~Common~web", None, true);
        assert_eq!(commit(&mut session, &[delete]).await, [expected]);
    }
}

#[tokio::test]
async fn request_has_an_absolute_limit_and_ends_with_the_run() {
    let line = "POST /mgmt/tm/ltm/pool";
    let server = serve(script(&[(line, &[Reply::Nothing])])).await;
    let post = operation(Method::Post, "/mgmt/tm/ltm/pool", None, false);
    let mut limited = target(&server);
    limited.limits.command = Some(Duration::from_millis(200));
    let mut session = open(&limited).await.expect("opened");
    assert_eq!(
        commit(&mut session, std::slice::from_ref(&post)).await,
        ["unknown: the answer to `POST /mgmt/tm/ltm/pool` did not end within 200ms"]
    );
    let stopped = target(&server);
    let mut session = open(&stopped).await.expect("opened");
    let cause = crate::session::deadline::StopCause::Requested;
    stopped
        .deadline
        .end_at(clock::instant() + Duration::from_millis(200), cause);
    assert_eq!(
        commit(&mut session, &[post]).await,
        ["unknown: no answer to `POST /mgmt/tm/ltm/pool`: the run was stopped"]
    );
}

#[tokio::test]
async fn login_has_an_absolute_limit() {
    let server = serve(script(&[(LOGIN, &[Reply::Nothing])])).await;
    let mut target = target(&server);
    target.limits.login = Some(Duration::from_millis(200));
    let error = open(&target).await.err().expect("no login");
    assert_eq!(error.to_string(), "the login did not end within 200ms");
}
