//! A plan shows the changes of an apply and cannot make them; neither can `apply --noop`.

use serde_json::json;

use test_support::catalog::{example, resource, vlan};
use test_support::lab::{Lab, switch_options};

/// A switch and a load balancer that have something already.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        config: Some("interface GigabitEthernet1/0/1\n description old\n".to_owned()),
        vlans: vec![(10, "one".to_owned()), (66, "gone".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_catalog("lb1", &example("lb1"));
    lab.write_resources(
        "sw1",
        &[
            vlan(10, "first"),
            vlan(20, "second"),
            resource("Network_vlan", "66", json!({"ensure": "absent"})),
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"enable": true, "description": "new"}),
            ),
            // A resource cannot insist on being applied in a plan.
            resource(
                "Ntp_server",
                "192.0.2.10",
                json!({"ensure": "present", "noop": false}),
            ),
        ],
    );
    lab
}

#[track_caller]
fn untouched(lab: &Lab, before: &(String, usize)) {
    assert_eq!(state(lab), *before);
    let received = lab.log("sw1").received();
    assert!(
        !received.iter().any(|line| line.starts_with("conf")),
        "{received:?}"
    );
    assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
    assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
    assert_eq!(lab.log("sw1").connections(), 1);
}

/// Both devices: configuration and VLANs of the switch, objects of the load balancer.
fn state(lab: &Lab) -> (String, usize) {
    let switch = &lab.switches["sw1"];
    let partitions = lab.load_balancers["lb1"].get("auth/partition").unwrap();
    (
        format!("{}{:?}", switch.running_config(), switch.vlans()),
        partitions["items"].as_array().unwrap().len(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_prints_changes_commands_and_difference() {
    let lab = lab().await;
    let before = state(&lab);
    let ran = lab.run(&["plan"]).await;
    ran.assert_code(0);
    // The complete text output about the switch.
    let start = ran.stdout.find("sw1 (cisco_ios)").unwrap();
    let text = &ran.stdout[start..];
    let plan: Vec<&str> = text
        .lines()
        .take_while(|line| !line.contains("configuration difference:"))
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(
        plan,
        [
            "sw1 (cisco_ios)",
            "  Network_vlan[10]  (/manifests/site.pp:1)",
            "    vlan_name changed 'one' to 'first'",
            "    > vlan 10",
            "    >  name first",
            "  Network_vlan[20]  (/manifests/site.pp:2)",
            "    defined 'ensure' as 'present'",
            "    > vlan 20",
            "    >  name second",
            "  Network_vlan[66]  (/manifests/site.pp:3)",
            "    undefined 'ensure' from 'present'",
            "    > no vlan 66",
            "  Network_interface[GigabitEthernet1/0/1]  (/manifests/site.pp:4)",
            "    description changed 'old' to 'new'",
            "    > interface GigabitEthernet1/0/1",
            "    >  description new",
            "  Ntp_server[192.0.2.10]  (/manifests/site.pp:5)",
            "    defined 'ensure' as 'present'",
            "    > ntp server 192.0.2.10",
        ]
    );
    let difference: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("configuration difference:"))
        .take_while(|line| !line.is_empty())
        .map(str::trim_start)
        .filter(|line| line.starts_with(['+', '-']))
        .collect();
    for line in [
        "- description old",
        "+ description new",
        "+ntp server 192.0.2.10",
        "- name one",
        "+ name first",
        "+vlan 20",
        "+ name second",
        "-vlan 66",
    ] {
        assert!(difference.contains(&line), "{line}: {difference:#?}");
    }
    ran.assert_contains("POST /mgmt/tm/auth/partition");
    ran.assert_contains("PATCH /mgmt/tm/sys/ntp");
    untouched(&lab, &before);
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_as_json_has_the_same_content() {
    let lab = lab().await;
    let before = state(&lab);
    let ran = lab
        .run(&["plan", "--output", "json", "--detailed-exitcodes"])
        .await;
    // As with apply: something is to be changed.
    ran.assert_code(2);
    assert_eq!(
        ran.resource("sw1", "Network_vlan[20]")["operations"],
        json!(["vlan 20", " name second"])
    );
    assert_eq!(ran.device("sw1")["status"], "pending");
    assert_eq!(ran.device("sw1")["counts"]["pending"], 5);
    let difference = ran.device("sw1")["configuration_diff"].clone();
    assert!(difference.as_str().unwrap().contains("+vlan 20"));
    untouched(&lab, &before);
    lab.apply().await.assert_code(2);
    let settled = lab.run(&["plan", "--detailed-exitcodes"]).await;
    settled.assert_code(0);
    settled.assert_contains("nothing to change");
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_noop_changes_nothing() {
    let lab = lab().await;
    // Here Puppet's rule holds: `noop => false` in the catalog insists. Not in this catalog.
    lab.write_resources("sw1", &[vlan(10, "first"), vlan(20, "second")]);
    let before = state(&lab);
    let ran = lab
        .run(&[
            "apply",
            "--noop",
            "--output",
            "json",
            "--detailed-exitcodes",
        ])
        .await;
    ran.assert_code(0);
    assert_eq!(
        ran.events("sw1"),
        [
            "Network_vlan[10]/vlan_name: noop: vlan_name changed 'one' to 'first' (noop)",
            "Network_vlan[20]/ensure: noop: defined 'ensure' as 'present' (noop)",
        ]
    );
    untouched(&lab, &before);
    assert!(
        lab.run(&["apply", "--noop"])
            .await
            .stdout
            .contains("vlan_name changed 'one' to 'first' (noop)")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_lists_ignored_attributes_in_verbose_output() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let host = json!({"ensure": "present", "port": 514, "severity_level": 5});
    lab.write_resources("sw1", &[resource("Syslog_server", "192.0.2.20", host)]);
    let ignored = "Syslog_server[192.0.2.20]: severity_level: is ignored on cisco_ios";
    lab.run(&["plan"])
        .await
        .assert_contains("severity_level: is ignored");
    lab.run(&["apply", "-v"]).await.assert_contains(ignored);
    let quiet = lab.run(&["apply"]).await;
    assert!(!quiet.text().contains(ignored), "{}", quiet.text());
}
