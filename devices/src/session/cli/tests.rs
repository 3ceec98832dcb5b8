//! The command line session against scripted peers in memory.

mod body;
mod candidate;
mod committing;
mod limits;
mod opening;
mod reading;

use super::*;
use crate::dialogue::rules_for_tests;
use crate::operation::{Action, ConfigLine, Outcome};
use crate::read::answer_rule::Expectation;
use crate::session::connect_params::ConnectParams;
use crate::session::deadline::LoginEnd;
use crate::session::scripted::{LimitedFence, Log, ScriptedDevice, TEST_TIMEOUT, connect_params};
use crate::session::terminal::Terminal;
use crate::session::transport::CloseReason;

type Opened = Result<(CliSession, Vec<String>), SessionErrorKind>;

async fn open(
    device: ScriptedDevice,
    access: Access,
) -> (Result<CliSession, SessionErrorKind>, Log) {
    let (opened, log) = open_and_read(device, access, &[]).await;
    (opened.map(|(session, _)| session), log)
}

async fn open_and_read(
    device: ScriptedDevice,
    access: Access,
    first: &[ReadRequest],
) -> (Opened, Log) {
    let (stream, log) = device.start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let reads = ["show clock".to_owned(), "show version".to_owned()];
    let rules = rules_for_tests("cisco_ios");
    let opened = CliSession::open(
        &connect_params(),
        terminal,
        &rules,
        (access, &reads),
        (first, login_end()),
    )
    .await;
    (opened, log)
}

fn login_end() -> LoginEnd {
    LoginEnd::after(TEST_TIMEOUT)
}

async fn ready(device: ScriptedDevice) -> (CliSession, Log) {
    let (session, log) = open(device, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    session.read(&[]).await.expect("set up");
    let mut seen = log.lock().expect("free");
    seen.lines.clear();
    seen.chunks = 0;
    drop(seen);
    (session, log)
}

fn lines(log: &Log) -> Vec<String> {
    log.lock().expect("free").lines.clone()
}

fn request(command: &str) -> ReadRequest {
    ReadRequest {
        name: command.to_owned(),
        command: command.to_owned(),
        body: None,
        optional: false,
        answer: crate::read::answer_rule::AnswerRule::default(),
        parents: None,
    }
}

fn operation(mode: &[&str], text: &str) -> Operation {
    Operation {
        attributes: vec!["x".to_owned().into()],
        action: Action::Line(ConfigLine {
            mode: mode.iter().map(|line| Text::plain(*line)).collect(),
            text: (!text.is_empty()).then(|| Text::plain(text)),
            body: Vec::new(),
            enters_mode: false,
            may_prompt: false,
            warning: None,
        }),
    }
}

fn outcomes(results: &[OperationResult]) -> Vec<String> {
    results
        .iter()
        .map(|result| match &result.outcome {
            Outcome::Done { messages } if messages.is_empty() => "done".to_owned(),
            Outcome::Done { messages } => format!("done: {}", messages.join("; ")),
            Outcome::Refused { message } => format!("refused: {message}"),
            Outcome::NotSent => "not sent".to_owned(),
            Outcome::Unknown { reason, .. } => format!("unknown: {reason}"),
        })
        .collect()
}

async fn commit(session: &mut CliSession, operations: &[Operation]) -> Vec<String> {
    let results = session.commit(operations).await;
    assert_eq!(results.len(), operations.len());
    outcomes(&results)
}

#[tokio::test]
async fn close_leaves_configuration_and_logs_off() {
    let (mut session, log) = ready(ScriptedDevice::default()).await;
    commit(
        &mut session,
        &[operation(&["interface Gi1/0/1"], "mtu 9000")],
    )
    .await;
    assert_eq!(session.close().await, [""; 0]);
    assert_eq!(lines(&log)[3..], ["core1(config-if)#end", "core1#exit"]);
}

#[tokio::test]
async fn nothing_is_written_after_the_fence_refused() {
    let (stream, log) = ScriptedDevice::default().start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let target = ConnectParams {
        // `configure terminal` and `interface`.
        fence: LimitedFence::after(2),
        ..connect_params()
    };
    let rules = rules_for_tests("cisco_ios");
    let may = (Access::ReadWrite, &["show clock".to_owned()][..]);
    let (mut session, _) = CliSession::open(&target, terminal, &rules, may, (&[], login_end()))
        .await
        .expect("opened");
    session
        .read(&[request("show clock")])
        .await
        .expect("a read");
    let lines_of_port = ["mtu 9000", "description x"];
    let operations = lines_of_port.map(|line| operation(&["interface Gi1/0/1"], line));
    let outcomes = commit(&mut session, &operations).await;
    let refused = "refused: cannot send `mtu 9000`: the lock is lost";
    assert_eq!(outcomes, [refused, "not sent"]);
    assert_eq!(commit(&mut session, &operations).await, ["not sent"; 2]);
    let sent = lines(&log).split_off(lines(&log).len() - 2);
    assert_eq!(
        sent,
        [
            "core1#configure terminal",
            "core1(config)#interface Gi1/0/1"
        ]
    );
}

#[tokio::test]
async fn secrets_are_masked_in_messages_and_transcript() {
    let directory = tempfile::tempdir().expect("made");
    let path = directory.path().join("core1.log");
    let device = ScriptedDevice {
        enable: Some("en-secret"),
        privilege: 15,
        answers: &[(
            "snmp-server community top-secret RO",
            "% Error: top-secret is bad",
        )],
        banner: "pw-secret",
        ..ScriptedDevice::default()
    };
    let (stream, _) = device.start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let target = ConnectParams {
        transcript: Some(path.clone()),
        ..connect_params()
    };
    let rules = rules_for_tests("cisco_ios");
    let may = (Access::ReadWrite, &[][..]);
    let (mut session, _) = CliSession::open(&target, terminal, &rules, may, (&[], login_end()))
        .await
        .expect("opened");
    let mut text = Text::plain("snmp-server community ");
    text.push_secret("top-secret");
    text.push(" RO");
    let mut operation = operation(&[], "x");
    if let Action::Line(line) = &mut operation.action {
        line.text = Some(text);
    }
    let outcomes = commit(&mut session, &[operation]).await;
    assert_eq!(outcomes, ["refused: % Error: •••• is bad"]);
    session.close().await;
    drop(session);
    let transcript = std::fs::read_to_string(path).expect("written");
    assert!(
        transcript.contains("> snmp-server community •••• RO"),
        "{transcript}"
    );
    assert!(!transcript.contains("secret"), "{transcript}");
}
