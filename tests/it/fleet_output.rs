//! What `plan` and `apply` print about many devices.

use std::fs;

use serde_json::json;
use test_support::catalog::{catalog, resource};
use test_support::lab::Lab;
use test_support::program::{ProgramOutput, switchtender};

const CONFIGURATION: &str = "version 15.2\nhostname switch\nntp server 192.0.2.11\nend\n";

/// Devices with saved configurations, and their catalogs.
struct Site(tempfile::TempDir);

impl Site {
    /// Devices, and the NTP server that the catalog of each declares.
    fn new(devices: &[(String, &str)]) -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        let mut inventory = "[defaults]\nuser = \"x\"\nplatform = \"cisco_ios\"\n".to_owned();
        fs::create_dir(site.0.path().join("catalogs")).unwrap();
        for (name, server) in devices {
            inventory.push_str(&format!("[device.{name}]\naddress = \"192.0.2.1\"\n"));
            let server = resource("Ntp_server", server, json!({"ensure": "present"}));
            let text = catalog(name, &[server]).to_string();
            site.write(&format!("catalogs/{name}.json"), &text);
            // The lines around a change differ.
            let configuration =
                CONFIGURATION.replace("hostname switch", &format!("hostname {name}"));
            site.write(&format!("{name}.cfg"), &configuration);
        }
        site.write("inventory.toml", &inventory);
        site
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn plan(&self, more: &[&str]) -> ProgramOutput {
        let plan = ["plan", "--running", ".", "--catalog", "catalogs"];
        let output = switchtender(&[&plan[..], more].concat())
            .current_dir(self.0.path())
            .output();
        output.unwrap().into()
    }
}

fn lines(output: &ProgramOutput) -> Vec<String> {
    let lines = output.stdout.lines();
    // The duration varies.
    let is_time = |text: &str| {
        let text = text.trim();
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.contains('.')
            && (text.ends_with('s') || text.ends_with(" per second"))
    };
    let lines = lines.map(|line| {
        let of_table = line.rsplit_once("  ");
        match of_table.or_else(|| line.rsplit_once(" in ")) {
            Some((rest, time)) if is_time(time) => rest.trim_end().to_owned(),
            _ => line.to_owned(),
        }
    });
    lines.collect()
}

fn numbered(count: usize, server: &'static str) -> Vec<(String, &'static str)> {
    let names = (1..=count).map(|number| (format!("sw{number:03}"), server));
    names.collect()
}

#[test]
fn equal_plans_are_printed_once_and_failures_are_last() {
    let mut devices = numbered(5, "192.0.2.10");
    devices[3].1 = "192.0.2.11";
    let site = Site::new(&devices);
    fs::remove_file(site.0.path().join("sw002.cfg")).unwrap();
    let planned = site.plan(&[]);
    planned.assert_code(1);
    let lines = lines(&planned);
    let from = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
    let first = from("sw001, sw003, sw005 (cisco_ios, 3 devices)");
    let second = from("sw004 (cisco_ios)");
    assert!(first < second, "{lines:#?}");
    assert!(
        lines[first + 1].starts_with("  Warning: unknown facts: "),
        "{lines:#?}"
    );
    assert_eq!(
        lines[first + 2..first + 5],
        [
            "  Ntp_server[192.0.2.10]  (/manifests/site.pp:1)",
            "    will be created",
            "    > ntp server 192.0.2.10"
        ]
    );
    let table = from("Device");
    assert_eq!(
        lines[table..],
        [
            "Device  Status     Resources  To change  Failed  Skipped  Commands  Time",
            "sw001   pending            1          1       0        0         1",
            "sw002   not run            -          -       -        -         -",
            "sw003   pending            1          1       0        0         1",
            "sw004   unchanged          1          0       0        0         0",
            "sw005   pending            1          1       0        0         1",
            "",
            "5 devices: 1 unchanged, 3 pending, 1 not run",
            "not run: sw002: cannot read ./sw002.cfg: No such file or directory (os error 2)",
        ]
    );
}

#[test]
fn equal_failures_are_printed_once_and_named_in_the_summary() {
    let site = Site::new(&numbered(12, "192.0.2.10"));
    fs::create_dir(site.0.path().join("state")).unwrap();
    site.write(
        "state/common.yaml",
        "ntp_server:\n  192.0.2.10: {prefr: true}\n",
    );
    let planned: ProgramOutput = switchtender(&["plan", "--running", ".", "--state", "state"])
        .current_dir(site.0.path())
        .output()
        .unwrap()
        .into();
    planned.assert_code(1);
    let text = planned.text();
    assert_eq!(text.matches("unknown attribute").count(), 1, "{text}");
    planned.assert_contains("not run: sw[001-012]: ");
}

/// The reasons differ in the address and the port only.
#[test]
fn unreachable_devices_are_one_reason() {
    let site = Site::new(&[]);
    let mut inventory =
        "allow_readable = true\n[defaults]\nuser = \"x\"\npassword = \"secret-password\"\nplatform = \"cisco_ios\"\n"
            .to_owned();
    for number in 1..=30 {
        // Nothing listens on a reserved port of loopback.
        inventory.push_str(&format!(
            "[device.sw{number}]\naddress = \"127.0.0.{number}\"\nport = {number}\n"
        ));
    }
    site.write("inventory.toml", &inventory);
    site.write("state/common.yaml", "ntp_server: {192.0.2.10: {}}\n");
    let run = |more: &[&str]| -> ProgramOutput {
        let plan = ["plan", "--state", "state", "--state-dir", "memory"];
        let output = switchtender(&[&plan[..], more].concat())
            .current_dir(site.0.path())
            .output();
        output.unwrap().into()
    };
    let planned = run(&[]);
    planned.assert_code(1);
    let text = planned.text();
    assert_eq!(text.matches(": Error: ").count(), 1, "{text}");
    assert_eq!(text.matches(": Hint: ").count(), 1, "{text}");
    planned.assert_contains(
        "unreachable: sw[1-30]: cannot connect to 127.0.0.1:1: Connection refused (os error 111) \
         (sw1; 29 others alike)",
    );
    assert!(lines(&planned).len() < 10, "{planned:?}");
    assert_eq!(lines(&run(&["--quiet"])).len(), 2);
}

/// The documentation says that a device without a file is not managed.
#[test]
fn devices_without_desired_state_are_left_out() {
    let site = Site::new(&numbered(30, "192.0.2.10"));
    site.write("state/device/sw001.yaml", "ntp_server: {192.0.2.10: {}}\n");
    let plan = |more: &[&str]| -> ProgramOutput {
        let plan = ["plan", "--running", ".", "--state", "state"];
        let output = switchtender(&[&plan[..], more].concat())
            .current_dir(site.0.path())
            .output();
        output.unwrap().into()
    };
    let planned = plan(&[]);
    planned.assert_code(0);
    assert_eq!(
        planned.stderr,
        "29 devices have no file in state: not managed (sw[002-030])\n"
    );
    planned.assert_contains("sw001 (cisco_ios)\n");
    let named = plan(&["--target", "sw00[1-2]", "--target", "sw003"]);
    named.assert_code(1);
    named.assert_contains("not run: sw003: cannot use the desired state: no file in state applies");
    let none = plan(&["--target", "sw02*"]);
    none.assert_code(1);
    none.assert_contains(
        "error: 10 devices have no file in state: not managed (sw[020-029])\nhint: ",
    );
}

#[test]
fn plan_of_300_devices_is_short() {
    let site = Site::new(&numbered(300, "192.0.2.10"));
    let planned = site.plan(&["--detailed-exitcodes"]);
    planned.assert_code(2);
    let printed = lines(&planned);
    assert!(printed.len() < 60, "{printed:#?}");
    assert_eq!(printed[0], "sw[001-300] (cisco_ios, 300 devices)");
    let end = printed.len() - 2;
    assert_eq!(
        printed[end..],
        [
            "300 devices: 300 pending; 300 changes, 300 commands",
            "pending: sw[001-300]"
        ]
    );

    let quiet = site.plan(&["--quiet"]);
    assert_eq!(lines(&quiet), printed[end..]);
}

#[test]
fn plans_are_equal_whatever_the_order_of_the_configuration_is() {
    let site = Site::new(&numbered(2, "192.0.2.10"));
    let interface = "interface GigabitEthernet1/0/1\n description old\n";
    let first = format!("version 15.2\n{interface}ntp server 192.0.2.11\nend\n");
    let second = format!("version 15.2\nntp server 192.0.2.11\n{interface}end\n");
    site.write("sw001.cfg", &first);
    site.write("sw002.cfg", &second);
    for name in ["sw001", "sw002"] {
        let port = json!({"description": "new"});
        let resources = [
            resource("Ntp_server", "192.0.2.10", json!({"ensure": "present"})),
            resource("Network_interface", "GigabitEthernet1/0/1", port),
        ];
        let text = catalog(name, &resources).to_string();
        site.write(&format!("catalogs/{name}.json"), &text);
    }
    let planned = site.plan(&[]);
    planned.assert_code(0);
    planned.assert_contains("sw[001-002] (cisco_ios, 2 devices)\n");
}

#[test]
fn unchanged_plan_of_300_devices_has_few_lines() {
    let site = Site::new(&numbered(300, "192.0.2.11"));
    let planned = site.plan(&["--detailed-exitcodes"]);
    planned.assert_code(0);
    let printed = lines(&planned);
    assert!(printed.len() < 10, "{printed:#?}");
    assert_eq!(printed.last().unwrap(), "300 devices: 300 unchanged");
}

#[test]
fn only_selects_devices_by_status() {
    let mut devices = numbered(4, "192.0.2.10");
    devices[0].1 = "192.0.2.11";
    let site = Site::new(&devices);
    fs::remove_file(site.0.path().join("sw004.cfg")).unwrap();
    for (only, listed, hidden) in [
        (
            "changed",
            &["sw[002-003] (", "sw002  "][..],
            &["sw001", "sw004  "][..],
        ),
        (
            "failed",
            &["sw004: Error: ", "sw004  "],
            &["sw001", "sw002"],
        ),
        (
            "changed,failed",
            &["sw[002-003] (", "sw004: Error: "],
            &["sw001"],
        ),
        ("unchanged", &["sw001 ("], &["sw002", "sw004: Error: "]),
    ] {
        let planned = site.plan(&["--only", only]);
        planned.assert_code(1);
        for text in listed {
            planned.assert_contains(text);
        }
        for text in hidden {
            assert!(
                !planned.text().contains(text),
                "{only}: {text}: {planned:?}"
            );
        }
        // The totals have all devices, and failures are never hidden.
        planned.assert_contains("4 devices: 1 unchanged, 2 pending, 1 not run in ");
        planned.assert_contains("not run: sw004: ");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_names_unsaved_devices_and_unchanged_devices_are_few_lines() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2", "sw3"] {
        lab.add_switch(name, &[]).await;
        let server = resource("Ntp_server", "192.0.2.10", json!({"ensure": "present"}));
        lab.write_resources(name, &[server]);
    }
    lab.configure("sw2", "save_config = \"on_change\"");
    let applied = lab.run(&["apply"]).await;
    applied.assert_code(0);
    applied.assert_contains("\n3 devices: 3 changed in ");
    applied.assert_contains("s\nnot saved: sw1, sw3\n");
    let again = lab.run(&["apply"]).await;
    again.assert_code(0);
    let printed = lines(&again);
    assert!(printed.len() < 10, "{printed:#?}");
    assert_eq!(printed.last().unwrap(), "3 devices: 3 unchanged");
    let quiet = lab.run(&["apply", "--quiet"]).await;
    assert!(quiet.stdout.starts_with("Device"), "{quiet:?}");
}

/// Many devices with equal messages are shown once; each failure at its device.
#[test]
fn apply_of_many_devices_shows_equal_messages_once() {
    let names: Vec<String> = (1..=24).map(|number| format!("sw{number:02}")).collect();
    let devices: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "cisco_ios")).collect();
    let lab = Lab::with_devices(&devices);
    for name in &names {
        let mut resources = vec![resource(
            "Ntp_server",
            "192.0.2.10",
            json!({"ensure": "present"}),
        )];
        if name == "sw07" {
            resources.push(resource(
                "Ntp_server",
                "192.0.2.11",
                json!({"ensure": "present"}),
            ));
        }
        if name == "sw09" {
            resources.push(resource("Ntp_server", "192.0.2.12", json!({"no_such": 1})));
        }
        lab.write_resources(name, &resources);
    }
    let applied = lab.run_blocking(&["apply", "--mock", "--keep-going"]);
    applied.assert_code(1);
    let printed = lines(&applied);
    let notice = "  Notice: /Stage[main]/Main/Ntp_server[192.0.2.10]/ensure: created";
    let at = |text: &str| {
        let found = printed.iter().position(|line| line == text);
        found.unwrap_or_else(|| panic!("{text}: {printed:#?}"))
    };
    let most = at("sw[01-06], sw08, sw[10-24] (cisco_ios, 22 devices)");
    assert_eq!(printed[most + 1], notice);
    let other = at("sw07 (cisco_ios)");
    assert_eq!(printed[other + 1], notice);
    assert!(printed[other + 2].contains("192.0.2.11"), "{printed:#?}");
    at("24 devices: 23 changed, 1 not run; 24 changes, 24 commands");
    let of_refused = printed
        .iter()
        .filter(|line| line.starts_with("sw09: Error: "));
    assert_eq!(of_refused.count(), 1, "{printed:#?}");
    assert!(printed.len() < 40, "{printed:#?}");
}

/// A run of one device without its output has the reason of its failure, too.
#[test]
fn failure_of_one_device_has_a_reason_in_the_summary() {
    let site = Site::new(&numbered(1, "192.0.2.10"));
    fs::create_dir(site.0.path().join("state")).unwrap();
    let unknown_type = "ntp_servr:\n  192.0.2.10: {}\n";
    let unknown_attribute = "ntp_server:\n  192.0.2.10: {prefr: true}\n";
    for (more, state, reason) in [
        (
            &["--quiet"][..],
            unknown_type,
            "\nnot run: sw001: the catalog was refused: it has 1 error: state/common.yaml:1: Resource type 'Ntp_servr' was not found",
        ),
        (&["--quiet"], unknown_attribute, "\nnot run: sw001: "),
        (
            &["--output-dir", "out"],
            unknown_attribute,
            "prefr: unknown attribute of ntp_server\n",
        ),
    ] {
        site.write("state/common.yaml", state);
        let plan = ["plan", "--running", ".", "--state", "state"];
        let output = switchtender(&[&plan[..], more].concat())
            .current_dir(site.0.path())
            .output();
        let planned = ProgramOutput::from(output.unwrap());
        planned.assert_code(1);
        planned.assert_contains(reason);
    }
}

/// One file for each device, whole also where others have the same text.
#[test]
fn output_dir_has_a_file_for_each_device() {
    let mut devices = numbered(3, "192.0.2.10");
    devices[2].1 = "192.0.2.11";
    let site = Site::new(&devices);
    fs::remove_file(site.0.path().join("sw002.cfg")).unwrap();
    let read = |name: &str| fs::read_to_string(site.0.path().join("plans").join(name)).unwrap();
    let planned = site.plan(&["--output-dir", "plans", "--color", "always"]);
    planned.assert_code(1);
    assert!(!planned.stdout.contains("Ntp_server"), "{planned:?}");
    planned.assert_contains("3 devices: 1 unchanged, 1 pending, 1 not run in ");
    let plan = read("sw001.txt");
    assert!(
        plan.contains("sw001 (cisco_ios)\n  Ntp_server[192.0.2.10]"),
        "{plan}"
    );
    assert!(plan.contains("    > ntp server 192.0.2.10\n"), "{plan}");
    assert!(plan.contains("\n  +ntp server 192.0.2.10\n"), "{plan}");
    assert!(read("sw002.txt").contains("sw002: Error: cannot read "));
    assert!(read("sw003.txt").contains("sw003 (cisco_ios)\n  nothing to change\n"));
    for name in ["sw001.txt", "sw002.txt", "sw003.txt"] {
        assert!(!read(name).contains('\u{1b}'), "{}", read(name));
    }

    let json = site.plan(&["--output-dir", "plans", "--output", "json"]);
    json.assert_code(1);
    let kinds = |text: &str| {
        let lines = text.lines();
        let lines = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .map(|line| line["kind"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(&json.stdout), ["\"batch\"", "\"summary\""]);
    let events = read("sw001.json");
    assert_eq!(kinds(&events).last().unwrap(), "\"device\"");
    assert!(!events.contains("sw003"), "{events}");

    // Nothing is planned if the files cannot be written, or the format has one page.
    site.write("file", "");
    for (arguments, message) in [
        (&["--output-dir", "file"][..], "cannot write output to file"),
        (
            &["--output-dir", "x", "--output", "html"],
            "one page for all devices",
        ),
    ] {
        let refused = site.plan(arguments);
        refused.assert_code(1);
        refused.assert_contains(message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_writes_the_messages_of_each_device() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &[]).await;
        let port = json!({"mode": "access", "voice_vlan": 40});
        let port = resource("Ios_network_trunk", "GigabitEthernet1/0/1", port);
        lab.write_resources(name, &[port]);
    }
    let applied = lab.run(&["apply", "--output-dir", "out"]).await;
    applied.assert_code(0);
    assert!(!applied.stdout.contains("Notice"), "{applied:?}");
    for name in ["sw1", "sw2"] {
        let text = fs::read_to_string(lab.path("out").join(format!("{name}.txt"))).unwrap();
        for expected in [": Warning: ", "voice_vlan changed 'none' to 40"] {
            assert!(text.contains(expected), "{text}");
        }
        assert!(text.lines().all(|line| line.starts_with(name)), "{text}");
    }
}

#[test]
fn statuses_have_colors() {
    let mut devices = numbered(3, "192.0.2.10");
    devices[2].1 = "192.0.2.11";
    let site = Site::new(&devices);
    fs::remove_file(site.0.path().join("sw002.cfg")).unwrap();
    let planned = site.plan(&["--color", "always"]);
    for expected in [
        "\nsw001   \u{1b}[33mpending\u{1b}[0m  ",
        "\nsw002   \u{1b}[31mnot run\u{1b}[0m  ",
        "\nsw003   \u{1b}[32munchanged\u{1b}[0m  ",
        "\n\u{1b}[31mnot run\u{1b}[0m: sw002: ",
    ] {
        planned.assert_contains(expected);
    }
    let many = Site::new(&numbered(21, "192.0.2.10"));
    let planned = many.plan(&["--color", "always"]);
    planned.assert_contains("\n\u{1b}[33mpending\u{1b}[0m: sw[001-021]\n");
}

/// Also of few devices, equal changes and warnings are shown once.
#[tokio::test(flavor = "multi_thread")]
async fn apply_shows_equal_changes_once() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2", "sw3"] {
        lab.add_switch(name, &[]).await;
        let port = json!({"mode": "access", "voice_vlan": 40});
        let port = resource("Ios_network_trunk", "GigabitEthernet1/0/1", port);
        lab.write_resources(name, &[port]);
    }
    let applied = lab.run(&["apply"]).await;
    applied.assert_code(0);
    applied.assert_contains("sw[1-3] (cisco_ios, 3 devices)\n  Warning: ");
    for text in [
        "Warning: ",
        "/mode: mode changed 'dynamic_auto' to 'access'",
    ] {
        assert_eq!(applied.stdout.matches(text).count(), 1, "{applied:?}");
    }
    applied.assert_contains("% Voice VLAN does not exist. Creating vlan 40\n");
    assert!(!applied.stdout.contains("Applied catalog"), "{applied:?}");
    // One device needs no group.
    let one = lab.run(&["apply", "--target", "sw1"]).await;
    one.assert_code(0);
    assert!(!one.stdout.contains("(cisco_ios"), "{one:?}");
    assert!(!one.stdout.contains("Applied catalog"), "{one:?}");
}

/// Each line of a hash begins with the device.
#[tokio::test(flavor = "multi_thread")]
async fn apply_shows_the_lines_of_a_hash() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let node = resource(
        "F5_node",
        "/Common/web1",
        json!({"ensure": "present", "address": "192.0.2.21"}),
    );
    let pool = |port: u16| {
        let members = json!([{"name": "/Common/web1", "port": port}]);
        let parameters =
            json!({"ensure": "present", "members": members, "require": "F5_node[/Common/web1]"});
        resource("F5_pool", "/Common/web", parameters)
    };
    lab.write_resources("lb1", &[node.clone(), pool(80)]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.write_resources("lb1", &[node, pool(81)]);
    let applied = lab.run(&["apply"]).await;
    applied.assert_code(0);
    assert!(!applied.stdout.contains("\\n"), "{applied:?}");
    let hash = applied
        .stdout
        .lines()
        .filter(|line| line.contains("'port' => '8"));
    let hash: Vec<&str> = hash.collect();
    assert_eq!(hash.len(), 2, "{applied:?}");
    assert!(
        hash.iter().all(|line| line.starts_with("lb1:   ")),
        "{hash:?}"
    );
}
