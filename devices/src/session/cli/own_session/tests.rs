//! A session that records itself before its first write, against a scripted device.

use crate::dialogue::rules_for_tests;
use crate::operation::{Action, ConfigLine, Operation, OperationResult, Outcome};
use crate::secret::Text;
use crate::session::cli::CliSession;
use crate::session::connect_params::ConnectParams;
use crate::session::deadline::LoginEnd;
use crate::session::ledger::{EarlierSessions, ListedSession, LockWait};
use crate::session::scripted::{Log, ScriptedDevice, TEST_TIMEOUT, TestLedger, connect_params};
use crate::session::terminal::{SessionConnection, Terminal};
use crate::session::transport::CloseReason;
use crate::session::{Access, Session as _};

const USERS: &str = "    Line       User       Host(s)              Idle       Location\r\n\
    *  2 vty 0     admin      idle                 00:00:00 10.0.0.5\r\n\
    \x20  3 vty 1     admin      idle                 00:01:10 10.0.0.5";

fn recorded(id: &str, mark: &str) -> EarlierSessions {
    EarlierSessions {
        recorded: vec![ListedSession {
            id: id.to_owned(),
            user: "admin".to_owned(),
            mark: mark.to_owned(),
        }],
        all_of_login: false,
    }
}

fn description() -> Operation {
    Operation {
        attributes: vec!["x".to_owned().into()],
        action: Action::Line(ConfigLine {
            mode: vec![Text::plain("interface Gi1/0/1")],
            text: Some(Text::plain("mtu 9000")),
            body: Vec::new(),
            enters_mode: false,
            may_prompt: false,
            warning: None,
        }),
    }
}

/// Writes a line in a session with these earlier sessions. Returns the outcome, the lines that the device received,
/// and the calls of the ledger.
async fn write(
    device: ScriptedDevice,
    earlier: EarlierSessions,
    lock_wait: LockWait,
) -> (String, Vec<String>, Vec<String>) {
    let (stream, log) = device.start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let ledger = TestLedger::after(earlier);
    let target = ConnectParams {
        ledger: ledger.clone(),
        lock_wait,
        ..connect_params()
    };
    let rules = rules_for_tests("cisco_ios");
    let may = (Access::ReadWrite, &[][..]);
    let first = (&[][..], LoginEnd::after(TEST_TIMEOUT));
    let opened = CliSession::open(&target, terminal, &rules, may, first).await;
    let (mut session, _) = opened.expect("opened");
    let results = session.commit(&[description()]).await;
    session.close().await;
    (outcome(&results), received(&log), ledger.calls())
}

fn outcome(results: &[OperationResult]) -> String {
    match &results[0].outcome {
        Outcome::Done { .. } => "done".to_owned(),
        Outcome::Refused { message } => format!("refused: {message}"),
        other => format!("{other:?}"),
    }
}

/// The lines without the setup and the prompts.
fn received(log: &Log) -> Vec<String> {
    let lines = log.lock().expect("free").lines.clone().into_iter();
    let lines = lines.filter(|line| !line.contains("#terminal "));
    lines
        .map(|line| {
            line.split_once('#')
                .map_or(line.clone(), |(_, line)| line.to_owned())
        })
        .collect()
}

fn listing() -> ScriptedDevice {
    ScriptedDevice {
        answers: &[("show users", USERS)],
        ..ScriptedDevice::default()
    }
}

#[tokio::test]
async fn session_is_recorded_before_its_first_write_until_it_ends() {
    let none = EarlierSessions::default();
    let (outcome, lines, calls) = write(listing(), none, LockWait::default()).await;
    assert_eq!(outcome, "done");
    let write = [
        "show users",
        "configure terminal",
        "interface Gi1/0/1",
        "mtu 9000",
    ];
    assert_eq!(lines[..4], write);
    let own = "session 2 of admin (10.0.0.5)";
    assert_eq!(calls, [format!("begin {own}"), format!("end {own}")]);
}

#[tokio::test]
async fn recorded_session_that_another_one_has_replaced_is_not_ended() {
    // The line has the session of another host now.
    let earlier = recorded("3", "10.0.0.99");
    let (outcome, lines, calls) = write(listing(), earlier, LockWait::default()).await;
    assert_eq!(outcome, "done");
    assert!(
        !lines.iter().any(|line| line.starts_with("clear")),
        "{lines:?}"
    );
    assert_eq!(calls[0], "ended 0");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_while_an_earlier_session_remains() {
    let device = ScriptedDevice {
        asks: &[("clear line 3", "[confirm]")],
        ..listing()
    };
    let earlier = recorded("3", "10.0.0.5");
    let (outcome, lines, calls) = write(device, earlier, LockWait::default()).await;
    assert_eq!(
        outcome,
        "refused: cannot write while earlier sessions can: session 3 of admin (10.0.0.5): `show users` still lists them"
    );
    assert!(
        !lines.iter().any(|line| line.starts_with("configure")),
        "{lines:?}"
    );
    assert!(lines.contains(&"clear line 3".to_owned()), "{lines:?}");
    assert_eq!(calls, [""; 0]);
}

#[tokio::test]
async fn session_that_the_device_does_not_mark_is_not_recorded() {
    let device = || ScriptedDevice {
        refuses: &["show users"],
        ..ScriptedDevice::default()
    };
    let none = EarlierSessions::default();
    let (outcome, _, calls) = write(device(), none, LockWait::default()).await;
    assert_eq!(outcome, "done");
    assert!(
        calls[0].starts_with("note the device refused `show users`"),
        "{calls:?}"
    );
    let earlier = recorded("3", "10.0.0.5");
    let (outcome, lines, _) = write(device(), earlier, LockWait::default()).await;
    assert!(
        outcome.starts_with("refused: cannot write while earlier sessions can"),
        "{outcome}"
    );
    assert!(
        !lines.contains(&"configure terminal".to_owned()),
        "{lines:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn lock_of_somebody_else_is_waited_for_within_a_limit() {
    let device = || ScriptedDevice {
        answers: &[
            ("show users", USERS),
            (
                "configure terminal",
                "Configuration mode locked exclusively by user 'mary' process '88' from terminal '2'. Please try later.",
            ),
        ],
        ..ScriptedDevice::default()
    };
    let second = std::time::Duration::from_secs(1);
    for (interval, attempts) in [(std::time::Duration::ZERO, 1), (second, 4)] {
        let wait = LockWait {
            interval,
            limit: Some(second * 3),
        };
        let none = EarlierSessions::default();
        let (outcome, lines, _) = write(device(), none, wait).await;
        assert_eq!(
            outcome,
            "refused: the configuration is locked by user 'mary' process '88' from terminal '2'"
        );
        let sent = lines.iter().filter(|line| *line == "configure terminal");
        assert_eq!(sent.count(), attempts, "{lines:?}");
        assert!(
            !lines.iter().any(|line| line.starts_with("interface")),
            "{lines:?}"
        );
    }
}
