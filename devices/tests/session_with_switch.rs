//! The command line session against the mock switch, over real sockets, with every fault that
//! the mock can show.

use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::dialogue::Protocol;
use switchtender_devices::document::{Findings, read};
use switchtender_devices::operation::{Action, Line, Operation, OperationResult, Outcome};
use switchtender_devices::read::ReadRequest;
use switchtender_devices::secret::Text;
use switchtender_devices::session::target::{HostKeyPolicy, RestOptions, SshOptions, Target};
use switchtender_devices::session::{Access, Session, SessionError, SessionErrorKind, open};
use switchtender_mocks::{CliSwitch, RunningSwitch, SwitchOptions};

fn protocol() -> Protocol {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("definitions/cisco_ios/platform.toml");
    let text = std::fs::read_to_string(&path).expect("the definition is there");
    let source = Source::new("cisco_ios/platform.toml", text);
    let findings = Findings::new(&source);
    read(&findings, Protocol::read).expect("a protocol")
}

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

fn target(switch: &RunningSwitch) -> Target {
    Target {
        device: "sw1".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(switch.address().port()),
        user: "admin".to_owned(),
        password: Some(SecretString::from("admin")),
        enable_password: Some(SecretString::from("enable")),
        ssh: SshOptions {
            host_key: HostKeyPolicy::Ignore,
            ..SshOptions::default()
        },
        rest: RestOptions::default(),
        connect_timeout: Duration::from_secs(20),
        command_timeout: Duration::from_secs(10),
        transcript: None,
    }
}

async fn opened(switch: &RunningSwitch) -> Box<dyn Session> {
    open(&target(switch), &protocol(), Access::ReadWrite)
        .await
        .expect("opened")
}

fn show(command: &str) -> ReadRequest {
    ReadRequest {
        name: command.to_owned(),
        command: command.to_owned(),
        optional: false,
    }
}

fn line(mode: &[&str], text: &str) -> Operation {
    Operation {
        attributes: Vec::new(),
        action: Action::Line(Line {
            mode: mode.iter().map(|line| Text::plain(*line)).collect(),
            text: (!text.is_empty()).then(|| Text::plain(text)),
            body: Vec::new(),
            may_ask: false,
            warning: None,
        }),
    }
}

async fn commit(session: &mut Box<dyn Session>, operations: &[Operation]) -> Vec<OperationResult> {
    let results = session.commit(operations).await;
    assert_eq!(results.len(), operations.len());
    results
}

fn words(results: &[OperationResult]) -> Vec<String> {
    results
        .iter()
        .map(|result| match &result.outcome {
            Outcome::Done { said } if said.is_empty() => "done".to_owned(),
            Outcome::Done { said } => format!("done: {}", said.join("; ")),
            Outcome::Refused { said } => format!("refused: {said}"),
            Outcome::NotSent => "not sent".to_owned(),
            Outcome::Unknown { why } => format!("unknown: {why}"),
        })
        .collect()
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
async fn a_session_from_beginning_to_end() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let texts = session
        .read(&[
            show("show version"),
            show("show running-config"),
            show("show vlan brief"),
        ])
        .await
        .expect("read");
    assert!(texts[0].contains("IOS"), "{}", texts[0]);
    assert!(texts[1].trim_end().ends_with("end"), "{}", texts[1]);
    assert!(texts[2].contains("default"), "{}", texts[2]);
    assert_eq!(
        words(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
    let port = [
        line(&[INTERFACE], "description Up to core1"),
        line(&[INTERFACE], "switchport access vlan 42"),
    ];
    assert_eq!(words(&commit(&mut session, &port).await), ["done"; 2]);
    let global = [line(&[], "ntp server 192.0.2.1")];
    assert_eq!(words(&commit(&mut session, &global).await), ["done"]);
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
async fn reads_are_the_same_whatever_disturbs_them() {
    let calm = switch(&[]).await;
    let mut calm = opened(&calm).await;
    let cases = [
        ("slow=20us", "show clock"),
        ("syslog-after=^show running-config$", "show running-config"),
        ("syslog-after=^show version$", "show running-config"),
    ];
    for (fault, command) in cases {
        let request = [show(command), show("show version")];
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
async fn saving_is_answered() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let said = session.save().await.expect("saved");
    assert!(said.contains("[OK]") || said.contains("copied"), "{said}");
}

#[tokio::test]
async fn a_refused_line_has_the_devices_words_and_the_rest_goes_on() {
    let switch =
        switch(&["refuse=^description => % Command rejected: no descriptions today"]).await;
    let mut session = opened(&switch).await;
    let port = [
        line(&[INTERFACE], "description x"),
        line(&[INTERFACE], "shutdown"),
    ];
    assert_eq!(
        words(&commit(&mut session, &port).await),
        ["refused: % Command rejected: no descriptions today", "done"]
    );
    assert_eq!(
        words(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
}

#[tokio::test]
async fn a_mistyped_line_names_the_word() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let results = commit(
        &mut session,
        &[line(&[INTERFACE], "switchport frob vlan 42")],
    )
    .await;
    assert_eq!(
        words(&results),
        ["refused: % Invalid input detected at '^' marker. (at `frob`)"]
    );
}

#[tokio::test]
async fn an_interface_that_does_not_exist_gets_none_of_its_lines() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    commit(&mut session, &[line(&[INTERFACE], "description mine")]).await;
    let wrong = ["interface GigabitEthernet9/0/99"];
    let results = commit(
        &mut session,
        &[line(&wrong, "description other"), line(&wrong, "shutdown")],
    )
    .await;
    let told = words(&results);
    assert!(told[0].starts_with("refused: % Invalid"), "{told:?}");
    assert_eq!(told[1], "not sent");
    assert!(switch.running_config().contains("description mine"));
}

#[tokio::test]
async fn a_question_that_nobody_expects_is_declined() {
    let switch = switch(&["confirm=^no shutdown"]).await;
    let mut session = opened(&switch).await;
    let told = words(&commit(&mut session, &[line(&[INTERFACE], "no shutdown")]).await);
    assert!(
        told[0].starts_with("refused: it asked a question"),
        "{told:?}"
    );
    assert!(told[0].contains("[confirm]"), "{told:?}");
    assert_eq!(
        words(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
}

#[tokio::test]
async fn a_banner_is_taken_as_a_text() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    let mut banner = line(&[], "banner motd ^");
    if let Action::Line(line) = &mut banner.action {
        line.body = ["Keep out", "sw1#", "", "bye^"].map(Text::plain).to_vec();
    }
    assert_eq!(words(&commit(&mut session, &[banner]).await), ["done"]);
    assert_eq!(
        words(&commit(&mut session, &vlan(42, "lab")).await),
        ["done"; 2]
    );
    let config = session
        .read(&[show("show running-config")])
        .await
        .expect("read");
    assert!(config[0].contains("Keep out\nsw1#\n\nbye"), "{}", config[0]);
}

#[tokio::test]
async fn lost_connections_and_silence_in_a_change_are_told_exactly() {
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
        let mut target = target(&switch);
        target.command_timeout = Duration::from_secs(2);
        let mut session = open(&target, &protocol(), Access::ReadWrite)
            .await
            .expect("opened");
        let operations = [
            line(&[INTERFACE], "description x"),
            line(&[INTERFACE], "shutdown"),
            line(&[INTERFACE], "mtu 1500"),
            line(&[], "ntp server 192.0.2.1"),
        ];
        let told = words(&commit(&mut session, &operations).await);
        assert_eq!(told[0], "done", "{fault}");
        assert!(
            told[1].starts_with(&format!("unknown: {expected}")),
            "{fault}: {told:?}"
        );
        assert!(told[2].starts_with("unknown: "), "{fault}: {told:?}");
        assert_eq!(told[3], "not sent", "{fault}");
        let again = words(&commit(&mut session, &[line(&[], "ntp server 192.0.2.2")]).await);
        assert_eq!(again, ["not sent"], "{fault}");
        session
            .read(&[show("show version")])
            .await
            .expect_err("over");
        session.close().await;
        // A new session works: what is known of the device can be read again.
        let mut next = opened(&switch).await;
        let config = next
            .read(&[show("show running-config")])
            .await
            .expect("read");
        assert!(config[0].contains("description x"), "{fault}");
    }
}

#[tokio::test]
async fn a_connection_cut_in_the_middle_of_an_answer_is_an_error() {
    let switch = switch(&["drop-at-byte=600"]).await;
    let result = async {
        let mut session = open(&target(&switch), &protocol(), Access::ReadWrite).await?;
        session.read(&[show("show running-config")]).await
    };
    let error = result.await.expect_err("cut");
    assert!(
        error.to_string().starts_with("sw1: the connection ended"),
        "{error}"
    );
}

async fn refused(switch: &RunningSwitch, change: impl FnOnce(&mut Target)) -> SessionError {
    let mut target = target(switch);
    change(&mut target);
    let result = open(&target, &protocol(), Access::ReadWrite).await;
    result.err().expect("refused")
}

#[tokio::test]
async fn logins_that_fail_say_why_and_try_once() {
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
        matches!(error.kind, SessionErrorKind::EnableMissing),
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
async fn a_read_only_session_changes_nothing() {
    let switch = switch(&[]).await;
    let before = switch.running_config();
    let mut session = open(&target(&switch), &protocol(), Access::ReadOnly)
        .await
        .expect("opened");
    assert_eq!(
        words(&commit(&mut session, &vlan(42, "lab")).await),
        ["not sent"; 2]
    );
    session
        .read(&[show("configure terminal")])
        .await
        .expect_err("barred");
    session.save().await.expect_err("barred");
    session.close().await;
    assert_eq!(switch.running_config(), before);
    assert!(
        !received(&switch)
            .iter()
            .any(|line| line.starts_with("configure"))
    );
}

#[tokio::test]
async fn a_changed_resource_costs_two_round_trips() {
    let switch = switch(&[]).await;
    let mut session = opened(&switch).await;
    session
        .read(&[show("show running-config")])
        .await
        .expect("read");
    let before = session.statistics().round_trips;
    for number in 100..150 {
        commit(&mut session, &vlan(number, "x")).await;
    }
    for port in 1..=24 {
        let mode = format!("interface GigabitEthernet1/0/{port}");
        let operations = [line(&[&mode], "description x"), line(&[&mode], "shutdown")];
        let told = words(&commit(&mut session, &operations).await);
        assert_eq!(told, ["done"; 2]);
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
