//! Reads of a command line session.

use super::*;

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
        "core1: no answer to `show version` within 2m"
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
    // The message is at the same place each time, so it may have cut a line each time.
    assert_eq!(
        texts.expect_err("interrupted").kind.to_string(),
        "unexpected answer to `show vlan brief`: log messages interrupt it"
    );
    assert_eq!(lines(&log), ["core1#show vlan brief"; 3]);
    let mut table = request("show inventory");
    table.answer.expectations = vec![Expectation::Header("99".to_owned())];
    let error = session.read(&[table]).await.expect_err("interrupted");
    assert_eq!(
        error.kind.to_string(),
        "unexpected answer to `show inventory`: a log message interrupts one of its lines; \
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

#[test]
fn equal_answers_are_settled_unless_a_message_may_have_cut_both() {
    let answer = |positions: &[usize]| crate::dialogue::Answer {
        output: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
        log_positions: positions.to_vec(),
        prompt: crate::dialogue::Prompt {
            mode: 0,
            text: "core1#".to_owned(),
        },
        questions: Vec::new(),
        secret: crate::dialogue::SecretState::NotRequested,
        is_consumed: false,
        body_accepted: true,
        prompt_width: 0,
    };
    let settled = crate::session::cli::reading::is_equal_in_spite_of_messages;
    assert!(settled(&answer(&[1]), &answer(&[2])));
    assert!(!settled(&answer(&[1]), &answer(&[1])));
    assert!(!settled(&answer(&[0, 2]), &answer(&[2, 3])));
    // Before the first line, and after the last, there is nothing to cut.
    assert!(settled(&answer(&[0, 3]), &answer(&[0, 3])));
}

/// The read is typed ahead of the answer to `end`, and answered in the configuration mode.
#[tokio::test]
async fn read_after_a_refused_exit_of_configuration_has_no_answer() {
    let (mut session, log) = ready(ScriptedDevice {
        refuses: &["end"],
        ..ScriptedDevice::default()
    })
    .await;
    commit(&mut session, &[operation(&[], "ntp server 1")]).await;
    let mut optional = request("show clock");
    optional.optional = true;
    // Also the second time: the session knows that it is still in the configuration mode.
    for _ in 0..2 {
        let error = session
            .read(&[optional.clone()])
            .await
            .expect_err("refused");
        assert_eq!(
            error.to_string(),
            "core1: the device refused `end`: ^; % Invalid input detected at '^' marker."
        );
    }
    assert_eq!(
        lines(&log)[2..],
        [
            "core1(config)#end",
            "core1(config)#show clock",
            "core1(config)#end",
            "core1(config)#show clock",
        ]
    );
}
