//! `switchtender report`: stored reports as text.

use std::path::Path;

use serde_json::json;
use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;
use test_support::program::{self, ProgramOutput};

fn report(lab: &Lab, arguments: &[&str]) -> ProgramOutput {
    let state = lab.path("state").display().to_string();
    program::run(&[&["report", "--state-dir", &state], arguments].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn report_of_a_device_has_events_commands_and_answers() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["refuse=^name two => % Bad VLAN name"])
        .await;
    lab.add_switch("sw2", &[]).await;
    let after = json!({"id": "30", "vlan_name": "three", "require": "Network_vlan[20]"});
    let vlans = [
        vlan(10, "one"),
        vlan(20, "two"),
        resource("Network_vlan", "30", after),
    ];
    lab.write_resources("sw1", &vlans);
    lab.write_resources("sw2", &vlans[..1]);
    lab.apply().await;

    let printed = report(&lab, &["sw1"]);
    printed.assert_code(0);
    for expected in [
        ": failed, ",
        "  Network_vlan[10]  (/manifests/site.pp:1)\n    created\n    > vlan 10\n    >  name one\n",
        "    >  name two\n      refused\n      | % Bad VLAN name\n",
        "  Network_vlan[30]  (/manifests/site.pp:3)\n    skipped: ",
        "  configuration difference, of what was read again after the changes:\n",
        "\n  +vlan 10\n  + name one\n",
        "3 resources: 1 changed, 1 failed, 1 skipped\n",
    ] {
        assert!(
            printed.stdout.contains(expected),
            "{expected}: {}",
            printed.stdout
        );
    }
    for absent in ["Filebucket", "+ name two"] {
        assert!(!printed.stdout.contains(absent), "{}", printed.stdout);
    }

    let overview = report(&lab, &[]);
    overview.assert_code(0);
    let rows: Vec<Vec<&str>> = overview
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[0],
        ["Device", "Status", "Time", "Changed", "Failed", "Skipped"]
    );
    let counts = |row: &[&'static str]| row.to_vec();
    for (row, (first, last)) in rows[1..].iter().zip([
        (["sw1", "failed"], counts(&["1", "1", "1"])),
        (["sw2", "changed"], counts(&["1", "0", "0"])),
    ]) {
        assert_eq!((&row[..2], &row[3..]), (&first[..], &last[..]));
    }

    assert!(
        overview
            .stdout
            .ends_with("\n2 devices: 1 changed, 1 failed\n"),
        "{}",
        overview.stdout
    );
    lab.configure("sw2", "labels = { role = \"access\" }");
    // Writes the inventory.
    drop(lab.blocking_command(&["inventory", "show"]));
    let inventory = lab.path("inventory.toml").display().to_string();
    let all = "2 devices: 1 changed, 1 failed";
    let one = "1 device: 1 changed";
    for (selection, listed, totals) in [
        (&["--only", "failed"][..], "sw1", all),
        (&["--only", "changed"], "sw2", all),
        (
            &["--target", "sw[2-9]", "--inventory", &inventory],
            "sw2",
            one,
        ),
        (&["--label", "role=access", "-i", &inventory], "sw2", one),
    ] {
        let selected = report(&lab, selection);
        selected.assert_code(0);
        let lines: Vec<&str> = selected.stdout.lines().collect();
        assert_eq!(lines.len(), 4, "{selection:?}: {lines:?}");
        assert!(lines[1].starts_with(listed), "{selection:?}: {lines:?}");
        assert_eq!(lines[3], totals, "{selection:?}");
    }
    let totals = report(&lab, &["--quiet"]);
    totals.assert_code(0);
    assert_eq!(totals.stdout, "2 devices: 1 changed, 1 failed\n");

    let newest = report(&lab, &["--last"]);
    newest.assert_code(0);
    assert!(newest.stdout.contains(" changed, "), "{}", newest.stdout);
}

/// A device that could not be connected is `unreachable`, as in the summary of the run.
#[tokio::test(flavor = "multi_thread")]
async fn report_has_the_words_of_the_run() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    // Nothing listens on this port.
    lab.add_device("sw2", "cisco_ios", 1, None);
    for name in ["sw1", "sw2"] {
        lab.write_resources(name, &[vlan(10, "one")]);
    }
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains("\n2 devices: 1 changed, 1 unreachable in ");
    let overview = report(&lab, &[]);
    overview.assert_contains("\nsw2     unreachable ");
    overview.assert_contains("\n2 devices: 1 changed, 1 unreachable\n");
    report(&lab, &["sw2"]).assert_contains("sw2.lab.test: unreachable, ");
    report(&lab, &["sw1"]).assert_contains("\n1 resource: 1 changed, 0 failed, 0 skipped\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn report_errors_name_directory_and_suggestion() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(10, "one")]);
    lab.apply().await.assert_code(2);
    let unknown = report(&lab, &["sw2"]);
    unknown.assert_code(1);
    assert!(
        unknown.stderr.contains("has no report of `sw2`"),
        "{}",
        unknown.stderr
    );
    assert!(
        unknown.stderr.contains("did you mean `sw1`?"),
        "{}",
        unknown.stderr
    );

    let file = lab.path("broken.json");
    std::fs::write(&file, "{\"host\": ").unwrap();
    let broken = program::run(&["report", "--file", &file.display().to_string()]);
    broken.assert_code(1);
    assert!(
        broken.stderr.contains("cannot read the report "),
        "{}",
        broken.stderr
    );

    let missing = program::run(&["report", "--state-dir", "/nonexistent"]);
    missing.assert_code(1);
    assert!(missing.stderr.contains("--state-dir"), "{}", missing.stderr);
    assert!(!Path::new("/nonexistent").exists());
}

/// A device that is not in the inventory, such as one of `--device`, is not in the totals.
#[tokio::test(flavor = "multi_thread")]
async fn report_names_devices_that_are_not_in_the_inventory() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &[]).await;
        lab.write_resources(name, &[vlan(10, "one")]);
    }
    lab.apply().await;
    lab.devices.remove("sw2");
    let inventory = lab.path("inventory.toml").display().to_string();
    // The inventory is written with each run.
    lab.run(&["plan", "--target", "sw1"]).await.assert_code(0);
    let overview = report(&lab, &["--inventory", &inventory]);
    overview.assert_code(0);
    overview.assert_contains("\n1 device: 1 changed\n");
    overview.assert_contains(": sw2; `switchtender state-dir prune` removes their state\n");
    let without = report(&lab, &["--inventory", "missing.toml"]);
    without.assert_contains("\n2 devices: 2 changed\n");
}
