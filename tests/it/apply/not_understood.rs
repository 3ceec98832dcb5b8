//! Text of a device that was not understood is reported, and changes do not overwrite it.

use serde_json::{Value as Json, json};
use switchtender_mocks::{CliSwitch, LoadBalancerOptions, SwitchOptions};
use test_support::catalog::{catalog, resource};
use test_support::device_host::{DeviceHost, name};
use test_support::lab::{ENABLE, Lab, PASSWORD, switch_options};

const CONFIG: &str = "interface GigabitEthernet1/0/1\n description old\n speed auto 10 100\n\
                      ntp server 10.0.0.1 prefer\n";

async fn lab(config: &str) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

fn interface(attributes: Json) -> Json {
    resource("Network_interface", "GigabitEthernet1/0/1", attributes)
}

#[tokio::test(flavor = "multi_thread")]
async fn not_understood_lines_are_part_of_resource_plan_and_report() {
    let lab = lab(CONFIG).await;
    let printed = lab.run(&["resource", "sw1", "network_interface"]).await;
    printed
        .assert_contains("# not understood: `interface GigabitEthernet1/0/1 / speed auto 10 100`");
    printed.assert_contains("# speed was not understood");
    let printed = lab
        .run(&["resource", "sw1", "network_interface", "-o", "json"])
        .await;
    let json: Json = serde_json::from_str(&printed.stdout).unwrap();
    let text = "interface GigabitEthernet1/0/1 / speed auto 10 100";
    assert_eq!(json["not_understood"][0]["text"], text);
    assert_eq!(json["not_understood"][0]["type"], "network_interface");

    lab.write_resources("sw1", &[interface(json!({"description": "new"}))]);
    let plan = lab.run(&["plan", "--report", "reports"]).await;
    plan.assert_code(0);
    plan.assert_contains("not understood on the device:");
    plan.assert_contains(&format!("network_interface: {text}"));
    plan.assert_contains("text not understood on: sw1\n");
    let (_, report) = lab.files("reports").into_iter().next().unwrap();
    let report: Json = serde_json::from_str(&report).unwrap();
    assert_eq!(report["not_understood"][0]["text"], text);
}

#[tokio::test(flavor = "multi_thread")]
async fn not_understood_lines_are_overwritten_only_on_request() {
    let lab = lab(CONFIG).await;
    lab.write_resources("sw1", &[interface(json!({"speed": "1g"}))]);
    let refused = lab.run(&["apply"]).await;
    refused.assert_code(1);
    refused.assert_contains(
        "not understood on the device: `interface GigabitEthernet1/0/1 / speed auto 10 100`",
    );
    assert!(lab.log("sw1").configuration_lines().is_empty());
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains("`--overwrite-unknown` permits the change");
    let applied = lab.run(&["apply", "--overwrite-unknown"]).await;
    applied.assert_code(0);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["interface GigabitEthernet1/0/1", "speed 1000"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn not_understood_lines_are_part_of_the_verbose_output() {
    let lab = lab(CONFIG).await;
    lab.write_resources("sw1", &[interface(json!({"description": "new"}))]);
    let text = "interface GigabitEthernet1/0/1 / speed auto 10 100";
    let quiet = lab.run(&["apply", "--noop"]).await;
    assert!(!quiet.text().contains(text), "{}", quiet.text());
    let verbose = lab.run(&["apply", "--noop", "-v"]).await;
    verbose.assert_contains(text);
}

/// Asserts that `apply` refuses a change for a text, and that it is done on request.
async fn assert_protected(lab: &Lab, device: &str, text: &str, sent: &[&str]) {
    let written = || match lab.switches.get(device) {
        Some(switch) => switch.log().configuration_lines(),
        None => lab.log(device).writes(),
    };
    let apply = ["apply", "--allow", "purge"];
    let refused = lab.run(&apply).await;
    refused.assert_code(1);
    refused.assert_contains(&format!("not understood on the device: `{text}`"));
    assert_eq!(written(), [""; 0]);
    lab.run(&[&apply[..], &["--overwrite-unknown"]].concat())
        .await
        .assert_code(0);
    assert_eq!(written(), sent);
}

const BUNDLE: &str = "interface Port-channel1\n speed auto 10 100\n";
const IN_BUNDLE: &str = "interface Port-channel1 / speed auto 10 100";
const REMOVED: [&str; 2] = [
    "default interface Port-channel1",
    "no interface Port-channel1",
];

#[tokio::test(flavor = "multi_thread")]
async fn block_with_a_line_not_understood_is_removed_only_on_request() {
    let lab = lab(BUNDLE).await;
    let absent = json!({"ensure": "absent"});
    lab.write_resources("sw1", &[resource("Port_channel", "Port-channel1", absent)]);
    assert_protected(&lab, "sw1", IN_BUNDLE, &REMOVED).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn purge_keeps_a_block_with_a_line_not_understood() {
    let lab = lab(BUNDLE).await;
    let purge = json!({"purge": true});
    lab.write_resources("sw1", &[resource("Resources", "port_channel", purge)]);
    assert_protected(&lab, "sw1", IN_BUNDLE, &REMOVED).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn field_not_understood_is_overwritten_only_on_request() {
    let mut lab = Lab::new();
    let pool = json!({"name": "web", "partition": "Common", "ipTosToClient": "copy"});
    lab.add_load_balancer_with(LoadBalancerOptions {
        name: "lb1".to_owned(),
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        config: Some(json!({"POST /mgmt/tm/ltm/pool": pool})),
        ..LoadBalancerOptions::default()
    })
    .await;
    let pool = |attributes: Json| [resource("F5_pool", "/Common/web", attributes)];
    // Another attribute is changed.
    lab.write_resources("lb1", &pool(json!({"description": "shop"})));
    lab.run(&["apply"]).await.assert_code(0);
    lab.log("lb1").clear();
    lab.write_resources("lb1", &pool(json!({"ip_tos_to_client": "mimic"})));
    assert_protected(
        &lab,
        "lb1",
        "/Common/web / ipTosToClient: \"copy\"",
        &["PATCH /mgmt/tm/ltm/pool/~Common~web {\"ipTosToClient\":\"mimic\"}"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_overwrites_lines_not_understood_only_on_request() {
    let host = DeviceHost::new(0).await;
    let options = SwitchOptions {
        config: Some(CONFIG.to_owned()),
        ..switch_options("sw1")
    };
    let switch = CliSwitch::start(options, 0).await.unwrap();
    let name = name(1);
    let credentials = json!({
        "host": "127.0.0.1", "port": switch.address().port(), "username": "ops",
        "password": PASSWORD, "enable_password": ENABLE,
    });
    let file = host.write("sw1.conf", &credentials.to_string(), 0o640);
    let section = format!("[{name}]\ntype cisco_ios\nurl file://{file}\n");
    host.write("device.conf", &section, 0o600);
    let resources = [interface(json!({"speed": "1g"}))];
    let key = (name.clone(), "*".to_owned());
    let catalog = catalog(&name, &resources);
    host.server.state().catalogs.insert(key, catalog);
    let arguments = ["--detailed-exitcodes"];
    let (code, text) = host.run(&arguments).await;
    assert_eq!(code, 4, "{text}");
    assert!(
        text.contains("`--overwrite-unknown` permits the change"),
        "{text}"
    );
    assert_eq!(switch.log().configuration_lines(), [""; 0]);
    let (code, text) = host
        .run(&[&arguments[..], &["--overwrite-unknown"]].concat())
        .await;
    assert_eq!(code, 2, "{text}");
    assert_eq!(
        switch.log().configuration_lines(),
        ["interface GigabitEthernet1/0/1", "speed 1000"]
    );
}

/// Catalyst 3650 Command Reference, "snmp-server host": the words after the community are kinds of traps.
#[tokio::test(flavor = "multi_thread")]
async fn line_with_further_words_is_changed_and_removed_with_them() {
    let line = "snmp-server host 192.0.2.1 version 2c public bgp";
    let lab = lab(&format!("{line}\n")).await;
    let receiver = |attributes: Json| {
        let title = "192.0.2.1 public";
        [resource("Snmp_notification_receiver", title, attributes)]
    };
    lab.write_resources("sw1", &receiver(json!({"version": "v1"})));
    lab.run(&["apply"]).await.assert_code(0);
    let changed = [
        "no snmp-server host 192.0.2.1 version 2c public bgp",
        "snmp-server host 192.0.2.1 public bgp",
    ];
    assert_eq!(lab.log("sw1").configuration_lines(), changed);
    lab.log("sw1").clear();
    lab.write_resources("sw1", &receiver(json!({"ensure": "absent"})));
    lab.run(&["apply"]).await.assert_code(0);
    let removed = ["no snmp-server host 192.0.2.1 public bgp"];
    assert_eq!(lab.log("sw1").configuration_lines(), removed);
}
