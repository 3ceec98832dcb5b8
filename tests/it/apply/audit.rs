//! An audited property without a desired value is read and not changed.

use serde_json::{Value, json};

use test_support::catalog::resource;
use test_support::lab::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn audit_of_all_properties_changes_nothing() {
    let audited = json!({ "audit": "all" });
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources(
        "sw1",
        &[
            resource("Network_interface", "GigabitEthernet1/0/1", audited.clone()),
            resource("Network_vlan", "99", audited.clone()),
            resource("Ntp_server", "192.0.2.9", audited),
        ],
    );
    for compat in [&[][..], &["--compat", "puppet7"]] {
        let ran = lab
            .run(&[&["apply", "--detailed-exitcodes"], compat].concat())
            .await;
        ran.assert_code(0);
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    }
}

/// As in Puppet: only the audited property loses its default, and that of `ensure` is `present`.
#[tokio::test(flavor = "multi_thread")]
async fn audit_of_one_property_keeps_the_default_of_ensure() {
    for compat in [&[][..], &["--compat", "puppet7"]] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[]).await;
        let audited = json!({ "audit": ["prefer"] });
        lab.write_resources("sw1", &[resource("Ntp_server", "192.0.2.9", audited)]);
        let ran = lab
            .run(&[&["apply", "--detailed-exitcodes"], compat].concat())
            .await;
        ran.assert_code(2);
        assert_eq!(
            lab.log("sw1").configuration_lines(),
            ["ntp server 192.0.2.9"]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn audit_of_one_property_leaves_the_others_managed() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let attributes: Value = json!({ "audit": ["mtu"], "description": "desk" });
    lab.write_resources(
        "sw1",
        &[resource(
            "Network_interface",
            "GigabitEthernet1/0/1",
            attributes,
        )],
    );
    lab.apply().await.assert_code(2);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["interface GigabitEthernet1/0/1", "description desk"]
    );
}
