//! Faults of devices: the message names device, resource or command and no secret, the other device
//! of the run is not affected, and the exit code shows the failure.

mod answers;
mod connection;
mod disconnect;
mod load_balancer;
mod reads;
mod ssh_agent;
mod verification;

use std::path::Path;

use serde_json::{Value, json};

use test_support::catalog::{resource, vlan};
use test_support::lab::{ENABLE, Lab, switch_options};
use test_support::program::ProgramOutput;

/// Four VLANs, the third after the second, and an interface.
fn resources() -> Vec<Value> {
    let mut third = vlan(30, "three");
    third["parameters"]["require"] = json!("Network_vlan[20]");
    vec![
        vlan(10, "one"),
        vlan(20, "two"),
        third,
        vlan(40, "four"),
        resource(
            "Network_interface",
            "GigabitEthernet1/0/1",
            json!({"enable": false, "description": "desk", "mtu": 9000}),
        ),
    ]
}

/// Shortens the timeout of a device that never answers. Others keep the default: the machine of the
/// test can be busy.
fn shorten_timeout(device: &str, faults: &[&str], lab: &mut Lab) {
    const ENDLESS: [&str; 3] = ["stall-after", "garbage-after", "unavailable=1000"];
    let never = |fault: &&str| {
        ENDLESS
            .iter()
            .any(|fault_name| fault.starts_with(fault_name))
    };
    if faults.iter().any(never) {
        lab.configure(device, "command_timeout = \"2s\"");
    }
}

/// `sw1` with a fault and `sw2` without.
async fn two(faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", faults).await;
    lab.add_switch("sw2", &[]).await;
    shorten_timeout("sw1", faults, &mut lab);
    lab.write_resources("sw1", &resources());
    lab.write_resources("sw2", &[vlan(10, "one")]);
    lab
}

/// The device without a fault is changed and has no warning.
#[track_caller]
fn the_other_succeeds(lab: &Lab, ran: &ProgramOutput) {
    assert_eq!(ran.device("sw2")["status"], "changed", "{}", ran.text());
    assert_eq!(ran.warnings("sw2"), Vec::<String>::new());
    assert!(lab.switches["sw2"].vlans().iter().any(|row| row.0 == 10));
}

#[track_caller]
fn assert_warning(ran: &ProgramOutput, device: &str, words: &str) {
    let all = ran.warnings(device);
    assert!(
        all.iter().any(|text| text.contains(words)),
        "`{words}` is not in {all:#?}"
    );
}

/// `Network_vlan[10]`.
fn reference(resource: &Value) -> String {
    let text = |key: &str| resource[key].as_str().unwrap();
    format!("{}[{}]", text("type"), text("title"))
}
