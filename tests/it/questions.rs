//! Questions on a terminal: the one of `apply` before devices are changed, and passwords.

use serde_json::json;
use test_support::lab::{ENABLE, Lab, PASSWORD};
use test_support::pseudo_terminal::PseudoTerminal;
use tokio::task::block_in_place;

/// A lab with switches, and a catalog with a VLAN for each.
async fn lab(names: &[&str]) -> Lab {
    let mut lab = Lab::new();
    for name in names {
        lab.add_switch(name, &[]).await;
        lab.write_resources(name, &[vlan("users")]);
    }
    lab
}

fn vlan(name: &str) -> serde_json::Value {
    json!({"type": "Network_vlan", "title": "40", "parameters": {"vlan_name": name}})
}

/// The name of the VLAN of the catalogs; empty if it does not exist.
fn name_of_vlan(lab: &Lab, switch: &str) -> String {
    let mut vlans = lab.switches[switch].vlans().into_iter();
    let found = vlans.find(|(number, ..)| *number == 40);
    found.map_or_else(String::new, |(_, name, _)| name)
}

fn apply(lab: &Lab, more: &[&str]) -> PseudoTerminal {
    PseudoTerminal::start(&lab.blocking_command(&[&["apply"], more].concat()))
}

/// The rest of the output of a run that is answered with this text at the end of its question.
fn answered(mut terminal: PseudoTerminal, question: &str, answer: &str) -> (String, i32, String) {
    let planned = terminal.wait_for(question);
    terminal.write(answer);
    let (code, output) = terminal.end();
    (planned, code.expect("it exits"), output)
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_shows_the_plan_asks_and_uses_what_it_has_read() {
    let lab = lab(&["sw1"]).await;
    let (planned, code, output) = block_in_place(|| {
        let terminal = apply(&lab, &[]);
        answered(terminal, "Apply 1 change to 1 device? [y/N] ", "yes\n")
    });
    assert!(planned.contains("> vlan 40"), "{planned}");
    assert!(planned.contains("configuration difference:"), "{planned}");
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("Network_vlan[40]"), "{output}");
    assert!(!output.contains("configuration difference:"), "{output}");
    let log = lab.log("sw1");
    assert_eq!(log.configuration_lines(), ["vlan 40", "name users"]);
    assert_eq!(log.connections(), 1);
    let reads = log.received().into_iter();
    let vlans = reads.filter(|line| line.starts_with("show vlan"));
    // Before the change, and for the verification after it.
    assert_eq!(vlans.count(), 2, "{:?}", log.received());
}

#[tokio::test(flavor = "multi_thread")]
async fn other_answers_change_and_store_nothing() {
    let lab = lab(&["sw1", "sw2"]).await;
    for answer in ["\n", "n\n", "apply\n", "\u{4}", "\u{3}"] {
        let (_, code, output) = block_in_place(|| {
            let terminal = apply(&lab, &["--report", "reports"]);
            answered(terminal, "Apply 2 changes to 2 devices? [y/N] ", answer)
        });
        assert_eq!(code, 1, "{answer:?}: {output}");
        assert!(
            output.contains("nothing was changed"),
            "{answer:?}: {output}"
        );
        assert!(!output.contains("Status"), "{answer:?}: {output}");
        assert_eq!(lab.files("reports"), []);
        let stored = lab.files("state").into_iter();
        let runs = stored.filter(|(path, _)| path.to_string_lossy().contains("last_run"));
        assert_eq!(runs.count(), 0);
        for name in ["sw1", "sw2"] {
            assert_eq!(lab.log(name).configuration_lines(), [""; 0]);
        }
    }
}

/// A device that cannot be planned does not keep the others waiting, and is in the result.
#[tokio::test(flavor = "multi_thread")]
async fn one_answer_counts_for_all_devices_that_were_planned() {
    let mut lab = lab(&["sw1", "sw2", "sw4"]).await;
    lab.add_device("sw3", "cisco_ios", 1, None);
    lab.write_resources("sw3", &[vlan("users")]);
    lab.configure("sw2", "after = [\"sw4\"]");
    let (code, planned, output) = block_in_place(|| {
        let mut terminal = apply(&lab, &[]);
        let planned = terminal.wait_for("Apply 2 changes to 2 devices? [y/N] ");
        terminal.write("y\n");
        // It comes after another device, and is planned then.
        terminal.wait_for("Apply 1 change to 1 device? [y/N] ");
        terminal.write("y\n");
        let (code, output) = terminal.end();
        (code, planned, output)
    });
    assert!(planned.contains("cannot connect to "), "{planned}");
    assert_eq!(code, Some(1), "{output}");
    for name in ["sw1", "sw2", "sw4"] {
        assert_eq!(name_of_vlan(&lab, name), "users", "{output}");
    }
    assert!(output.contains(": sw3: cannot connect to "), "{output}");
}

/// More devices than may run at once: they do not stay connected, and are read again before they are changed.
#[tokio::test(flavor = "multi_thread")]
async fn device_that_changed_during_the_question_is_refused() {
    let lab = lab(&["sw1", "sw2"]).await;
    let mut other = Lab::new();
    other.devices = lab.devices.clone();
    other.write_resources("sw1", &[vlan("guests")]);
    let (code, output) = block_in_place(|| {
        let mut terminal = apply(&lab, &["--concurrency", "1"]);
        terminal.wait_for("Apply 2 changes to 2 devices? [y/N] ");
        let arguments = ["apply", "--target", "sw1"];
        other.run_blocking(&arguments).assert_code(0);
        terminal.write("y\n");
        terminal.end()
    });
    assert_eq!(code, Some(1), "{output}");
    assert!(
        output.contains("nothing was changed: the run differs from the plan"),
        "{output}"
    );
    assert!(
        output.contains("the device changed while the plan was shown: apply again"),
        "{output}"
    );
    assert_eq!(name_of_vlan(&lab, "sw1"), "guests");
    assert_eq!(name_of_vlan(&lab, "sw2"), "users");
}

/// Somebody removes the locks of a run that waits, and another run changes the device.
#[tokio::test(flavor = "multi_thread")]
async fn run_that_lost_its_locks_writes_nothing() {
    let lab = lab(&["sw1"]).await;
    let mut other = Lab::new();
    other.devices = lab.devices.clone();
    other.write_resources("sw1", &[vlan("guests")]);
    std::os::unix::fs::symlink(lab.path("state"), other.path("state")).unwrap();
    let (code, output) = block_in_place(|| {
        let mut terminal = apply(&lab, &[]);
        terminal.wait_for("Apply 1 change to 1 device? [y/N] ");
        let arguments = ["apply", "--target", "sw1"];
        let locked = other.run_blocking(&arguments);
        locked.assert_code(1);
        assert!(
            locked.stdout.contains("another run has locked"),
            "{}",
            locked.stdout
        );
        std::fs::remove_dir_all(lab.path("state/locks")).unwrap();
        other.run_blocking(&arguments).assert_code(0);
        terminal.write("y\n");
        terminal.end()
    });
    assert_eq!(code, Some(1), "{output}");
    assert!(
        output.contains("cannot send `configure terminal`: the lock "),
        "{output}"
    );
    assert!(
        output.contains("was removed, so another process may change the device"),
        "{output}"
    );
    assert_eq!(name_of_vlan(&lab, "sw1"), "guests");
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(lines, ["vlan 40", "name guests"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_are_confirmed_one_by_one_or_all_together() {
    for (answers, changed) in [(["y\n", "n\n"], 1), (["y\n", "all\n"], 3)] {
        let lab = lab(&["sw1", "sw2", "sw3"]).await;
        let (code, output) = block_in_place(|| {
            let mut terminal = apply(&lab, &["--batch", "1"]);
            for (number, answer) in answers.iter().enumerate() {
                let batch = number + 1;
                terminal.wait_for(&format!(
                    "Apply batch {batch} of 3: 1 change to 1 device? [y/N/a: all batches] "
                ));
                terminal.write(answer);
            }
            terminal.end()
        });
        assert_eq!(code, Some(i32::from(changed < 3)), "{output}");
        let changes = lab.switches.keys();
        let changes = changes.filter(|name| name_of_vlan(&lab, name) == "users");
        assert_eq!(changes.count(), changed, "{output}");
        let stopped = "the rollout stopped: a batch was not confirmed";
        assert_eq!(output.contains(stopped), changed < 3, "{output}");
        assert_eq!(output.contains("--resume "), changed < 3, "{output}");
    }
}

/// Each condition under which nothing is asked, also that nothing would change.
#[tokio::test(flavor = "multi_thread")]
async fn apply_does_not_ask_without_need() {
    let lab = lab(&["sw1"]).await;
    lab.run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    for (arguments, expected) in [
        (&["--noop"] as &[&str], "pending"),
        (&["--mock"], "changed"),
        (&["change.plan"], "changed"),
        (&[], "unchanged"),
    ] {
        let (code, output) = block_in_place(|| apply(&lab, arguments).end());
        assert_eq!(code, Some(0), "{output}");
        assert!(!output.contains("[y/N]"), "{arguments:?}: {output}");
        assert!(output.contains(expected), "{arguments:?}: {output}");
    }
    std::fs::write(lab.path("switchtender.toml"), "[apply]\nconfirm = false\n").unwrap();
    for (name, arguments) in [
        ("offices", &[] as &[&str]),
        ("guests", &["--output", "json"]),
    ] {
        lab.write_resources("sw1", &[vlan(name)]);
        let (code, output) = block_in_place(|| apply(&lab, arguments).end());
        assert_eq!(code, Some(0), "{output}");
        assert!(!output.contains("[y/N]"), "{output}");
        assert_eq!(name_of_vlan(&lab, "sw1"), name, "{output}");
    }
    std::fs::remove_file(lab.path("switchtender.toml")).unwrap();
    for (name, arguments) in [
        ("yes", &["--yes"] as &[&str]),
        ("json", &["--output", "json"]),
    ] {
        lab.write_resources("sw1", &[vlan(name)]);
        let (code, output) = block_in_place(|| apply(&lab, arguments).end());
        assert_eq!(code, Some(0), "{output}");
        assert!(!output.contains("[y/N]"), "{output}");
        assert_eq!(name_of_vlan(&lab, "sw1"), name, "{output}");
    }
    // Without a terminal, automation has decided.
    lab.write_resources("sw1", &[vlan("last")]);
    lab.run(&["apply"]).await.assert_code(0);
    assert_eq!(name_of_vlan(&lab, "sw1"), "last");
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
        lab.blocking_command(&[&arguments[..], &["--fingerprint", &fingerprint, "--yes"]].concat()),
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
