//! Opening a command line session: setup, privilege, first reads.

use super::*;

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
async fn refused_enable_password_shows_the_answer_escaped() {
    let (opened, _) = open(
        ScriptedDevice {
            enable: Some("other"),
            ..ScriptedDevice::default()
        },
        Access::ReadWrite,
    )
    .await;
    assert_eq!(
        opened.err().expect("refused").to_string(),
        "the device refused the enable password; it answered \"% Bad secrets\""
    );
    let kind = SessionErrorKind::EnableRefused {
        output: "\u{1b}[2Jforged".to_owned(),
    };
    assert!(kind.to_string().ends_with(r#""\u{1b}[2Jforged""#), "{kind}");
}
