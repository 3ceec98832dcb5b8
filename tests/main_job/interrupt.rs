//! Ctrl-C: the resource at hand is finished, the configuration mode left, the state kept.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use crate::lab::{Lab, PLANTED, Ran, vlan};

/// Waits until one of the devices was told a line.
async fn told(lab: &Lab, line: &str) {
    let was_told = |name: &String| lab.log(name).received().iter().any(|told| told == line);
    let told = async {
        while !lab.switches.keys().any(was_told) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told)
        .await
        .unwrap_or_else(|_| panic!("no device was ever told `{line}`"));
}

fn send(child: &Child, signal: &str) {
    let id = child.id().expect("it runs").to_string();
    let sent = std::process::Command::new("kill")
        .args([signal, &id])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Starts an apply, interrupts it when the device was told a line, and waits for the end.
async fn interrupted_at(lab: &Lab, line: &str, signal: &str) -> Ran {
    let detailed = ["apply", "--output", "json", "--detailed-exitcodes"];
    let mut command = lab.command(&detailed);
    let child = command.args(["--report", "reports"]).spawn().unwrap();
    told(lab, line).await;
    send(&child, signal);
    let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output())
        .await
        .expect("it ends soon after it was asked to");
    let ran = Ran::from(output.unwrap());
    ran.keeps_secrets();
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_is_finished_and_the_way_out_is_taken() {
    for signal in ["-INT", "-TERM"] {
        let mut lab = Lab::new();
        // Slow enough that the end is far when the signal comes; nothing waits for it.
        lab.switch("sw1", &["latency=25ms"]).await;
        let wanted: Vec<_> = (100..200).map(|number| vlan(number, "made")).collect();
        lab.wants("sw1", &wanted);
        let ran = interrupted_at(&lab, "vlan 105", signal).await;
        ran.ends_with(1);
        ran.says("interrupted: resources under way are finished");

        let lines = lab.log("sw1").configuration_lines();
        assert!(lines.len() < 200, "{signal}: it was not stopped");
        let received = lab.log("sw1").received();
        let left = received.iter().rposition(|line| line == "end");
        let last = received
            .iter()
            .rposition(|line| line == lines.last().unwrap());
        assert!(left > last, "{signal}: {received:?}");
        assert_eq!(received.last().unwrap(), "exit", "{signal}");

        // The events tell of exactly what the device has; the one at hand, which is of two lines,
        // was finished.
        let vlans = lab.switches["sw1"].vlans();
        let made: Vec<u16> = vlans
            .iter()
            .filter(|row| row.1 == "made")
            .map(|row| row.0)
            .collect();
        let told = ran.events("sw1");
        let succeeded: Vec<u16> = told
            .iter()
            .filter_map(|told| told.split_once("]/ensure: success: "))
            .map(|(reference, _)| reference["Network_vlan[".len()..].parse().unwrap())
            .collect();
        assert_eq!(succeeded, made, "{signal}: {told:?}");
        assert_eq!(told.len(), made.len(), "{signal}: {told:?}");
        assert_eq!(lines.len(), 2 * made.len(), "{signal}: {lines:?}");
        assert!(made.contains(&105), "{signal}: {made:?}");
        let skipped = ran.resource("sw1", "Network_vlan[199]");
        assert_eq!(skipped["skipped"], true, "{signal}");
        assert_eq!(ran.device("sw1")["tally"]["skipped"], 100 - made.len());
        let [(_, report)] = &lab.files("reports")[..] else {
            panic!("{signal}: one report for one device");
        };
        let report: serde_json::Value = serde_json::from_str(report).unwrap();
        let statuses = report["resource_statuses"].as_object().unwrap();
        let skipped = statuses.iter().filter(|(reference, status)| {
            reference.starts_with("Network_vlan[") && status["skipped"] == true
        });
        assert_eq!(skipped.count(), 100 - made.len(), "{signal}");
        assert!(
            lab.files("state")
                .iter()
                .any(|(path, _)| path.ends_with("memory.json"))
        );
        for (_, text) in lab.files("state") {
            assert!(!text.contains(PLANTED));
        }

        // The next run does the rest.
        let begun = made.len();
        let ran = lab.apply().await;
        ran.ends_with(2);
        assert_eq!(ran.device("sw1")["tally"]["changed"], 100 - begun);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_that_have_not_begun_are_told_as_not_run() {
    let mut lab = Lab::new();
    let wanted: Vec<_> = (100..200).map(|number| vlan(number, "made")).collect();
    for name in ["sw1", "sw2"] {
        lab.switch(name, &["latency=25ms"]).await;
        lab.wants(name, &wanted);
    }
    // One at a time: which of them is first is nobody's business.
    lab.preamble = format!("[limits]\nconcurrency = 1\n{}", lab.preamble);
    let ran = interrupted_at(&lab, "vlan 102", "-INT").await;
    ran.ends_with(1);
    let waiting: Vec<&String> = lab
        .switches
        .keys()
        .filter(|name| lab.log(name).connections() == 0)
        .collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(ran.device(waiting[0])["status"], "not run");
}

/// Whoever does not want to wait for a device that says nothing asks twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_interrupt_ends_at_once() {
    let mut lab = Lab::new();
    lab.switch("sw1", &["stall-after=^name made"]).await;
    lab.wants("sw1", &[vlan(100, "made")]);
    lab.preamble = lab
        .preamble
        .replacen("[defaults]", "[defaults]\ncommand_timeout = \"10m\"", 1);
    let mut child = lab.command(&["apply"]).spawn().unwrap();
    told(&lab, "name made").await;
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    send(&child, "-INT");
    let ended = async {
        let line = said.next_line().await.unwrap().unwrap();
        assert!(line.ends_with("once more ends at once"), "{line}");
        send(&child, "-INT");
        child.wait().await.unwrap()
    };
    let status = tokio::time::timeout(Duration::from_secs(60), ended).await;
    assert_eq!(status.expect("it ends").code(), Some(130));
}
