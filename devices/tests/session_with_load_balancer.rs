//! The REST session against the mock load balancer, over real sockets, with its faults.

use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::dialogue::Protocol;
use switchtender_devices::document::{Findings, read};
use switchtender_devices::operation::{Action, Method, Operation, Outcome, Request};
use switchtender_devices::read::ReadRequest;
use switchtender_devices::secret::Text;
use switchtender_devices::session::target::{RestOptions, SshOptions, Target, TlsPolicy};
use switchtender_devices::session::{Access, Session, SessionErrorKind, open};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};

fn protocol() -> Protocol {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("definitions/f5_bigip/platform.toml");
    let text = std::fs::read_to_string(&path).expect("the definition is there");
    let source = Source::new("f5_bigip/platform.toml", text);
    let findings = Findings::new(&source);
    read(&findings, Protocol::read).expect("a protocol")
}

async fn start(faults: &[&str], tokens: bool) -> RunningLoadBalancer {
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    let options = LoadBalancerOptions {
        tokens,
        faults: faults.collect(),
        ..LoadBalancerOptions::default()
    };
    LoadBalancer::start(options, 0).await.expect("started")
}

fn target(mock: &RunningLoadBalancer) -> Target {
    Target {
        device: "lb1".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(mock.address().port()),
        user: "admin".to_owned(),
        password: Some(SecretString::from("admin")),
        enable_password: None,
        ssh: SshOptions::default(),
        rest: RestOptions {
            tls: TlsPolicy::Fingerprint(mock.fingerprint()),
            ..RestOptions::default()
        },
        connect_timeout: Duration::from_secs(20),
        command_timeout: Duration::from_secs(5),
        transcript: None,
    }
}

async fn opened(mock: &RunningLoadBalancer) -> Box<dyn Session> {
    open(&target(mock), &protocol(), Access::ReadWrite)
        .await
        .expect("opened")
}

fn get(path: &str) -> ReadRequest {
    ReadRequest {
        name: path.to_owned(),
        command: path.to_owned(),
        optional: false,
    }
}

fn request(method: Method, path: &str, body: &str) -> Operation {
    Operation {
        attributes: Vec::new(),
        action: Action::Request(Request {
            method,
            path: path.to_owned(),
            body: (!body.is_empty()).then(|| Text::plain(body)),
            idempotent: method != Method::Post,
        }),
    }
}

const NODES: &str = "/mgmt/tm/ltm/node";
const NODE: &str = "/mgmt/tm/ltm/node/~Common~n1";

fn create() -> Operation {
    let body = r#"{"name":"n1","partition":"Common","address":"192.0.2.10"}"#;
    request(Method::Post, NODES, body)
}

async fn commit(session: &mut Box<dyn Session>, operations: &[Operation]) -> Vec<String> {
    let results = session.commit(operations).await;
    results
        .into_iter()
        .map(|result| match result.outcome {
            Outcome::Done { .. } => "done".to_owned(),
            Outcome::Refused { said } => format!("refused: {said}"),
            Outcome::NotSent => "not sent".to_owned(),
            Outcome::Unknown { why } => format!("unknown: {why}"),
        })
        .collect()
}

async fn nodes(session: &mut Box<dyn Session>) -> String {
    let texts = session.read(&[get(NODES)]).await.expect("read");
    texts.into_iter().next().expect("one")
}

#[tokio::test]
async fn a_session_from_beginning_to_end() {
    for tokens in [true, false] {
        let mock = start(&[], tokens).await;
        let mut session = opened(&mock).await;
        assert!(!nodes(&mut session).await.contains("192.0.2.10"));
        let operations = [
            create(),
            request(Method::Patch, NODE, r#"{"description":"first"}"#),
        ];
        assert_eq!(commit(&mut session, &operations).await, ["done"; 2]);
        let text = nodes(&mut session).await;
        assert!(
            text.contains("192.0.2.10") && text.contains("first"),
            "{text}"
        );
        let again = commit(&mut session, &[create(), create()]).await;
        assert!(again[0].contains("already exists"), "{again:?}");
        assert_eq!(again[1], "not sent");
        let gone = [
            request(Method::Delete, NODE, ""),
            request(Method::Delete, NODE, ""),
        ];
        assert_eq!(commit(&mut session, &gone).await, ["done"; 2]);
        session.save().await.expect("saved");
        assert_eq!(session.close().await, [""; 0]);
        let last = mock.log().exchanges().pop().expect("some");
        let logged_out = last
            .received
            .starts_with("DELETE /mgmt/shared/authz/tokens/");
        assert_eq!(logged_out, tokens, "{}", last.received);
    }
}

#[tokio::test]
async fn reads_survive_what_passes() {
    for fault in [
        "half-body=^GET /mgmt/tm/ltm/node",
        "drop-after=^GET /mgmt/tm/ltm/node",
        "garbage-after=^GET /mgmt/tm/ltm/node",
    ] {
        let mock = start(&[fault], true).await;
        let mut session = opened(&mock).await;
        assert!(nodes(&mut session).await.starts_with('{'), "{fault}");
    }
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_unknown_and_can_be_read_back() {
    let cases = [
        ("drop-unanswered=^POST /mgmt/tm/ltm/node", true),
        ("half-body=^POST /mgmt/tm/ltm/node", true),
        ("drop-after=^POST /mgmt/tm/ltm/node", false),
        ("stall-after=^POST /mgmt/tm/ltm/node", false),
    ];
    for (fault, took_effect) in cases {
        let mock = start(&[fault], true).await;
        let mut target = target(&mock);
        target.command_timeout = Duration::from_secs(2);
        let mut session = open(&target, &protocol(), Access::ReadWrite)
            .await
            .expect("opened");
        let patch = request(Method::Patch, NODE, "{}");
        let told = commit(&mut session, &[create(), patch]).await;
        assert!(told[0].starts_with("unknown: "), "{fault}: {told:?}");
        assert_eq!(told[1], "not sent", "{fault}");
        if !fault.starts_with("stall") {
            let there = nodes(&mut session).await.contains("192.0.2.10");
            assert_eq!(there, took_effect, "{fault}");
        }
    }
}

#[tokio::test]
async fn a_refused_login_is_tried_once() {
    let mock = start(&["login-refused=1"], true).await;
    let result = open(&target(&mock), &protocol(), Access::ReadWrite).await;
    let error = result.err().expect("refused");
    assert!(
        matches!(error.kind, SessionErrorKind::LoginRefused { .. }),
        "{error}"
    );
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn a_read_only_session_changes_nothing() {
    let mock = start(&[], true).await;
    let mut session = open(&target(&mock), &protocol(), Access::ReadOnly)
        .await
        .expect("opened");
    assert_eq!(commit(&mut session, &[create()]).await, ["not sent"]);
    session.save().await.expect_err("barred");
    assert!(!nodes(&mut session).await.contains("192.0.2.10"));
}
