//! What people see on a terminal, from the program as it is started.

use test_support::program;

fn switchtender(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program::run(arguments);
    (output.code, output.stdout, output.stderr)
}

#[test]
fn terminal_help_of_every_command_has_colors() {
    let (code, out, err) = switchtender(&["explain", "host-resource", "--color", "always"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("host-resource"), "{out}");
    // Logging starts before everything else, at every level.
    let (code, _, err) = switchtender(&["explain", "no-such-code", "-vvv", "--color", "always"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("\u{1b}[") && err.contains("nothing is known about"),
        "{err}"
    );
}

#[test]
fn terminal_usage_errors_escape_arguments() {
    for (arguments, code, expected) in [
        (
            &["no-such\u{1b}[2J\nerror: forged"] as &[&str],
            1,
            "'no-such\\u{1b}[2J\\nerror: forged'",
        ),
        (&["apply", "--no-such\u{9b}2J"], 1, "'--no-such\\u{9b}2J'"),
        (&["plan", "--color", "red\u{202e}"], 1, "'red\\u{202e}'"),
        (
            &["validate", "c.json", "--for", "\u{1b}]0;x\u{7}"],
            2,
            "\\u{1b}]0;x\\u{7}",
        ),
    ] {
        let output = program::run(arguments);
        output.assert_code(code);
        output.assert_printable();
        assert!(output.stderr.contains(expected), "{}", output.stderr);
        assert_eq!(output.stdout, "");
    }
}

/// Devices are no arguments of `plan` and `apply`.
#[test]
fn terminal_device_as_an_argument_names_the_option() {
    for command in ["plan", "apply"] {
        let (code, _, err) = switchtender(&[command, "sw1"]);
        assert_eq!(code, Some(1));
        assert!(err.contains("name devices with --target DEVICE"), "{err}");
    }
}

/// Words of messages are explained, with what follows them.
#[test]
fn terminal_words_of_a_plan_are_explained() {
    for (words, expected) in [
        ("undo", "restores what a device had before a run"),
        ("difference", "the lines that a run would change"),
        (
            "configuration difference:",
            "the lines that a run would change",
        ),
        (
            "no difference shown for cisco_command_config: the effect cannot be predicted",
            "no-difference-shown",
        ),
    ] {
        let (code, out, _) = switchtender(&["explain", words]);
        assert_eq!(code, Some(0), "{words}");
        assert!(out.contains(expected), "{out}");
    }
}

/// A word of a type's name or description finds the type.
#[test]
fn terminal_types_are_found_by_word_and_platform() {
    let (code, out, _) = switchtender(&["type", "spanning"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("ios_stp_global  (cisco_ios)"), "{out}");
    assert!(!out.contains("ntp_server"), "{out}");
    let (code, out, _) = switchtender(&["type", "--platform", "f5_bigip"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("f5_pool  (f5_bigip)"), "{out}");
    assert!(!out.contains("ntp_server"), "{out}");
    let (code, _, err) = switchtender(&["type", "netwrok_vlan"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("did you mean `network_vlan`?"), "{err}");
}

/// `device` is for `device.conf`; the tip names the option for one device.
#[test]
fn terminal_device_command_with_an_address_names_the_option() {
    let arguments = ["device", "admin@192.0.2.1", "--platform", "cisco_ios"];
    let (code, _, err) = switchtender(&arguments);
    assert_eq!(code, Some(1));
    assert!(err.contains("plan --device USER@ADDRESS"), "{err}");
}

#[test]
fn terminal_invalid_log_filter_is_reported_and_ignored() {
    let stderr = |filter: &str| {
        let mut command = program::switchtender(&["explain", "host-resource"]);
        let output = command.env("SWITCHTENDER_LOG", filter).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{filter}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = stderr("switchtender=loud");
    assert!(text.contains("SWITCHTENDER_LOG is invalid"), "{text}");
    assert_eq!(stderr("switchtender=debug,russh=info"), "");
}

#[test]
fn explain_has_every_finding() {
    let (code, list, _) = switchtender(&["explain"]);
    assert_eq!(code, Some(0));
    let mut explained = 0;
    let is_heading = |line: &&str| line.is_empty() || line.ends_with(':');
    for line in list.lines().filter(|line| !is_heading(line)) {
        let rule = line.split(' ').next().unwrap();
        let (code, out, err) = switchtender(&["explain", rule]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{rule}");
        // Why it is wrong, and where a manifest can show it, how it is right.
        assert!(out.lines().count() > 2, "{out}");
        assert_eq!(out.contains("Wrong:"), out.contains("Right:"), "{out}");
        explained += 1;
    }
    assert!(explained > 40, "{list}");
}

/// An inventory with a switch that nothing answers for, in a directory of its own.
fn inventory(platform: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("inventory.toml");
    let text = format!(
        "[device.sw1]\nplatform = \"{platform}\"\ncertname = \"sw1.lab.test\"\naddress = \"127.0.0.1\"\n\
         port = 1\nuser = \"u\"\nagent = true\n"
    );
    std::fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    (dir, file)
}

#[test]
fn terminal_misspelled_platform_is_found_before_the_run() {
    let (_dir, file) = inventory("cisco_iso");
    for command in ["validate", "show"] {
        let (code, _, err) = switchtender(&["inventory", command, "--inventory", &file]);
        assert_eq!(code, Some(1), "{err}");
        assert!(err.contains("did you mean `cisco_ios`?"), "{err}");
    }
}

#[test]
fn terminal_missing_catalog_is_reported() {
    let (_dir, file) = inventory("cisco_ios");
    let (code, _, err) =
        switchtender(&["plan", "--inventory", &file, "--catalog", "no/such/place"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read no/such/place"), "{err}");
    assert!(err.contains("pass a catalog, or a directory"), "{err}");
}

/// A plan of a catalog that is refused; nothing is connected to.
fn refused(catalog: &str) -> String {
    let (dir, file) = inventory("cisco_ios");
    let state = dir.path().join("state").display().to_string();
    let (code, out, err) = switchtender(&[
        "plan",
        "--inventory",
        &file,
        "--catalog",
        catalog,
        "--state-dir",
        &state,
    ]);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    assert!(
        out.contains("sw1: Error: the catalog was refused: it has 1 error\n\nDevice"),
        "{out}"
    );
    out
}

#[test]
fn terminal_catalog_of_another_device_has_one_error() {
    let out = refused("examples/catalogs/lb1.json");
    assert_eq!(out.matches("error[").count(), 1, "{out}");
    assert!(
        out.contains("error[wrong-name]") && !out.contains("note["),
        "{out}"
    );
}

#[test]
fn terminal_errors_are_printed_before_warnings() {
    let catalog = std::fs::read_to_string("examples/catalogs/sw1.json").unwrap();
    let catalog = catalog.replace("\"vlan_name\":\"users\"", "\"vlan_name\":\"my\\tusers\"");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sw1.json");
    std::fs::write(&path, catalog).unwrap();
    let out = refused(&path.display().to_string());
    assert!(
        out.contains("error[unwritable-value]") && !out.contains("note["),
        "{out}"
    );
}

#[test]
fn driver_explain_has_columns_and_other_platforms() {
    let (code, out, err) =
        switchtender(&["driver", "explain", "cisco_ios", "network_trunk", "mode"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let column = |word: &str, line: &str| {
        let found = out.lines().find(|text| text.trim_start().starts_with(word));
        found
            .and_then(|text| text.find(line))
            .unwrap_or_else(|| panic!("{word}: {out}"))
    };
    assert_eq!(
        column("access", "switchport mode access"),
        column("dynamic_desirable", "switchport mode dynamic desirable")
    );
    assert_eq!(
        column("meaning", "Switchport settings"),
        column("read", "show interfaces switchport")
    );
    assert_eq!(
        column("values", "`unset` or `access` or `trunk`"),
        column("access", "switchport mode access")
    );
    assert!(out.contains(" Mode of the port: access, trunk"), "{out}");
    let (code, _, err) = switchtender(&["driver", "explain", "f5_bigip", "network_vlan"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("platforms that support it: arista_eos, cisco_ios"),
        "{err}"
    );
}

/// A user starts an own file from the text of a built-in one.
#[test]
fn driver_show_prints_built_in_files_as_they_are() {
    let files = [
        (&["frr"][..], "frr/platform.toml"),
        (&["frr", "network_interface"], "frr/network_interface.toml"),
        (
            &["frr", "network_interface", "--model"],
            "models/network_interface.toml",
        ),
    ];
    for (arguments, path) in files {
        let source = std::fs::read_to_string(format!("devices/definitions/{path}")).unwrap();
        let ran = switchtender(&[&["driver", "show"], arguments].concat());
        assert_eq!(ran, (Some(0), source, String::new()), "{path}");
    }
    let refused = [
        (
            &["ios"][..],
            "error: unknown platform `ios`\nhint: did you mean `cisco_ios`?\n",
        ),
        (
            &["frr", "network_vlan"],
            "error: platform frr does not support network_vlan\n\
             hint: platforms that support it: arista_eos, cisco_ios, cisco_nxos\n",
        ),
        (
            &["frr", "network_interfac"],
            "error: unknown type `network_interfac`\nhint: did you mean `network_interface`?\n",
        ),
    ];
    for (arguments, message) in refused {
        let ran = switchtender(&[&["driver", "show"], arguments].concat());
        assert_eq!(ran, (Some(1), String::new(), message.to_owned()));
    }
}

/// Who changes what is built in sees which tests fail for it, and whose they are.
#[test]
fn driver_test_counts_user_definitions_separately() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("cisco_ios")).unwrap();
    let head = "schema = 1\nplatform = \"cisco_ios\"\ntype = \"network_vlan\"\n\
                extends = \"shipped\"\n[attr.vlan_name]\n";
    let test = |command: &str| {
        format!(
            "[[test]]\nname = \"mine\"\nwant = {{ id = \"42\", vlan_name = \"lab\" }}\n\
             commands = [\"vlan 42\", \" {command}\"]\n"
        )
    };
    let label = "set.text = \"label {vlan_name}\"\n";
    let shipped = [
        include_str!("../../devices/definitions/arista_eos/network_vlan.toml"),
        include_str!("../../devices/definitions/cisco_ios/network_vlan.toml"),
        include_str!("../../devices/definitions/cisco_nxos/network_vlan.toml"),
    ];
    let counts = shipped.map(|text| text.matches("[[test]]").count());
    let shipped: usize = counts.iter().sum();
    let inherited = format!("own: 0 passed, 0 failed\nbuilt in: {shipped} passed, 0 failed\n");
    let own_passes = format!("own: 1 passed, 0 failed\nbuilt in: {shipped} passed, 0 failed\n");
    let own_fails = format!(
        "cisco_ios/network_vlan: mine\nexpected:\n  vlan 42\n   label lab\nfound:\n  \
         vlan 42\n   name lab\n\nown: 0 passed, 1 failed\nbuilt in: {shipped} passed, 0 failed\n"
    );
    // Changes, messages and the exit code.
    let cases = [
        // The shipped tests run over a file that extends a shipped one.
        (String::new(), inherited.as_str(), 0),
        (test("name lab"), own_passes.as_str(), 0),
        (test("label lab"), own_fails.as_str(), 1),
    ];
    for (change, expected, code) in cases {
        let file = dir.path().join("cisco_ios/network_vlan.toml");
        std::fs::write(&file, format!("{head}{change}")).unwrap();
        let own = dir.path().to_str().unwrap();
        let ran = switchtender(&["driver", "test", own, "--type", "network_vlan"]);
        assert_eq!(
            ran,
            (Some(code), expected.to_owned(), String::new()),
            "{change}"
        );
    }
    // A shipped test names the file of the user that breaks it.
    let file = dir.path().join("cisco_ios/network_vlan.toml");
    std::fs::write(&file, format!("{head}{label}")).unwrap();
    let own = dir.path().to_str().unwrap();
    let (code, printed, _) = switchtender(&["driver", "test", own, "--type", "network_vlan"]);
    assert_eq!(code, Some(1));
    for part in [
        "cisco_ios/network_vlan: create (built in)\nexpected:\n  vlan 42\n   name lab\n",
        "found:\n  vlan 42\n   label lab\n",
        "\nown: 0 passed, 0 failed\nbuilt in: ",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

const EXAMPLES: [&str; 5] = [
    "--inventory",
    "examples/inventory.toml",
    "--catalog",
    "examples/catalogs",
    "--mock",
];

#[test]
fn mock_missing_directory_of_configurations_is_reported() {
    let arguments = [
        &["plan"],
        &EXAMPLES[..],
        &["--mock-config", "no/such/place"],
    ]
    .concat();
    let (code, _, err) = switchtender(&arguments);
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read no/such/place"), "{err}");
}

#[test]
fn terminal_noop_table_counts_pending_changes() {
    let arguments = [&["apply"], &EXAMPLES[..], &["--noop", "--target", "lb1"]].concat();
    let (code, out, _) = switchtender(&arguments);
    assert_eq!(code, Some(0));
    let table = out.rsplit("\n\n").next().unwrap();
    assert!(table.contains("To change"), "{out}");
    assert!(table.contains("pending         11         11 "), "{out}");
}

#[test]
fn terminal_missing_credential_is_reported_once_at_its_position() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("inventory.toml");
    let text = "[defaults]\nplatform = \"cisco_ios\"\nuser = \"u\"\n\
                password = { env = \"SWITCHTENDER_TEST_NOT_SET\" }\n\
                [device]\nsw1 = { address = \"192.0.2.1\" }\nsw2 = { address = \"192.0.2.2\" }\n";
    std::fs::write(&file, text).unwrap();
    for device in ["sw1", "sw2"] {
        let catalog = format!("{{\"name\": \"{device}\", \"resources\": []}}");
        std::fs::write(dir.path().join(format!("{device}.json")), catalog).unwrap();
    }
    let at = |path: &std::path::Path| path.display().to_string();
    let (file, dir, state) = (at(&file), at(dir.path()), at(&dir.path().join("state")));
    let (code, out, _) = switchtender(&[
        "apply",
        "--inventory",
        &file,
        "--catalog",
        &dir,
        "--state-dir",
        &state,
    ]);
    assert_eq!(code, Some(1));
    assert_eq!(out.matches("is not set").count(), 1, "{out}");
    let reason = "not run: sw[1-2]: cannot obtain the credentials";
    assert!(out.contains(reason), "{out}");
}

#[test]
fn validate_of_a_catalog_without_a_device_names_the_inventory() {
    let directory = tempfile::tempdir().unwrap();
    let inventory = directory.path().join("inventory.toml");
    let device =
        "[device.other]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.9\"\nuser = \"a\"\n";
    std::fs::write(&inventory, device).unwrap();
    let inventory = inventory.to_str().unwrap();
    let catalog = "examples/catalogs/sw1.json";
    let (_, out, _) = switchtender(&["validate", catalog, "--inventory", inventory]);
    for expected in [
        "warning[no-device]",
        "help: add the device to the inventory, or set `certname` of its device",
        "1 without a known platform: add the devices to the inventory or use --platform PLATFORM",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
}

#[test]
fn terminal_numbers_are_exit_codes() {
    let (code, _, err) = switchtender(&["explain", "3"]);
    assert_eq!(code, Some(1));
    let expected = "error: unknown exit code `3`\nhint: the exit codes are 0, 1, 2, 4, 6, 130\n";
    assert_eq!(err, expected);
}

#[test]
fn validate_without_platforms_prints_a_note() {
    let catalog = "examples/catalogs/sw1.json";
    let (code, out, _) = switchtender(&["validate", catalog]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains("1 without a known platform: use --inventory FILE"),
        "{out}"
    );
    for options in [
        ["--platform", "cisco_ios"],
        ["--inventory", "examples/inventory.toml"],
    ] {
        let (_, out, _) = switchtender(&[&["validate", catalog], &options[..]].concat());
        assert!(!out.contains("without a known platform"), "{out}");
    }
    // A catalog of a host has none.
    let (_, out, _) = switchtender(&["validate", catalog, "--for", "host"]);
    assert!(!out.contains("without a known platform"), "{out}");
}

#[test]
fn resource_accepts_every_spelling_of_a_name_and_reports_missing_ones() {
    let resource = |words: &[&str]| {
        let inventory = ["--mock", "--inventory", "examples/inventory.toml"];
        switchtender(&[&["resource"], words, &inventory].concat())
    };
    let (code, out, err) = resource(&["sw1", "network_interface", "Gi1/0/2"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(
        out.starts_with("network_interface { 'GigabitEthernet1/0/2':"),
        "{out}"
    );
    let (code, _, err) = resource(&["sw1", "network_interface", "Gi9/9/9"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("sw1 has no network_interface `GigabitEthernet9/9/9`"),
        "{err}"
    );
    let (code, out, err) = resource(&["lb1", "f5_pool"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert_eq!(err, "lb1 has no f5_pool\n");
}

#[test]
fn terminal_short_help_has_common_and_long_help_all_settings() {
    for command in ["device", "doctor"] {
        let (_, short, _) = switchtender(&[command, "-h"]);
        assert!(short.contains("--server <TEXT>"), "{short}");
        assert!(short.contains("see more with '--help'"), "{short}");
        assert!(!short.contains("payload_soft_limit"), "{short}");
        let (_, long, _) = switchtender(&[command, "--help-all"]);
        assert!(long.contains("--payload_soft_limit"), "{long}");
    }
}

#[test]
fn validate_missing_directory_of_facts_is_reported() {
    for flag in ["--facts", "--running"] {
        let (code, _, err) =
            switchtender(&["validate", "examples/catalogs", flag, "no/such/place"]);
        assert_eq!(code, Some(2));
        assert!(err.contains("cannot read no/such/place"), "{err}");
    }
}
