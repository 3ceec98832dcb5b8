//! `resource` prints what is on a device, to begin a manifest with.

use test_support::lab::{Lab, switch_options};

#[tokio::test(flavor = "multi_thread")]
async fn resource_prints_reserved_instances_as_comments() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        vlans: vec![(10, "one".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    let printed = lab.run(&["resource", "sw1", "network_vlan"]).await;
    printed.assert_code(0);
    let code = printed.stdout.lines();
    let titles: Vec<&str> = code
        .filter(|line| line.starts_with("network_vlan {"))
        .collect();
    assert_eq!(titles, ["network_vlan { '10':"]);
    printed.assert_contains("# network_vlan { '1002':");
    let one = lab.run(&["resource", "sw1", "network_vlan", "1"]).await;
    one.assert_contains("part of the device, cannot be changed");
}

/// A device without a secret has none to hide.
#[tokio::test(flavor = "multi_thread")]
async fn resource_reports_missing_secrets() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let printed = lab.run(&["resource", "sw1", "radius_global"]).await;
    printed.assert_code(0);
    assert!(!printed.stdout.contains("••••"), "{}", printed.stdout);
}

/// A router has no table of VLANs.
#[tokio::test(flavor = "multi_thread")]
async fn resource_of_a_refused_read_is_an_error_and_other_types_are_printed() {
    let mut lab = Lab::new();
    let refused = "refuse=^show vlan brief => % Invalid input detected at '^' marker.";
    lab.add_switch("sw1", &[refused]).await;
    for format in ["puppet", "json", "yaml"] {
        let printed = lab
            .run(&["resource", "sw1", "network_vlan", "--output", format])
            .await;
        printed.assert_code(1);
        assert_eq!(printed.stdout, "");
        assert!(
            printed.stderr.contains("show vlan brief")
                && printed.stderr.contains("% Invalid input detected"),
            "{}",
            printed.stderr
        );
    }
    let other = lab.run(&["resource", "sw1", "network_interface"]).await;
    other.assert_code(0);
    other.assert_contains("network_interface { 'GigabitEthernet1/0/1':");
}

#[tokio::test(flavor = "multi_thread")]
async fn resource_prints_all_instances_with_one_title() {
    let mut lab = Lab::new();
    let servers =
        ["A", "B", "C"].map(|vrf| format!("vrf definition {vrf}\nntp server vrf {vrf} 10.0.0.7\n"));
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        config: Some(servers.concat()),
        ..switch_options("sw1")
    })
    .await;
    let arguments = ["resource", "sw1", "ntp_server", "--output"];
    let json = lab.run(&[&arguments[..], &["json"]].concat()).await;
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["ntp_server"]["10.0.0.7"]["vrf"], "A", "{json:#}");
    let others = json["not_managed"].as_array().unwrap().iter();
    let others: Vec<_> = others
        .map(|one| (&one["title"], &one["attributes"]["vrf"]))
        .collect();
    let title = &serde_json::json!("10.0.0.7");
    let (b, c) = (&serde_json::json!("B"), &serde_json::json!("C"));
    assert_eq!(others, [(title, b), (title, c)]);
    let yaml = lab.run(&[&arguments[..], &["yaml"]].concat()).await;
    let others = yaml.stdout.matches("# ntp_server 10.0.0.7: another line");
    assert_eq!(others.count(), 2, "{}", yaml.stdout);
}

/// A router does not know the commands of a switch.
#[tokio::test(flavor = "multi_thread")]
async fn resources_of_a_router_are_exported_without_errors() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        model: Some("ISR4331/K9".to_owned()),
        config: Some("ntp server 192.0.2.10\n".to_owned()),
        ..switch_options("r1")
    })
    .await;
    let printed = lab.run(&["resource", "r1", "--all"]).await;
    printed.assert_code(0);
    printed.assert_contains("ntp_server { '192.0.2.10':");
    assert!(!printed.stderr.contains("error"), "{}", printed.stderr);
    assert!(!printed.stderr.contains("not read"), "{}", printed.stderr);
    let folder = lab.path("configs").display().to_string();
    let backup = lab.run(&["backup", &folder]).await;
    backup.assert_code(0);
    assert!(!backup.stderr.contains("not saved"), "{}", backup.stderr);
    let arguments = ["--platform", "cisco_ios", "--all", "--output", "catalog"];
    let saved = ["resource", "--config", &folder];
    let saved = test_support::program::run(&[&saved[..], &arguments].concat());
    saved.assert_code(0);
    saved.assert_contains("\"name\": \"r1\"");
}
