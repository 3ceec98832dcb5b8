//! `driver new` drafts definitions that load and pass their tests.

use std::path::Path;

use test_support::program::{self, ProgramOutput};

/// A session with a switch whose commands are those of no built-in platform.
const SESSION: &str = "\
leaf1# show version
Box OS 7.1 on model B-48
leaf1# show running-config
version 7.1
!
hostname leaf1
interface eth1
 description to spine 1
 mtu 9000
!
interface eth2
 shutdown
!
end
leaf1# configure
leaf1(cfg)# interface eth1
leaf1(cfg-if-eth1)# mtu 0
% Value out of range
leaf1(cfg-if-eth1)# exit
leaf1(cfg)# end
leaf1#
";

const SET_LINES: &str = "\
set system host-name r1
set system ntp server 192.0.2.1 prefer
set interfaces eth0 mtu 9000
set interfaces eth0 description core
";

fn run(directory: &Path, arguments: &[&str]) -> ProgramOutput {
    let definitions = directory.join("definitions").display().to_string();
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| match *argument {
            "DEFINITIONS" => definitions.clone(),
            name if name.ends_with(".txt") => directory.join(name).display().to_string(),
            other => other.to_owned(),
        })
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    program::run(&arguments)
}

#[track_caller]
fn passes(directory: &Path, tests: usize) {
    run(directory, &["driver", "validate", "DEFINITIONS"]).assert_code(0);
    let tested = run(directory, &["driver", "test", "DEFINITIONS"]);
    tested.assert_code(0);
    tested.assert_contains(&format!("own: {tests} passed, 0 failed"));
}

#[test]
fn platform_draft_has_the_modes_of_a_session() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("session.txt"), SESSION).unwrap();
    let new = ["driver", "new", "box", "--from", "session.txt"];
    let printed = run(directory, &new);
    printed.assert_code(0);
    for expected in [
        "# file: box/platform.toml",
        "command = \"show running-config\"",
        "last    = '^end$'",
        r"prompt = '(?<name>[\w.\-]+)\(cfg\)#'",
        r"prompt = '(?<name>[\w.\-]+)\((?<sub>cfg-[^)]*)\)#'",
        "send = \"configure\"",
        "send = \"exit\"",
        "output = \"% Value out of range\"",
    ] {
        assert!(
            printed.stdout.contains(expected),
            "{expected}: {}",
            printed.text()
        );
    }
    printed.assert_contains("check: [mode.config-sub.to.exec] `send`: the sample does not show it");

    let written = run(
        directory,
        &[&new[..], &["--output", "DEFINITIONS"]].concat(),
    );
    written.assert_code(0);
    passes(directory, 5);
    let again = run(
        directory,
        &[&new[..], &["--output", "DEFINITIONS"]].concat(),
    );
    again.assert_code(1);
    again.assert_contains("the file exists");
}

/// A session with prompts of three kinds of blocks, and texts between quotation marks.
const QUOTED_SESSION: &str = "\
leaf1# show version
Box OS 7.1
leaf1# show running-configuration
hostname leaf1
interface vlan10
 description \"User VLAN 10\"
leaf1# configure terminal
leaf1(config)# interface vlan 10
leaf1(conf-if-vl-10)# exit
leaf1(config)# router bgp 65001
leaf1(config-router-bgp-65001)# neighbor 10.0.0.2
leaf1(config-router-neighbor)# exit
leaf1(config-router-bgp-65001)# address-family ipv4 unicast
leaf1(configure-router-bgpv4-af)# end
leaf1#
";

#[test]
fn platform_draft_has_all_kinds_of_prompts_and_the_quotation_mark() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("session.txt"), QUOTED_SESSION).unwrap();
    let output = ["--output", "DEFINITIONS"];
    let new = ["driver", "new", "box", "--from", "session.txt"];
    run(directory, &[&new[..], &output[..]].concat()).assert_code(0);
    let platform = directory.join("definitions/box/platform.toml");
    let platform = std::fs::read_to_string(platform).unwrap();
    for expected in [
        r"prompt = '(?<name>[\w.\-]+)\((?<sub>(?:conf|config|configure)-[^)]*)\)#'",
        "prompt = \"leaf1(conf-if-vl-10)#\"",
        "prompt = \"leaf1(config-router-bgp-65001)#\"",
        "prompt = \"leaf1(configure-router-bgpv4-af)#\"",
        "[quote]\nmark = '\"'",
    ] {
        assert!(platform.contains(expected), "{expected}: {platform}");
    }
    let lines = "interface vlan10\n description \"User VLAN 10\"\n password s3cret\ninterface vlan20\n description lab\n";
    std::fs::write(directory.join("lines.txt"), lines).unwrap();
    let new = [
        "driver",
        "new",
        "box",
        "box_vlan",
        "--from",
        "lines.txt",
        "--definitions",
        "DEFINITIONS",
    ];
    run(directory, &[&new[..], &output[..]].concat()).assert_code(0);
    let drafted = directory.join("definitions/box/box_vlan.toml");
    let drafted = std::fs::read_to_string(drafted).unwrap();
    for expected in [
        "line = \"description {description:quoted}\"",
        "description = \"User VLAN 10\"",
        "description = \"lab\"",
    ] {
        assert!(drafted.contains(expected), "{expected}: {drafted}");
    }
    let model = std::fs::read_to_string(directory.join("definitions/models/box_vlan.toml"));
    let model = model.unwrap();
    assert!(
        model.contains("[attr.password]\nsensitive = true"),
        "{model}"
    );
    passes(directory, 8);
}

#[test]
fn type_draft_has_the_attributes_of_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("session.txt"), SESSION).unwrap();
    let lines = "interface eth1\n description to spine 1\n mtu 9000\n vlan 10\n vlan 20\ninterface eth2\n shutdown\n no lldp\n family inet\n  filter x\n";
    std::fs::write(directory.join("lines.txt"), lines).unwrap();
    let config = format!("version 7.1\n{lines}end\n");
    std::fs::write(directory.join("config.txt"), config).unwrap();
    let output = ["--output", "DEFINITIONS"];
    run(
        directory,
        &[
            &["driver", "new", "box", "--from", "session.txt"],
            &output[..],
        ]
        .concat(),
    )
    .assert_code(0);
    let drafted = run(
        directory,
        &[
            &[
                "driver",
                "new",
                "box",
                "box_port",
                "--from",
                "lines.txt",
                "--definitions",
                "DEFINITIONS",
            ],
            &output[..],
        ]
        .concat(),
    );
    drafted.assert_code(0);
    drafted.assert_contains("no self-test for create");
    drafted.assert_contains(
        "the lines of inner blocks such as `family inet`: add attributes with `sub`",
    );
    passes(directory, 7);
    let read = run(
        directory,
        &[
            "resource",
            "--definitions",
            "DEFINITIONS",
            "--platform",
            "box",
            "--config",
            "config.txt",
            "box_port",
            "eth1",
        ],
    );
    read.assert_contains("description => 'to spine 1',");
}

#[test]
fn type_draft_has_options_of_lines_and_common_beginnings() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("config.txt"), SET_LINES).unwrap();
    let output = ["--output", "DEFINITIONS"];
    run(
        directory,
        &[
            &["driver", "new", "setbox", "--from", "config.txt"],
            &output[..],
        ]
        .concat(),
    )
    .assert_code(0);
    for (name, lines, expected) in [
        (
            "box_ntp",
            "set system ntp server 192.0.2.1 prefer\nset system ntp server 192.0.2.2 key 7\n",
            "line = \"set system ntp server {name} <[{prefer?prefer}] [key {key}]> [{*}]\"",
        ),
        (
            "box_link",
            "set interfaces eth0 mtu 9000\nset interfaces eth0 description core\nset interfaces eth1 disable\n",
            "prefix = \"set interfaces {name}\"",
        ),
    ] {
        std::fs::write(directory.join("lines.txt"), lines).unwrap();
        let new = [
            "driver",
            "new",
            "setbox",
            name,
            "--from",
            "lines.txt",
            "--definitions",
            "DEFINITIONS",
        ];
        let printed = run(directory, &new);
        printed.assert_contains(expected);
        run(directory, &[&new[..], &output[..]].concat()).assert_code(0);
    }
    passes(directory, 5);
}

#[test]
fn type_draft_has_the_attributes_of_a_model_that_exists() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("session.txt"), SESSION).unwrap();
    let lines = "vlan 10\n name users\n description All floors\nvlan 20\n shutdown\n voice\n";
    std::fs::write(directory.join("lines.txt"), lines).unwrap();
    let output = ["--output", "DEFINITIONS"];
    let session = ["driver", "new", "box", "--from", "session.txt"];
    run(directory, &[&session[..], &output[..]].concat()).assert_code(0);
    let new = [
        "driver",
        "new",
        "box",
        "network_vlan",
        "--from",
        "lines.txt",
        "--definitions",
        "DEFINITIONS",
    ];
    let drafted = run(directory, &[&new[..], &output[..]].concat());
    drafted.assert_code(0);
    drafted.assert_contains("check: box/network_vlan.toml: no attribute has the line `voice`");
    assert!(!directory.join("definitions/models").exists());
    let written = directory.join("definitions/box/network_vlan.toml");
    let written = std::fs::read_to_string(written).unwrap();
    for expected in [
        "block = \"vlan {id}\"",
        "[attr.vlan_name]\nline = \"name {vlan_name}\"",
        "[attr.shutdown]\nline = \"shutdown\"",
    ] {
        assert!(written.contains(expected), "{expected}: {written}");
    }
    passes(directory, 7);
    let again = run(directory, &new);
    again.assert_code(1);
    again.assert_contains("box has the type network_vlan already");
}

/// A route with a next hop, and interfaces whose names have several words.
#[test]
fn type_draft_has_values_behind_names_and_names_of_several_words() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("session.txt"), SESSION).unwrap();
    let session = ["driver", "new", "box", "--from", "session.txt"];
    run(
        directory,
        &[&session[..], &["--output", "DEFINITIONS"]].concat(),
    )
    .assert_code(0);
    for (name, lines, expected) in [
        (
            "box_route",
            "ip route 0.0.0.0/0 192.0.2.1\nip route 10.0.0.0/8 192.0.2.2 distance 20 vrf blue\n",
            "line = \"ip route {name} {value} <[distance {distance}] [vrf {vrf}]> [{*}]\"",
        ),
        (
            "box_interface",
            "interface 1/1/1\n mtu 9000\ninterface vlan 10\n mtu 1500\n",
            "block = \"interface {name:rest}\"",
        ),
    ] {
        std::fs::write(directory.join("lines.txt"), lines).unwrap();
        let new = [
            "driver",
            "new",
            "box",
            name,
            "--from",
            "lines.txt",
            "--definitions",
            "DEFINITIONS",
        ];
        let printed = run(directory, &new);
        printed.assert_code(0);
        printed.assert_contains(expected);
    }
}

/// The prompt has the number of the command and a mark for changes that are not saved.
const COUNTED: &str = "\
edge1.1 # disable clipaging
edge1.2 # show version
Image   : BoxOS version 22.2
edge1.3 # show configuration
# Module box configuration.
configure system name edge1
configure account admin password ciphertext $5$abcdef
configure account guest password encrypted 7 0822455D0A16
configure snmp community hidden
* edge1.4 # save configuration
Configuration saved to primary.cfg successfully.
edge1.5 # exit
";

#[test]
fn platform_draft_has_counted_prompts_and_the_commands_of_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("session.txt"), COUNTED).unwrap();
    let new = ["driver", "new", "box", "--from", "session.txt"];
    let printed = run(directory, &new);
    printed.assert_code(0);
    for expected in [
        r"prompt = '(?:\* )?(?<name>[\w.\-]+)[.:]\d+ ?#'",
        "[[open]]\nsend = \"disable clipaging\"",
        "[[close]]\nsend = \"exit\"",
        "[[save]]\nsend = \"save configuration\"",
        "\nexpect = 'Configuration'",
    ] {
        assert!(
            printed.stdout.contains(expected),
            "{expected}: {}",
            printed.text()
        );
    }
    // Secrets are found without patterns.
    let drafted: toml::Table = printed.stdout.parse().unwrap();
    assert!(!drafted.contains_key("secrets"));
}

/// A saved configuration shows no command, so that none is sent.
#[test]
fn platform_draft_invents_no_commands() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("config.txt"), SET_LINES).unwrap();
    let printed = run(directory, &["driver", "new", "box", "--from", "config.txt"]);
    printed.assert_code(0);
    for section in ["open", "close", "save"] {
        printed.assert_contains(&format!("# [[{section}]]\n# send = "));
        printed.assert_contains(&format!(
            "check: [[{section}]]: the sample has no command that"
        ));
    }
}

#[test]
fn draft_from_nothing_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("empty.txt"), "\n").unwrap();
    let refused = run(
        directory.path(),
        &["driver", "new", "box", "--from", "empty.txt"],
    );
    refused.assert_code(1);
    refused.assert_contains("the sample has no lines");
    let refused = run(
        directory.path(),
        &["driver", "new", "cisco_ios", "--from", "empty.txt"],
    );
    refused.assert_code(1);
    refused.assert_contains("platform cisco_ios exists already");
}
