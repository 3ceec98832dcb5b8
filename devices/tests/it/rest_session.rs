//! The REST session with the mock load balancer, over real sockets, with its faults.

use std::time::Duration;

use switchtender_devices::operation::{Action, Method, Operation, Precondition, Request};
use switchtender_devices::secret::Text;
use switchtender_devices::session::{Access, Session, SessionErrorKind, open};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};

use crate::support::session::{load_balancer_target, outcomes, protocol, read_request};

async fn start(faults: &[&str], tokens: bool) -> RunningLoadBalancer {
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    let options = LoadBalancerOptions {
        tokens,
        faults: faults.collect(),
        ..LoadBalancerOptions::default()
    };
    LoadBalancer::start(options, 0).await.expect("started")
}

async fn opened(mock: &RunningLoadBalancer) -> Box<dyn Session> {
    open(
        &load_balancer_target(mock),
        &protocol("f5_bigip"),
        Access::ReadWrite,
    )
    .await
    .expect("opened")
}

fn request(method: Method, path: &str, body: &str) -> Operation {
    Operation {
        attributes: Vec::new(),
        action: Action::Request(Request {
            method,
            path: path.to_owned(),
            body: (!body.is_empty()).then(|| Text::plain(body)),
            abridged: None,
            is_file: false,
            idempotent: method != Method::Post,
            precondition: Precondition::None,
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
    outcomes(&session.commit(operations).await)
}

async fn nodes(session: &mut Box<dyn Session>) -> String {
    let texts = session.read(&[read_request(NODES)]).await.expect("read");
    texts.into_iter().next().expect("one")
}

#[tokio::test]
async fn session_reads_writes_saves_and_logs_out() {
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
        let results = commit(&mut session, &gone).await;
        assert_eq!(results[0], "done");
        assert!(results[1].starts_with("done: "), "{results:?}");
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
async fn read_is_repeated_after_a_transient_fault() {
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
async fn write_with_a_lost_answer_is_unknown_and_readable() {
    let cases = [
        ("drop-unanswered=^POST /mgmt/tm/ltm/node", true),
        ("half-body=^POST /mgmt/tm/ltm/node", true),
        ("drop-after=^POST /mgmt/tm/ltm/node", false),
        ("stall-after=^POST /mgmt/tm/ltm/node", false),
    ];
    for (fault, took_effect) in cases {
        let mock = start(&[fault], true).await;
        let mut target = load_balancer_target(&mock);
        target.command_timeout = Duration::from_secs(2);
        let mut session = open(&target, &protocol("f5_bigip"), Access::ReadWrite)
            .await
            .expect("opened");
        let patch = request(Method::Patch, NODE, "{}");
        let results = commit(&mut session, &[create(), patch]).await;
        assert!(results[0].starts_with("unknown: "), "{fault}: {results:?}");
        assert_eq!(results[1], "not sent", "{fault}");
        if !fault.starts_with("stall") {
            let there = nodes(&mut session).await.contains("192.0.2.10");
            assert_eq!(there, took_effect, "{fault}");
        }
    }
}

#[tokio::test]
async fn login_is_not_repeated_after_a_refusal() {
    let mock = start(&["login-refused=1"], true).await;
    let result = open(
        &load_balancer_target(&mock),
        &protocol("f5_bigip"),
        Access::ReadWrite,
    )
    .await;
    let error = result.err().expect("refused");
    assert!(
        matches!(error.kind, SessionErrorKind::LoginRefused { .. }),
        "{error}"
    );
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn read_only_session_changes_nothing() {
    let mock = start(&[], true).await;
    let mut session = open(
        &load_balancer_target(&mock),
        &protocol("f5_bigip"),
        Access::ReadOnly,
    )
    .await
    .expect("opened");
    assert_eq!(commit(&mut session, &[create()]).await, ["not sent"]);
    session.save().await.expect_err("read-only");
    assert!(!nodes(&mut session).await.contains("192.0.2.10"));
}
