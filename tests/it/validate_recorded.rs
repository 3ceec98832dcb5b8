//! The catalogs that a real server compiled, each against its platform: what is wrong with them is
//! found, and nothing else.

mod device_answers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use test_support::program;

fn catalogs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/puppetserver/catalogs")
}

/// The exit code, and the findings per catalog as `severity code manifest-file:line message`.
fn validate(arguments: &[&str]) -> (i32, BTreeMap<String, Vec<String>>) {
    let output = program::run(&[&["validate", "--format", "json"], arguments].concat());
    let mut by_catalog: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in output.stdout.lines() {
        let found: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let name = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
        let catalog = name(text(&found["labels"][0]["file"]));
        by_catalog.entry(catalog).or_default().push(format!(
            "{} {} {}:{} {}",
            text(&found["severity"]),
            text(&found["code"]),
            name(text(&found["manifest"]["file"])),
            found["manifest"]["line"],
            text(&found["message"])
        ));
    }
    (output.code.expect("it ends"), by_catalog)
}

/// An inventory with these devices; a catalog's name is `<device>.lab.test`.
fn inventory(devices: &[(&str, &str)]) -> tempfile::NamedTempFile {
    let mut text = "[defaults]\nuser = \"u\"\nagent = true\n".to_owned();
    for (number, (name, platform)) in devices.iter().enumerate() {
        text += &format!(
            "[device.{name}]\nplatform = \"{platform}\"\ncertname = \"{name}.lab.test\"\n\
             address = \"192.0.2.{number}\"\n"
        );
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    file
}

#[test]
fn validate_finds_errors_at_their_positions_only() {
    let inventory = inventory(&[
        ("sw1", "cisco_ios"),
        ("lb1", "f5_bigip"),
        ("meta1", "cisco_ios"),
        ("rich1", "cisco_ios"),
        ("bench1", "cisco_ios"),
        ("failing1", "cisco_ios"),
        ("mixed1", "cisco_ios"),
        ("cycle1", "cisco_ios"),
        ("spare", "cisco_ios"),
    ]);
    let directory = tempfile::tempdir().expect("a directory");
    for name in [
        "sw1", "lb1", "meta1", "rich1", "bench1", "failing1", "mixed1", "cycle1", "other",
    ] {
        let name = format!("{name}.json");
        std::fs::copy(catalogs().join(&name), directory.path().join(&name)).expect("copied");
    }
    let (exit, by_catalog) = validate(&[
        &directory.path().display().to_string(),
        "--inventory",
        &inventory.path().display().to_string(),
    ]);
    assert_eq!(exit, 1);
    let errors: Vec<(&str, &str)> = by_catalog
        .iter()
        .flat_map(|(catalog, lines)| lines.iter().map(|line| (catalog.as_str(), line.as_str())))
        .filter(|(_, line)| line.starts_with("error "))
        .collect();
    assert_eq!(
        errors,
        [
            (
                "cycle1.json",
                "error cycle site.pp:254 Found 1 dependency cycle: (Network_vlan[90] => Network_interface[GigabitEthernet1/0/7] => Network_trunk[GigabitEthernet1/0/7] => Network_vlan[90])"
            ),
            (
                "failing1.json",
                "error invalid-value site.pp:241 Network_vlan[broken-80]: id: \"broken-80\" is not valid: expected an integer from 1 to 4094"
            ),
        ]
    );
    let hosts = [
        "server_base.pp:3 Package[ntp]",
        "server_base.pp:3 Package[openssh-server]",
        "server_base.pp:6 File[/etc/motd]",
        "server_base.pp:12 File[/etc/ssh/sshd_config]",
        "server_base.pp:17 Service[sshd]",
        "server_base.pp:22 Group[netops]",
        "server_base.pp:26 User[netops]",
        "server_base.pp:32 Exec[refresh-cache]",
        "site.pp:151 Exec[write memory]",
    ];
    let hosts: Vec<String> = hosts
        .iter()
        .map(|host| format!("warning host-resource {host} is a host resource: devices skip it"))
        .collect();
    let mixed: Vec<&String> = by_catalog["mixed1.json"]
        .iter()
        .filter(|line| line.contains(" host-resource "))
        .collect();
    assert_eq!(mixed, hosts.iter().collect::<Vec<_>>());
    let inventory = by_catalog
        .values()
        .flatten()
        .filter(|line| line.contains(" no-catalog "));
    assert_eq!(
        inventory.collect::<Vec<_>>(),
        ["warning no-catalog :null device `spare` has no catalog"]
    );
}

#[test]
fn validate_host_resources_follow_the_policy() {
    let mixed = catalogs().join("mixed1.json").display().to_string();
    let cases: [(&[&str], i32, usize); 3] = [
        (&["--host-resources", "refuse"], 1, 9),
        (&["--host-resources", "silent"], 0, 0),
        (&["--deny", "warnings"], 1, 9),
    ];
    for (arguments, exit, hosts) in cases {
        let arguments = [&[mixed.as_str(), "--platform", "cisco_ios"], arguments].concat();
        let (code, by_catalog) = validate(&arguments);
        let found = by_catalog
            .values()
            .flatten()
            .filter(|line| line.contains(" host-resource "));
        assert_eq!((code, found.count()), (exit, hosts), "{arguments:?}");
    }
}

#[test]
fn validate_usage_errors_exit_with_2() {
    for arguments in [
        ["/nonexistent.json", "--platform", "cisco_ios"],
        ["Cargo.toml", "--platform", "cisco_io"],
    ] {
        assert_eq!(validate(&arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn validate_example_with_host_resources_is_current() {
    let output = program::run(&[
        "validate",
        "examples/mixed/printers.json",
        "--platform",
        "cisco_ios",
        "--host-resources",
        "refuse",
        "--format",
        "sarif",
        "--path-map",
        "/etc/puppetlabs/code/environments/production=.",
    ]);
    output.assert_code(1);
    let printed = output.stdout;
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mixed/printers.sarif");
    let expected = std::fs::read_to_string(example).expect("the example");
    assert!(
        printed == expected,
        "examples/mixed/printers.sarif is not what is printed; write it anew with these options"
    );
}

#[test]
fn validate_readme_examples_have_no_errors() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (exit, by_catalog) = validate(&[
        &examples.join("catalogs").display().to_string(),
        "--inventory",
        &examples.join("inventory.toml").display().to_string(),
    ]);
    assert_eq!(exit, 0, "{by_catalog:?}");
}

/// A catalog with one resource besides its class, in a directory of its own.
fn one_resource(directory: &Path, resource: &str) -> String {
    let path = directory.join("catalog.json");
    let text =
        format!(r#"{{"name": "sw9.lab.test", "catalog_format": 2, "resources": [{resource}]}}"#);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn validate_finds_types_that_write_the_same_rest_field() {
    let directory = tempfile::tempdir().expect("a directory");
    let path_of = |name: &str| directory.path().join(name);
    for sub in ["definitions", "definitions/models", "definitions/f5_bigip"] {
        std::fs::create_dir(path_of(sub)).expect("a directory");
    }
    std::fs::write(
        path_of("definitions/models/site_clock.toml"),
        "schema = 1\ntype = \"site_clock\"\ndoc = \"The clock.\"\n[attr.name]\nrole = \"namevar\"\n[attr.zone]\n",
    )
    .expect("written");
    std::fs::write(
        path_of("definitions/f5_bigip/site_clock.toml"),
        "schema = 1\nplatform = \"f5_bigip\"\ntype = \"site_clock\"\n[instance]\n\
         collection = \"/mgmt/tm/sys/ntp\"\nanswer = { kind = \"tm:sys:ntp:ntpstate\" }\nsingleton = \"clock\"\n[attr.zone]\nfield = \"timezone\"\n",
    )
    .expect("written");
    let definitions = path_of("definitions").display().to_string();
    for (zone, expected) in [
        ("UTC", vec![]),
        ("Europe/Zurich", vec!["conflicting-lines"]),
    ] {
        let catalog = one_resource(
            directory.path(),
            &format!(
                r#"{{"type": "F5_ntp", "title": "/Common/ntp", "kind": "compilable_type",
                    "parameters": {{"timezone": "UTC"}}}},
                   {{"type": "Site_clock", "title": "clock", "kind": "compilable_type",
                    "parameters": {{"zone": "{zone}"}}}}"#
            ),
        );
        let (_, by_catalog) = validate(&[
            &catalog,
            "--platform",
            "f5_bigip",
            "--definitions",
            &definitions,
        ]);
        let found: Vec<&str> = by_catalog
            .values()
            .flatten()
            .filter_map(|line| line.strip_prefix("error ")?.split(' ').next())
            .collect();
        assert_eq!(found, expected, "{zone}: {by_catalog:?}");
    }
}

/// `severity code` of the findings, in order.
fn codes(by_catalog: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let lines = by_catalog.values().flatten();
    let codes = lines.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    codes.collect()
}

#[test]
fn validate_checks_catalogs_that_do_not_load() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalog = one_resource(
        directory.path(),
        r#"{"type": "Network_vlan", "title": "10", "kind": "compilable_type", "parameters": {}},
           {"type": "Network_vlan", "title": "10", "kind": "compilable_type",
            "parameters": {"vlan_nam": "x"}},
           {"type": "Network_vlan", "title": "11", "kind": "compilable_type",
            "parameters": {"vlan_name": {"__ptype": "Nothing", "__pvalue": 1}}},
           {"type": "Network_vlan", "title": "12", "kind": "compilable_type",
            "parameters": {"vlan_nam": "x"}}"#,
    );
    let settings = directory.path().join("settings.toml");
    let settings_path = settings.display().to_string();
    let cases = [
        (
            "",
            vec![],
            1,
            [
                "error duplicate",
                "error catalog-value",
                "error unknown-attribute",
            ],
        ),
        (
            "duplicate = \"warning\"\ncatalog-value = \"note\"\nunknown-attribute = \"note\"",
            vec![],
            0,
            [
                "warning duplicate",
                "note catalog-value",
                "note unknown-attribute",
            ],
        ),
        (
            "duplicate = \"warning\"\ncatalog-value = \"note\"\nunknown-attribute = \"note\"",
            vec!["--deny", "warnings"],
            1,
            [
                "warning duplicate",
                "note catalog-value",
                "note unknown-attribute",
            ],
        ),
    ];
    for (severities, more, exit, expected) in cases {
        std::fs::write(&settings, format!("[validate.severity]\n{severities}\n")).expect("written");
        let arguments = [
            &catalog,
            "--platform",
            "cisco_ios",
            "--settings",
            &settings_path,
        ];
        let (code, by_catalog) = validate(&[&arguments[..], &more].concat());
        assert_eq!(
            (code, codes(&by_catalog)),
            (exit, expected.map(str::to_owned).to_vec()),
            "{by_catalog:?}"
        );
    }
}

#[test]
fn validate_counts_findings_beyond_the_limit() {
    let directory = tempfile::tempdir().expect("a directory");
    // Notes first, so that the one error is beyond what is kept.
    let mut resources: Vec<String> = (0..1500)
        .map(|number| {
            format!(
                r#"{{"type": "Network_trunk", "title": "Gi1/0/{number}", "kind": "compilable_type",
                    "parameters": {{"mode": "trunk", "tagged_vlans": ["10"]}}}}"#
            )
        })
        .collect();
    resources.push(
        r#"{"type": "Network_trunk", "title": "Gi2/0/1", "kind": "compilable_type",
            "parameters": {"encapsulation": "none"}}"#
            .to_owned(),
    );
    let catalog = one_resource(directory.path(), &resources.join(","));
    let arguments = [&catalog, "--platform", "cisco_ios"];
    let (exit, by_catalog) = validate(&arguments);
    assert_eq!(exit, 1);
    let lines: Vec<&String> = by_catalog.values().flatten().collect();
    assert_eq!(lines.len(), 1001);
    let more = format!(
        "error unsupported-attribute :null 501 more findings of this code in {catalog}: 1 error, 500 notes"
    );
    assert!(lines.contains(&&more), "{:?}", by_catalog.get(""));
    let printed = program::run(&[&["validate"], &arguments[..]].concat()).stdout;
    assert!(
        printed.ends_with(
            "… and 1481 more of `unsupported-attribute`\n\n\
             `switchtender explain unsupported-attribute` explains it, --limit N shows more\n\
             1 catalog checked: 1 error, 1500 notes\n"
        ),
        "{}",
        &printed[printed.len().saturating_sub(300)..]
    );
}
