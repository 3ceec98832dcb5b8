//! Users of the device and of SNMPv3, whose passwords the device does not show.

use serde_json::json;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

/// The mock prints an equal hash for equal secrets only.
#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_users() {
    let mut lab = Lab::new();
    lab.add_switch_with(switch_options("sw1")).await;
    let mut hashes = Vec::new();
    let steps = [
        (
            json!({"privilege": 15, "secret": "first-1"}),
            "privilege 15 secret 9 ",
        ),
        (
            json!({"privilege": 15, "secret": "second-2"}),
            "privilege 15 secret 9 ",
        ),
        (json!({"privilege": 1}), "secret 9 "),
    ];
    for (attributes, form) in steps {
        lab.write_resources("sw1", &[resource("Ios_user", "net", attributes)]);
        lab.apply().await.assert_code(2);
        let config = lab.switches["sw1"].running_config();
        let line = config
            .lines()
            .find_map(|line| line.strip_prefix("username net "));
        let hash = line.and_then(|line| line.strip_prefix(form));
        hashes.push(hash.unwrap_or_else(|| panic!("{config}")).to_owned());
        let again = lab.apply().await;
        again.assert_code(0);
        assert_eq!(again.device("sw1")["counts"]["operations"], 0);
    }
    assert_ne!(hashes[0], hashes[1]);
    assert_eq!(hashes[1], hashes[2]);
    lab.write_resources(
        "sw1",
        &[resource("Ios_user", "net", json!({"ensure": "absent"}))],
    );
    lab.apply().await.assert_code(2);
    let config = lab.switches["sw1"].running_config();
    assert!(!config.contains("username net"), "{config}");
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_users_of_snmp() {
    const USER: &str = "bob v3";
    let mut lab = Lab::new();
    lab.add_switch_with(switch_options("sw1")).await;
    let steps = [
        (
            json!({"version": "v3", "roles": ["RO"], "auth": "sha", "password": "auth-1234",
                   "privacy": "aes128", "private_key": "priv-1234"}),
            Some("snmp-server user bob RO v3 auth sha auth-1234 priv aes 128 priv-1234"),
        ),
        (
            json!({"version": "v3", "roles": ["RO"], "auth": "sha", "password": "auth-5678",
                   "privacy": "aes128", "private_key": "priv-1234"}),
            Some("snmp-server user bob RO v3 auth sha auth-5678 priv aes 128 priv-1234"),
        ),
        (
            json!({"version": "v3", "roles": ["RW"], "auth": "sha", "password": "auth-5678",
                   "privacy": "aes256", "private_key": "priv-1234"}),
            Some("snmp-server user bob RW v3 auth sha auth-5678 priv aes 256 priv-1234"),
        ),
        (
            json!({"ensure": "absent"}),
            Some("no snmp-server user bob RW v3"),
        ),
    ];
    for (attributes, expected) in steps {
        lab.write_resources("sw1", &[resource("Snmp_user", USER, attributes)]);
        let before = lab.log("sw1").received().len();
        let ran = lab.apply().await;
        ran.assert_code(2);
        let received = lab.log("sw1").received();
        let sent: Vec<&str> = received[before..]
            .iter()
            .map(String::as_str)
            .filter(|line| line.contains("snmp-server"))
            .collect();
        assert_eq!(sent, Vec::from_iter(expected), "{}", ran.text());
        let config = lab.switches["sw1"].running_config();
        assert!(!config.contains("snmp-server user"), "{config}");
        let again = lab.apply().await;
        again.assert_code(0);
        assert_eq!(again.device("sw1")["counts"]["operations"], 0);
    }
}
