//! `inventory init`, ranges of devices, and one device without an inventory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use test_support::lab::Lab;
use test_support::program::{self, ProgramOutput};

#[test]
fn inventory_init_writes_a_valid_file_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("inventory.toml");
    let file = path.display().to_string();
    program::run(&["inventory", "init", &file]).assert_code(0);
    let mode = fs::metadata(&path).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let validated = program::run(&["inventory", "validate", "-i", &file]);
    validated.assert_code(0);
    assert_eq!(validated.stdout, format!("{file}: 1 device, no errors\n"));

    // Its comments are examples: without `# ` they are settings.
    let text = fs::read_to_string(&path).expect("written");
    let settings = text.lines().map(|line| match line.strip_prefix("# ") {
        // There is no such key file.
        Some(example) if example.starts_with("private_key") => line,
        Some(example) if example.contains(" = ") || example.starts_with('[') => example,
        _ => line,
    });
    let all = settings.collect::<Vec<_>>().join("\n");
    fs::write(&path, all).expect("written");
    let validated = program::run(&["inventory", "validate", "-i", &file]);
    assert!(
        validated.stdout.ends_with(": 100 devices, no errors\n"),
        "{validated:?}"
    );

    let again = program::run(&["inventory", "init", &file]);
    again.assert_code(1);
    assert_eq!(
        again.stderr,
        format!(
            "error: {file} exists already\nhint: name another file: switchtender inventory init FILE\n"
        )
    );
    // The file is an argument, too.
    program::run(&["inventory", "validate", &file]).assert_code(0);
}

#[test]
fn range_selects_devices() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("inventory.toml");
    let text = "[defaults]\nplatform = \"cisco_ios\"\nuser = \"u\"\nagent = true\n\
        [device.\"sw[001-300]\"]\naddress = \"{name}.example.com\"\n";
    fs::write(&path, text).expect("written");
    let file = path.display().to_string();
    let output = program::run(&["inventory", "show", "-i", &file, "--target", "sw[009-011]"]);
    output.assert_code(0);
    let addresses: Vec<&str> = output
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("address"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        addresses,
        [
            "sw009.example.com",
            "sw010.example.com",
            "sw011.example.com"
        ]
    );
}

/// What becomes of a late write, as `docs/security.md` says.
const GUARANTEES: [(&str, &str); 11] = [
    ("arista_eos", "session"),
    ("caddy", "timing"),
    (
        "cisco_ios",
        "session; locked with `configuration mode exclusive auto` on the device",
    ),
    ("cisco_nxos", "session"),
    ("f5_bigip", "timing"),
    ("frr", "timing"),
    ("haproxy", "timing"),
    ("ietf_netconf", "locked"),
    ("kea", "timing"),
    ("linux", "timing"),
    ("openvswitch", "timing"),
];

/// The folders of platforms below a folder of the project.
fn platforms_in(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let folders = fs::read_dir(root).expect("a folder");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    let platforms = folders.filter(|path| path.join("platform.toml").exists());
    let names = platforms.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The guarantee that `inventory show` prints for a device of each platform.
fn printed_guarantees(platforms: &[String], arguments: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("inventory.toml");
    let devices = platforms.iter().map(|platform| {
        format!(
            "[device.{platform}]\nplatform = \"{platform}\"\naddress = \"192.0.2.1\"\n\
             user = \"u\"\npassword = {{ env = \"PASSWORD\" }}\n"
        )
    });
    fs::write(&file, devices.collect::<String>()).expect("written");
    let file = file.display().to_string();
    let guarantee = |platform: &String| {
        let command = ["inventory", "show", platform, "-i", &file];
        let printed = program::run(&[&command, arguments].concat());
        printed.assert_code(0);
        let mut lines = printed.stdout.lines();
        let found = lines.find_map(|line| line.trim().strip_prefix("guarantee"));
        let found = found.unwrap_or_else(|| panic!("{platform}: {printed:?}"));
        let found = found.trim().trim_end_matches("the platform");
        found.trim().to_owned()
    };
    platforms.iter().map(guarantee).collect()
}

#[test]
fn guarantee_of_each_platform_is_printed() {
    let expected = GUARANTEES.map(|(platform, _)| platform.to_owned());
    assert_eq!(platforms_in("devices/definitions"), expected);
    let printed = printed_guarantees(&expected, &[]);
    for ((platform, guarantee), printed) in GUARANTEES.iter().zip(printed) {
        assert_eq!(printed, *guarantee, "{platform}");
        let explained = program::run(&["explain", platform]);
        explained.assert_code(0);
        explained.assert_contains(&format!("\nguarantee: {guarantee}\n"));
    }
}

#[test]
fn guarantee_of_own_platforms_is_printed() {
    let platforms = platforms_in("examples/definitions");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    let folder = folder.display().to_string();
    let printed = printed_guarantees(&platforms, &["--definitions", &folder]);
    for (platform, printed) in platforms.iter().zip(printed) {
        let expected = match &**platform {
            // `configure exclusive`, a version that each write names, and NETCONF.
            "junos" | "haproxy_dataplane" | "sros" => "locked",
            netconf if netconf.ends_with("_netconf") => "locked",
            _ => "timing",
        };
        assert_eq!(printed, expected, "{platform}");
    }
}

#[test]
fn device_without_an_inventory_is_read_and_changed() {
    let device = ["--device", "admin@192.0.2.1", "--platform", "cisco_ios"];
    let run = |arguments: &[&str]| program::run(&[arguments, &device, &["--mock"]].concat());
    let facts = run(&["facts"]);
    facts.assert_code(0);
    assert!(facts.stdout.contains("\"operatingsystem\": "), "{facts:?}");
    let vlans = run(&["resource", "network_vlan"]);
    vlans.assert_code(0);
    assert!(vlans.stdout.contains("network_vlan { '1':"), "{vlans:?}");

    let state = tempfile::tempdir().expect("a directory");
    fs::write(
        state.path().join("common.yaml"),
        "network_vlan:\n  10: {vlan_name: users}\n",
    )
    .expect("written");
    let state = state.path().display().to_string();
    let planned = run(&["plan", "--state", &state]);
    planned.assert_code(0);
    assert!(
        planned.stdout.starts_with("192.0.2.1 (cisco_ios)\n"),
        "{planned:?}"
    );
    assert!(
        planned.stdout.contains("    >  name users\n"),
        "{planned:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn device_without_an_inventory_has_a_verified_host_key() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let port = lab.switches["sw1"].address().port();
    let device = format!("admin@127.0.0.1:{port}");
    let arguments = ["facts", "--device", &device, "--platform", "cisco_ios"];
    let output = tokio::process::Command::new(program::path())
        .args(arguments)
        .env_remove("SSH_AUTH_SOCK")
        .env("HOME", "/nonexistent")
        .output()
        .await
        .expect("it starts");
    let ran = program::ProgramOutput::from(output);
    ran.assert_code(1);
    assert!(ran.stderr.contains("host key"), "{ran:?}");
    assert_eq!(lab.log("sw1").received().len(), 0);
}

#[test]
fn device_argument_errors_name_the_form() {
    for (device, expected) in [
        ("192.0.2.1", "--device: `192.0.2.1` has no user"),
        (
            "admin@sw1:ssh",
            "--device: `ssh` is not a port (1 to 65535)",
        ),
        (
            "admin@a/b",
            "--device: `a/b` is neither a hostname nor an IP address",
        ),
    ] {
        let ran = program::run(&["facts", "--device", device, "--platform", "cisco_ios"]);
        ran.assert_code(1);
        assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    }
    let ran = program::run(&["facts", "--device", "admin@sw1", "--platform", "cisco_iso"]);
    ran.assert_code(1);
    assert!(ran.stderr.contains("did you mean `cisco_ios`?"), "{ran:?}");
    let device = ["facts", "--device", "admin@sw1", "--platform", "cisco_ios"];
    let ran = program::run(&[&device[..], &["--fingerprint", "SHA256:abc"]].concat());
    ran.assert_code(1);
    let expected = "--fingerprint: `SHA256:abc` is not a SHA-256 fingerprint";
    assert!(ran.stderr.contains(expected), "{ran:?}");
    // There is no file with a line.
    assert!(!ran.stderr.contains("-->"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_checks_an_inventory_and_logs_in_on_request() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let doctor = ["doctor", "--state-dir", "state"];
    let healthy = lab.run(&[&doctor[..], &["--connect"]].concat()).await;
    healthy.assert_code(0);
    for line in [
        "ok       inventory: devices in ",
        "ok       state: is writable\n",
        "ok       environment variable LAB_PASSWORD: is set\n",
        "ok       sw1: logged in, in ",
    ] {
        healthy.assert_contains(line);
    }

    // Without a flag, no device is contacted.
    let connections = lab.log("sw1").connections();
    lab.environment.remove("LAB_ENABLE");
    lab.defaults += "[vault]\naddress = \"https://127.0.0.1:1\"\n";
    lab.add_device("sw2", "cisco_ios", 1, None);
    let offline = lab.run(&doctor).await;
    offline.assert_code(1);
    assert_eq!(lab.log("sw1").connections(), connections);
    for line in [
        "error    environment variable LAB_ENABLE: is not set; devices that need it: 2\n",
        "error    environment variable VAULT_TOKEN: is not set; the login of [vault] needs it\n",
        "         → export LAB_ENABLE, or use another secret source\n",
        "ok       host keys: devices with a known or permitted key: 1\n",
        "error    sw2: no host key of 127.0.0.1 port 1 is known\n",
        "         → `ssh-keyscan -p 1 127.0.0.1 >> ~/.ssh/known_hosts`",
    ] {
        offline.assert_contains(line);
    }

    // One finding for each device, in the order of the inventory.
    lab.environment
        .insert("LAB_ENABLE".to_owned(), "enable".to_owned());
    lab.add_device("sw0", "cisco_ios", 2, None);
    let connected = lab.run(&[&doctor[..], &["--connect"]].concat()).await;
    connected.assert_code(1);
    let devices = connected.stdout.lines().filter_map(|line| {
        let subject = line.split_whitespace().nth(1)?.strip_suffix(':')?;
        subject.starts_with("sw").then_some(subject)
    });
    let devices: Vec<&str> = devices.collect();
    assert_eq!(devices, ["sw0", "sw1", "sw2"], "{connected:?}");

    lab.configure("sw2", "private_key = \"missing\"");
    let invalid = lab
        .run(&[&doctor[..], &["--output", "json"]].concat())
        .await;
    invalid.assert_code(1);
    let found = &invalid.objects()[0];
    assert_eq!(
        (&found["subject"], &found["state"]),
        (&"inventory".into(), &"error".into())
    );
    invalid.assert_contains("`private_key`: cannot read ");
}

/// `doctor` reads the inventory of the directory, and says that `device.conf` is missing where there is none.
#[test]
fn doctor_checks_the_inventory_of_the_directory_or_device_conf() {
    let lab = Lab::with_devices(&[("sw1", "f5_bigip")]);
    // Writes the inventory.
    drop(lab.blocking_command(&["inventory", "show"]));
    let doctor = |arguments: &[&str]| {
        let mut command = program::switchtender(arguments);
        let command = command.current_dir(lab.path("")).envs(&lab.environment);
        let output = command.output().expect("it starts");
        ProgramOutput::from(output)
    };
    let of_inventory = doctor(&["doctor", "--state-dir", "state"]);
    of_inventory.assert_code(0);
    of_inventory.assert_contains("ok       inventory: devices in inventory.toml: 1\n");
    let confdir = lab.path("puppet").display().to_string();
    let of_device_conf = doctor(&["doctor", "--confdir", &confdir, "--vardir", "var"]);
    of_device_conf.assert_code(1);
    of_device_conf.assert_contains(&format!(
        "error    device.conf: {confdir}/device.conf does not exist\n"
    ));
    of_device_conf.assert_contains("check an inventory with --inventory FILE");
}

/// As `plan` and `apply`, `validate` reads the inventory of the directory.
#[test]
fn validate_reads_the_inventory_of_the_directory() {
    let lab = Lab::with_devices(&[("sw1", "f5_bigip")]);
    lab.write_resources(
        "sw1",
        &[serde_json::json!({"type": "Network_vlan", "title": "10"})],
    );
    // Writes the inventory.
    drop(lab.blocking_command(&["inventory", "show"]));
    let mut command = program::switchtender(&["validate", "catalogs"]);
    let output = command
        .current_dir(lab.path(""))
        .output()
        .expect("it starts");
    let found = program::ProgramOutput::from(output);
    found.assert_code(1);
    found.assert_contains("error[unsupported-type]");
}

#[test]
fn limit_of_findings_applies_beside_errors_and_errors_are_first() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = "[defaults]\nplatform = \"cisco_ios\"\nuser = \"x\"\n".to_owned();
    for number in 1..=30 {
        text += &format!("[device.sw{number}]\naddress = \"192.0.2.1\"\n");
    }
    text += "[device.last]\nadress = \"192.0.2.2\"\n";
    let path = directory.path().join("inventory.toml");
    fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let validated = program::run(&["inventory", "validate", "-i", &file, "--limit", "3"]);
    validated.assert_code(1);
    let text = validated.text();
    assert_eq!(text.matches("[no-credentials]").count(), 3, "{text}");
    assert!(text.starts_with("error["), "{text}");
}
