//! The REST session against a scripted server.

mod candidate;
mod commit;
mod conditions;
mod cookie;
mod dialect;
mod login;
mod pages;
mod parents;
mod server;
mod tasks;
mod transaction;
mod unix_socket;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, IsCa};
use secrecy::SecretString;

use self::server::{HttpsTestServer, LOGIN, LOGOUT, POOLS, Reply, script, seen, serve, serve_as};
use super::*;
use crate::diagnostic::Source;
use crate::document::{Findings, read};
use crate::secret::Text;
use crate::session::connect_params::{RestLogin, RestOptions, SshOptions, TlsPolicy};
use crate::session::scripted::{LimitedFence, closed_port, connect_params};

/// On a busy machine, too. Who waits for an answer, or tries again, gives up after as long.
const LONG_ENOUGH_TO_LOG_IN: Duration = Duration::from_secs(2);

fn target(server: &HttpsTestServer) -> ConnectParams {
    ConnectParams {
        device: "lb1".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(server.port),
        user: "admin".to_owned(),
        password: Some(SecretString::from("pw-\"secret\"")),
        ssh: SshOptions::default(),
        rest: RestOptions {
            tls: TlsPolicy::CaFile(server.ca.clone()),
            ..RestOptions::default()
        },
        ..connect_params()
    }
}

fn rules() -> Arc<RestRules> {
    rules_of(include_str!("../../../definitions/f5_bigip/platform.toml"))
}

fn rules_of(text: &str) -> Arc<RestRules> {
    let source = Source::new("platform.toml", text);
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
        body: None,
        optional: false,
        answer: crate::read::answer_rule::AnswerRule::default(),
        parents: None,
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
            abridged: None,
            is_file: false,
            idempotent,
            precondition: Precondition::None,
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
async fn nothing_is_written_after_the_fence_refused() {
    let created = Reply::Json(200, "{}");
    let server = serve(script(&[("POST /mgmt/tm/ltm/pool", &[created])])).await;
    let target = ConnectParams {
        fence: LimitedFence::after(1),
        ..target(&server)
    };
    let mut session = open(&target).await.expect("opened");
    let posts = ["/mgmt/tm/ltm/pool", "/mgmt/tm/ltm/node"]
        .map(|path| operation(Method::Post, path, None, false));
    let outcomes = commit(&mut session, &posts).await;
    let refused = "refused: cannot send `POST /mgmt/tm/ltm/node`: the lock is lost";
    assert_eq!(outcomes, ["done", refused]);
    session.read(&pools()).await.expect("a read");
    let sent = seen(&server);
    assert!(
        !sent.contains(&"POST /mgmt/tm/ltm/node".to_owned()),
        "{sent:?}"
    );
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
    let error = session
        .client
        .send(&request, None)
        .await
        .expect_err("barred");
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
    assert!(error.to_string().contains("cannot be combined"), "{error}");
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
async fn answers_without_data_have_a_small_limit() {
    let limit = "the answer is longer than 1 MiB";
    let server = serve(script(&[(LOGIN, &[Reply::Endless(200)])])).await;
    let error = open(&target(&server)).await.err().expect("too long");
    assert!(error.to_string().contains(limit), "{error}");

    let server = serve(script(&[
        (POOLS, &[Reply::Endless(400)]),
        (LOGOUT, &[Reply::Endless(200)]),
    ]))
    .await;
    let mut session = open(&target(&server)).await.expect("opened");
    let error = session.read(&pools()).await.expect_err("too long");
    assert!(error.to_string().contains(limit), "{error}");
    let notes = session.close().await.join("\n");
    assert!(notes.contains(limit), "{notes}");
}
