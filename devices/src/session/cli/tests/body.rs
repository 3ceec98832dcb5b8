//! Texts that are sent in the mode that they are the content of.

use super::*;

/// The text of a block that `exit` ends.
fn text(header: &str, lines: &[&str]) -> Operation {
    let mut operation = operation(&[], header);
    if let Action::Line(line) = &mut operation.action {
        let lines = lines.iter().chain(&["exit"]);
        line.body = lines.map(|line| Text::plain(*line)).collect();
        line.enters_mode = true;
    }
    operation
}

#[tokio::test]
async fn text_of_a_block_is_sent_in_its_mode_and_leaves_it() {
    let (mut session, log) = ready(ScriptedDevice::default()).await;
    let operations = [
        text("interface Gi1/0/1", &["description x", "mtu 9000"]),
        operation(&[], "ntp server 1"),
    ];
    assert_eq!(commit(&mut session, &operations).await, ["done", "done"]);
    assert_eq!(
        lines(&log),
        [
            "core1#configure terminal",
            "core1(config)#interface Gi1/0/1",
            "core1(config-if)#description x",
            "core1(config-if)#mtu 9000",
            "core1(config-if)#exit",
            "core1(config)#ntp server 1",
        ]
    );
}

#[tokio::test]
async fn text_with_a_refused_line_is_not_ended() {
    let (mut session, log) = ready(ScriptedDevice {
        refuses: &["mtu 7"],
        ..ScriptedDevice::default()
    })
    .await;
    let operations = [
        text("interface Gi1/0/1", &["mtu 7", "description x"]),
        operation(&[], "ntp server 1"),
    ];
    assert_eq!(
        commit(&mut session, &operations).await,
        [
            "refused: % Invalid input detected at '^' marker.",
            "not sent"
        ]
    );
    let sent = lines(&log);
    assert!(
        !sent.contains(&"core1(config-if)#exit".to_owned()),
        "{sent:?}"
    );
}

#[tokio::test]
async fn text_is_not_sent_into_a_refused_mode() {
    let (mut session, log) = ready(ScriptedDevice {
        refuses: &["interface Foo9"],
        ..ScriptedDevice::default()
    })
    .await;
    let outcomes = commit(&mut session, &[text("interface Foo9", &["mtu 9000"])]).await;
    assert_eq!(
        outcomes,
        ["refused: % Invalid input detected at '^' marker."]
    );
    let sent = lines(&log);
    assert!(sent.iter().all(|line| !line.contains("mtu")), "{sent:?}");
}
