//! `--mock` for platforms without a mock of their own: lines and blocks as the definition describes them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::recording;
use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};
use test_support::program::{self, ProgramOutput};

fn definitions() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    path.display().to_string()
}

const DEVICES: [(&str, &str); 6] = [
    ("r1", "frr"),
    ("os1", "dell_os10"),
    ("hw1", "huawei_vrp"),
    ("vy1", "vyos"),
    ("jun1", "junos"),
    ("x1", "extreme_exos"),
];

/// Devices of six command lines, each with a resource.
fn lab() -> Lab {
    let lab = Lab::with_devices(&DEVICES);
    let interface = |name: &str| {
        resource(
            "Network_interface",
            name,
            json!({"description": "to the core", "enable": false}),
        )
    };
    let neighbor = json!({
        "asn": 65000, "vrf": "RED", "name": "192.0.2.1", "remote_as": 65001, "ebgp_multihop": 2,
    });
    lab.write_resources("r1", &[interface("eth0")]);
    lab.write_resources("os1", &[resource("Os10_bgp_neighbor", "spine", neighbor)]);
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
    for device in ["r1", "os1", "hw1", "vy1", "jun1", "x1"] {
        let mut rows = ran.stdout.lines();
        let row = rows.rfind(|line| line.starts_with(&format!("{device} ")));
        assert!(
            row.is_some_and(|row| row.contains("changed")),
            "{}",
            ran.text()
        );
    }
    ran.assert_contains(
        "\nwarning: hw1, jun1, os1, r1, vy1, x1: structural mock: it keeps lines and blocks",
    );
    let warnings = ran.stdout.matches("structural mock: it keeps");
    assert_eq!(warnings.count(), 1, "{}", ran.text());
}

/// What a run did to each device: its events, and the difference of the configuration.
fn results(lab: &Lab, ran: &ProgramOutput) -> Vec<(Vec<String>, Value)> {
    let devices = ["r1", "os1", "hw1", "vy1", "jun1", "x1"].into_iter();
    let results = devices.map(|device| {
        let difference = lab.report(device)["configuration_difference"].clone();
        assert!(difference.is_string(), "{device}: {}", ran.text());
        (ran.events(device), difference)
    });
    results.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_plans_and_replays_have_the_results_of_an_apply() {
    let lab = lab();
    let definitions = definitions();
    let run = async |arguments: &[&str]| {
        let common = ["--mock", "--definitions", &definitions];
        let ran = lab.run(&[arguments, &common].concat()).await;
        ran.assert_code(0);
        ran
    };
    let forget = || std::fs::remove_dir_all(lab.path("state")).unwrap();
    let applied = run(&["apply", "--output", "json", "--record", "seen"]).await;
    let expected = results(&lab, &applied);
    forget();
    run(&["plan", "--save", "change.plan"]).await;
    let planned = run(&["apply", "change.plan", "--output", "json"]).await;
    assert_eq!(results(&lab, &planned), expected);
    forget();
    let replayed = run(&["apply", "--output", "json", "--mock-config", "seen"]).await;
    assert_eq!(results(&lab, &replayed), expected);
}

/// A table is not made of lines: without a saved answer, its types cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_does_not_invent_tables() {
    let lab = Lab::with_devices(&[("tab1", "table_switch")]);
    let vlan = resource("Network_vlan", "10", json!({"vlan_name": "users"}));
    let interface = resource("Network_interface", "Ethernet1/1", json!({"mtu": 9000}));
    lab.write_resources("tab1", &[vlan, interface]);
    let definitions = lab.path("definitions");
    std::fs::create_dir_all(definitions.join("table_switch")).unwrap();
    for (name, text) in TABLE_SWITCH {
        std::fs::write(definitions.join("table_switch").join(name), text).unwrap();
    }
    let definitions = definitions.display().to_string();
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
    let answers = json!({ "vlan_brief": table, "config": "version 1\nhostname tab1\n" });
    std::fs::write(configs.join("tab1.json"), answers.to_string()).unwrap();
    let configs = configs.display().to_string();
    let ran = lab
        .run(&[&arguments[..], &["--mock-config", &configs]].concat())
        .await;
    ran.assert_code(0);
    ran.assert_contains("the answer to `show vlan brief` is the saved one and never changes");
    assert!(!ran.stdout.contains("> vlan 10"), "{}", ran.text());
}

/// A platform whose VLANs are rows of a table.
const TABLE_SWITCH: [(&str, &str); 3] = [
    (
        "platform.toml",
        r#"
schema   = 1
platform = "table_switch"
extends  = "cisco_nxos"
doc      = "Switches that print VLANs as a table only."

[read.vlan_brief]
command = "show vlan brief"
parse   = "columns"
first   = "VLAN"

[error]
command = ['^% Invalid']
"#,
    ),
    (
        "network_vlan.toml",
        r#"
schema   = 1
platform = "table_switch"
type     = "network_vlan"
rank     = "base"

[instance]
from   = "vlan_brief"
key    = { id = "VLAN" }
enter  = "vlan {id}"
remove = "no vlan {id}"

[attr.vlan_name]
column    = "Name"
set.text  = "name {vlan_name}"
set.unset = "no name"

[attr.shutdown]
unsupported = "not in the table"

[attr.description]
unsupported = "not in the table"
"#,
    ),
    (
        "network_interface.toml",
        r#"
schema   = 1
platform = "table_switch"
type     = "network_interface"
rank     = "interfaces"

[instance]
from  = "config"
block = "interface {name}"

[attr.mtu]
line   = "mtu {mtu}"
absent = "unset"

[attr.description]
unsupported = "not of this test"

[attr.enable]
unsupported = "not of this test"

[attr.speed]
unsupported = "not of this test"

[attr.duplex]
unsupported = "not of this test"
"#,
    ),
];

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
            "os1",
            "! Version 10.5.4.0\nrouter bgp 65000\n !\n vrf RED\n  !\n  neighbor 192.0.2.1\n   remote-as 65001\n   \
             ebgp-multihop 2\n",
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
    for device in ["r1", "os1", "hw1", "vy1", "jun1", "x1"] {
        let mut rows = ran.stdout.lines();
        let row = rows.rfind(|line| line.starts_with(&format!("{device} ")));
        assert!(
            row.is_some_and(|row| row.contains("unchanged")),
            "{}",
            ran.text()
        );
    }
}

/// AOS-CX prints several VLANs in one line, and comments between nested blocks.
#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_keeps_lists_and_drops_comments() {
    let lab = Lab::with_devices(&[("cx1", "aruba_aoscx")]);
    lab.write_resources(
        "cx1",
        &[
            resource("Network_vlan", "30", json!({"ensure": "absent"})),
            resource(
                "Aoscx_switchport",
                "lag 1",
                json!({"allowed_vlans": "10,31"}),
            ),
            resource(
                "Aoscx_bgp_neighbor",
                "65001 blue 192.0.2.1",
                json!({"ensure": "absent"}),
            ),
        ],
    );
    let configs = lab.path("running");
    std::fs::create_dir(&configs).unwrap();
    let config = "!Version ArubaOS-CX FL.10.13.1000\nhostname cx1\nvlan 1,30-31\n\
                  interface lag 1 multi-chassis\n    vlan trunk allowed 10,20-22\n\
                  router bgp 65001\n    neighbor 192.0.2.9 remote-as 65009\n    \
                  address-family ipv4 unicast\n    exit-address-family\n!\n    vrf blue\n        \
                  neighbor 192.0.2.1 remote-as 65002\n!\n";
    std::fs::write(configs.join("cx1.cfg"), config).unwrap();
    let configs = configs.display().to_string();
    let definitions = definitions();
    let ran = lab
        .run(&[
            "apply",
            "--mock",
            "--mock-config",
            &configs,
            "--definitions",
            &definitions,
        ])
        .await;
    ran.assert_code(0);
    let mut rows = ran.stdout.lines();
    let row = rows.rfind(|line| line.starts_with("cx1 "));
    assert!(
        row.is_some_and(|row| row.contains("changed")),
        "{}",
        ran.text()
    );
}

/// Two neighbors are one candidate with one commit.
#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_commits_the_resources_of_a_run_together() {
    let lab = Lab::with_devices(&[("jun1", "junos")]);
    let neighbor = |name: &str| {
        let attributes = json!({"peer_as": 65001, "description": "spine"});
        resource("Junos_bgp_neighbor", name, attributes)
    };
    lab.write_resources(
        "jun1",
        &[neighbor("SPINES 192.0.2.1"), neighbor("SPINES 192.0.2.2")],
    );
    let definitions = lab.path("definitions");
    for file in [
        "junos/platform.toml",
        "junos/junos_bgp_neighbor.toml",
        "models/junos_bgp_neighbor.toml",
    ] {
        let text = std::fs::read_to_string(Path::new(&self::definitions()).join(file)).unwrap();
        let text = text.replace("[candidate] ", "[candidate]\nscope = \"run\" ");
        let target = definitions.join(file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, text).unwrap();
    }
    let definitions = definitions.display().to_string();
    let arguments = ["apply", "--mock", "-vvv", "--definitions", &definitions];
    let ran = lab.run(&arguments).await;
    ran.assert_code(0);
    let sent = |line: &str| {
        let text = ran.text();
        let lines = text.lines().filter(|one| one.ends_with(line));
        lines.count()
    };
    assert_eq!(sent("> commit confirmed 2"), 1, "{}", ran.text());
    let last = "> set protocols bgp group SPINES neighbor 192.0.2.2 peer-as 65001";
    assert_eq!(sent(last), 1, "{}", ran.text());
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

/// The devices of [`lab`] as running mocks.
async fn running() -> (Lab, Vec<tokio::process::Child>) {
    let described = lab();
    let mut lab = Lab::new();
    let mut mocks = Vec::new();
    for (name, platform) in DEVICES {
        let mut command = tokio::process::Command::new(program::path());
        let arguments = ["mock", "platform", platform, "--user", "ops"];
        let definitions = ["--password", PASSWORD, "--definitions", &definitions()];
        let mut mock = command
            .args([&arguments[..], &definitions].concat())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut printed = BufReader::new(mock.stdout.take().unwrap()).lines();
        let line = loop {
            let line = printed.next_line().await.unwrap().expect("its address");
            if line.contains(": ssh -p ") {
                break line;
            }
        };
        let (port, pin) = recording::address(&line);
        lab.add_device(name, platform, port, Some(&pin));
        let catalog = format!("catalogs/{name}.json");
        std::fs::copy(described.path(&catalog), lab.path(&catalog)).unwrap();
        mocks.push(mock);
    }
    (lab, mocks)
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_any_command_line() {
    let (lab, _mocks) = running().await;
    let definitions = definitions();
    let run = async |arguments: &[&str]| {
        let ran = lab
            .run(&[arguments, &["--definitions", &definitions]].concat())
            .await;
        ran.assert_code(0);
        ran
    };
    let mut configurations = Vec::new();
    for step in [
        &[][..],
        &["apply"],
        &["undo", "--last", "--yes"],
        // A neighbor can have a password, which no device shows.
        &["undo", "--last", "--yes", "--allow", "incomplete-undo"],
    ] {
        if !step.is_empty() {
            run(step).await;
        }
        run(&["backup", "configs"]).await;
        configurations.push(lab.files("configs"));
    }
    let [before, applied, undone, again] = &configurations[..] else {
        unreachable!("four steps");
    };
    let is_configuration =
        |(path, _): &&(PathBuf, String)| path.extension().is_some_and(|one| one == "cfg");
    for ((path, text), (_, old)) in applied
        .iter()
        .filter(is_configuration)
        .zip(before.iter().filter(is_configuration))
    {
        assert_ne!(text, old, "{}", path.display());
    }
    for (restored, expected) in [(undone, before), (again, applied)] {
        for ((path, text), (_, old)) in restored.iter().zip(expected) {
            let lacks = |one: &str, line: &str| !one.lines().any(|other| other == line);
            let lost = old.lines().filter(|line| lacks(text, line));
            let added = text.lines().filter(|line| lacks(old, line));
            for line in lost.chain(added) {
                // A block without lines remains.
                let blocks = ["interface ", "router bgp ", "vrf ", "address-family "];
                let is_block = blocks.iter().any(|block| line.trim().starts_with(block));
                assert!(
                    text.contains(line) && is_block,
                    "{}: {line}",
                    path.display()
                );
            }
        }
    }
}

/// Texts of blocks, lines that come first, blocks in parts and inactive lines, on their devices. NX-OS has a strict mock.
#[tokio::test(flavor = "multi_thread")]
async fn structural_mock_has_texts_needed_lines_and_inactive_lines() {
    let lab = Lab::with_devices(&[("xr1", "ios_xr"), ("nx1", "cisco_nxos"), ("jun1", "junos")]);
    let configs = lab.path("running");
    std::fs::create_dir(&configs).unwrap();
    for (name, config) in [
        (
            "xr1",
            "!! IOS XR\nroute-policy PASS\n  pass\nend-policy\n!\nend\n",
        ),
        (
            "nx1",
            "version 9.3\nfeature lacp\nvlan 1,10,20\nvlan 10\n  name users\nvlan 20\n  shutdown\n",
        ),
        (
            "jun1",
            "set version 21.1\nset protocols bgp group S neighbor 192.0.2.1 peer-as 65001\n\
             deactivate protocols bgp group S neighbor 192.0.2.1\n",
        ),
    ] {
        std::fs::write(configs.join(format!("{name}.cfg")), config).unwrap();
    }
    let policy = |text: &str| json!({"ensure": "present", "text": text});
    let text = "if destination in P then\n  pass\nendif\nif destination in Q then\n  pass\nendif";
    lab.write_resources(
        "xr1",
        &[
            resource("Xr_route_policy", "PASS", policy(text)),
            resource(
                "Xr_prefix_set",
                "P",
                policy("192.0.2.0/24,\n198.51.100.0/24"),
            ),
        ],
    );
    let vlan = json!({"vlan_name": "users", "shutdown": false});
    lab.write_resources(
        "nx1",
        &[
            resource("Cisco_vpc_domain", "10", json!({"peer_switch": true})),
            resource("Cisco_vlan", "10", vlan),
            resource("Cisco_vlan", "20", json!({"shutdown": false})),
        ],
    );
    let neighbor = json!({"ensure": "present", "peer_as": 65002});
    lab.write_resources(
        "jun1",
        &[resource("Junos_bgp_neighbor", "S 192.0.2.1", neighbor)],
    );
    let (definitions, configs) = (definitions(), configs.display().to_string());
    let common = [
        "--mock",
        "--mock-config",
        &configs,
        "--definitions",
        &definitions,
    ];
    let ran = lab.run(&[&["apply"][..], &common].concat()).await;
    ran.assert_code(0);
    let difference = |device: &str| lab.report(device)["configuration_difference"].to_string();
    for (device, lines) in [
        ("xr1", vec!["destination in Q then", "+prefix-set P"]),
        ("nx1", vec!["+feature vpc", "+vpc domain 10", "- shutdown"]),
        (
            "jun1",
            vec![
                "peer-as 65002",
                "-deactivate protocols bgp group S neighbor 192.0.2.1",
            ],
        ),
    ] {
        let difference = difference(device);
        for line in lines {
            assert!(difference.contains(line), "{device}: {difference}");
        }
    }
}
