//! The command-line session with the mock switch, over real sockets, with every fault of the mock.

use std::time::Duration;

use switchtender_devices::operation::{Action, ConfigLine, Operation, OperationResult};
use switchtender_devices::secret::Text;
use switchtender_devices::session::connect_params::{ConnectParams, HostKeyPolicy};
use switchtender_devices::session::{
    Access, RevertMethod, Session, SessionError, SessionErrorKind, open,
};
use switchtender_mocks::{CliSwitch, RunningSwitch, SwitchOptions};

use crate::support::session::{outcomes, protocol, read_request, switch_target};

async fn switch(faults: &[&str]) -> RunningSwitch {
    let options = SwitchOptions {
        faults: faults
            .iter()
            .map(|fault| fault.parse().expect("a fault"))
            .collect(),
        motd: Some("# keep out #\nsw1#\nsw1> really".to_owned()),
        ..SwitchOptions::default()
    };
    CliSwitch::start(options, 0).await.expect("started")
}

async fn opened(switch: &RunningSwitch) -> Box<dyn Session> {
    open(
        &switch_target(switch),
        &protocol("cisco_ios"),
        Access::ReadWrite,
    )
    .await
    .expect("opened")
}

fn line(mode: &[&str], text: &str) -> Operation {
    Operation {
        attributes: Vec::new(),
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

async fn commit(session: &mut Box<dyn Session>, operations: &[Operation]) -> Vec<OperationResult> {
    let results = session.commit(operations).await;
    assert_eq!(results.len(), operations.len());
    results
}

fn received(switch: &RunningSwitch) -> Vec<String> {
    let exchanges = switch.log().exchanges();
    exchanges
        .into_iter()
        .map(|exchange| exchange.received)
        .collect()
}

fn vlan(number: u16, name: &str) -> Vec<Operation> {
    let mode = format!("vlan {number}");
    vec![line(&[&mode], ""), line(&[&mode], &format!("name {name}"))]
}

const INTERFACE: &str = "interface GigabitEthernet1/0/7";

#[tokio::test]
async fn session_reads_writes_and_logs_off() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let texts = session
        .read(&[
            read_request("show version"),
            read_request("show running-config"),
            read_request("show vlan brief"),
        ])
        .await
        .expect("read");
    assert!(texts[0].contains("IOS"), "{}", texts[0]);
    assert!(texts[1].trim_end().ends_with("end"), "{}", texts[1]);
    assert!(texts[2].contains("default"), "{}", texts[2]);
    assert_eq!(
        outcomes(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
    let port = [
        line(&[INTERFACE], "description Up to core1"),
        line(&[INTERFACE], "switchport access vlan 42"),
    ];
    assert_eq!(outcomes(&commit(&mut session, &port).await), ["done"; 2]);
    let global = [line(&[], "ntp server 192.0.2.1")];
    assert_eq!(outcomes(&commit(&mut session, &global).await), ["done"]);
    assert_eq!(session.close().await, [""; 0]);
    let sent = received(&switch);
    let batch = sent
        .iter()
        .position(|line| line == "configure terminal")
        .expect("sent");
    assert_eq!(
        sent[batch..],
        [
            "configure terminal",
            "vlan 42",
            "name lab",
            "exit",
            INTERFACE,
            "description Up to core1",
            "switchport access vlan 42",
            "exit",
            "ntp server 192.0.2.1",
            "end",
            "exit",
        ]
    );
    let config = switch.running_config();
    for expected in [
        "description Up to core1",
        "switchport access vlan 42",
        "ntp server 192.0.2.1",
    ] {
        assert!(config.contains(expected), "{config}");
    }
    assert!(switch.vlans().contains(&(42, "lab".to_owned(), false)));
}

#[tokio::test]
async fn read_ignores_slow_output_and_log_messages() {
    let calm = switch(&[]).await;
    let mut calm = opened(&calm).await;
    let cases = [
        ("slow=20us", "show clock"),
        ("syslog-after=^show running-config$", "show running-config"),
        ("syslog-after=^show version$", "show running-config"),
    ];
    for (fault, command) in cases {
        let request = [read_request(command), read_request("show version")];
        let expected = calm.read(&request).await.expect("read");
        let switch = switch(&[fault]).await;
        let texts = opened(&switch).await.read(&request).await.expect(fault);
        if command != "show clock" {
            assert_eq!(texts[0], expected[0], "{fault}");
        }
        assert_eq!(
            texts[1].lines().next(),
            expected[1].lines().next(),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn save_returns_the_answer_of_the_device() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let answer = session.save().await.expect("saved");
    assert!(
        answer.contains("[OK]") || answer.contains("copied"),
        "{answer}"
    );
}

#[tokio::test]
async fn commit_reports_a_refusal_and_continues() {
    let switch =
        switch(&["refuse=^description => % Command rejected: no descriptions today"]).await;
    let mut session = opened(&switch).await;
    let port = [
        line(&[INTERFACE], "description x"),
        line(&[INTERFACE], "shutdown"),
    ];
    assert_eq!(
        outcomes(&commit(&mut session, &port).await),
        ["refused: % Command rejected: no descriptions today", "done"]
    );
    assert_eq!(
        outcomes(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
}

#[tokio::test]
async fn commit_names_the_invalid_word_of_a_refused_line() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let results = commit(
        &mut session,
        &[line(&[INTERFACE], "switchport frob vlan 42")],
    )
    .await;
    assert_eq!(
        outcomes(&results),
        ["refused: % Invalid input detected at '^' marker. (at `frob`)"]
    );
}

#[tokio::test]
async fn commit_sends_no_lines_into_a_refused_mode() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    commit(&mut session, &[line(&[INTERFACE], "description mine")]).await;
    let wrong = ["interface GigabitEthernet9/0/99"];
    let results = commit(
        &mut session,
        &[line(&wrong, "description other"), line(&wrong, "shutdown")],
    )
    .await;
    let results = outcomes(&results);
    assert!(results[0].starts_with("refused: % Invalid"), "{results:?}");
    assert_eq!(results[1], "not sent");
    assert!(switch.running_config().contains("description mine"));
}

/// Messages about the reload interrupt the dialogue, and the device asks whether to save the changes.
#[tokio::test]
async fn scheduled_reload_starts_again_without_saving() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let method = RevertMethod::Reload;
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let state = session.protect(method).await.expect("accepted");
    assert_eq!(state, Ok(Some(true)));
    let mode = [INTERFACE];
    commit(&mut session, &[line(&mode, "description seven")]).await;
    switch.advance_clock(minutes(6));
    let state = session.protect(method).await.expect("accepted");
    assert_eq!(state, Ok(Some(true)));
    switch.advance_clock(minutes(9));
    assert!(switch.is_revert_pending() && !switch.is_saved());
    let texts = session.read(&[read_request("show running-config")]).await;
    assert!(texts.expect("read")[0].contains(" description seven\n"));
    let state = session
        .end_protection(method, true)
        .await
        .expect("accepted");
    assert_eq!(state, Ok(Some(false)));
    assert!(!switch.is_revert_pending() && !switch.is_saved());
    // A reload would now restore another configuration.
    let mut session = opened(&switch).await;
    let refused = session.protect(method).await.expect_err("it is not saved");
    let command = "reload in 10".to_owned();
    assert_eq!(
        refused.kind,
        SessionErrorKind::UnsavedConfiguration { command }
    );
    assert!(!switch.is_revert_pending() && !switch.is_saved());
}

#[tokio::test]
async fn unexpected_question_is_declined() {
    let switch = switch(&["confirm=^no shutdown"]).await;
    let mut session = opened(&switch).await;
    let results = outcomes(&commit(&mut session, &[line(&[INTERFACE], "no shutdown")]).await);
    assert!(
        results[0].starts_with("refused: unexpected question"),
        "{results:?}"
    );
    assert!(results[0].contains("[confirm]"), "{results:?}");
    assert_eq!(
        outcomes(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
}

#[tokio::test]
async fn banner_text_is_sent_without_prompts() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let mut banner = line(&[], "banner motd ^");
    if let Action::Line(line) = &mut banner.action {
        line.body = ["Keep out", "sw1#", "", "bye^"].map(Text::plain).to_vec();
    }
    assert_eq!(outcomes(&commit(&mut session, &[banner]).await), ["done"]);
    assert_eq!(
        outcomes(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
    let config = session
        .read(&[read_request("show running-config")])
        .await
        .expect("read");
    assert!(config[0].contains("Keep out\nsw1#\n\nbye"), "{}", config[0]);
}

#[tokio::test]
async fn commit_reports_unknown_after_disconnect_or_timeout() {
    let cases = [
        (
            "drop-after=^shutdown",
            "the connection ended after `shutdown`",
        ),
        (
            "drop-unanswered=^shutdown",
            "the connection ended after `shutdown`",
        ),
        ("stall-after=^shutdown", "no answer to `shutdown` within 2s"),
        (
            "garbage-after=^shutdown",
            "no answer to `shutdown` within 2s",
        ),
    ];
    for (fault, expected) in cases {
        let switch = switch(&[fault]).await;
        let mut target = switch_target(&switch);
        target.command_timeout = Duration::from_secs(2);
        let mut session = open(&target, &protocol("cisco_ios"), Access::ReadWrite)
            .await
            .expect("opened");
        let operations = [
            line(&[INTERFACE], "description x"),
            line(&[INTERFACE], "shutdown"),
            line(&[INTERFACE], "mtu 1500"),
            line(&[], "ntp server 192.0.2.1"),
        ];
        let results = outcomes(&commit(&mut session, &operations).await);
        assert_eq!(results[0], "done", "{fault}");
        assert!(
            results[1].starts_with(&format!("unknown: {expected}")),
            "{fault}: {results:?}"
        );
        assert!(results[2].starts_with("unknown: "), "{fault}: {results:?}");
        assert_eq!(results[3], "not sent", "{fault}");
        let again = outcomes(&commit(&mut session, &[line(&[], "ntp server 192.0.2.2")]).await);
        assert_eq!(again, ["not sent"], "{fault}");
        session
            .read(&[read_request("show version")])
            .await
            .expect_err("over");
        session.close().await;
        // A new session works.
        let mut next = opened(&switch).await;
        let config = next
            .read(&[read_request("show running-config")])
            .await
            .expect("read");
        assert!(config[0].contains("description x"), "{fault}");
    }
}

#[tokio::test]
async fn read_fails_if_the_connection_ends_within_an_answer() {
    let switch = switch(&["drop-at-byte=600"]).await;
    let result = async {
        let mut session = open(
            &switch_target(&switch),
            &protocol("cisco_ios"),
            Access::ReadWrite,
        )
        .await?;
        session.read(&[read_request("show running-config")]).await
    };
    let error = result.await.expect_err("cut");
    assert!(
        error.to_string().starts_with("sw1: the connection ended"),
        "{error}"
    );
}

async fn refused(switch: &RunningSwitch, change: impl FnOnce(&mut ConnectParams)) -> SessionError {
    let mut target = switch_target(switch);
    change(&mut target);
    let result = open(&target, &protocol("cisco_ios"), Access::ReadWrite).await;
    result.err().expect("refused")
}

#[tokio::test]
async fn failed_login_has_its_reason_and_is_not_repeated() {
    let open = switch(&[]).await;
    let error = refused(&open, |target| target.password = Some("wrong-word".into())).await;
    assert!(
        matches!(error.kind, SessionErrorKind::LoginRefused { .. }),
        "{error}"
    );
    let error = refused(&open, |target| {
        target.enable_password = Some("wrong-word".into())
    })
    .await;
    assert!(
        matches!(error.kind, SessionErrorKind::EnableRefused { .. }),
        "{error}"
    );
    let error = refused(&open, |target| target.enable_password = None).await;
    assert!(
        matches!(error.kind, SessionErrorKind::NoEnablePassword),
        "{error}"
    );
    let other = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let error = refused(&open, |target| {
        target.ssh.host_key = HostKeyPolicy::Fingerprint(other.to_owned());
    })
    .await;
    assert!(
        matches!(error.kind, SessionErrorKind::HostKeyFingerprint { .. }),
        "{error}"
    );
    let error = refused(&open, |target| target.port = Some(1)).await;
    assert!(
        matches!(error.kind, SessionErrorKind::Unreachable { .. }),
        "{error}"
    );
    for error in [error.to_string(), format!("{error:?}")] {
        assert!(!error.contains("wrong-word"));
    }
    let locked = switch(&["login-refused=1"]).await;
    let error = refused(&locked, |_| ()).await;
    assert!(
        matches!(error.kind, SessionErrorKind::LoginRefused { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn read_only_session_changes_nothing() {
    let switch = switch(&[]).await;
    let before = switch.running_config();
    let mut session = open(
        &switch_target(&switch),
        &protocol("cisco_ios"),
        Access::ReadOnly,
    )
    .await
    .expect("opened");
    assert_eq!(
        outcomes(&commit(&mut session, &vlan(42, "lab")).await),
        ["not sent"; 2]
    );
    session
        .read(&[read_request("configure terminal")])
        .await
        .expect_err("read-only");
    session.save().await.expect_err("read-only");
    session.close().await;
    assert_eq!(switch.running_config(), before);
    assert!(
        !received(&switch)
            .iter()
            .any(|line| line.starts_with("configure"))
    );
}

#[tokio::test]
async fn commit_takes_two_round_trips_per_resource() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    session
        .read(&[read_request("show running-config")])
        .await
        .expect("read");
    let before = session.statistics().round_trips;
    for number in 100..150 {
        commit(&mut session, &vlan(number, "x")).await;
    }
    for port in 1..=24 {
        let mode = format!("interface GigabitEthernet1/0/{port}");
        let operations = [line(&[&mode], "description x"), line(&[&mode], "shutdown")];
        let results = outcomes(&commit(&mut session, &operations).await);
        assert_eq!(results, ["done"; 2]);
    }
    for server in 1..=8 {
        commit(
            &mut session,
            &[line(&[], &format!("ntp server 192.0.2.{server}"))],
        )
        .await;
    }
    let cost = session.statistics().round_trips - before;
    // `configure terminal` once; each resource its mode and its lines; global lines just themselves.
    assert!(cost <= 1 + 2 * 74 + 1 + 8, "{cost}");
    assert_eq!(switch.vlans().len(), 50 + 5);
}
