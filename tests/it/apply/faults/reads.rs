//! Faults in the answers to reads.

use super::*;

/// A read that fails fails what needs it, and nothing is changed.
#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_in_reads() {
    let lab = two(&["drop-after=^show vlan brief"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.device("sw1")["status"], "failed");
    assert_warning(&ran, "sw1", "the connection ended after `show vlan brief`");
    assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
    the_other_succeeds(&lab, &ran);
}

/// A device that cannot answer a read prints a message, or nothing. It would otherwise
/// count as a device without VLANs and without communities.
#[tokio::test(flavor = "multi_thread")]
async fn read_without_its_expected_parts_fails_its_resources() {
    let community = |ensure: &str| {
        resource(
            "Snmp_community",
            "weak",
            json!({"ensure": ensure, "group": "RO"}),
        )
    };
    // (command, its answer, the resource that needs it, a part of the message)
    let cases = [
        (
            "show running-config",
            "Unable to get configuration. Try again later.",
            community("absent"),
            "it has no line that matches `^version `; it begins with \"Unable to get configuration.",
        ),
        (
            "show running-config",
            "% Low on memory; try again later",
            community("absent"),
            "the device refused `show running-config`: % Low on memory; try again later",
        ),
        (
            "show running-config",
            "",
            community("absent"),
            "unexpected answer to `show running-config`",
        ),
        (
            "show running-config",
            "version 15.2\nhostname sw1",
            community("absent"),
            "it is incomplete",
        ),
        (
            "show vlan brief",
            "show: I/O failure",
            json!({"type": "Network_vlan", "title": "10", "parameters": {"ensure": "absent"}}),
            "it has no table header `VLAN`",
        ),
        (
            "show vlan brief",
            "",
            json!({"type": "Network_vlan", "title": "10", "parameters": {"ensure": "absent"}}),
            "it has no table header `VLAN`",
        ),
    ];
    for (command, answer, desired, message) in cases {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[&format!("refuse=^{command}$ => {answer}")])
            .await;
        let mut desired = desired;
        desired["kind"] = json!("compilable_type");
        let reference = reference(&desired);
        lab.write_resources("sw1", &[desired]);
        let ran = lab.apply().await;
        ran.assert_code(4);
        assert_eq!(ran.device("sw1")["status"], "failed", "{answer}");
        let status = ran.resource("sw1", &reference);
        assert!(
            status["failed"] == true || status["skipped"] == true,
            "{answer}: {status}"
        );
        assert_warning(&ran, "sw1", message);
        let type_name = reference.split('[').next().unwrap().to_lowercase();
        let listed = lab.run(&["resource", "sw1", &type_name]).await;
        listed.assert_code(1);
        listed.assert_contains(message);
    }
}

/// A list without any entry prints nothing; with a list in the configuration, nothing is an error.
#[tokio::test(flavor = "multi_thread")]
async fn empty_read_is_checked_against_the_configuration() {
    for (config, is_valid) in [
        ("", true),
        ("ip access-list standard 10\n permit any\n", false),
    ] {
        let mut lab = Lab::new();
        lab.add_switch_with(switchtender_mocks::SwitchOptions {
            config: Some(config.to_owned()),
            faults: vec!["refuse=^show ip access-lists$ => ".parse().unwrap()],
            ..switch_options("sw1")
        })
        .await;
        let ran = lab.run(&["resource", "sw1", "ios_acl"]).await;
        assert_eq!(ran.code == Some(0), is_valid, "{}", ran.text());
        if !is_valid {
            ran.assert_contains("it is empty, but `config` has `ip access-list standard 10`");
        }
    }
}
