//! References of values: the order of the commands, and what a plan says about them.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, parsed, switch_options};

const BOUND: &str = "ip access-list extended A\n 10 permit tcp any any eq 22\n 20 deny ip any any\n\
                     interface Vlan106\n ip access-group A in\n";

async fn lab(config: &str, faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        faults: parsed(faults),
        ..switch_options("sw1")
    })
    .await;
    lab
}

fn entry(list: &str, number: u8, port: &str) -> Value {
    let attributes = json!({
        "ensure": "present", "permission": "permit", "protocol": "tcp",
        "source_address_any": true, "destination_address_any": true, "destination_eq": [port],
    });
    resource("Ios_acl", &format!("{list} extended {number}"), attributes)
}

fn gone(list: &str, number: u8) -> Value {
    let title = format!("{list} extended {number}");
    resource("Ios_acl", &title, json!({"ensure": "absent"}))
}

fn bound(list: &str) -> Value {
    resource(
        "Ios_ip_interface",
        "Vlan106",
        json!({"access_group_in": list}),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_complete_before_it_is_bound_and_stays_until_it_is_not() {
    let lab = lab(BOUND, &[]).await;
    let resources = [
        gone("A", 10),
        gone("A", 20),
        bound("B"),
        entry("B", 20, "23"),
        entry("B", 10, "22"),
    ];
    lab.write_resources("sw1", &resources);
    lab.apply().await;
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(
        lines,
        [
            "ip access-list extended B",
            "20 permit tcp any any eq 23",
            "10 permit tcp any any eq 22",
            "interface Vlan106",
            "ip access-group B in",
            "ip access-list extended A",
            "no 10",
            "no ip access-list extended A",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn new_entries_come_before_removed_ones() {
    let lab = lab(BOUND, &[]).await;
    lab.write_resources("sw1", &[gone("A", 10), entry("A", 15, "443"), bound("A")]);
    lab.apply().await;
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(
        lines,
        [
            "ip access-list extended A",
            "15 permit tcp any any eq 443",
            "no 10"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_names_entries_that_are_missing_for_a_moment() {
    let lab = lab(BOUND, &[]).await;
    lab.write_resources("sw1", &[entry("A", 10, "443")]);
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("entry 10 of A is missing for a moment");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_warns_about_objects_that_nothing_has() {
    let lab = lab(BOUND, &[]).await;
    for (list, expected) in [
        (
            "NONE",
            Some("which neither the desired state nor the device has"),
        ),
        ("A", None),
    ] {
        // An entry makes its list.
        lab.write_resources("sw1", &[bound(list), entry("NEW", 10, "22")]);
        let plan = lab.run(&["plan"]).await;
        let text = format!("{}{}", plan.stdout, plan.stderr);
        let warning = format!("`access_group_in` refers to Ios_access_list[{list}], ");
        assert_eq!(text.contains(&warning), expected.is_some(), "{text}");
        assert!(text.contains(expected.unwrap_or_default()), "{text}");
        assert!(!text.contains("`access_list` refers to"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_could_not_be_unbound_is_not_removed() {
    let lab = lab(BOUND, &["refuse=^no ip access-group => % Rejected"]).await;
    let resources = [bound("unset"), gone("A", 10), gone("A", 20)];
    lab.write_resources("sw1", &resources);
    let applied = lab.run(&["apply"]).await;
    applied.assert_contains(
        "cannot remove it: ios_ip_interface Vlan106 has failed, and its `access_group_in` still refers to A",
    );
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(lines, ["interface Vlan106", "no ip access-group A in"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_yield_to_relations_of_the_catalog() {
    let lab = lab(BOUND, &[]).await;
    let mut first = bound("B");
    first["parameters"]["before"] = json!("Network_vlan[50]");
    let mut vlan = resource("Network_vlan", "50", json!({"ensure": "present"}));
    vlan["parameters"]["before"] = json!("Ios_acl[B extended 10]");
    lab.write_resources("sw1", &[entry("B", 10, "22"), vlan, first]);
    let applied = lab.run(&["apply"]).await;
    applied.assert_code(0);
    applied.assert_contains(
        "Ios_ip_interface[Vlan106] must come after Ios_acl[B extended 10], but this relation reverses the order",
    );
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(lines[..2], ["interface Vlan106", "ip access-group B in"]);
}
