//! Tests of valid inventories and of the errors in invalid ones.

use switchtender_devices::diagnostic::Label;

use crate::diagnostic::terminal::{RenderOptions, render_all};

use super::super::ConcurrencyLimits;
use super::*;

const DEVICE: &str =
    "platform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"u\"\nagent = true\n";

/// The inventory, or its errors with those of its devices.
fn parse(text: &str) -> Result<Inventory, Vec<Diagnostic>> {
    let inventory = parse_with_problems(text)?;
    let problems = Inventory::device_problems(inventory.devices.values());
    if problems.is_empty() {
        Ok(inventory)
    } else {
        Err([problems, inventory.warnings].concat())
    }
}

fn parse_with_problems(text: &str) -> Result<Inventory, Vec<Diagnostic>> {
    let registry = Registry::shipped();
    let options = InventoryOptions {
        registry: Some(&registry),
        ..InventoryOptions::default()
    };
    Inventory::parse("inventory.toml", text, Path::new("/etc/st"), None, &options)
}

#[test]
fn problems_of_a_device_do_not_stop_the_others() {
    let text = format!(
        "[device.a]\n{DEVICE}[device.b]\n{}[device.c]\nuser = \"u\"\nagent = true\n",
        DEVICE
            .replace("cisco_ios", "cisco_io")
            .replace(".1\"", ".2\"")
    );
    let inventory = parse_with_problems(&text).unwrap();
    let problems = inventory.devices.values();
    let problems = problems.map(|device| (device.name.as_str(), device.problems.len()));
    assert_eq!(Vec::from_iter(problems), [("a", 0), ("b", 1), ("c", 2)]);
    let found = render(&inventory.devices["b"].problems);
    assert_eq!(
        found,
        ["7:12 unknown-platform: unknown platform `cisco_io` | did you mean `cisco_ios`?"]
    );
}

#[test]
fn other_names_of_platforms_are_accepted() {
    let device = |name: &str, platform: &str| {
        format!(
            "[device.{name}]\nplatform = \"{platform}\"\naddress = \"{name}\"\nuser = \"u\"\nagent = true\n"
        )
    };
    let inventory =
        parse(&(device("a", "cisco.ios.ios") + &device("b", "f5networks.f5_modules.bigip")));
    let inventory = inventory.unwrap();
    let platforms = inventory.devices.values();
    let platforms = platforms.map(|device| device.platform.as_str());
    assert_eq!(Vec::from_iter(platforms), ["cisco_ios", "f5_bigip"]);
    let found = parse(&device("c", "vyos.vyos.vyos")).unwrap_err();
    assert!(render(&found)[0].contains("`vyos` is in examples/definitions"));
}

/// `line:column code message | help` of each.
fn render(list: &[Diagnostic]) -> Vec<String> {
    list.iter()
        .map(|found| {
            let position = |label: &Label| {
                let (line, column) = label.source.position(label.span.start);
                format!("{line}:{column} ")
            };
            format!(
                "{}{}: {} | {}",
                found.labels.first().map(position).unwrap_or_default(),
                found.code,
                found.message,
                found.help.as_deref().unwrap_or("-"),
            )
        })
        .collect()
}

#[test]
fn settings_are_inherited_from_platform_and_defaults() {
    let inventory = parse(
        r#"
[defaults]
user = "puppet"
password = { env = "NET_PASSWORD" }
command_timeout = "2m"
labels.stage = "lab"
labels.rack = "none"

[platform.cisco_ios]
enable_password = { file = "secrets/enable" }
algorithms = "compatible"
command_timeout = "1m"
save_config = "on_change"
options.network_trunk.manage_vlan_lists = true

[limits]
concurrency = 100
per_site = 5

[device.sw1]
platform = "cisco_ios"
certname = "sw1.lab.test"
address = "192.0.2.1"
port = 2222
labels.rack = "a1"
site = "fra"

[device.lb1]
platform = "f5_bigip"
address = "lb1.lab.test"
user = "admin"
"#,
    )
    .unwrap();
    let rows: Vec<String> = inventory
        .show(
            &inventory.devices.values().collect::<Vec<_>>(),
            &Registry::shipped(),
        )
        .into_iter()
        .flat_map(|device| {
            device.settings.into_iter().map(move |setting| {
                let table = setting.table.unwrap_or_default();
                format!(
                    "{} {} = {} {table}",
                    device.name, setting.key, setting.value
                )
            })
        })
        .collect();
    assert_eq!(
        rows,
        [
            "sw1 platform = cisco_ios [device.sw1]",
            "sw1 certname = sw1.lab.test [device.sw1]",
            "sw1 address = 192.0.2.1 [device.sw1]",
            "sw1 port = 2222 [device.sw1]",
            "sw1 user = puppet [defaults]",
            "sw1 password = environment variable NET_PASSWORD [defaults]",
            "sw1 enable_password = file /etc/st/secrets/enable [platform.cisco_ios]",
            "sw1 algorithms = compatible [platform.cisco_ios]",
            "sw1 site = fra [device.sw1]",
            "sw1 command_timeout = 1m [platform.cisco_ios]",
            "sw1 save_config = on_change [platform.cisco_ios]",
            "sw1 labels.rack = a1 [device.sw1]",
            "sw1 labels.stage = lab [defaults]",
            "sw1 options.network_trunk.manage_vlan_lists = true [platform.cisco_ios]",
            "sw1 guarantee = session; locked with `configuration mode exclusive auto` on the device the platform",
            "lb1 platform = f5_bigip [device.lb1]",
            "lb1 certname = lb1 ",
            "lb1 address = lb1.lab.test [device.lb1]",
            "lb1 user = admin [device.lb1]",
            "lb1 password = environment variable NET_PASSWORD [defaults]",
            "lb1 command_timeout = 2m [defaults]",
            "lb1 labels.rack = none [defaults]",
            "lb1 labels.stage = lab [defaults]",
            "lb1 guarantee = timing the platform",
        ]
    );
    assert_eq!(
        inventory.limits,
        ConcurrencyLimits {
            concurrency: Some(100),
            per_site: Some(5),
            per_jump: None
        }
    );
    assert_eq!(inventory.warnings, []);
}

#[test]
fn errors_have_positions_and_hints() {
    let device = |rest: &str| format!("[device.a]\n{DEVICE}{rest}\n");
    let cases: Vec<(String, &[&str])> = vec![
        (
            device("adress = \"x\""),
            &["6:1 unknown-key: unknown key `adress` in [device.a] | did you mean `address`?"],
        ),
        (
            device("host = \"x\"\nusername = \"u\"\nenable_secret = \"s\"\ntype = \"x\""),
            &[
                "6:1 unknown-key: unknown key `host` in [device.a] | did you mean `address`?",
                "7:1 unknown-key: unknown key `username` in [device.a] | did you mean `user`?",
                "8:1 unknown-key: unknown key `enable_secret` in [device.a] | did you mean `enable_password`?",
                "9:1 unknown-key: unknown key `type` in [device.a] | did you mean `platform`?",
            ],
        ),
        (
            device("jump = { host = \"h\", address = \"x\", user = \"u\" }"),
            &["6:10 unknown-key: unknown key `host` in [device.a.jump] | did you mean `address`?"],
        ),
        (
            device("connect_timeout = 20"),
            &["6:19 duration: `device.a.connect_timeout` has no unit | write \"20s\""],
        ),
        (
            format!("[devices.a]\n{DEVICE}"),
            &["1:2 unknown-key: unknown key `devices` | did you mean `device`?"],
        ),
        (
            "[device.a]\naddress = \"x\"\nagent = true".into(),
            &[
                "1:1 missing-key: device `a` has no `platform` | add platform = \"…\" to [device.a], its group, [platform.<name>] or [defaults]",
                "1:1 missing-key: device `a` has no `user` | add user = \"…\" to [device.a], its group, [platform.<name>] or [defaults]",
            ],
        ),
        // A syntax error is reported without the errors that follow from it.
        (
            device("").replace("address = ", "address = = "),
            &[
                "3:11 toml-syntax: extra `=`, expected nothing | -",
                "3:13 toml-syntax: unexpected key or value, expected newline, `#` | -",
            ],
        ),
        (
            device("").replace("cisco_ios", "cisco_io"),
            &["2:12 unknown-platform: unknown platform `cisco_io` | did you mean `cisco_ios`?"],
        ),
        (
            device("").replace("cisco_ios", "junos")
                + "[device.b]\nplatform = \"junos\"\naddress = \"b\"\nuser = \"u\"\nagent = true\n",
            &[
                "2:12 unknown-platform: unknown platform `junos` | `junos` is in examples/definitions of the sources: pass that directory as --definitions",
            ],
        ),
        (
            device("").replace("192.0.2.1", "192.0.2.300"),
            &[
                "3:11 address: `192.0.2.300` is neither a hostname nor an IP address | an IPv4 address has four numbers from 0 to 255",
            ],
        ),
        (
            device("port = 70000"),
            &["6:8 port: 70000 is not a port (1 to 65535) | -"],
        ),
        (
            device("command_timeout = \"30\""),
            &[
                "6:19 duration: `30` is not a duration | write a number with its unit: \"30s\", \"500ms\", \"2m\"",
            ],
        ),
        (
            device("algorithms = \"legcay\""),
            &[
                "6:14 unknown-word: `device.a.algorithms` cannot be \"legcay\" | did you mean \"legacy\"?",
            ],
        ),
        (
            device("save_config = true"),
            &[
                "6:15 unknown-word: `device.a.save_config` must be \"never\", \"on_change\" or \"always\" | use \"on_change\" to save after a run with changes, \"always\" to save after every run",
            ],
        ),
        (
            device("save_config = false"),
            &[
                "6:15 unknown-word: `device.a.save_config` must be \"never\", \"on_change\" or \"always\" | use \"never\"",
            ],
        ),
        (
            device("save_config = \"sometimes\""),
            &[
                "6:15 unknown-word: `device.a.save_config` cannot be \"sometimes\" | use one of \"never\", \"on_change\", \"always\"",
            ],
        ),
        (
            device("fingerprint = \"SHA256:abc\""),
            &[
                "6:15 fingerprint: `SHA256:abc` is not a SHA-256 fingerprint | for SSH, copy SHA256:… from `ssh-keyscan HOST | ssh-keygen -lf -`; for HTTPS, copy the 64 hex digits from `openssl x509 -noout -fingerprint -sha256`",
            ],
        ),
        (
            device("password = { env = \"A\", file = \"b\" }"),
            &[
                "6:12 secret-source: `device.a.password` must have exactly one secret source | write { env = \"VARIABLE\" }, { file = \"path\" }, { command = [\"program\", \"argument\"] }, { credential = \"name\" } or { vault = \"path\", field = \"field\" }",
            ],
        ),
        (
            device("password = { vault = \"A\" }"),
            &["6:22 secret-source: `vault` needs `field`, the field of the secret | -"],
        ),
        (
            device("jump = \"b\""),
            &["6:8 unknown-jump: unknown device `b` | did you mean `a`?"],
        ),
        // One that lacks something is there all the same, and lacks all that it lacks at once.
        (
            format!(
                "{}[device.b]\naddress = \"192.0.2.1\"\n",
                device("jump = \"b\"")
            ),
            &[
                "7:1 missing-key: device `b` has no `platform` | add platform = \"…\" to [device.b], its group, [platform.<name>] or [defaults]",
                "7:1 missing-key: device `b` has no `user` | add user = \"…\" to [device.b], its group, [platform.<name>] or [defaults]",
                "7:1 no-credentials: device `b` has no credentials | set `password`, `private_key` or `agent = true`",
            ],
        ),
        (
            device("jump = \"a\""),
            &[
                "6:8 jump-cycle: the jump hosts of `a` form a cycle: a → a | set `jump = false` in [device.a]",
            ],
        ),
        (
            device("jump = { address = \"x\" }"),
            &["6:8 missing-key: key `user` is missing in [device.a.jump] | -"],
        ),
        (
            "[defaults]\naddress = \"x\"\n".into(),
            &[
                "2:11 misplaced-key: `address` is not allowed in [defaults] | move it to [device.<name>], or use the name of the device in it: \"{name}.example.com\"",
            ],
        ),
        (
            "[limits]\nconcurrency = 0\n".into(),
            &["2:15 limit: `limits.concurrency` must be at least 1 | -"],
        ),
        (
            format!("[device.\"../a\"]\n{DEVICE}"),
            &[
                "1:1 device-name: `../a` is not a valid device name | use only letters, digits and . _ - :",
            ],
        ),
        (
            format!(
                "{}[device.b]\n{}certname = \"a\"\n",
                device(""),
                DEVICE.replace("2.1", "2.2")
            ),
            &[
                "7:1 duplicate-certname: devices `a` and `b` have the same certname, `a` | set another `certname` for one of them",
            ],
        ),
        (
            device("after = [\"b\", \"core\"]"),
            &[
                "6:9 unknown-after: unknown device `b` | did you mean `a`?",
                "6:9 unknown-after: unknown device `core` | name devices of the inventory: after = [\"core1\"]",
            ],
        ),
        (
            format!(
                "label_order = [\"role\", \"role\"]\n{}",
                device("labels = { role = \"a\" }")
            ),
            &[
                "1:24 duplicate-label: label `role` occurs twice in `label_order` | remove one of them: later keys replace earlier ones",
            ],
        ),
        (
            format!("label_order = \"role\"\n{}", device("")),
            &["1:15 wrong-kind: `label_order` must be a list, not string | -"],
        ),
        (
            device("after = \"a\""),
            &[
                "6:9 after-cycle: `a` comes after itself | remove a device from `after`, or set `after = []` in [device.a]",
            ],
        ),
        (
            format!(
                "{}[device.b]\n{}after = [\"a\"]\n[device.c]\n{}after = [\"b\"]\n",
                device("after = [\"c\"]"),
                DEVICE.replace("2.1", "2.2"),
                DEVICE.replace("2.1", "2.3")
            ),
            &[
                "6:9 after-cycle: these devices come after each other: a, b, c | remove a device from `after`, or set `after = []` in [device.a]",
            ],
        ),
    ];
    for (text, expected) in cases {
        let found = parse(&text).expect_err(&text);
        assert_eq!(render(&found), expected, "{text}");
    }
}

#[test]
fn wrong_range_of_addresses_is_the_only_error_about_them() {
    let text = format!("[device.\"sw[1-3]\"]\n{DEVICE}").replace("192.0.2.1", "192.0.2.[1-2]");
    let found = parse(&text).unwrap_err();
    let codes: Vec<&str> = found.iter().map(|found| found.code).collect();
    assert_eq!(codes, ["range"]);
}

#[test]
fn warnings_do_not_prevent_loading() {
    let text = format!(
        "label_order = [\"rolle\"]\n[device.a]\n{DEVICE}labels.role = \"a\"\n[device.b]\n{}",
        DEVICE.replace("agent = true\n", "")
    );
    let inventory = parse(&text).unwrap();
    assert_eq!(
        render(&inventory.warnings),
        [
            "1:16 unknown-label: no device has the label `rolle` | did you mean `role`?",
            "4:11 duplicate-address: 2 devices have the same address, 192.0.2.1: a, b | correct the addresses, or set `port` or `jump`",
            "8:1 no-credentials: device `b` has no credentials | set `password`, `private_key` or `agent = true`",
        ]
    );
}

#[test]
fn clear_text_secrets_are_errors_in_readable_files() {
    let text = format!("[device.a]\n{DEVICE}password = \"s3cr3t\" \noops = 1\n");
    let clean = text.replace("oops = 1\n", "");
    let inventory = parse(&clean).unwrap();
    assert_eq!(
        render(&inventory.warnings),
        [
            "6:12 literal-secret: `password` is in clear text in the inventory | use password = { env = \"…\" }, { file = \"…\" } or { command = [\"…\"] }"
        ]
    );
    let read = |text: &str, allow_readable| {
        let options = InventoryOptions {
            allow_readable,
            ..InventoryOptions::default()
        };
        Inventory::parse("i.toml", text, Path::new(""), Some(0o644), &options)
    };
    let refused = read(&clean, false).unwrap_err();
    assert_eq!(
        render(&refused),
        [
            "6:12 readable-secret: `password` is in clear text, and other users can read this file (mode 0644) | use password = { env = \"…\" }, or `chmod 600 i.toml`, or set `allow_readable = true` before the first section"
        ]
    );
    assert!(read(&clean, true).is_ok());
    assert!(read(&format!("allow_readable = true\n{clean}"), false).is_ok());

    let everything = format!("{:?}{:?}{:?}", parse(&text), inventory, refused);
    assert!(!everything.contains("s3cr3t"));
}

#[test]
fn example_inventory_is_valid() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/inventory.toml");
    let registry = Registry::shipped();
    let options = InventoryOptions {
        registry: Some(&registry),
        ..InventoryOptions::default()
    };
    let inventory = Inventory::load(&path, &options).unwrap();
    let devices: Vec<_> = inventory
        .devices
        .values()
        .map(|d| (d.name.as_str(), d.platform.as_str(), d.certname.as_str()))
        .collect();
    assert_eq!(
        devices,
        [
            ("sw1", "cisco_ios", "sw1.lab.test"),
            ("lb1", "f5_bigip", "lb1.lab.test")
        ]
    );
    assert_eq!(inventory.warnings, []);
}

#[test]
fn unreadable_file_is_named() {
    let found = Inventory::load(
        Path::new("/nonexistent/i.toml"),
        &InventoryOptions::default(),
    );
    let messages = render(&found.unwrap_err());
    assert!(
        messages[0].contains("cannot read inventory /nonexistent/i.toml"),
        "{messages:?}"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"user = \"\xff\"").unwrap();
    let found = Inventory::load(file.path(), &InventoryOptions::default()).unwrap_err();
    assert!(found[0].message.contains("not UTF-8 (byte 8)"), "{found:?}");
}

#[test]
fn mutations_of_inventories_do_not_panic() {
    let example = include_bytes!("../../../examples/inventory.toml");
    let complete = "allow_readable = true\n[limits]\nparallel = 8\n[defaults]\nuser = \"ops\"\n\
        password = { env = \"P\" }\ncommand_timeout = \"5s\"\n[platform.cisco_ios]\n\
        enable_password = { command = [\"pass\", \"x\"] }\nalgorithms = \"legacy\"\n\
        [device.jump]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.9\"\n[device.sw1]\n\
        platform = \"cisco_ios\"\naddress = \"2001:db8::1\"\nport = 2222\njump = \"jump\"\n\
        labels = { site = \"a\" }\nfingerprint = \"SHA256:x\"\nsave_config = \"on_change\"\n\
        [device.lb1]\nplatform = \"f5_bigip\"\naddress = \"lb1.example\"\ntls = \"verify\"\n\
        jump = { address = \"h\", user = \"u\", password = \"s3cret\" }\n";
    let corpus = [example.to_vec(), complete.as_bytes().to_vec()];
    let campaign = switchtender_mutation::Campaign {
        name: "inventories",
        share: 100,
    };
    campaign.run(&corpus, |bytes| {
        match parse(&String::from_utf8_lossy(bytes)) {
            Ok(_) => true,
            Err(findings) => {
                assert!(!render(&findings).is_empty());
                false
            }
        }
    });
}

/// Findings quote lines, and a misspelled key is not in the list of secrets.
#[test]
fn excerpts_contain_no_possible_secret() {
    for line in [
        "enable_pasword = \"s3cret\"",
        "pasword = '''\ns3cret'''",
        "token = { en = \"s3cret\" }",
        "password = [\"s3cret\"]",
        "password = s3cret",
        "pasword = s3cret",
        "passphrase s3cret",
        "\"my password\" = \"s3cret",
        "[device.sw2]\nenable = { password = \"s3cret\" }",
        "jump = { address = \"j\", user = \"u\", pasword = \"s3cret\" }",
        "proxy = \"http://u:s3cret@p:3128\"\nprox = 1",
        "proxi = \"http://u:s3cret@p:3128\"",
    ] {
        let found = parse(&format!("[device.sw1]\n{DEVICE}{line}\n")).expect_err(line);
        let text = render_all(&found, RenderOptions::PLAIN);
        let text = text.as_str();
        assert!(!text.contains("s3cret"), "{text}");
        assert!(text.contains("inventory.toml:"), "{text}");
    }
}

#[test]
fn proxy_password_is_masked() {
    let text = format!("[device.sw1]\n{DEVICE}proxy = \"http://ops:s3cret@proxy:3128\"\n");
    let inventory = parse(&text).unwrap();
    let devices: Vec<_> = inventory.devices.values().collect();
    let rows = format!("{:?}", inventory.show(&devices, &Registry::shipped()));
    assert!(rows.contains("http://••••@proxy:3128"), "{rows}");
    let proxy = devices[0].settings.proxy.as_ref().unwrap();
    assert_eq!(proxy.value.expose(), "http://ops:s3cret@proxy:3128");
}

#[test]
fn example_platforms_are_those_of_the_directory() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    let own = switchtender_devices::definitions::from_directory(&directory).unwrap();
    let (all, shipped) = (Registry::load(&own).unwrap(), Registry::shipped());
    let examples = all
        .platform_names()
        .filter(|name| shipped.platform(name).is_none());
    let mut lines: Vec<String> = examples
        .map(|name| {
            let platform = all.platform(name).unwrap();
            let names = [vec![name.to_string()], platform.aliases.clone()];
            names.concat().join(" ")
        })
        .collect();
    lines.sort();
    assert_eq!(lines.join("\n") + "\n", EXAMPLE_PLATFORMS);
    for (name, expected) in [
        ("vrp", Some("huawei_vrp")),
        ("cisco.iosxr.iosxr", Some("ios_xr")),
        ("juniper_junos", Some("junos")),
        ("cisco_ios", None),
    ] {
        assert_eq!(example_platform(name), expected, "{name}");
    }
}

#[test]
fn parameters_of_a_platform_are_checked_and_merged() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    let own = switchtender_devices::definitions::from_directory(&directory).unwrap();
    let registry = Registry::load(&own).unwrap();
    let options = InventoryOptions {
        registry: Some(&registry),
        ..InventoryOptions::default()
    };
    let parse = |device: &str| {
        let text = format!(
            "[defaults]\nplatform = \"pan_os\"\nuser = \"u\"\npassword = {{ env = \"P\" }}\n\
             [group.all]\ndevices = [\"fw1\", \"fw2\"]\nparameters = {{ vsys = \"vsys2\" }}\n\
             [device.fw1]\naddress = \"192.0.2.1\"\n[device.fw2]\naddress = \"192.0.2.2\"\n{device}"
        );
        Inventory::parse("i.toml", &text, Path::new(""), None, &options)
    };
    let inventory = parse("parameters = { vsys = \"vsys3\" }\n").unwrap();
    let vsys = |name: &str| inventory.devices[name].parameters()["vsys"].clone();
    assert_eq!((vsys("fw1"), vsys("fw2")), ("vsys2".into(), "vsys3".into()));
    let platform = inventory.devices["fw2"].platform_of(&registry).unwrap();
    assert!(format!("{:?}", platform.type_driver("panos_address")).contains("vsys=vsys3"));
    for (device, expected) in [
        (
            "parameters = { vsys = \"x\" }\n",
            "the parameter `vsys` of `pan_os` is `x`, which does not match `^vsys\\d+$`",
        ),
        (
            "parameters = { vdom = \"x\" }\n",
            "the parameter `vdom` of `pan_os` is no parameter",
        ),
    ] {
        let findings = parse(device).unwrap_err();
        assert_eq!(findings[0].message, expected);
    }
}
