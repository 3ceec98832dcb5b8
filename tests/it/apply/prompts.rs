//! Prompts of any host name and any mode.

use serde_json::json;
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{self, Lab};

async fn add_switch_with_hostname(lab: &mut Lab, hostname: &str) {
    let options = SwitchOptions {
        hostname: hostname.to_owned(),
        ..lab::switch_options("sw1")
    };
    lab.add_switch_with(options).await;
}

/// Blocks whose prompts are not `(config-…)`, and a resource after them.
fn write_blocks(lab: &Lab) {
    let block = |title: &str, lines: &str| {
        let condition = lines.lines().last().unwrap_or_default();
        let parameters = json!({"command": lines, "idempotent_regex": condition.trim()});
        resource("Ios_config", title, parameters)
    };
    lab.write_resources(
        "sw1",
        &[
            block("pool", "ip dhcp pool LAN\n network 192.0.2.0 255.255.255.0"),
            block(
                "trustpoint",
                "crypto pki trustpoint CA\n enrollment selfsigned",
            ),
            block("keyring", "crypto keyring VPN\n description tunnels"),
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"description": "after"}),
            ),
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_of_any_host_name_and_mode_are_recognized() {
    for hostname in [
        "sw1",
        "core(lab)",
        "(core)lab",
        "distribution-switch-of-building-12",
        "distribution(switch)of(building)12",
    ] {
        let mut lab = Lab::new();
        add_switch_with_hostname(&mut lab, hostname).await;
        write_blocks(&lab);
        lab.apply().await.assert_code(2);
        let configuration = lab.switches["sw1"].running_config();
        for block in [
            "ip dhcp pool LAN\n network 192.0.2.0 255.255.255.0\n",
            "crypto pki trustpoint CA\n enrollment selfsigned\n",
            "crypto keyring VPN\n description tunnels\n",
            "interface GigabitEthernet1/0/1\n description after\n",
        ] {
            assert!(configuration.contains(block), "{hostname}: {configuration}");
        }
        lab.apply().await.assert_code(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_that_is_not_recognized_has_a_key_in_the_inventory() {
    let mut lab = Lab::new();
    add_switch_with_hostname(&mut lab, "[core]=sw1").await;
    write_blocks(&lab);
    lab.configure("sw1", "connect_timeout = \"1s\"\n");
    let ran = lab.apply().await;
    ran.assert_code(1);
    ran.assert_contains("[core]=sw1>");
    ran.assert_contains("set `prompt` of the device or its platform");
    lab.configure("sw1", "prompt = '\\[core\\]=sw\\d+'\n");
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_of_a_platform_is_checked_by_the_inventory() {
    let mut lab = Lab::new();
    add_switch_with_hostname(&mut lab, "sw1").await;
    lab.defaults.push_str("prompt = 'core(lab)'\n");
    let ran = lab.run(&["inventory", "validate"]).await;
    ran.assert_code(1);
    ran.assert_contains("`core(lab)` is not a pattern of a host name: it has a group");
}
