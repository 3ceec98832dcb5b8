//! `--mock` for platforms without a mock of their own: lines and blocks as the definition describes them.

use std::path::Path;

use serde_json::json;

use test_support::catalog::resource;
use test_support::lab::Lab;

fn definitions() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    path.display().to_string()
}

/// Devices of six command lines, each with a resource.
fn lab() -> Lab {
    let lab = Lab::with_devices(&[
        ("r1", "frr"),
        ("nx1", "nxos"),
        ("hw1", "huawei_vrp"),
        ("vy1", "vyos"),
        ("jun1", "junos"),
        ("x1", "extreme_exos"),
    ]);
    let interface = |name: &str| {
        resource(
            "Network_interface",
            name,
            json!({"description": "to the core", "enable": false}),
        )
    };
    let neighbor = json!({
        "asn": 65000, "vrf": "RED", "name": "192.0.2.1", "remote_as": 65001, "ipv4_unicast": true,
        "ipv4_maximum_prefix": 100,
    });
    lab.write_resources("r1", &[interface("eth0")]);
    lab.write_resources("nx1", &[resource("Nxos_bgp_neighbor", "spine", neighbor)]);
    lab.write_resources("hw1", &[interface("GigabitEthernet0/0/1")]);
    lab.write_resources("vy1", &[interface("eth0")]);
    let neighbor = json!({"peer_as": 65001, "description": "spine 1", "export": ["A", "B"]});
    lab.write_resources(
        "jun1",
        &[resource("Junos_bgp_neighbor", "SPINES 192.0.2.1", neighbor)],
    );
    let vlan =
        json!({"tag": 10, "description": "all floors", "ip_forwarding": true, "tagged_ports": [3]});
    let port = json!({"description": "core", "enable": false});
    lab.write_resources(
        "x1",
        &[
            resource("Extreme_vlan", "users", vlan),
            resource("Network_interface", "3", port),
        ],
    );
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_applies_and_verifies_on_any_command_line() {
    let lab = lab();
    let ran = lab
        .run(&["apply", "--mock", "--definitions", &definitions()])
        .await;
    ran.assert_code(0);
    for device in ["r1", "nx1", "hw1", "vy1", "jun1", "x1"] {
        let mut rows = ran.stdout.lines();
        let row = rows.rfind(|line| line.starts_with(&format!("{device} ")));
        assert!(
            row.is_some_and(|row| row.contains("changed")),
            "{}",
            ran.text()
        );
        ran.assert_contains(&format!(
            "{device}: Warning: structural mock: it keeps lines and blocks"
        ));
    }
}

/// A table is not made of lines: without a saved answer, its types cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_does_not_invent_tables() {
    let lab = Lab::with_devices(&[("eos1", "arista_eos")]);
    let vlan = resource("Network_vlan", "10", json!({"vlan_name": "users"}));
    let interface = resource("Network_interface", "Ethernet1", json!({"mtu": 9000}));
    lab.write_resources("eos1", &[vlan, interface]);
    let definitions = definitions();
    let arguments = ["plan", "--mock", "--definitions", &definitions];
    let ran = lab.run(&arguments).await;
    ran.assert_code(1);
    ran.assert_contains(
        "structural mock: `show vlan brief` has no answer; save one as `vlan_brief` in the JSON file of the device",
    );
    ran.assert_contains("the device refused `show vlan brief`");
    ran.assert_contains(">  mtu 9000");
    assert!(
        !ran.text().contains("show interfaces switchport"),
        "{}",
        ran.text()
    );

    let table = "VLAN  Name       Status    Ports\n----- ---------- --------- -----\n10    users      active    Et1\n";
    let configs = lab.path("running");
    std::fs::create_dir(&configs).unwrap();
    let answers = json!({ "vlan_brief": table, "config": "hostname eos1\nend\n" });
    std::fs::write(configs.join("eos1.json"), answers.to_string()).unwrap();
    let configs = configs.display().to_string();
    let ran = lab
        .run(&[&arguments[..], &["--mock-config", &configs]].concat())
        .await;
    ran.assert_code(0);
    ran.assert_contains("the answer to `show vlan brief` is the saved one and never changes");
    assert!(!ran.stdout.contains("> vlan 10"), "{}", ran.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_starts_with_a_saved_configuration() {
    let lab = lab();
    let configs = lab.path("running");
    std::fs::create_dir(&configs).unwrap();
    for (name, config) in [
        (
            "r1",
            "frr version 8.4\ninterface eth0\n description to the core\n shutdown\nexit\n!\nend\n",
        ),
        (
            "nx1",
            "version 9.3\nrouter bgp 65000\n  vrf RED\n    neighbor 192.0.2.1\n      remote-as 65001\n      \
             address-family ipv4 unicast\n        maximum-prefix 100\n",
        ),
        (
            "hw1",
            "sysname hw1\n#\ninterface GigabitEthernet0/0/1\n description to the core\n shutdown\n#\nreturn\n",
        ),
        (
            "vy1",
            "set interfaces ethernet eth0 description 'to the core'\nset interfaces ethernet eth0 disable\n\
             set system host-name 'vy1'\n",
        ),
        (
            "jun1",
            "set version 21.1\nset protocols bgp group SPINES neighbor 192.0.2.1 peer-as 65001\n\
             set protocols bgp group SPINES neighbor 192.0.2.1 description \"spine 1\"\n\
             set protocols bgp group SPINES neighbor 192.0.2.1 export A\n\
             set protocols bgp group SPINES neighbor 192.0.2.1 export B\n",
        ),
        (
            "x1",
            "# Module vlan configuration.\ncreate vlan \"users\"\nconfigure vlan users tag 10\n\
             configure vlan users description \"all floors\"\nenable ipforwarding vlan users\n\
             configure vlan users add ports 3 tagged\nconfigure ports 3 display-string core\ndisable port 3\n",
        ),
    ] {
        std::fs::write(configs.join(format!("{name}.cfg")), config).unwrap();
    }
    let configs = configs.display().to_string();
    let arguments = [
        "apply",
        "--mock",
        "--mock-config",
        &configs,
        "--definitions",
        &definitions(),
    ];
    let ran = lab.run(&arguments).await;
    ran.assert_code(0);
    assert!(!ran.stdout.contains("changed from"), "{}", ran.text());
    for device in ["r1", "nx1", "hw1", "vy1", "jun1", "x1"] {
        let mut rows = ran.stdout.lines();
        let row = rows.rfind(|line| line.starts_with(&format!("{device} ")));
        assert!(
            row.is_some_and(|row| row.contains("unchanged")),
            "{}",
            ran.text()
        );
    }
}

/// Policies of a firewall in another order.
#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_moves_instances() {
    let lab = Lab::with_devices(&[("fw1", "fortios")]);
    let policy = |id: &str, after: &str| {
        let attributes = json!({"action": "accept", "after": after});
        resource("Fortigate_policy", id, attributes)
    };
    lab.write_resources("fw1", &[policy("2", "first"), policy("1", "2")]);
    let configs = lab.path("running");
    std::fs::create_dir(&configs).unwrap();
    let config = "#config-version=FGVM64-7.2.8\nconfig firewall policy\n edit 1\n  set action accept\n edit 2\n  set action accept\n";
    std::fs::write(configs.join("fw1.cfg"), config).unwrap();
    let configs = configs.display().to_string();
    let definitions = definitions();
    let arguments = [
        "--mock",
        "--mock-config",
        &configs,
        "--definitions",
        &definitions,
    ];
    let planned = lab.run(&[&["plan"], &arguments[..]].concat()).await;
    planned.assert_code(0);
    planned.assert_contains("move 2 before 1");
    let ran = lab.run(&[&["apply"], &arguments[..]].concat()).await;
    ran.assert_code(0);
    ran.assert_contains("after changed '1' to 'first'");
}
