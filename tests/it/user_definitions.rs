//! A user's definitions over built-in ones: one attribute more, and a platform based on another.

use std::fs;
use std::path::Path;

use test_support::program;

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    }
    directory
}

fn run(arguments: &[&str], directory: &Path) -> String {
    let own = directory.display().to_string();
    let output = program::run(&[arguments, &[own.as_str()]].concat());
    output.assert_code(0);
    output.stdout
}

/// The number of tests that are built in, with these arguments.
fn built_in(arguments: &[&str]) -> usize {
    let output = program::run(&[&["driver", "test"], arguments].concat());
    output.assert_code(0);
    let count = output
        .stdout
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok());
    count.unwrap_or_else(|| panic!("{}", output.stdout))
}

/// Relays of DHCP on interfaces of one platform; another one has the type, too.
#[test]
fn user_adds_one_attribute_to_a_built_in_type() {
    let own = directory(&[
        (
            "models/network_interface.toml",
            r#"
extends = "shipped"
[attr.helper_address]
array  = "set"
doc    = "DHCP relays."
values = ["unset", { name = "address", pattern = '\S+' }]
canon  = ["ip"]
"#,
        ),
        (
            "cisco_ios/network_interface.toml",
            r#"
extends = "shipped"

[attr.helper_address]
line   = "ip helper-address {helper_address:ip}"
many   = true
absent = "unset"

[[test]]
name = "two relays"
given.config = '''
interface Vlan10
 ip helper-address 192.0.2.1
 ip helper-address vrf BLUE 192.0.2.9
'''
want = { name = "Vlan10", enable = true, helper_address = ["192.0.2.2", "192.0.2.3"] }
commands = [
  "interface Vlan10", " ip helper-address 192.0.2.2", " ip helper-address 192.0.2.3",
  " no ip helper-address 192.0.2.1",
]
"#,
        ),
    ]);
    let validated = run(&["driver", "validate"], own.path());
    let platforms: Vec<&str> = validated
        .lines()
        .filter(|line| line.starts_with("warning"))
        .collect();
    assert_eq!(
        platforms,
        [
            "warning[unsupported-attribute]: frr does not support helper_address of \
             network_interface"
        ],
        "{validated}"
    );
    assert!(
        validated.contains("help: add [attr.helper_address] to frr/network_interface.toml"),
        "{validated}"
    );
    let tested = run(&["driver", "test"], own.path());
    let count = built_in(&[]);
    assert_eq!(
        tested,
        format!("own: 1 passed, 0 failed\nbuilt in: {count} passed, 0 failed\n")
    );
}

/// All built-in tests of the other platform run for it, and its mock device can be used.
#[test]
fn user_platform_is_based_on_a_built_in_one() {
    let platform = "schema = 1\nplatform = \"site_ios\"\nbased_on = \"cisco_ios\"\n\
                    without = [\"banner\"]\n[fact.operatingsystem]\nconstant = \"site_ios\"\n";
    let vlan = "extends = \"base\"\n[[test]]\nname = \"site\"\n\
                want = { id = \"42\", vlan_name = \"lab\" }\ncommands = [\"vlan 42\", \" name lab\"]\n";
    let own = directory(&[
        ("site_ios/platform.toml", platform),
        ("site_ios/network_vlan.toml", vlan),
    ]);
    let of_platform = |platform: &str| {
        let folder = format!("devices/definitions/{platform}");
        let files = fs::read_dir(folder).expect("a folder");
        let texts =
            files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"));
        texts
            .map(|text| text.matches("[[test]]").count())
            .sum::<usize>()
    };
    let banner = fs::read_to_string("devices/definitions/cisco_ios/banner.toml").expect("text");
    let count = built_in(&[]) + of_platform("cisco_ios") - banner.matches("[[test]]").count();
    assert_eq!(
        run(&["driver", "test"], own.path()),
        format!("own: 1 passed, 0 failed\nbuilt in: {count} passed, 0 failed\n")
    );
    let inventory = own.path().join("inventory.toml.txt");
    fs::write(
        &inventory,
        "[device.new1]\nplatform = \"site_ios\"\naddress = \"192.0.2.1\"\nuser = \"x\"\npassword = { env = \"X\" }\n",
    )
    .expect("written");
    let inventory = inventory.display().to_string();
    let of_mock = ["--mock", "--inventory", &inventory, "--definitions"];
    let facts = run(&[&["facts", "new1"], &of_mock[..]].concat(), own.path());
    assert!(facts.contains("site_ios"), "{facts}");
    let vlans = run(
        &[&["resource", "new1", "network_vlan"], &of_mock[..]].concat(),
        own.path(),
    );
    assert!(vlans.contains("network_vlan { '1':"), "{vlans}");
}
