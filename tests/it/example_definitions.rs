//! The definitions in `examples/definitions` are complete, and read a configuration.

use std::path::Path;

use serde_json::json;
use test_support::catalog::{catalog, resource};
use test_support::program;

/// The form of a configuration of an S series switch, after Huawei's configuration guide.
const HUAWEI: &str = "\
!Software Version V200R019C00SPC500
#
sysname leaf1
#
interface GigabitEthernet0/0/1
 description Uplink to spine 1
 port link-type trunk
#
interface GigabitEthernet0/0/2
 shutdown
#
ntp-service unicast-server 192.0.2.1 preference
#
return
";

/// Lines of `show configuration commands`, after the documentation of VyOS.
const VYOS: &str = "\
set interfaces ethernet eth0 address '192.0.2.1/24'
set interfaces ethernet eth0 description 'Uplink to spine 1'
set interfaces ethernet eth0 duplex 'auto'
set interfaces ethernet eth0 hw-id '08:00:27:30:f0:22'
set interfaces ethernet eth0 mtu 'jumbo'
set interfaces loopback lo
set service ntp server 192.0.2.9 prefer
set system host-name 'r1'
";

fn definitions() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    path.display().to_string()
}

#[test]
fn example_definitions_pass_their_tests() {
    let validated = program::run(&["driver", "validate", &definitions()]);
    validated.assert_code(0);
    validated.assert_contains("no findings");
    let tested = program::run(&["driver", "test", &definitions()]);
    tested.assert_code(0);
    let own = tested.stdout.lines().find(|line| line.starts_with("own: "));
    let own = own.and_then(|line| line.strip_suffix(" passed, 0 failed"));
    assert!(own.is_some_and(|own| own != "own: 0"), "{}", tested.text());
}

#[test]
fn a_reference_to_a_type_that_the_platform_lacks_is_no_finding() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hw1.json");
    let server = resource(
        "Ntp_server",
        "192.0.2.1",
        json!({"ensure": "present", "key": 7}),
    );
    std::fs::write(&file, catalog("hw1", &[server]).to_string()).unwrap();
    let definitions = definitions();
    let validated = program::run(&[
        "validate",
        &file.display().to_string(),
        "--definitions",
        &definitions,
        "--platform",
        "huawei_vrp",
        "--for",
        "device",
    ]);
    assert!(
        !validated.stdout.contains("Ntp_auth_key"),
        "{}",
        validated.stdout
    );
}

/// What `resource` prints of a saved configuration.
fn resources(platform: &str, config: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("device.cfg");
    std::fs::write(&file, config).unwrap();
    let file = file.display().to_string();
    let definitions = definitions();
    let read = program::run(&[
        "resource",
        "--definitions",
        &definitions,
        "--config",
        &file,
        "--platform",
        platform,
    ]);
    read.assert_code(0);
    read.stdout
}

#[test]
fn example_definitions_read_set_lines() {
    let expected = "\
network_interface { 'eth0':
  enable      => true,
  description => 'Uplink to spine 1',
  speed       => 'auto',
  duplex      => 'auto',
  # mtu was not understood
}

# not understood: `set interfaces ethernet eth0 mtu 'jumbo'`

ntp_server { '192.0.2.9':
  ensure => 'present',
  prefer => true,
}
";
    assert_eq!(resources("vyos", VYOS), expected);
}

#[test]
fn example_definitions_read_a_configuration() {
    let expected = "\
network_interface { 'GigabitEthernet0/0/1':
  enable      => true,
  description => 'Uplink to spine 1',
}

network_interface { 'GigabitEthernet0/0/2':
  enable => false,
}

ntp_server { '192.0.2.1':
  ensure => 'present',
  prefer => true,
}
";
    assert_eq!(resources("huawei_vrp", HUAWEI), expected);
}
