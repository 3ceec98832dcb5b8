//! Waits for a device that goes on talking.

use std::time::Duration;

use super::*;
use crate::clock;
use crate::session::deadline::StopCause;
use crate::session::scripted::Talk;

const TALKS: [(Talk, &str); 5] = [
    (
        Talk::Drip("x"),
        "the answer to `show version` did not end within 10m; the last output was \"x",
    ),
    (
        Talk::Drip("line\r\n"),
        "the answer to `show version` did not end within 10m; the last output was \"line\"",
    ),
    (
        Talk::Flood("xxxxxxxxxxxxxxxx"),
        "invalid answer to `show version`: more than 1048576 bytes without a line end",
    ),
    (
        Talk::Repeat("Proceed? [yes/no]: "),
        "invalid answer to `show version`: more than 20 questions",
    ),
    (
        Talk::Repeat("line\r\n --More-- "),
        "invalid answer to `show version`: more than 10000 pages",
    ),
];

fn talking(line: &'static str, talk: Talk) -> ScriptedDevice {
    ScriptedDevice {
        talks_at: Some((line, talk)),
        ..ScriptedDevice::default()
    }
}

#[tokio::test(start_paused = true)]
async fn answer_without_end_is_waited_for_up_to_a_limit() {
    for (talk, expected) in TALKS {
        let (mut session, _) = ready(talking("show version", talk)).await;
        let requests = [request("show clock"), request("show version")];
        let error = session.read(&requests).await.expect_err("endless");
        assert!(error.kind.to_string().starts_with(expected), "{error}");
        assert!(!error.is_refusal(), "{error}");
        session.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn change_without_an_end_of_its_answer_is_unknown() {
    for (talk, expected) in TALKS {
        let (mut session, _) = ready(talking("mtu 9000", talk)).await;
        let operations = [
            operation(&["interface Gi1/0/1"], "mtu 9000"),
            operation(&[], "ntp server 1"),
        ];
        let results = session.commit(&operations).await;
        let Outcome::Unknown { reason, cause } = &results[0].outcome else {
            panic!("{expected}: {results:?}");
        };
        let expected = expected.replace("show version", "mtu 9000");
        assert!(reason.starts_with(&expected), "{reason}");
        assert!(cause.may_be_pending(), "the device is still busy: {reason}");
        assert_eq!(outcomes(&results)[1], "not sent");
    }
}

#[tokio::test(start_paused = true)]
async fn own_limit_of_a_device_replaces_that_of_the_platform() {
    let (stream, _) = talking("show version", Talk::Drip("x")).start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let mut target = connect_params();
    target.limits.command = Some(Duration::from_secs(7));
    let rules = rules_for_tests("cisco_ios");
    let reads = ["show version".to_owned()];
    let access = (Access::ReadOnly, reads.as_slice());
    let opened = CliSession::open(&target, terminal, &rules, access, (&[], login_end())).await;
    let (mut session, _) = opened.expect("opened");
    let error = session.read(&[request("show version")]).await;
    let error = error.expect_err("endless").to_string();
    assert!(error.contains("did not end within 7s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn login_without_end_has_a_limit() {
    let device = ScriptedDevice {
        enable: Some("en-secret"),
        ..talking("enable", Talk::Drip("please wait\r\n"))
    };
    let (opened, _) = open(device, Access::ReadWrite).await;
    let error = opened.err().expect("no login");
    assert_eq!(
        error.to_string(),
        "the login did not end within 2m; the last output was \"please wait\""
    );
}

#[tokio::test(start_paused = true)]
async fn connect_timeout_limits_the_login_too() {
    let device = ScriptedDevice {
        enable: Some("en-secret"),
        ..talking("enable", Talk::Drip("please wait\r\n"))
    };
    let (stream, _) = device.start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: SessionConnection::default(),
    };
    let mut target = connect_params();
    target.connect_timeout = Duration::from_secs(30);
    let rules = rules_for_tests("cisco_ios");
    let access = (Access::ReadWrite, &[] as &[String]);
    let opened = CliSession::open(&target, terminal, &rules, access, (&[], login_end())).await;
    let error = opened.err().expect("no login");
    assert_eq!(
        error.to_string(),
        "the login did not end within 30s; the last output was \"please wait\""
    );
    let hint = error.hint().expect("a hint");
    assert!(
        hint.contains("check the `platform` of the device"),
        "{hint}"
    );
}

#[tokio::test(start_paused = true)]
async fn end_of_the_run_ends_every_wait() {
    for (talk, _) in TALKS.into_iter().take(2) {
        let (stream, _) = talking("mtu 9000", talk).start();
        let terminal = Terminal {
            stream: Box::new(stream),
            close_reason: CloseReason::default(),
            connection: SessionConnection::default(),
        };
        let target = connect_params();
        let rules = rules_for_tests("cisco_ios");
        let access = (Access::ReadWrite, &[] as &[String]);
        let opened = CliSession::open(&target, terminal, &rules, access, (&[], login_end())).await;
        let (mut session, _) = opened.expect("opened");
        let began = clock::instant();
        let limit = Duration::from_secs(8);
        let cause = StopCause::Limit {
            setting: "runtimeout",
            limit,
        };
        target.deadline.end_at(began + limit, cause);
        let operations = [operation(&["interface Gi1/0/1"], "mtu 9000")];
        assert_eq!(
            commit(&mut session, &operations).await,
            ["unknown: no answer to `mtu 9000`: the run did not end within 8s (runtimeout)"]
        );
        session.close().await;
        assert_eq!(began.elapsed(), limit);
    }
}

#[tokio::test(start_paused = true)]
async fn close_ends_without_the_device() {
    let silent = |line| ScriptedDevice {
        silent_at: Some(line),
        ..ScriptedDevice::default()
    };
    let drip = Talk::Drip("line\r\n");
    for (device, note) in [
        (silent("exit"), None),
        (talking("exit", drip), None),
        (
            silent("end"),
            Some("cannot leave configuration mode: no prompt within 3s"),
        ),
        (
            talking("end", drip),
            Some("cannot leave configuration mode: no prompt within 3s"),
        ),
    ] {
        let (mut session, _) = ready(device).await;
        let operations = [operation(&["interface Gi1/0/1"], "mtu 9000")];
        assert_eq!(commit(&mut session, &operations).await, ["done"]);
        let began = clock::instant();
        assert_eq!(session.close().await, Vec::from_iter(note));
        assert_eq!(began.elapsed(), CLOSE_TIMEOUT);
    }
}
