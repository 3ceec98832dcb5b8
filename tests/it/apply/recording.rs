//! Recordings: what a run exchanged with its devices, read again without them.

use std::process::Stdio;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::{resource, sensitive, vlan};
use test_support::lab::{Lab, PASSWORD, parsed, switch_options};
use test_support::program::ProgramOutput;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Changes of the switch without a secret.
fn public() -> Vec<Value> {
    let port = json!({"enable": true, "description": "new"});
    vec![
        vlan(10, "first"),
        vlan(20, "refused"),
        resource("Network_interface", "GigabitEthernet1/0/1", port),
    ]
}

/// A switch and a load balancer with changes to make, one with a secret.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some("interface GigabitEthernet1/0/1\n description old\n".to_owned()),
        vlans: vec![(10, "one".to_owned())],
        faults: parsed(&["refuse=^name refused$ => % Invalid input"]),
        ..switch_options("sw1")
    })
    .await;
    lab.add_load_balancer("lb1", &[]).await;
    let key =
        json!({"ensure": "present", "algorithm": "md5", "mode": "0", "password": "s3cret-ntp"});
    let key = sensitive(resource("Ntp_auth_key", "42", key), &["password"]);
    lab.write_resources("sw1", &[public(), vec![key]].concat());
    let user = json!({"ensure": "present", "password": "s3cret-joe"});
    lab.write_resources(
        "lb1",
        &[
            resource("F5_ntp", "/Common/ntp", json!({"timezone": "UTC"})),
            sensitive(resource("F5_user", "joe", user), &["password"]),
        ],
    );
    lab
}

/// The changes of both devices in a plan.
async fn changes(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let planned = lab
        .run(&[&["plan", "--output", "json"], arguments].concat())
        .await;
    let events = ["sw1", "lb1"].map(|device| planned.events(device));
    assert!(
        events.iter().all(|events| !events.is_empty()),
        "{}",
        planned.text()
    );
    events.concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_of_an_apply_is_planned_offline() {
    let lab = lab().await;
    let planned = changes(&lab, &[]).await;
    let ran = lab.run(&["apply", "--record", "seen"]).await;
    let recordings = lab.files("seen");
    let names = recordings.iter().map(|(path, _)| path.file_name().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["lb1.recording", "sw1.recording"]
    );
    for (path, text) in &recordings {
        assert!(!text.contains("s3cret"), "{}: {text}", path.display());
    }
    let [(_, balancer), (_, switch)] = &recordings[..] else {
        panic!("{recordings:?}");
    };
    assert!(
        switch
            .starts_with("switchtender recording 1: cisco_ios\n\nread version\n> show version\n< ")
    );
    for part in [
        "\nwrite\n> vlan 10\n>  name first\n= done\n",
        "\nwrite\n> interface GigabitEthernet1/0/1\n>  description new\n= done\n",
        "\nwrite\n> vlan 20\n>  name refused\n< % Invalid input\n= refused\n",
        "\nwrite\n> ntp authentication-key 42 md5 •••• 0\n= done\n",
    ] {
        assert!(switch.contains(part), "{part}: {switch}\n{}", ran.text());
    }
    for part in [
        "\nread GET /mgmt/tm/sys/ntp\n> /mgmt/tm/sys/ntp\n< {\n<   \"kind\"",
        "\nwrite\n> PATCH /mgmt/tm/sys/ntp {\"timezone\":\"UTC\"}\n= done\n",
        "\nwrite\n> POST /mgmt/tm/auth/user {\"name\":\"joe\",\"password\":\"••••\"}\n= done\n",
    ] {
        assert!(
            balancer.contains(part),
            "{part}: {balancer}\n{}",
            ran.text()
        );
    }

    // The first answers are those from before the changes.
    let mut offline = Lab::new();
    offline.devices = lab.devices.clone();
    for device in ["sw1", "lb1"] {
        let name = format!("catalogs/{device}.json");
        std::fs::copy(lab.path(&name), offline.path(&name)).unwrap();
    }
    for device in lab.switches.into_values() {
        device.stop().await;
    }
    for device in lab.load_balancers.into_values() {
        device.stop().await;
    }
    std::fs::create_dir(offline.path("seen")).unwrap();
    for (path, text) in &recordings {
        std::fs::write(offline.path("seen").join(path.file_name().unwrap()), text).unwrap();
    }
    assert_eq!(changes(&offline, &["--running", "seen"]).await, planned);
}

/// The lines without the facts of a connection.
fn without_connection(printed: &str) -> Vec<&str> {
    let lines = printed.lines().filter(|line| !line.contains("\"ssh_"));
    lines.map(|line| line.trim_end_matches(',')).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_of_a_device_shows_its_resources_and_facts() {
    let lab = lab().await;
    for (command, types) in [("resource", &["network_vlan"][..]), ("facts", &[])] {
        for (device, platform) in [("sw1", "cisco_ios"), ("lb1", "f5_bigip")] {
            if command == "resource" && device == "lb1" {
                continue;
            }
            let arguments = [&[command, device], types, &["--record", "seen"]].concat();
            let live = lab.run(&arguments).await;
            live.assert_code(0);
            let file = format!("seen/{device}.recording");
            let arguments = [
                &[command],
                types,
                &["--config", &file, "--platform", platform],
            ]
            .concat();
            let mut recorded = test_support::program::switchtender(&arguments);
            let recorded = recorded.current_dir(lab.path("")).output().unwrap();
            let recorded = String::from_utf8_lossy(&recorded.stdout);
            assert_eq!(
                without_connection(&recorded),
                without_connection(&live.stdout)
            );
        }
    }
}

/// The recording of a run in place of the devices: the same run has the same results.
#[tokio::test(flavor = "multi_thread")]
async fn replay_has_the_results_of_the_recorded_run() {
    let lab = lab().await;
    let results = |ran: &ProgramOutput| {
        let of = |device| (ran.events(device), ran.device(device)["counts"].clone());
        [of("sw1"), of("lb1")]
    };
    // A masked secret in an answer differs from the one that was set.
    lab.write_resources("sw1", &public());
    let live = lab
        .run(&["apply", "--output", "json", "--record", "seen"])
        .await;
    let replay = [
        "apply",
        "--output",
        "json",
        "--mock",
        "--mock-config",
        "seen",
    ];
    // The same state of earlier runs: none.
    std::fs::remove_dir_all(lab.path("state")).unwrap();
    let replayed = lab.run(&replay).await;
    assert_eq!(
        results(&replayed),
        results(&live),
        "{}\n{}",
        replayed.text(),
        live.text()
    );

    // Other requests leave the recording.
    lab.write_resources("sw1", &[vlan(30, "other")]);
    lab.write_resources(
        "lb1",
        &[resource(
            "F5_ntp",
            "/Common/ntp",
            json!({"timezone": "CET"}),
        )],
    );
    let left = lab.run(&replay).await;
    left.assert_code(1);
    for request in ["vlan 30", "PATCH /mgmt/tm/sys/ntp"] {
        assert!(
            left.stderr.lines().any(|line| line.contains(request)
                && line.contains("the recording does not have this request")),
            "{request}: {}",
            left.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_replaces_that_of_the_last_run() {
    let lab = lab().await;
    let size = async || {
        lab.run(&["facts", "sw1", "--record", "seen"])
            .await
            .assert_code(0);
        lab.files("seen")[0].1.len()
    };
    assert_eq!(size().await, size().await);
    let both = lab
        .run(&["plan", "--running", "seen", "--record", "seen"])
        .await;
    both.assert_code(1);
    both.assert_contains("--running and --record cannot be combined");
}

#[test]
fn damaged_recording_is_an_error_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sw1.recording");
    std::fs::write(
        &file,
        "switchtender recording 1: cisco_ios\n\nread version\n> show version\n",
    )
    .unwrap();
    let file = file.display().to_string();
    let ran = test_support::program::run(&["facts", "--config", &file, "--platform", "cisco_ios"]);
    ran.assert_code(1);
    ran.assert_contains("line 4: the last exchange has no outcome");
}

/// The port and the fingerprint in a line with the address of a mock.
pub(super) fn address(line: &str) -> (u16, String) {
    let after = |mark: &str| line.split_once(mark).map(|(_, rest)| rest);
    let port = after("ssh -p ").or_else(|| after("@127.0.0.1:"));
    let port: String = port
        .unwrap()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let pin = line.rsplit_once(' ').unwrap().1.trim_end_matches(')');
    (port.parse().unwrap(), pin.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_is_served_and_prints_other_requests() {
    let lab = lab().await;
    let mut served = Lab::new();
    for device in ["lb1", "sw1"] {
        lab.run(&["facts", device, "--record", "seen"])
            .await
            .assert_code(0);
    }
    let mut command = tokio::process::Command::new(test_support::program::path());
    let mut mock = command
        .args(["mock", "--user", "ops", "--password", PASSWORD, "--replay"])
        .arg(lab.path("seen"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(mock.stdout.take().unwrap()).lines();
    let mut reported = BufReader::new(mock.stderr.take().unwrap()).lines();
    for (device, platform) in [("lb1", "f5_bigip"), ("sw1", "cisco_ios")] {
        let (port, pin) = address(&printed.next_line().await.unwrap().unwrap());
        served.add_device(device, platform, port, Some(&pin));
    }
    for device in ["lb1", "sw1"] {
        let live = lab.run(&["facts", device]).await;
        let replayed = served.run(&["facts", device]).await;
        replayed.assert_code(0);
        assert_eq!(replayed.stdout, live.stdout);
    }
    served
        .run(&["resource", "sw1", "network_vlan"])
        .await
        .assert_code(1);
    let line = reported.next_line().await.unwrap().unwrap();
    assert_eq!(line, "sw1: the recording does not have: show vlan brief");
}

#[test]
fn replay_without_recordings_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().display().to_string();
    let ran = test_support::program::run(&["mock", "--replay", &directory]);
    ran.assert_code(1);
    ran.assert_contains("has no recordings");
}
