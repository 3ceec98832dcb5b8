//! Two processes that change one device at once: the second is refused, or ends the first. Lines of both are never
//! mixed.

mod rest;

use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::{ExchangeLog, GrammarSwitch, GrammarSwitchOptions, RunningGrammarSwitch};
use test_support::catalog::{resource, vlan};
use test_support::interrupt;
use test_support::lab::{Lab, PASSWORD, parsed, switch_options};
use test_support::program::{self, ProgramOutput};
use tokio::process::{Child, Command};

/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(60);
/// The state directories of the two processes.
const FIRST: &str = "state";
const SECOND: &str = "second-state";

fn vlans(name: &str) -> Vec<Value> {
    (100..106).map(|number| vlan(number, name)).collect()
}

fn command(lab: &Lab, state: &str) -> Command {
    lab.write_inventory();
    let mut command = Command::from(program::switchtender(&[
        "apply",
        "--output",
        "json",
        "--detailed-exitcodes",
    ]));
    command
        .arg("--inventory")
        .arg(lab.path("inventory.toml"))
        .arg("--catalog")
        .arg(lab.path("catalogs"))
        .arg("--state-dir")
        .arg(lab.path(state))
        .envs(&lab.environment)
        .env_remove("SSH_AUTH_SOCK")
        .env("HOME", lab.path(""))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true);
    command
}

async fn apply(lab: &Lab, state: &str) -> ProgramOutput {
    let output = command(lab, state).output();
    let output = tokio::time::timeout(LIMIT, output).await.expect("it ends");
    ProgramOutput::from(output.expect("it starts"))
}

/// Starts the first process and waits until the device has received a line.
async fn start(lab: &Lab, log: &ExchangeLog, line: &str) -> Child {
    let child = command(lab, FIRST).spawn().expect("it starts");
    let received = async {
        while !log
            .received()
            .iter()
            .any(|received| received.starts_with(line))
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(LIMIT, received).await;
    in_time.unwrap_or_else(|_| panic!("no {line}: {:?}", log.received()));
    child
}

/// What the first process has recorded, as the second process reads it in a shared store.
fn share_record(lab: &Lab, device: &str) {
    let file = format!("devices/{device}/sessions.json");
    let (from, to) = (lab.path(FIRST).join(&file), lab.path(SECOND).join(&file));
    std::fs::create_dir_all(to.parent().expect("a directory")).expect("made");
    std::fs::copy(from, to).expect("the first process has recorded its session");
}

/// The connections in the order of their lines in configuration modes, each once in succession.
fn writers(log: &ExchangeLog) -> Vec<u64> {
    let exchanges = log.exchanges().into_iter();
    let lines = exchanges.filter(|exchange| exchange.mode.starts_with("config"));
    let mut writers: Vec<u64> = lines.map(|exchange| exchange.connection).collect();
    writers.dedup();
    writers
}

async fn nexus(lab: &mut Lab, faults: &[&str]) -> RunningGrammarSwitch {
    let mut options = GrammarSwitchOptions::new("cisco_nxos", "n9k");
    options.user = "ops".to_owned();
    options.password = PASSWORD.to_owned();
    options.faults = parsed(faults);
    let switch = GrammarSwitch::start(options, 0).await.expect("started");
    let pin = switch.host_key().fingerprint;
    lab.add_device("n9k", "cisco_nxos", switch.address().port(), Some(&pin));
    lab.write_resources("n9k", &vlans("first"));
    switch
}

#[tokio::test(flavor = "multi_thread")]
async fn locked_configuration_refuses_the_second_process_and_names_the_first() {
    let mut lab = Lab::new();
    let mut options = switch_options("sw1");
    options.config = Some("configuration mode exclusive auto\n".to_owned());
    options.faults = parsed(&["stall-after=^vlan 103"]);
    lab.add_switch_with(options).await;
    lab.write_resources("sw1", &vlans("first"));
    let mut first = start(&lab, lab.log("sw1"), "vlan 103").await;
    lab.write_resources("sw1", &vlans("second"));
    let second = apply(&lab, SECOND).await;
    second.assert_contains(
        "the configuration is locked by user 'ops' process '81' from terminal '1'",
    );
    assert_eq!(writers(lab.log("sw1")), [1], "{}", second.text());
    assert_eq!(second.device("sw1")["ended_sessions"], 0);
    first.kill().await.expect("it runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn second_process_ends_the_session_of_the_first() {
    for platform in ["cisco_ios", "cisco_nxos"] {
        let mut lab = Lab::new();
        let faults = ["latency=100ms"];
        let (device, nexus) = if platform == "cisco_ios" {
            lab.add_switch("sw1", &faults).await;
            lab.write_resources("sw1", &vlans("first"));
            ("sw1", None)
        } else {
            ("n9k", Some(nexus(&mut lab, &faults).await))
        };
        let log = nexus
            .as_ref()
            .map_or_else(|| lab.log(device), |switch| switch.log());
        let first = start(&lab, log, "vlan 101").await;
        interrupt::send(first.id().expect("it runs"), "-STOP");
        share_record(&lab, device);
        lab.write_resources(device, &vlans("second"));
        let second = apply(&lab, SECOND).await;
        second.assert_code(2);
        second.assert_contains("ended an earlier session ");
        assert_eq!(second.device(device)["ended_sessions"], 1);
        // What the first process sends now finds no session.
        interrupt::send(first.id().expect("it runs"), "-CONT");
        let ended = first.wait_with_output();
        let ended = tokio::time::timeout(LIMIT, ended).await.expect("it ends");
        let first = ProgramOutput::from(ended.expect("an output"));
        assert_ne!(first.code, Some(2), "{platform}: {}", first.text());
        assert_eq!(writers(log), [1, 2], "{platform}: {}", first.text());
        if let Some(switch) = lab.switches.get(device) {
            let mut names = switch
                .vlans()
                .into_iter()
                .filter(|(number, ..)| (100..106).contains(number));
            assert!(
                names.all(|(_, name, _)| name == "second"),
                "{:?}",
                switch.vlans()
            );
        }
    }
}

/// A process is killed in mid-change, and its device does not notice that the peer has vanished.
#[tokio::test(flavor = "multi_thread")]
async fn run_after_a_crash_ends_the_recorded_session_and_no_other() {
    for ends_all in [false, true] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &["stall-after=^vlan 103"]).await;
        lab.configure("sw1", &format!("end_sessions = {ends_all}"));
        lab.write_resources("sw1", &vlans("first"));
        let switch = &lab.switches["sw1"];
        switch.keep_lost_sessions();
        let of_somebody = switch.add_session("ops");
        let of_mary = switch.add_session("mary");
        let mut first = start(&lab, switch.log(), "vlan 103").await;
        first.kill().await.expect("it runs");
        assert_eq!(switch.sessions().len(), 3);
        let second = apply(&lab, FIRST).await;
        second.assert_code(2);
        second.assert_contains(
            "ended an earlier session 3 of ops (127.0.0.1) before the first write",
        );
        let left: Vec<u64> = switch
            .sessions()
            .into_iter()
            .map(|(number, _)| number)
            .collect();
        let expected = if ends_all {
            vec![of_mary]
        } else {
            vec![of_somebody, of_mary]
        };
        assert_eq!(left, expected, "{}", second.text());
        assert_eq!(writers(switch.log()), [1, 2]);
        let third = apply(&lab, FIRST).await;
        third.assert_code(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_after_a_crash_ends_the_session_of_a_terminal() {
    let mut lab = Lab::new();
    let switch = nexus(&mut lab, &["stall-after=^vlan 103"]).await;
    switch.keep_lost_sessions();
    let mut first = start(&lab, switch.log(), "vlan 102").await;
    first.kill().await.expect("it runs");
    switch.clear_faults();
    let second = apply(&lab, FIRST).await;
    second.assert_code(2);
    second.assert_contains("ended an earlier session pts/0 of ops (2400) before the first write");
    assert_eq!(switch.sessions(), []);
}

fn ethernets() -> Vec<Value> {
    let desired = json!({"ensure": "present", "type": "iana-if-type:ethernetCsmacd"});
    let names = ["eth1", "eth2"];
    names
        .map(|name| resource("Ietf_interface", name, desired.clone()))
        .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn lock_of_the_first_process_refuses_the_second_or_is_ended_with_it() {
    let mut lab = Lab::new();
    lab.add_netconf_server("nc1", &["stall-after=^<edit-config>"])
        .await;
    lab.write_resources("nc1", &ethernets());
    let server = &lab.netconf_servers["nc1"];
    server.keep_lost_sessions();
    let mut first = start(&lab, server.log(), "<edit-config>").await;
    // Without the record of the first process.
    let second = apply(&lab, SECOND).await;
    second.assert_code(4);
    second.assert_contains("session 1 has the lock");
    assert!(!server.running_config().contains("eth1"));
    first.kill().await.expect("it runs");
    // With it, after the crash.
    let third = apply(&lab, FIRST).await;
    third.assert_code(2);
    third.assert_contains("ended an earlier session 1 of ops before the first write");
    assert!(server.running_config().contains("eth2"));
}

/// A REST interface has neither sessions nor a lock: each request is complete, and the next run converges.
#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_killed_process_are_complete_or_absent() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &["stall-after=^POST /mgmt/tm/ltm/pool"])
        .await;
    let pools = ["/Common/a", "/Common/b"];
    let pools = pools.map(|name| resource("F5_pool", name, json!({"ensure": "present"})));
    lab.write_resources("lb1", &pools);
    let mut first = start(&lab, lab.log("lb1"), "POST /mgmt/tm/ltm/pool").await;
    first.kill().await.expect("it runs");
    let second = apply(&lab, FIRST).await;
    second.assert_code(2);
    let third = apply(&lab, FIRST).await;
    third.assert_code(0);
}
