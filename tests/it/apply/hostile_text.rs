//! Text from devices, servers and catalogs cannot control the operator's terminal, and cannot forge
//! a line of the program.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;

/// A window title, an erased screen, C1, DEL and a bidi override.
const CONTROL: &str = "\u{1b}]0;PWNED\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}";
/// A line end, and a line as the program prints it.
const FORGED: &str = "\r\nsw1: Notice: Applied catalog in 4711.01 seconds";

/// An SSH server that sends its version and a disconnect message in clear, before any key.
fn disconnecting_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut stream = connection.unwrap();
            stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").unwrap();
            let text = format!("bye {CONTROL}{FORGED}");
            // RFC 4253, sections 6 and 11.1: SSH_MSG_DISCONNECT, TOO_MANY_CONNECTIONS.
            let mut payload = vec![1, 0, 0, 0, 12];
            for string in [text.as_str(), ""] {
                payload.extend(u32::try_from(string.len()).unwrap().to_be_bytes());
                payload.extend(string.as_bytes());
            }
            let padding = 8 - (payload.len() + 5) % 8 + 8;
            let length = u32::try_from(payload.len() + 1 + padding).unwrap();
            let mut packet = length.to_be_bytes().to_vec();
            packet.push(u8::try_from(padding).unwrap());
            packet.extend(payload);
            packet.resize(packet.len() + padding, 0);
            stream.write_all(&packet).unwrap();
            // The client may be in the middle of its own message.
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    port
}

/// The catalog of a device that refuses commands, with hostile texts of its own.
fn write_catalog(lab: &Lab, device: &str, refused: serde_json::Value) {
    let title = format!("title {CONTROL}{FORGED}");
    let notify = resource(
        "Notify",
        &title,
        json!({"message": format!("{CONTROL}{FORGED}")}),
    );
    lab.write_resources(device, &[refused, notify]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_escaped_in_every_output() {
    let refuse = format!("refuse=^name one => % Bad name {CONTROL} here");
    let refuse_rest = format!("refuse=^POST .*/node => bad {CONTROL}{FORGED}");
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[&refuse]).await;
    lab.add_load_balancer("lb1", &[&refuse_rest]).await;
    lab.add_device("sw9", "cisco_ios", disconnecting_server(), None);
    lab.configure("sw9", "host_key = \"ignore\"\nconnect_timeout = \"5s\"");
    write_catalog(&lab, "sw1", vlan(10, "one"));
    let node = resource(
        "F5_node",
        "/Common/n",
        json!({"ensure": "present", "address": "10.0.0.1"}),
    );
    write_catalog(&lab, "lb1", node);
    write_catalog(&lab, "sw9", vlan(10, "one"));
    for arguments in [
        &["apply", "-vvv"][..],
        &["apply", "--output", "json"],
        &["plan", "-vvv"],
        &["apply", "--noop"],
    ] {
        // The output is checked by `run`.
        let ran = lab.run(arguments).await;
        assert!(!ran.text().is_empty());
        ran.assert_contains("PWNED");
        let forged = |line: &str| line.starts_with("sw1: Notice: Applied catalog in 4711.01");
        assert!(!ran.text().lines().any(forged), "{}", ran.text());
        if arguments == ["apply", "-vvv"] {
            ran.assert_code(1);
            ran.assert_contains("\\u{1b}]0;PWNED\\u{7}\\u{1b}[2J");
            ran.assert_contains("% Bad name ");
        }
    }
    for command in [
        &["facts", "sw9", "-vvv"][..],
        &["resource", "sw9", "network_vlan"],
    ] {
        let ran = lab.run(command).await;
        ran.assert_code(1);
    }
}
