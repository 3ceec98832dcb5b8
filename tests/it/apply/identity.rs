//! State belongs to a device, not to its name: two projects with the same names, replaced hardware, pairs.

use std::fs::File;
use std::path::Path;

use serde_json::{Value, json};
use switchtender_mocks::{LoadBalancerOptions, SwitchOptions, serial_number};
use test_support::catalog::{resource, sensitive, vlan};
use test_support::lab::{Lab, PASSWORD, switch_options};
use test_support::program::{self, ProgramOutput};

/// A project with one switch `sw1`. Members of a stack have several serial numbers.
async fn project(serials: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        serials: serials.iter().map(|serial| (*serial).to_owned()).collect(),
        vlans: vec![(30, "before".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    lab.write_resources("sw1", &[vlan(77, "users")]);
    lab
}

/// Both projects have the state directory of the first one.
fn share_state(first: &Lab, second: &Lab) {
    std::fs::create_dir_all(first.path("state")).unwrap();
    std::os::unix::fs::symlink(first.path("state"), second.path("state")).unwrap();
}

async fn projects(first: &[&str], second: &[&str]) -> (Lab, Lab) {
    let (first, second) = (project(first).await, project(second).await);
    share_state(&first, &second);
    (first, second)
}

fn has_vlan(lab: &Lab, id: u16) -> bool {
    let vlans = lab.switches["sw1"].vlans();
    vlans.iter().any(|(number, ..)| *number == id)
}

fn state_dir(lab: &Lab, arguments: &[&str]) -> ProgramOutput {
    let root = lab.path("state").display().to_string();
    program::run(&[&["state-dir"], arguments, &["--state-dir", &root]].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_run_on_another_device_is_refused() {
    let (a, b) = projects(&["SERIALA"], &["SERIALB"]).await;
    a.apply().await.assert_code(2);
    // The other switch has this VLAN, too, from elsewhere.
    let mut b_elsewhere = Lab::new();
    b_elsewhere.devices.clone_from(&b.devices);
    b_elsewhere.write_resources("sw1", &[vlan(77, "users")]);
    b_elsewhere.apply().await.assert_code(2);
    b.log("sw1").clear();
    for undo in [
        &["undo", "--last", "--plan"][..],
        &["undo", "--last", "--yes"],
    ] {
        let refused = b.run(undo).await;
        refused.assert_code(1);
        refused.assert_contains(
            "nothing was changed: the run was made on another device, serial number SERIALA at 127.0.0.1:",
        );
        refused.assert_contains("the device that answers has serial number SERIALB");
        refused.assert_contains("`switchtender state-dir accept sw1 SERIALB --state-dir ");
    }
    assert_eq!(b.log("sw1").configuration_lines(), [""; 0]);
    assert!(has_vlan(&b, 77));

    // And in the other direction.
    b.write_resources("sw1", &[vlan(78, "voice")]);
    b.apply().await.assert_code(2);
    a.log("sw1").clear();
    let refused = a.run(&["undo", "--last", "--yes"]).await;
    refused.assert_code(1);
    refused.assert_contains("another device, serial number SERIALB");
    assert_eq!(a.log("sw1").configuration_lines(), [""; 0]);
    // The hint names the newest run of this device.
    let text = refused.text();
    let (_, hint) = text.split_once("`switchtender undo ").expect("a hint");
    let run = hint.split_whitespace().next().unwrap();
    a.run(&["undo", run, "--target", "sw1", "--yes"])
        .await
        .assert_code(0);
    assert!(!has_vlan(&a, 77));
    assert!(has_vlan(&b, 78));
    b.run(&["undo", "--last", "--yes"])
        .await
        .assert_contains("another device");
}

fn key() -> Value {
    let key =
        json!({"ensure": "present", "algorithm": "md5", "mode": "0", "password": "s3cret-ntp"});
    sensitive(resource("Ntp_auth_key", "42", key), &["password"])
}

/// The states of `sw1`, without what describes the last run.
fn stored(lab: &Lab) -> Vec<(String, String)> {
    let root = lab.path("state/devices/sw1");
    let files = lab.files("state/devices/sw1").into_iter();
    let files = files.map(|(path, text)| {
        let name = path.strip_prefix(&root).unwrap();
        (name.display().to_string(), text)
    });
    let is_state =
        |name: &str| ["memory.json", "secret-digests.json", "identity.json"].contains(&name);
    files.filter(|(name, _)| is_state(name)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_device_begins_a_new_state_beside_the_old_one() {
    let (a, b) = projects(&["SERIALA"], &["SERIALB"]).await;
    for lab in [&a, &b] {
        lab.write_resources("sw1", &[key()]);
    }
    a.apply().await.assert_code(2);
    let before = stored(&a);
    assert_eq!(before.len(), 3, "{before:?}");
    // The digest of the other device says nothing about this one: the secret would be sent.
    for command in ["plan", "apply"] {
        let ran = b.run(&[command]).await;
        ran.assert_contains("another device answers as sw1: serial number SERIALB at 127.0.0.1:");
        ran.assert_contains("the last one was serial number SERIALA at 127.0.0.1:");
        ran.assert_contains("A new state begins, and the old one is kept");
        ran.assert_contains("Ntp_auth_key[42]");
    }
    let sent = b.log("sw1").configuration_lines();
    assert!(
        sent.iter()
            .any(|line| line == "ntp authentication-key 42 md5 s3cret-ntp 0"),
        "{sent:?}"
    );
    assert_eq!(stored(&a), before);
    // From now on, both projects have their own state, and nothing is said.
    for lab in [&a, &b] {
        let ran = lab.apply().await;
        ran.assert_code(0);
        assert!(!ran.text().contains("another device"), "{}", ran.text());
    }
    let rendered = state_dir(&a, &["show", "sw1"]);
    rendered.assert_contains("sw1: serial number SERIALA at 127.0.0.1:");
    rendered.assert_contains("sw1: serial number SERIALB at 127.0.0.1:");
    rendered.assert_contains("inventory.toml");
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_device_has_the_state_of_the_replaced_one() {
    for has_run in [false, true] {
        let (a, b) = projects(&["SERIALA"], &["SERIALB"]).await;
        a.write_resources("sw1", &[vlan(77, "users"), key()]);
        a.apply().await.assert_code(2);
        let run = a.run(&["undo"]).await;
        let text = run.text();
        let run = text.split_whitespace().find(|word| word.ends_with('Z'));
        let run = run.unwrap().to_owned();
        // The configuration of the old switch is restored on the new one by hand.
        let mut by_hand = Lab::new();
        by_hand.devices.clone_from(&b.devices);
        by_hand.write_resources("sw1", &[vlan(77, "users"), key()]);
        by_hand.apply().await.assert_code(2);
        if has_run {
            b.write_resources("sw1", &[vlan(78, "voice")]);
            b.apply().await.assert_code(2);
        }
        let accepted = state_dir(&b, &["accept", "sw1", "SERIALB"]);
        accepted.assert_code(0);
        accepted.assert_contains(
            "sw1: serial number SERIALB continues the state of serial number SERIALA at 127.0.0.1:",
        );
        let again = state_dir(&b, &["accept", "sw1", "SERIALB"]);
        again.assert_code(1);
        again.assert_contains("belongs to serial number SERIALB already");
        // The secret is not sent again, unless a run of the new device has digests of its own.
        b.write_resources("sw1", &[vlan(77, "users"), key()]);
        let planned = b.run(&["plan"]).await;
        assert!(
            !planned.text().contains("another device"),
            "{}",
            planned.text()
        );
        if !has_run {
            planned.assert_contains("sw1     unchanged");
        }
        let undone = b.run(&["undo", &run, "--yes", "--output", "json"]).await;
        assert!(!has_vlan(&b, 77), "{}", undone.text());
        // The replaced device keeps its state.
        let old = a.run(&["plan"]).await;
        assert!(!old.text().contains("another device"), "{}", old.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn accept_without_a_state_is_refused() {
    let lab = project(&["SERIALA"]).await;
    let error = state_dir(&lab, &["accept", "sw1", "SERIALB"]);
    error.assert_code(1);
    error.assert_contains("cannot accept the device: sw1 has no state");
    let rendered = state_dir(&lab, &["show", "sw1"]);
    rendered.assert_contains("sw1: no run has stored a state");
}

/// The members of a stack belong to one device, whoever is the master.
#[tokio::test(flavor = "multi_thread")]
async fn stack_with_another_master_keeps_its_state() {
    let (a, b) = projects(&["MEMBER1", "MEMBER2"], &["MEMBER2", "MEMBER3"]).await;
    a.apply().await.assert_code(2);
    let planned = b.run(&["plan"]).await;
    assert!(
        !planned.text().contains("another device"),
        "{}",
        planned.text()
    );
    b.apply().await.assert_code(2);
    state_dir(&a, &["show", "sw1"]).assert_contains("serial number MEMBER1, MEMBER2, MEMBER3");
}

#[tokio::test(flavor = "multi_thread")]
async fn load_balancers_have_identities() {
    let mut labs = Vec::new();
    for hostname in ["lb1.lab.test", "standby.lab.test"] {
        let mut lab = Lab::new();
        lab.add_load_balancer_with(LoadBalancerOptions {
            name: "lb1".to_owned(),
            hostname: hostname.to_owned(),
            user: "ops".to_owned(),
            password: PASSWORD.to_owned(),
            ..LoadBalancerOptions::default()
        })
        .await;
        let ntp = resource("F5_ntp", "/Common/ntp", json!({"timezone": "UTC"}));
        lab.write_resources("lb1", &[ntp]);
        labs.push(lab);
    }
    share_state(&labs[0], &labs[1]);
    labs[0].apply().await.assert_code(2);
    let planned = labs[1].run(&["plan"]).await;
    planned.assert_contains("another device answers as lb1: serial number 02:00:");
    planned.assert_contains("or is the other unit of its pair");
    let undone = labs[1].run(&["undo", "--last", "--yes"]).await;
    undone.assert_code(1);
    assert_eq!(labs[1].log("lb1").writes(), [""; 0]);
}

/// Without a serial number, the host key identifies the device. All mocks of a process have one key.
#[tokio::test(flavor = "multi_thread")]
async fn device_without_serial_number_is_known_by_its_host_key() {
    let mut lab = Lab::new();
    lab.add_netconf_server("nc1", &[]).await;
    let description = json!({"description": "uplink"});
    lab.write_resources("nc1", &[resource("Network_interface", "eth0", description)]);
    lab.run(&["apply"]).await;
    let rendered = state_dir(&lab, &["show", "nc1"]);
    let fingerprint = lab.netconf_servers["nc1"].host_key().fingerprint;
    rendered.assert_contains(&format!("nc1: host key {fingerprint} at 127.0.0.1:"));
}

/// The files of a lock, held by another process of a project.
fn hold(lab: &Lab, name: &str) -> File {
    let dir = lab.path("state/locks");
    std::fs::create_dir_all(&dir).unwrap();
    let file = File::create(dir.join(name)).unwrap();
    file.try_lock().unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn lock_is_that_of_the_device() {
    let (a, b) = projects(&["SERIALA"], &["SERIALB"]).await;
    let port = |lab: &Lab| lab.switches["sw1"].address().port();
    let address = format!("address-127.0.0.1%3A{}", port(&a));
    for (lock, error) in [
        (address.as_str(), "another run has locked sw1"),
        (
            "serial-SERIALA",
            "another run has locked the device with the serial number SERIALA",
        ),
    ] {
        let held = hold(&a, lock);
        let refused = a.run(&["apply"]).await;
        refused.assert_code(1);
        refused.assert_contains(error);
        assert_eq!(a.log("sw1").configuration_lines(), [""; 0]);
        // The device with the same name in the other project is free.
        b.run(&["plan"]).await.assert_code(0);
        drop(held);
    }
    a.run(&["apply"]).await.assert_code(0);
    // A name that is in use is not removed.
    let held = File::open(a.path("state/devices/sw1/lock")).unwrap();
    held.lock_shared().unwrap();
    std::fs::write(a.path("empty.toml"), "").unwrap();
    let inventory = a.path("empty.toml").display().to_string();
    let pruned = state_dir(&a, &["prune", "--yes", "--inventory", &inventory]);
    pruned.assert_contains("sw1: not removed: another run has locked sw1");
    assert!(Path::new(&a.path("state/devices/sw1/memory.json")).exists());
}

/// A mock is not the device: its state must not be used for it.
#[tokio::test(flavor = "multi_thread")]
async fn state_of_a_mock_is_not_that_of_the_device() {
    let lab = project(&["SERIALA"]).await;
    for _ in 0..2 {
        lab.run(&["apply", "--mock"]).await.assert_code(0);
    }
    let rendered = state_dir(&lab, &["show", "sw1"]);
    rendered.assert_contains("sw1: serial number mock of sw1 at ");
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(0);
    ran.assert_contains("another device answers as sw1: serial number SERIALA");
    assert!(has_vlan(&lab, 77));
    let undone = lab.run(&["undo", "--last", "--yes"]).await;
    undone.assert_code(0);
    assert!(!has_vlan(&lab, 77));
}

/// Two mocks of the command line with one name on two ports are two devices.
#[test]
fn serial_numbers_of_mocks_follow_from_name_and_port() {
    assert_eq!(serial_number("switch1 2201"), serial_number("switch1 2201"));
    assert_ne!(serial_number("switch1 2201"), serial_number("switch1 2301"));
}
