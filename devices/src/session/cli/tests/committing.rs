//! Changes over a command line session.

use super::*;

const DONE: &str = "done";

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
async fn lost_exit_of_a_mode_leaves_its_lines_unknown() {
    let lost = "unknown: cannot leave `vlan 10`: the connection ended after";
    let vlan = [
        operation(&["vlan 10"], ""),
        operation(&["vlan 10"], "name bbb"),
    ];
    let dropping = |line| ScriptedDevice {
        drops_at: Some(line),
        refuses: &["name bad"],
        ..ScriptedDevice::default()
    };
    let (mut session, _) = ready(dropping("exit")).await;
    let expected = format!("{lost} `exit`: the device closed it");
    assert_eq!(commit(&mut session, &vlan).await, [&*expected, &*expected]);
    // Without a line that leaves the mode, `end` leaves it.
    let refused = "refused: % Invalid input detected at '^' marker.";
    let mut bad = [
        vlan[0].clone(),
        operation(&["vlan 10"], "name bad"),
        operation(&["vlan 10"], "shutdown"),
    ];
    for operation in &mut bad {
        if let Action::Line(line) = &mut operation.action {
            line.may_prompt = true;
        }
    }
    let (mut session, _) = ready(dropping("end")).await;
    let expected = format!("{lost} `end`: the device closed it");
    assert_eq!(
        commit(&mut session, &bad).await,
        [&*expected, refused, "not sent"]
    );
    let (mut session, log) = ready(dropping("no such line")).await;
    assert_eq!(
        commit(&mut session, &bad).await,
        [DONE, refused, "not sent"]
    );
    assert_eq!(
        lines(&log)[2..],
        ["core1(config-vlan)#name bad", "core1(config-vlan)#end"]
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
        connection: SessionConnection::default(),
    };
    let access = (Access::ReadWrite, &[][..]);
    let rules = Arc::new(rules);
    let (mut session, _) = CliSession::open(
        &connect_params(),
        terminal,
        &rules,
        access,
        (&[], login_end()),
    )
    .await
    .expect("opened");
    let operations = [
        operation(&["section a"], "option b"),
        operation(&["section a"], "option c"),
    ];
    assert_eq!(commit(&mut session, &operations).await, [DONE; 2]);
}
