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
    let refused = lab.run(&["apply"]).await;
    refused.assert_code(1);
    refused
        .assert_contains("not understood on the device: `/Common/web / ipTosToClient: \"copy\"`");
    assert_eq!(lab.log("lb1").writes(), [""; 0]);
    lab.run(&["apply", "--overwrite-unknown"])
        .await
        .assert_code(0);
    assert_eq!(
        lab.log("lb1").writes(),
        ["PATCH /mgmt/tm/ltm/pool/~Common~web {\"ipTosToClient\":\"mimic\"}"]
    );
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
