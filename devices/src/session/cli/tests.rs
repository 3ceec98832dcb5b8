//! The command line session against scripted peers in memory.

use super::*;
use crate::dialogue::rules_for_tests;
use crate::operation::{Action, ConfigLine, Outcome};
use crate::read::answer_rule::Expectation;
use crate::session::connect_params::ConnectParams;
use crate::session::scripted::{Log, ScriptedDevice, connect_params};

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
        connection: None,
    };
    let reads = ["show clock".to_owned(), "show version".to_owned()];
    let rules = rules_for_tests("cisco_ios");
    let opened =
        CliSession::open(&connect_params(), terminal, &rules, (access, &reads), first).await;
    (opened, log)
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
        optional: false,
        answer: crate::read::answer_rule::AnswerRule::default(),
    }
}

fn operation(mode: &[&str], text: &str) -> Operation {
    Operation {
        attributes: vec!["x".to_owned().into()],
        action: Action::Line(ConfigLine {
            mode: mode.iter().map(|line| Text::plain(*line)).collect(),
            text: (!text.is_empty()).then(|| Text::plain(text)),
            body: Vec::new(),
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

const DONE: &str = "done";

#[tokio::test]
async fn open_sends_setup_and_reads_as_one_batch() {
    let (session, log) = open(ScriptedDevice::default(), Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let texts = session
        .read(&[request("show clock"), request("show version")])
        .await
        .expect("read");
    assert_eq!(texts, ["12:00:00\n", ""]);
    assert_eq!(
        lines(&log),
        [
            "core1#terminal length 0",
            "core1#terminal width 511",
            "core1#terminal no monitor",
            "core1#show clock",
            "core1#show version",
        ]
    );
    assert_eq!(log.lock().expect("free").chunks, 1);
    // The first prompt, and one for everything else.
    assert_eq!(session.statistics().round_trips, 2);
}

#[tokio::test]
async fn open_enables_an_unprivileged_user() {
    let device = ScriptedDevice {
        enable: Some("en-secret"),
        privilege: 15,
        ..ScriptedDevice::default()
    };
    let (session, log) = open(device, Access::ReadOnly).await;
    session.expect("opened");
    assert_eq!(
        lines(&log),
        [
            "core1>terminal length 0",
            "core1>enable",
            "secret \"en-secret\\r\"",
            "core1#show privilege",
            "core1#terminal width 511",
            "core1#terminal no monitor",
        ]
    );
}

#[tokio::test]
async fn open_sends_first_reads_with_the_privilege_check() {
    let device = ScriptedDevice {
        enable: Some("en-secret"),
        privilege: 15,
        ..ScriptedDevice::default()
    };
    let first = [request("show clock")];
    let (opened, log) = open_and_read(device, Access::ReadOnly, &first).await;
    let (session, texts) = opened.expect("opened");
    assert_eq!(texts, ["12:00:00\n"]);
    assert_eq!(
        lines(&log)[3..],
        [
            "core1#show privilege",
            "core1#terminal width 511",
            "core1#terminal no monitor",
            "core1#show clock",
        ]
    );
    // The first prompt, `enable`, its secret, and one for all other commands.
    assert_eq!(session.statistics().round_trips, 4);
}

#[tokio::test]
async fn open_sends_a_wrong_enable_password_once() {
    let device = ScriptedDevice {
        enable: Some("another"),
        ..ScriptedDevice::default()
    };
    let (session, log) = open(device, Access::ReadWrite).await;
    let error = session.err().expect("refused");
    assert!(
        matches!(error, SessionErrorKind::EnableRefused { .. }),
        "{error}"
    );
    let secrets: Vec<_> = lines(&log)
        .into_iter()
        .filter(|line| line.starts_with("secret"))
        .collect();
    assert_eq!(
        secrets,
        [
            "secret \"en-secret\\r\"",
            "secret \"\\r\"",
            "secret \"\\r\""
        ]
    );
}

#[tokio::test]
async fn open_reports_a_low_privilege_level() {
    let device = ScriptedDevice {
        enable: Some("en-secret"),
        privilege: 7,
        ..ScriptedDevice::default()
    };
    let (session, _) = open(device, Access::ReadWrite).await;
    let error = session.err().expect("refused");
    assert_eq!(
        error,
        SessionErrorKind::PrivilegeTooLow {
            output: "Current privilege level is 7".to_owned()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn open_sends_an_empty_line_to_a_silent_device() {
    let device = ScriptedDevice {
        starts_silent: true,
        ..ScriptedDevice::default()
    };
    let (session, log) = open(device, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let texts = session.read(&[request("show clock")]).await.expect("read");
    assert_eq!(texts, ["12:00:00\n"]);
    assert_eq!(lines(&log)[0], "core1#");
}

#[tokio::test]
async fn commit_takes_two_round_trips_per_resource() {
    let (mut session, log) = ready(ScriptedDevice::default()).await;
    let vlan = |id: &str, name: &str| {
        let mode = format!("vlan {id}");
        vec![
            operation(&[&mode], ""),
            operation(&[&mode], &format!("name {name}")),
            operation(&[&mode], "shutdown"),
        ]
    };
    let before = session.statistics().round_trips;
    assert_eq!(commit(&mut session, &vlan("10", "a")).await, [DONE; 3]);
    // One more for `configure terminal`, once per session.
    assert_eq!(session.statistics().round_trips - before, 3);
    assert_eq!(commit(&mut session, &vlan("11", "b")).await, [DONE; 3]);
    assert_eq!(session.statistics().round_trips - before, 5);
    assert_eq!(
        commit(&mut session, &[operation(&[], "ntp server 1")]).await,
        [DONE]
    );
    assert_eq!(session.statistics().round_trips - before, 6);
    session.read(&[request("show clock")]).await.expect("read");
    assert_eq!(session.statistics().round_trips - before, 7);
    assert_eq!(
        lines(&log),
        [
            "core1#configure terminal",
            "core1(config)#vlan 10",
            "core1(config-vlan)#name a",
            "core1(config-vlan)#shutdown",
            "core1(config-vlan)#exit",
            "core1(config)#vlan 11",
            "core1(config-vlan)#name b",
            "core1(config-vlan)#shutdown",
            "core1(config-vlan)#exit",
            "core1(config)#ntp server 1",
            "core1(config)#end",
            "core1#show clock",
        ]
    );
}

#[tokio::test]
async fn commit_reports_lines_after_a_refused_one_as_answered() {
    let (mut session, log) = ready(ScriptedDevice {
        refuses: &["speed 7"],
        ..ScriptedDevice::default()
    })
    .await;
    let mode = ["interface Gi1/0/1"];
    let operations = [
        operation(&mode, "description x"),
        operation(&mode, "speed 7"),
        operation(&mode, "mtu 9000"),
        operation(&[], "ntp server 1"),
    ];
    let refused = "refused: % Invalid input detected at '^' marker.";
    assert_eq!(
        commit(&mut session, &operations).await,
        [DONE, refused, DONE, "not sent"]
    );
    // The next resource relies on nothing.
    assert_eq!(
        commit(&mut session, &[operation(&mode, "mtu 1500")]).await,
        [DONE]
    );
    assert_eq!(
        lines(&log)[5..],
        [
            "core1(config-if)#end",
            "core1#configure terminal",
            "core1(config)#interface Gi1/0/1",
            "core1(config-if)#mtu 1500",
        ]
    );
}

#[tokio::test]
async fn commit_sends_no_lines_into_a_refused_mode() {
    let cases: [(ScriptedDevice, &str); 2] = [
        (
            ScriptedDevice {
                refuses: &["interface Foo9"],
                ..ScriptedDevice::default()
            },
            "refused: % Invalid input detected at '^' marker.",
        ),
        (
            ScriptedDevice {
                answers: &[("interface Foo9", "no such thing here")],
                ..ScriptedDevice::default()
            },
            "refused: no such thing here",
        ),
    ];
    for (device, expected) in cases {
        let (mut session, log) = ready(device).await;
        // From one interface into the next: the prompt alone proves nothing.
        let first = [operation(&["interface Gi1/0/1"], "shutdown")];
        assert_eq!(commit(&mut session, &first).await, [DONE]);
        let mode = ["interface Foo9"];
        let operations = [operation(&mode, "shutdown"), operation(&mode, "mtu 9000")];
        let outcomes = commit(&mut session, &operations).await;
        assert!(outcomes[0].starts_with(expected), "{outcomes:?}");
        assert_eq!(outcomes[1], "not sent");
        assert_eq!(
            lines(&log).last().expect("some"),
            "core1(config-if)#interface Foo9"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn commit_declines_and_reports_an_unexpected_question() {
    let (mut session, log) = ready(ScriptedDevice {
        asks: &[("no feature", "This is dangerous. Go on? [confirm]")],
        ..ScriptedDevice::default()
    })
    .await;
    let outcomes = commit(&mut session, &[operation(&[], "no feature")]).await;
    assert_eq!(
        outcomes,
        ["refused: unexpected question, which was declined: This is dangerous. Go on? [confirm]"]
    );
    assert!(lines(&log).contains(&"answer \"n\"".to_owned()));
    assert_eq!(
        commit(&mut session, &[operation(&[], "ntp server 1")]).await,
        [DONE]
    );
}

#[tokio::test(start_paused = true)]
async fn line_that_a_question_consumed_is_no_success() {
    let (mut session, _) = ready(ScriptedDevice {
        asks: &[("no feature", "This is dangerous. Go on? [confirm]")],
        ..ScriptedDevice::default()
    })
    .await;
    let started = tokio::time::Instant::now();
    let operations = [operation(&[], "no feature"), operation(&[], "ntp server 1")];
    assert_eq!(
        commit(&mut session, &operations).await,
        [
            "refused: unexpected question, which was declined: This is dangerous. Go on? [confirm]",
            "unknown: the device answered `ntp server 1`: \
             a question may have consumed the line as its answer",
        ]
    );
    assert!(started.elapsed() < crate::session::scripted::TEST_TIMEOUT);
    assert_eq!(
        commit(&mut session, &[operation(&[], "ntp server 1")]).await,
        [DONE]
    );
}

#[tokio::test]
async fn commit_accepts_a_listed_question() {
    let (mut session, log) = ready(ScriptedDevice {
        asks: &[("no username x", "This operation will remove all username related configurations with same name. Do you want to continue? [confirm]")],
        ..ScriptedDevice::default()
    })
    .await;
    let mut asks = operation(&[], "no username x");
    if let Action::Line(line) = &mut asks.action {
        line.may_prompt = true;
    }
    let operations = [
        operation(&[], "ntp server 1"),
        asks,
        operation(&[], "ntp server 2"),
    ];
    assert_eq!(commit(&mut session, &operations).await, [DONE; 3]);
    assert!(lines(&log).contains(&"answer \"\\r\"".to_owned()));
    assert_eq!(session.statistics().writes, 3);
}

#[tokio::test]
async fn commit_reports_outcomes_after_a_disconnect() {
    let (mut session, _) = ready(ScriptedDevice {
        drops_at: Some("mtu 9000"),
        ..ScriptedDevice::default()
    })
    .await;
    let mode = ["interface Gi1/0/1"];
    let operations = [
        operation(&mode, "description x"),
        operation(&mode, "mtu 9000"),
        operation(&mode, "shutdown"),
        operation(&[], "ntp server 1"),
    ];
    let unknown = "unknown: the connection ended after `mtu 9000`: the device closed it";
    assert_eq!(
        commit(&mut session, &operations).await,
        [DONE, unknown, unknown, "not sent"]
    );
    // Nothing can be done any more, and nothing pretends.
    assert_eq!(
        commit(&mut session, &[operation(&[], "x")]).await,
        ["not sent"]
    );
    let error = session
        .read(&[request("show clock")])
        .await
        .expect_err("gone");
    assert!(
        error.to_string().starts_with("core1: the connection ended"),
        "{error}"
    );
    session.close().await;
}

#[tokio::test(start_paused = true)]
async fn read_times_out_with_the_last_output() {
    let (session, _) = open(
        ScriptedDevice {
            silent_at: Some("show version"),
            ..ScriptedDevice::default()
        },
        Access::ReadWrite,
    )
    .await;
    let mut session = session.expect("opened");
    let requests = [request("show clock"), request("show version")];
    let error = session.read(&requests).await.expect_err("silent");
    assert_eq!(
        error.to_string(),
        "core1: no answer to `show version` within 120s"
    );
}

#[tokio::test]
async fn read_fails_on_a_refusal_unless_optional() {
    let device = || ScriptedDevice {
        refuses: &["show version"],
        ..ScriptedDevice::default()
    };
    let (mut session, _) = ready(device()).await;
    let error = session
        .read(&[request("show version")])
        .await
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "core1: the device refused `show version`: % Invalid input detected at '^' marker."
    );
    let mut optional = request("show version");
    optional.optional = true;
    let texts = session
        .read(&[optional, request("show clock")])
        .await
        .expect("read");
    assert_eq!(texts, ["", "12:00:00\n"]);
}

#[tokio::test]
async fn read_only_session_sends_only_reads() {
    let (session, log) = open(ScriptedDevice::default(), Access::ReadOnly).await;
    let mut session = session.expect("opened");
    session.read(&[request("show clock")]).await.expect("read");
    let before = lines(&log).len();
    assert_eq!(
        commit(&mut session, &[operation(&["vlan 10"], "name x")]).await,
        ["not sent"]
    );
    let tries = [
        "configure terminal",
        "show running-config",
        "show clock\rreload",
        "reload",
        "",
    ];
    for command in tries {
        let error = session.read(&[request(command)]).await.expect_err(command);
        assert!(
            matches!(error.kind, SessionErrorKind::ReadOnly { .. }),
            "{error}"
        );
    }
    let error = session.save().await.expect_err("a write");
    assert!(
        matches!(error.kind, SessionErrorKind::ReadOnly { .. }),
        "{error}"
    );
    // Commits are refused too.
    assert!(
        session
            .enter_mode(&[Text::plain("vlan 10")], false)
            .await
            .is_err()
    );
    assert_eq!(lines(&log).len(), before);
}

#[tokio::test]
async fn commit_ends_the_session_after_a_fatal_error() {
    let (mut session, log) = ready(ScriptedDevice {
        answers: &[(
            "ntp server 1",
            "% Authorization failed.\r\nkey 0 somebodys-key",
        )],
        ..ScriptedDevice::default()
    })
    .await;
    let outcomes = commit(&mut session, &[operation(&[], "ntp server 1")]).await;
    assert_eq!(outcomes, ["refused: % Authorization failed."]);
    let before = lines(&log).len();
    assert_eq!(
        commit(&mut session, &[operation(&[], "ntp server 2")]).await,
        ["not sent"]
    );
    session
        .read(&[request("show clock")])
        .await
        .expect_err("over");
    assert_eq!(lines(&log).len(), before);
}

#[tokio::test]
async fn commit_continues_after_an_authorization_error() {
    let (mut session, _) = ready(ScriptedDevice {
        answers: &[("ntp server 1", "Command authorization failed.")],
        ..ScriptedDevice::default()
    })
    .await;
    let outcomes = commit(&mut session, &[operation(&[], "ntp server 1")]).await;
    assert_eq!(outcomes, ["refused: Command authorization failed."]);
    assert_eq!(
        commit(&mut session, &[operation(&[], "ntp server 2")]).await,
        [DONE]
    );
}

/// IOS commits a VLAN when its mode is left, and prints the result then.
#[tokio::test]
async fn message_at_the_end_of_a_mode_belongs_to_its_lines() {
    const MESSAGE: &str = "VLAN #10 and #20 have an identical name: bbb\r\n% APPLY failed";
    let (mut session, log) = ready(ScriptedDevice {
        messages: &[("exit", MESSAGE)],
        ..ScriptedDevice::default()
    })
    .await;
    let unknown = "unknown: when `vlan 10` was left, the device answered: \
                   VLAN #10 and #20 have an identical name: bbb; % APPLY failed";
    let before = session.statistics().round_trips;
    let vlan = [
        operation(&["vlan 10"], ""),
        operation(&["vlan 10"], "name bbb"),
    ];
    assert_eq!(commit(&mut session, &vlan).await, [unknown; 2]);
    // `configure terminal`, the mode, and its lines with `exit`.
    assert_eq!(session.statistics().round_trips - before, 3);
    let interface = [operation(&["interface Gi1/0/1"], "description innocent")];
    assert_eq!(commit(&mut session, &interface).await, [DONE]);
    // A mode without lines is left in the round trip that enters it.
    let before = session.statistics().round_trips;
    assert_eq!(commit(&mut session, &vlan[..1]).await, [unknown]);
    assert_eq!(session.statistics().round_trips - before, 1);
    assert_eq!(
        lines(&log)[1..],
        [
            "core1(config)#vlan 10",
            "core1(config-vlan)#name bbb",
            "core1(config-vlan)#exit",
            "core1(config)#interface Gi1/0/1",
            "core1(config-if)#description innocent",
            "core1(config-if)#vlan 10",
            "core1(config-vlan)#exit",
        ]
    );
}

#[tokio::test]
async fn message_that_may_be_a_complaint_is_no_success() {
    let (mut session, _) = ready(ScriptedDevice {
        messages: &[
            ("ip access-group 9 in", "% Buffers are low."),
            (
                "switchport voice vlan 40",
                "% Voice VLAN does not exist. Creating vlan 40",
            ),
            ("description x", "Interface set to default configuration"),
        ],
        ..ScriptedDevice::default()
    })
    .await;
    let mode = ["interface Gi1/0/1"];
    let operations = [
        operation(&mode, "ip access-group 9 in"),
        operation(&mode, "switchport voice vlan 40"),
        operation(&mode, "description x"),
    ];
    assert_eq!(
        commit(&mut session, &operations).await,
        [
            "unknown: the device answered `ip access-group 9 in`: % Buffers are low.",
            "done: % Voice VLAN does not exist. Creating vlan 40",
            "done: Interface set to default configuration",
        ]
    );
}

#[tokio::test]
async fn line_that_leaves_its_mode_is_no_success() {
    let (mut session, _) = ready(ScriptedDevice::default()).await;
    let mode = ["interface Gi1/0/1"];
    let operations = [operation(&mode, "end"), operation(&mode, "mtu 9000")];
    assert_eq!(
        commit(&mut session, &operations).await,
        [
            "unknown: the device answered `end`: the prompt changed to core1#",
            "unknown: the device answered `mtu 9000`: the prompt changed to core1#",
        ]
    );
}

/// Without `sub_mode`, every mode of configuration has the prompt of `config_mode`.
#[tokio::test]
async fn commit_works_without_a_sub_mode() {
    let mut rules = (*rules_for_tests("cisco_ios")).clone();
    rules.sub_mode = None;
    // The prompt of the device stays `core1(config)#` after `section a`.
    let (stream, _) = ScriptedDevice::default().start();
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: CloseReason::default(),
        connection: None,
    };
    let access = (Access::ReadWrite, &[][..]);
    let rules = Arc::new(rules);
    let (mut session, _) = CliSession::open(&connect_params(), terminal, &rules, access, &[])
        .await
        .expect("opened");
    let operations = [
        operation(&["section a"], "option b"),
        operation(&["section a"], "option c"),
    ];
    assert_eq!(commit(&mut session, &operations).await, [DONE; 2]);
}

/// A log message may cut a line of a table, so that its row is lost.
#[tokio::test]
async fn read_is_repeated_if_a_log_message_interrupts_it() {
    const TABLE: &str = "VLAN Name\r\n---- ----\r\n99   pri\r\n\
        *Jan  2 03:04:05.678: %LINK-3-UPDOWN: Interface Gi1/0/48, changed state to down\r\nnters";
    let (mut session, log) = ready(ScriptedDevice {
        answers: &[
            ("show vlan brief", TABLE),
            (
                "show inventory",
                "99   pri %LINK-3-UPDOWN: Interface Gi1/0/48",
            ),
        ],
        ..ScriptedDevice::default()
    })
    .await;
    let texts = session.read(&[request("show vlan brief")]).await;
    // The message is at the same place again, so it is no part of a line.
    assert_eq!(texts.expect("read").len(), 1);
    assert_eq!(lines(&log), ["core1#show vlan brief"; 2]);
    let mut table = request("show inventory");
    table.answer.expectations = vec![Expectation::Header("99".to_owned())];
    let error = session.read(&[table]).await.expect_err("interrupted");
    assert_eq!(
        error.kind.to_string(),
        "unexpected answer to `show inventory`: a log message interrupts a line of it; \
         it begins with \"99   pri %LINK-3-UPDOWN: Interface Gi1/0/48\""
    );
}

#[tokio::test]
async fn read_fails_without_the_declared_parts() {
    let cases: [(&str, &str); 3] = [
        ("", "it has no line that matches `^version `"),
        (
            "Try again later.",
            "it has no line that matches `^version `",
        ),
        (
            "version 15.2",
            "it is incomplete: its last line does not match `^end$`",
        ),
    ];
    for (answer, reason) in cases {
        let answers: &'static [(&str, &str)] =
            Box::leak(Box::new([("show running-config", answer)]));
        let (mut session, _) = ready(ScriptedDevice {
            answers,
            ..ScriptedDevice::default()
        })
        .await;
        let pattern = |text: &str| crate::pattern::Pattern::new(text).expect("valid");
        let mut config = request("show running-config");
        config.answer.expectations = vec![
            Expectation::Line(pattern("^version ")),
            Expectation::LastLine(pattern("^end$")),
        ];
        // A refusal of an optional read is an empty answer, this is not.
        config.optional = true;
        let error = session.read(&[config]).await.expect_err("invalid");
        assert!(error.is_refusal(), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
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
        connection: None,
    };
    let target = ConnectParams {
        transcript: Some(path.clone()),
        ..connect_params()
    };
    let rules = rules_for_tests("cisco_ios");
    let may = (Access::ReadWrite, &[][..]);
    let (mut session, _) = CliSession::open(&target, terminal, &rules, may, &[])
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
