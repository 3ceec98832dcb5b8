//! The NETCONF session against a server in memory. It answers as RFC 6241 describes.

mod locking;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::*;
use crate::operation::{Action, Edit, Method, Outcome, Precondition, Request};
use crate::read::answer_rule::AnswerRule;
use crate::secret_text::SecretText;
use crate::session::scripted::{LimitedFence, TEST_TIMEOUT, connect_params};
use crate::session::transport::CloseReason;

const BASE: &str = "urn:ietf:params:netconf:base:1.0";
const CANDIDATE: &str = "urn:ietf:params:netconf:capability:candidate:1.0";
const VALIDATE: &str = "urn:ietf:params:netconf:capability:validate:1.1";
const CONFIRMED: &str = "urn:ietf:params:netconf:capability:confirmed-commit:1.1";
const WRITABLE: &str = "urn:ietf:params:netconf:capability:writable-running:1.0";

/// A server that refuses some operations, and stops answering at another.
#[derive(Clone, Default)]
struct Server {
    capabilities: Vec<&'static str>,
    /// Part of a request, and the error of its reply.
    refuses: Vec<(&'static str, &'static str)>,
    /// It closes the connection at this request.
    drops_at: Option<&'static str>,
    /// It answers this request with this text.
    answers: Vec<(&'static str, &'static str)>,
}

type Log = Arc<Mutex<Vec<String>>>;

impl Server {
    fn with(capabilities: &[&'static str]) -> Self {
        Self {
            capabilities: [&[BASE], capabilities].concat(),
            ..Self::default()
        }
    }

    async fn run(self, mut stream: DuplexStream, log: Log) {
        let capabilities = self.capabilities.iter();
        let capabilities = capabilities.map(|uri| format!("<capability>{uri}</capability>"));
        let hello = format!(
            "<hello xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\"><capabilities>{}</capabilities><session-id>4</session-id></hello>]]>]]>",
            capabilities.collect::<String>()
        );
        stream.write_all(hello.as_bytes()).await.expect("open");
        let mut received = String::new();
        let mut buffer = [0; 4096];
        loop {
            while !received.contains("]]>]]>") {
                let count = stream.read(&mut buffer).await.unwrap_or(0);
                if count == 0 {
                    return;
                }
                received.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
            let (request, rest) = received.split_once("]]>]]>").expect("just seen");
            let (request, rest) = (request.to_owned(), rest.to_owned());
            received = rest;
            let Some((_, id)) = request.split_once("message-id=\"") else {
                continue;
            };
            let id = id.split('"').next().unwrap_or_default().to_owned();
            let operation = request.split_once('>').map_or("", |(_, rest)| rest);
            let operation = operation.trim_end_matches("</rpc>").to_owned();
            log.lock().expect("free").push(operation.clone());
            if self.drops_at.is_some_and(|part| operation.contains(part)) {
                return;
            }
            let error = self
                .refuses
                .iter()
                .find(|(part, _)| operation.contains(part));
            let answer = self
                .answers
                .iter()
                .find(|(part, _)| operation.contains(part));
            let content = match (error, answer) {
                (Some((_, text)), _) => format!(
                    "<rpc-error><error-type>application</error-type><error-tag>operation-failed</error-tag>\
                     <error-severity>error</error-severity><error-message>{text}</error-message></rpc-error>"
                ),
                (None, Some((_, text))) => (*text).to_owned(),
                (None, None) => "<ok/>".to_owned(),
            };
            let reply = format!(
                "<rpc-reply xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\" message-id=\"{id}\">{content}</rpc-reply>]]>]]>"
            );
            stream.write_all(reply.as_bytes()).await.expect("open");
        }
    }
}

async fn open(server: Server, access: Access, confirm: Option<u64>) -> (NetconfSession, Log) {
    open_to(&connect_params(), server, access, confirm).await
}

async fn open_to(
    target: &ConnectParams,
    server: Server,
    access: Access,
    confirm: Option<u64>,
) -> (NetconfSession, Log) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let log = Log::default();
    tokio::spawn(server.run(theirs, Arc::clone(&log)));
    let terminal = Terminal {
        stream: Box::new(ours),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let rules = Arc::new(NetconfRules {
        port: 830,
        limits: Default::default(),
        secrets: SecretText::default(),
        namespaces: Arc::default(),
        check: true,
        confirm: confirm.map(Duration::from_secs),
        spans_run: false,
    });
    let end = LoginEnd::after(TEST_TIMEOUT);
    let session = NetconfSession::open(target, terminal, &rules, access, end).await;
    (session.expect("opened"), log)
}

fn edit(config: &str) -> Operation {
    Operation {
        attributes: vec!["x".to_owned().into()],
        action: Action::Edit(Edit {
            config: Text::plain(config),
            request: Request {
                method: Method::Patch,
                path: "/x".to_owned(),
                body: None,
                abridged: None,
                is_file: false,
                idempotent: true,
                precondition: Precondition::None,
            },
        }),
    }
}

async fn commit(session: &mut NetconfSession) -> Vec<String> {
    let results = session.commit(&[edit("<a/>"), edit("<b/>")]).await;
    let outcomes = results.iter().map(|result| match &result.outcome {
        Outcome::Done { .. } => "done".to_owned(),
        Outcome::Refused { message } => format!("refused: {message}"),
        Outcome::NotSent => "not sent".to_owned(),
        Outcome::Unknown { reason, .. } => format!("unknown: {reason}"),
    });
    outcomes.collect()
}

/// The names of the operations that the server received.
fn received(log: &Log) -> Vec<String> {
    let log = log.lock().expect("free");
    let names = log.iter().map(|operation| operation_name(operation));
    names.map(Option::unwrap_or_default).collect()
}

fn request(name: &str, optional: bool) -> ReadRequest {
    ReadRequest {
        name: name.to_owned(),
        command: format!("<get-config>{name}</get-config>"),
        body: None,
        parents: None,
        optional,
        answer: AnswerRule {
            namespaces: Some(Arc::default()),
            ..AnswerRule::default()
        },
    }
}

const READ_WRITE: Access = Access::ReadWrite;

#[tokio::test]
async fn netconf_commits_all_edits_of_a_resource_together() {
    let (mut session, log) = open(Server::with(&[CANDIDATE, VALIDATE]), READ_WRITE, None).await;
    assert_eq!(commit(&mut session).await, ["done", "done"]);
    assert!(!session.awaits_confirmation());
    assert_eq!(session.close().await, [""; 0]);
    let expected = [
        "lock",
        "edit-config",
        "edit-config",
        "validate",
        "commit",
        "close-session",
    ];
    assert_eq!(received(&log), expected);
}

#[tokio::test]
async fn netconf_locks_before_the_first_read_and_once() {
    let (mut session, log) = open(Server::with(&[CANDIDATE]), READ_WRITE, None).await;
    let read = request("x", false);
    session
        .read(std::slice::from_ref(&read))
        .await
        .expect("read");
    assert_eq!(commit(&mut session).await, ["done", "done"]);
    session.read(&[read]).await.expect("read");
    let edit = ["edit-config"; 2];
    let expected = [
        &["lock", "get-config"][..],
        &edit,
        &["commit", "get-config"],
    ]
    .concat();
    assert_eq!(received(&log), expected);
}

#[tokio::test]
async fn netconf_validates_a_candidate_once() {
    for (capabilities, validates_each) in [
        (&[CANDIDATE, VALIDATE][..], false),
        (&[CANDIDATE], true),
        (&[WRITABLE, VALIDATE], true),
    ] {
        let (mut session, log) = open(Server::with(capabilities), READ_WRITE, None).await;
        assert_eq!(commit(&mut session).await, ["done", "done"]);
        let log = log.lock().expect("free");
        let mut edits = log.iter().filter(|one| one.contains("<edit-config>"));
        assert!(
            edits.all(|edit| edit.contains("<test-option>set</test-option>") != validates_each),
            "{capabilities:?}"
        );
    }
}

#[tokio::test]
async fn netconf_discards_the_candidate_after_a_refusal() {
    let cases: [(&str, &[&str], &[&str]); 4] = [
        (
            "<lock>",
            &["refused: cannot lock the candidate configuration: no (operation-failed)"; 2],
            &["lock"],
        ),
        (
            "<b/>",
            &["not sent", "refused: no (operation-failed)"],
            &["lock", "edit-config", "edit-config"],
        ),
        (
            "<validate>",
            &["refused: the device refused to validate the candidate: no (operation-failed)"; 2],
            &["lock", "edit-config", "edit-config", "validate"],
        ),
        (
            "<commit",
            &["refused: the device refused to commit the candidate: no (operation-failed)"; 2],
            &["lock", "edit-config", "edit-config", "validate", "commit"],
        ),
    ];
    for (part, outcomes, operations) in cases {
        let server = Server {
            refuses: vec![(part, "no")],
            ..Server::with(&[CANDIDATE, VALIDATE])
        };
        let (mut session, log) = open(server, READ_WRITE, None).await;
        assert_eq!(commit(&mut session).await, outcomes, "{part}");
        let mut expected = operations.to_vec();
        if part != "<lock>" {
            expected.push("discard-changes");
        }
        assert_eq!(received(&log), expected, "{part}");
        // The session continues.
        assert!(session.read(&[]).await.is_ok());
    }
}

#[tokio::test]
async fn netconf_confirms_or_cancels_a_confirmed_commit() {
    for (keep, last) in [(true, "commit"), (false, "cancel-commit")] {
        let server = Server::with(&[CANDIDATE, CONFIRMED]);
        let (mut session, log) = open(server, READ_WRITE, Some(60)).await;
        assert_eq!(commit(&mut session).await, ["done", "done"]);
        assert!(session.awaits_confirmation());
        let sent = log.lock().expect("free")[3].clone();
        let expected = "<commit><confirmed/><confirm-timeout>60</confirm-timeout></commit>";
        assert_eq!(sent, expected);
        session.confirm(keep).await.expect("settled");
        assert!(!session.awaits_confirmation());
        assert_eq!(received(&log)[4..], [last]);
    }
}

#[tokio::test]
async fn netconf_confirms_or_cancels_all_commits_of_a_protected_run() {
    for (keep, last) in [
        (
            true,
            "<commit><persist-id>switchtender</persist-id></commit>",
        ),
        (
            false,
            "<cancel-commit><persist-id>switchtender</persist-id></cancel-commit>",
        ),
    ] {
        let server = Server::with(&[CANDIDATE, CONFIRMED]);
        let (mut session, log) = open(server, READ_WRITE, Some(60)).await;
        let limit = session
            .revert_limit(RevertMethod::TimedRevert)
            .expect("it has one");
        assert_eq!(limit.timer, Duration::from_secs(60));
        assert_eq!(session.revert_limit(RevertMethod::Reload), None);
        let _ = session
            .protect(RevertMethod::TimedRevert)
            .await
            .expect("accepted");
        for _ in 0..2 {
            assert_eq!(commit(&mut session).await, ["done", "done"]);
            assert!(!session.awaits_confirmation());
        }
        let _ = session
            .end_protection(RevertMethod::TimedRevert, keep)
            .await
            .expect("accepted");
        let sent = log.lock().expect("free").clone();
        let commits: Vec<&String> = sent.iter().filter(|one| one.contains("commit>")).collect();
        let first = "<commit><confirmed/><confirm-timeout>60</confirm-timeout><persist>switchtender</persist>";
        let second = "<persist-id>switchtender</persist-id></commit>";
        assert_eq!(*commits[0], format!("{first}</commit>"));
        assert_eq!(*commits[1], format!("{first}{second}"));
        assert_eq!(commits[2], last);
        let locks = sent.iter().filter(|one| one.contains("lock>"));
        assert_eq!(locks.count(), 1, "{sent:?}");
    }
}

#[tokio::test]
async fn netconf_outcomes_are_unknown_only_if_they_can_be_applied() {
    let cases = [
        ("<a/>", ["unknown", "not sent"]),
        ("<b/>", ["not sent", "unknown"]),
        ("<commit/>", ["unknown", "unknown"]),
    ];
    for (part, expected) in cases {
        let server = Server {
            drops_at: Some(part),
            ..Server::with(&[CANDIDATE])
        };
        let (mut session, _) = open(server, READ_WRITE, None).await;
        let outcomes = commit(&mut session).await;
        for (outcome, expected) in outcomes.iter().zip(expected) {
            assert!(outcome.starts_with(expected), "{part}: {outcome}");
        }
        assert_eq!(
            commit(&mut session).await,
            ["not sent"; 2],
            "nothing more is sent"
        );
    }
}

#[tokio::test]
async fn netconf_changes_the_running_configuration_without_a_candidate() {
    let server = Server {
        refuses: vec![("<b/>", "no")],
        ..Server::with(&[WRITABLE])
    };
    let (mut session, log) = open(server, READ_WRITE, Some(60)).await;
    assert_eq!(
        commit(&mut session).await,
        ["done", "refused: no (operation-failed)"]
    );
    assert_eq!(received(&log), ["lock", "edit-config", "edit-config"]);
    let (mut session, log) = open(Server::with(&[]), READ_WRITE, None).await;
    let expected =
        "refused: the device has neither the capability `candidate` nor `writable-running`";
    assert_eq!(commit(&mut session).await, [expected, "not sent"]);
    assert_eq!(received(&log), [""; 0]);
}

#[tokio::test]
async fn netconf_reads_only_in_a_read_only_session() {
    let (mut session, log) = open(Server::with(&[CANDIDATE]), Access::ReadOnly, None).await;
    assert_eq!(commit(&mut session).await, ["not sent"; 2]);
    for operation in [
        "<edit-config/>",
        "<commit/>",
        "<lock/>",
        "<get/><edit-config/>",
        "<kill-session/>",
    ] {
        let sent = session.send(Text::plain(operation)).await;
        assert!(
            matches!(sent, Err(SessionErrorKind::ReadOnly { .. })),
            "{operation}"
        );
    }
    assert!(
        session.save().await.is_ok(),
        "without a startup configuration nothing is saved"
    );
    let texts = session.read(&[request("x", false)]).await.expect("read");
    assert!(texts[0].contains("<ok/>"), "{texts:?}");
    session.close().await;
    assert_eq!(received(&log), ["get-config", "close-session"]);
}

#[tokio::test]
async fn netconf_refused_reads_name_the_read() {
    let server = Server {
        refuses: vec![("vlans", "unknown namespace")],
        answers: vec![("odd", "<data>text</data>")],
        ..Server::with(&[])
    };
    let (mut session, _) = open(server, Access::ReadOnly, None).await;
    let read = async |session: &mut NetconfSession, name: &str, optional: bool| {
        let request = ReadRequest {
            name: format!("GET /{name}"),
            command: format!("<get>{name}</get>"),
            body: None,
            parents: None,
            optional,
            answer: AnswerRule {
                namespaces: Some(Arc::default()),
                ..AnswerRule::default()
            },
        };
        let result = session.read(&[request]).await;
        result.map_err(|error| error.to_string())
    };
    assert_eq!(
        read(&mut session, "vlans", false).await,
        Err(
            "core1: the device refused `GET /vlans`: unknown namespace (operation-failed)"
                .to_owned()
        )
    );
    assert_eq!(
        read(&mut session, "vlans", true).await,
        Ok(vec![String::new()])
    );
    let odd = read(&mut session, "odd", false)
        .await
        .expect_err("not a tree");
    assert!(
        odd.starts_with("core1: unexpected answer to `GET /odd`: "),
        "{odd}"
    );
}

#[tokio::test]
async fn nothing_is_written_after_the_fence_refused() {
    let target = ConnectParams {
        // The lock and the edit, but not the commit.
        fence: LimitedFence::after(2),
        ..connect_params()
    };
    let server = Server::with(&[CANDIDATE]);
    let (mut session, log) = open_to(&target, server, Access::ReadWrite, None).await;
    let results = session.commit(&[edit("<a/>")]).await;
    let Outcome::Refused { message } = &results[0].outcome else {
        panic!("{:?}", results[0].outcome);
    };
    assert_eq!(message, "cannot send `commit`: the lock is lost");
    let sent = log.lock().expect("free");
    assert!(
        !sent.iter().any(|request| request.contains("<commit")),
        "{sent:?}"
    );
}
