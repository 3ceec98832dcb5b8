//! `apply --check-idempotence`: that the second run finds nothing to do, and what counts as something.

use serde_json::json;

use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;
use test_support::program::ProgramOutput;

/// The cells of a device's row in the last table.
#[track_caller]
fn row<'a>(ran: &'a ProgramOutput, device: &str) -> Vec<&'a str> {
    let mut rows = ran.stdout.lines().filter(|line| {
        let mut cells = line.split_whitespace();
        let status = cells.clone().nth(1).unwrap_or_default();
        cells.next() == Some(device) && ["pending", "changed"].contains(&status)
    });
    let row = rows.next_back();
    row.unwrap_or_else(|| panic!("no row of {device}:\n{}", ran.text()))
        .split_whitespace()
        .collect()
}

/// How many tables were shown: one per run.
fn runs(ran: &ProgramOutput) -> usize {
    let heads = ran.stdout.lines();
    heads.filter(|line| line.starts_with("Device ")).count()
}

const FAILED: &str = "idempotence check failed: the second run had";

#[tokio::test(flavor = "multi_thread")]
async fn twice_ignores_noop_resources_and_notify() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let mut noop = vlan(10, "users");
    noop["parameters"]["noop"] = json!(true);
    let greeting = resource("Notify", "greeting", json!({ "message": "hello" }));
    lab.write_resources("sw1", &[noop, vlan(20, "voice"), greeting]);
    let ran = lab.run(&["apply", "--check-idempotence"]).await;
    ran.assert_code(0);
    assert!(!ran.text().contains(FAILED), "{}", ran.text());
    assert_eq!(runs(&ran), 2);
    // The notify speaks again, and the noop VLAN is still not there.
    assert_eq!(ran.stdout.matches("hello").count(), 4, "{}", ran.stdout);
    assert!(lab.switches["sw1"].vlans().iter().all(|row| row.0 != 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_reports_the_operations_that_were_sent() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let mut noop = vlan(10, "users");
    noop["parameters"]["noop"] = json!(true);
    lab.write_resources("sw1", &[noop, vlan(20, "voice")]);

    // `vlan 20`, ` name voice`; and as many for the other.
    let ran = lab.run(&["plan"]).await;
    ran.assert_contains("Commands");
    assert_eq!(row(&ran, "sw1")[1..7], ["pending", "2", "2", "0", "0", "4"]);
    let ran = lab.run(&["apply", "--noop"]).await;
    ran.assert_contains("Commands");
    assert_eq!(row(&ran, "sw1")[1..7], ["pending", "2", "2", "0", "0", "4"]);
    let ran = lab.run(&["apply"]).await;
    ran.assert_contains("Commands");
    assert_eq!(row(&ran, "sw1")[1..7], ["changed", "2", "1", "0", "0", "2"]);
    let counts = lab.apply().await.device("sw1")["counts"].clone();
    assert_eq!(counts["operations"], 0);
    assert_eq!(counts["to_send"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_finds_changes_that_do_not_persist() {
    for fault in ["lost-write=^name voice", "refuse=^name voice"] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[fault]).await;
        lab.add_switch("sw2", &[]).await;
        for name in ["sw1", "sw2"] {
            lab.write_resources(name, &[vlan(20, "voice")]);
        }
        let ran = lab.run(&["apply", "--check-idempotence"]).await;
        ran.assert_code(1);
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            format!("error: {FAILED} changes or failures on sw1"),
            "{fault}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_skips_devices_that_failed_to_run() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &[]).await;
    }
    lab.write_resources("sw1", &[vlan(20, "voice")]);
    let wrong = resource("Network_vlan", "20", json!({ "vlan_nam": "voice" }));
    lab.write_resources("sw2", &[wrong]);
    let ran = lab
        .run(&["apply", "--check-idempotence", "--keep-going"])
        .await;
    ran.assert_code(1);
    assert_eq!(runs(&ran), 2);
    assert_eq!(
        ran.text()
            .matches("sw2: Error: the catalog was refused: it has 1 error")
            .count(),
        1
    );
    assert!(!ran.text().contains(FAILED), "{}", ran.text());

    // Where none could run there is no second run at all.
    let ran = lab
        .run(&["apply", "--check-idempotence", "--target", "sw2"])
        .await;
    ran.assert_code(1);
    assert_eq!(runs(&ran), 1);
    assert!(!ran.text().contains(FAILED), "{}", ran.text());
}
