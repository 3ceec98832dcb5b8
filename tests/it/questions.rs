//! Questions on a terminal: the one of `apply` for many devices, and passwords.

use serde_json::json;
use test_support::lab::{ENABLE, Lab, PASSWORD};
use test_support::pseudo_terminal::PseudoTerminal;

/// A lab with switches that only mocks stand for, and a catalog for each.
fn lab(devices: usize) -> Lab {
    let names: Vec<String> = (1..=devices)
        .map(|number| format!("sw{number:02}"))
        .collect();
    let devices: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "cisco_ios"))
        .collect();
    let lab = Lab::with_devices(&devices);
    for name in &names {
        let vlan =
            json!({"type": "Network_vlan", "title": "40", "parameters": {"vlan_name": "users"}});
        let absent =
            json!({"type": "Ntp_server", "title": "192.0.2.1", "parameters": {"ensure": "absent"}});
        lab.write_resources(name, &[vlan, absent]);
    }
    lab
}

const QUESTION: &str = "devices? [y/N] ";

fn apply(lab: &Lab, more: &[&str]) -> PseudoTerminal {
    PseudoTerminal::start(&lab.blocking_command(&[&["apply", "--mock"], more].concat()))
}

#[test]
fn apply_to_many_devices_asks_once_with_the_totals() {
    let lab = lab(11);
    let mut terminal = apply(&lab, &[]);
    let planned = terminal.wait_for(QUESTION);
    assert!(planned.contains("11 devices: 11 pending in "), "{planned}");
    assert!(
        planned.ends_with("Apply 11 changes, 0 of them removals, to 11 devices? [y/N] "),
        "{planned}"
    );
    terminal.write("yes\n");
    let (code, output) = terminal.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("11 devices: 11 changed in "), "{output}");
}

#[test]
fn other_answers_change_nothing() {
    let lab = lab(11);
    for answer in ["\n", "n\n", "apply\n", "\u{4}", "\u{3}"] {
        let mut terminal = apply(&lab, &[]);
        terminal.wait_for(QUESTION);
        terminal.write(answer);
        let (code, output) = terminal.end();
        assert_eq!(code, Some(1), "{answer:?}: {output}");
        assert!(!output.contains("11 changed"), "{answer:?}: {output}");
        let is_interrupt = answer == "\u{3}";
        assert!(
            is_interrupt || output.contains("nothing was changed"),
            "{answer:?}: {output}"
        );
    }
}

#[test]
fn few_devices_noop_and_yes_need_no_answer() {
    for (devices, arguments, expected) in [
        (10, &[] as &[&str], "10 changed"),
        (11, &["--yes"], "11 changed"),
        (11, &["--noop"], "11 pending"),
    ] {
        let (code, output) = apply(&lab(devices), arguments).end();
        assert_eq!(code, Some(0), "{output}");
        assert!(!output.contains("[y/N]"), "{output}");
        assert!(output.contains(expected), "{output}");
    }
}

/// Without a terminal, there is no question: automation has decided.
#[test]
fn apply_without_a_terminal_does_not_ask() {
    let output = lab(11).run_blocking(&["apply", "--mock"]);
    output.assert_code(0);
    output.assert_contains("11 devices: 11 changed in ");
}

/// A device without an inventory: its host key is named, and both passwords are asked for.
#[tokio::test(flavor = "multi_thread")]
async fn one_device_without_an_inventory_is_changed() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    std::fs::create_dir(lab.path("desired")).unwrap();
    let desired = "ntp_server: {192.0.2.10: {ensure: present}}\n";
    std::fs::write(lab.path("desired/common.yaml"), desired).unwrap();
    let switch = &lab.switches["sw1"];
    let device = format!("ops@{}", switch.address());
    let fingerprint = switch.host_key().fingerprint;
    let arguments = [
        &["apply", "--state", "desired", "--device", &device][..],
        &[
            "--platform",
            "cisco_ios",
            "--ask-password",
            "--ask-enable-password",
        ],
    ]
    .concat();
    let commands = [
        lab.blocking_command(&arguments),
        lab.blocking_command(&[&arguments[..], &["--fingerprint", &fingerprint]].concat()),
    ];
    let ended = tokio::task::spawn_blocking(move || {
        commands.map(|command| {
            let mut terminal = PseudoTerminal::start(&command);
            terminal.wait_for("Password of ");
            terminal.write(&format!("{PASSWORD}\n"));
            terminal.wait_for("Enable password of ");
            terminal.write(&format!("{ENABLE}\n"));
            terminal.end()
        })
    });
    let [unknown, known] = ended.await.unwrap();
    assert_eq!(unknown.0, Some(1), "{unknown:?}");
    assert!(unknown.1.contains(&fingerprint), "{unknown:?}");
    assert!(unknown.1.contains("--fingerprint"), "{unknown:?}");
    assert_eq!(known.0, Some(0), "{known:?}");
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["ntp server 192.0.2.10"]
    );
    for (_, output) in [unknown, known] {
        assert!(
            !output.contains(PASSWORD) && !output.contains(ENABLE),
            "{output}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn password_is_read_once_and_not_echoed() {
    let mut lab = Lab::new();
    lab.defaults = lab
        .defaults
        .replace("password = { env = \"LAB_PASSWORD\" }\n", "");
    lab.add_switch("sw1", &[]).await;
    let command = lab.blocking_command(&["facts", "sw1", "--ask-password"]);
    let output = tokio::task::spawn_blocking(move || {
        let mut terminal = PseudoTerminal::start(&command);
        let printed = terminal.wait_for("Password of ");
        assert_eq!(printed.matches("Password of ").count(), 1);
        terminal.write(&format!("{PASSWORD}\n"));
        terminal.end()
    });
    let (code, output) = output.await.unwrap();
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("operatingsystem"), "{output}");
    assert!(!output.contains(PASSWORD), "{output}");
}
