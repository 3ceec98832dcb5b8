//! Servers that authenticate, from nothing to nothing: applied, read back, applied again, removed.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::{CatalogBuilder, resource, sensitive};
use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

/// Lines of the configuration about servers, with the lines below them.
fn about_servers(config: &str) -> Vec<&str> {
    let mut inside = false;
    let about = config.lines().filter(|line| {
        if !line.starts_with(' ') {
            let words = ["tacacs", "radius"];
            inside = words.iter().any(|word| line.contains(word));
        }
        inside
    });
    about.collect()
}

/// A catalog of these resources; the keys among their parameters are secrets.
fn wants(lab: &Lab, resources: &[Value]) {
    let resources = resources.iter().cloned().map(|resource| {
        let has_key = resource["parameters"]["key"].is_string();
        sensitive(resource, if has_key { &["key"] } else { &[] })
    });
    let catalog = CatalogBuilder::new("sw1.lab.test").resources(resources);
    lab.write_catalog("sw1", &catalog.build());
}

#[track_caller]
fn nothing_to_do(ran: &ProgramOutput) {
    ran.assert_code(0);
    assert_eq!(ran.device("sw1")["status"], "unchanged");
    assert_eq!(ran.device("sw1")["counts"]["operations"], 0);
    assert_eq!(ran.warnings("sw1"), Vec::<String>::new());
}

fn desired() -> Vec<Value> {
    vec![
        resource("Ios_aaa_new_model", "default", json!({ "enable": true })),
        resource(
            "Radius_global",
            "default",
            json!({"key": "s3cret-radius", "key_format": 0, "retransmit_count": 2, "timeout": 10,
                   "source_interface": ["Vlan1"]}),
        ),
        resource(
            "Radius_server",
            "rad1",
            json!({"ensure": "present", "hostname": "192.0.2.1", "auth_port": 1812,
                   "acct_port": 1813, "key": "s3cret-rad1", "key_format": 0, "timeout": 7,
                   "retransmit_count": 1}),
        ),
        // The device fills in the ports.
        resource(
            "Radius_server",
            "rad2",
            json!({"ensure": "present", "hostname": "2001:db8::1"}),
        ),
        resource(
            "Tacacs_global",
            "default",
            json!({"key": "s3cret-tacacs", "key_format": 0, "timeout": 10,
                   "source_interface": ["vlan 1"], "directed_request": true}),
        ),
        resource(
            "Tacacs_server",
            "tac1",
            json!({"ensure": "present", "hostname": "192.0.2.11", "port": 4949,
                   "key": "s3cret-tac1", "key_format": 0, "timeout": 7,
                   "single_connection": true}),
        ),
        resource(
            "Tacacs_server",
            "tac2",
            json!({"ensure": "present", "hostname": "tacacs.example.net"}),
        ),
        resource(
            "Tacacs_server_group",
            "TAC",
            json!({"ensure": "present", "servers": ["tac1", "tac2"], "source_interface": "vl1",
                   "vrf": "MGMT"}),
        ),
    ]
}

fn surplus() -> Vec<Value> {
    let absent = |of: &str, title: &str| resource(of, title, json!({ "ensure": "absent" }));
    vec![
        absent("Tacacs_server_group", "TAC"),
        absent("Tacacs_server", "tac1"),
        absent("Tacacs_server", "tac2"),
        absent("Radius_server", "rad1"),
        absent("Radius_server", "rad2"),
        resource(
            "Tacacs_global",
            "default",
            json!({"key": "unset", "timeout": "unset", "source_interface": ["unset"],
                   "directed_request": false}),
        ),
        resource(
            "Radius_global",
            "default",
            json!({"key": "unset", "timeout": "unset", "retransmit_count": "unset",
                   "source_interface": ["unset"]}),
        ),
    ]
}

/// With keys as they are, and hidden by the device.
#[tokio::test(flavor = "multi_thread")]
async fn servers_are_added_left_in_sync_and_removed() {
    for (config, key) in [("", None), ("service password-encryption\n", Some("7 "))] {
        let mut lab = Lab::new();
        lab.add_switch_with(SwitchOptions {
            config: Some(format!("ip vrf MGMT\ninterface Vlan1\n{config}")),
            ..switch_options("sw1")
        })
        .await;
        wants(&lab, &desired());
        // `aaa new-model` changes the login of the session.
        let apply = ["apply", "--output", "json", "--detailed-exitcodes"];
        let ran = lab
            .run(&[&apply, &["--allow", "own-path"][..]].concat())
            .await;
        ran.assert_code(2);
        assert_eq!(
            ran.warnings("sw1"),
            ["without a working login method, this locks out all users"]
        );

        let running_config = lab.switches["sw1"].running_config();
        let keyless = |line: &&str| !line.contains("key ");
        let lines = about_servers(&running_config);
        let without: Vec<&str> = lines.iter().copied().filter(keyless).collect();
        assert_eq!(
            without,
            [
                "aaa group server tacacs+ TAC",
                " server name tac1",
                " server name tac2",
                " ip vrf forwarding MGMT",
                " ip tacacs source-interface Vlan1",
                "ip tacacs source-interface Vlan1",
                "ip radius source-interface Vlan1",
                "tacacs-server timeout 10",
                "tacacs-server directed-request",
                "tacacs server tac1",
                " address ipv4 192.0.2.11",
                " timeout 7",
                " port 4949",
                " single-connection",
                "tacacs server tac2",
                " address ipv4 tacacs.example.net",
                "radius-server retransmit 2",
                "radius-server timeout 10",
                "radius server rad1",
                " address ipv4 192.0.2.1 auth-port 1812 acct-port 1813",
                " timeout 7",
                " retransmit 1",
                "radius server rad2",
                " address ipv6 2001:DB8::1 auth-port 1645 acct-port 1646",
            ]
        );
        let keys = lines.iter().filter(|line| !keyless(line));
        let keys: Vec<&str> = keys
            .map(|line| line.split_once("key ").unwrap().1)
            .collect();
        match key {
            None => assert_eq!(
                keys,
                [
                    "s3cret-tacacs",
                    "s3cret-tac1",
                    "s3cret-radius",
                    "s3cret-rad1"
                ]
            ),
            Some(form) => {
                assert_eq!(keys.len(), 4);
                assert!(keys.iter().all(|key| key.starts_with(form)), "{keys:?}");
            }
        }

        nothing_to_do(&lab.apply().await);
        let ran = lab.run(&["resource", "sw1", "tacacs_server_group"]).await;
        ran.assert_code(0);
        ran.assert_contains("tacacs_server_group { 'TAC':");

        wants(&lab, &surplus());
        let ran = lab.apply().await;
        ran.assert_code(2);
        assert_eq!(ran.warnings("sw1"), Vec::<String>::new());
        let running_config = lab.switches["sw1"].running_config();
        assert_eq!(about_servers(&running_config), Vec::<&str>::new());
        nothing_to_do(&lab.apply().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_group_requires_aaa_new_model() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources(
        "sw1",
        &[resource(
            "Tacacs_server_group",
            "TAC",
            json!({ "ensure": "present" }),
        )],
    );
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains("> aaa group server tacacs+ TAC");
    ran.assert_contains("% Invalid input detected");
}
