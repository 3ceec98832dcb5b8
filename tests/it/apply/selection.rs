//! Which devices of the inventory run, and that none of them hides.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use switchtender_mocks::SharedWriter;
use switchtender_mocks::cli_switch::SwitchOptions;

use test_support::catalog::vlan;
use test_support::lab::{Lab, parsed, switch_options};
use test_support::program::{self, ProgramOutput};

async fn three() -> Lab {
    let mut lab = Lab::new();
    for (name, labels) in [
        ("access1", "{ role = \"access\", rack = \"a1\" }"),
        ("access2", "{ role = \"access\", rack = \"b1\" }"),
        ("core1", "{ role = \"core\", rack = \"a1\" }"),
    ] {
        lab.add_switch(name, &[]).await;
        lab.configure(name, &format!("labels = {labels}"));
        lab.write_resources(name, &[vlan(10, "one")]);
    }
    lab
}

/// The devices that were contacted.
fn contacted(lab: &Lab) -> Vec<&str> {
    let names = lab.switches.keys().map(String::as_str);
    let found = names.filter(|name| lab.log(name).connections() > 0);
    let found: Vec<&str> = found.collect();
    found.iter().for_each(|name| lab.log(name).clear());
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn selection_by_targets_and_labels() {
    let lab = three().await;
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["access1", "access2", "core1"]),
        (&["--target", "core1"], &["core1"]),
        (&["--target", "access*"], &["access1", "access2"]),
        (
            &["--target", "access2", "--target", "core1"],
            &["access2", "core1"],
        ),
        (&["--label", "role=access"], &["access1", "access2"]),
        (
            &["--label", "role=access", "--label", "rack=a1"],
            &["access1"],
        ),
        (
            &["--target", "*1", "--label", "rack=a1"],
            &["access1", "core1"],
        ),
    ];
    for (arguments, expected) in cases {
        let ran = lab.run(&[&["apply"], *arguments].concat()).await;
        ran.assert_code(0);
        assert_eq!(contacted(&lab), *expected, "{arguments:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn selection_of_no_device_is_an_error() {
    let lab = three().await;
    let cases: &[(&[&str], &[&str])] = &[
        (&["--target", "acces1"], &["acces1", "access1"]),
        (&["--target", "edge*"], &["edge*"]),
        (&["--label", "role=spine"], &["role=spine"]),
        (&["--label", "role"], &["role"]),
        // One missing device of several is an error, too.
        (&["--target", "core1", "--target", "core9"], &["core9"]),
    ];
    for (arguments, words) in cases {
        let ran = lab.run(&[&["apply"], *arguments].concat()).await;
        ran.assert_code(1);
        for word in *words {
            ran.assert_contains(word);
        }
        assert_eq!(contacted(&lab), Vec::<&str>::new(), "{arguments:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn selection_reports_devices_without_a_catalog() {
    let lab = three().await;
    std::fs::remove_file(lab.path("catalogs/core1.json")).unwrap();
    for arguments in [
        &["apply", "--detailed-exitcodes"][..],
        &["apply"],
        &["plan", "--detailed-exitcodes"],
    ] {
        let ran = lab.run(arguments).await;
        ran.assert_code(1);
        ran.assert_contains("core1.json");
        ran.assert_contains("put the catalog of core1 into");
        let row = |ran: &ProgramOutput, name: &str| {
            let mut rows = ran.stdout.lines().filter(|line| line.starts_with(name));
            rows.next_back().unwrap_or_default().to_owned()
        };
        assert!(row(&ran, "core1 ").contains("not run"), "{}", ran.stdout);
        assert!(!row(&ran, "access1 ").contains("not run"), "{}", ran.stdout);
    }
    assert_eq!(contacted(&lab), ["access1", "access2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn selection_of_several_devices_needs_a_catalog_directory() {
    let lab = three().await;
    let file = lab.path("catalogs/access1.json");
    let file = file.to_str().unwrap();
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(0);
    contacted(&lab);
    let output = tokio::process::Command::new(program::path())
        .args(["apply", "--catalog", file, "--inventory"])
        .arg(lab.path("inventory.toml"))
        .output()
        .await
        .unwrap();
    let ran = ProgramOutput::from(output);
    ran.assert_code(1);
    ran.assert_contains("is one catalog, but 3 devices are selected");
    assert_eq!(contacted(&lab), Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn inventory_is_validated_and_printed_without_secrets() {
    let mut lab = three().await;
    let ran = lab.run(&["inventory", "validate"]).await;
    ran.assert_code(0);
    let ran = lab.run(&["inventory", "show"]).await;
    ran.assert_code(0);
    for name in ["access1", "access2", "core1", "LAB_PASSWORD"] {
        ran.assert_contains(name);
    }
    assert_eq!(contacted(&lab), Vec::<&str>::new());

    // Several errors are reported together, each with its position and a suggestion.
    lab.configure("core1", "colour = \"red\"\nconnect_timeout = \"soon\"");
    for command in [&["inventory", "validate"][..], &["apply"]] {
        let ran = lab.run(command).await;
        ran.assert_code(1);
        ran.assert_contains("colour");
        ran.assert_contains("`soon` is not a duration");
        ran.assert_contains("inventory.toml:");
    }
    assert_eq!(contacted(&lab), Vec::<&str>::new());
}

/// What all devices log, in the order in which it happened.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Written {
    /// How many devices were between their first and their last exchange at the same moment.
    fn peak(&self) -> usize {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let mut spans: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let exchange: serde_json::Value = serde_json::from_str(line).unwrap();
            let device = exchange["device"].as_str().unwrap().to_owned();
            spans.entry(device).or_insert((at, at)).1 = at;
        }
        let open_at = |at: &usize| {
            let open = |(first, last): &&(usize, usize)| first <= at && at <= last;
            spans.values().filter(open).count()
        };
        (0..text.lines().count())
            .map(|at| open_at(&at))
            .max()
            .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrency_of_twenty_devices_respects_the_limit() {
    let mut lab = Lab::new();
    let written = Written::default();
    let log = SharedWriter::new(written.clone());
    for number in 1..=20 {
        let name = format!("sw{number:02}");
        lab.add_switch_with(SwitchOptions {
            log: Some(log.clone()),
            faults: parsed(&["latency=5ms"]),
            ..switch_options(&name)
        })
        .await;
        lab.write_resources(&name, &[vlan(number + 100, "own")]);
    }
    let ran = lab
        .run(&["apply", "--concurrency", "4", "--detailed-exitcodes"])
        .await;
    ran.assert_code(2);
    for (name, switch) in &lab.switches {
        let number: u16 = name[2..].parse().unwrap();
        let vlans = switch.vlans();
        let own: Vec<u16> = vlans
            .iter()
            .filter(|row| row.1 == "own")
            .map(|row| row.0)
            .collect();
        assert_eq!(own, [number + 100], "{name}");
    }
    let peak = written.peak();
    assert!((2..=4).contains(&peak), "{peak} at once");
    // The table at the end has the order of the inventory.
    let rows: Vec<&str> = ran
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Device "))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let names: Vec<&String> = lab.switches.keys().collect();
    assert_eq!(rows, names);
    lab.run(&["apply", "--detailed-exitcodes"])
        .await
        .assert_code(0);
}

/// As Puppet, which tags each resource with its type and title.
#[test]
fn smallest_catalog_of_the_documentation_has_tags() {
    let page = std::fs::read_to_string("docs/running.md").unwrap();
    let (_, example) = page
        .split_once("<!-- smallest catalog -->\n```json\n")
        .unwrap();
    let (catalog, _) = example.split_once("```").unwrap();
    let lab = Lab::with_devices(&[("sw1", "cisco_ios")]);
    let catalog = catalog.replace("\"sw1\"", "\"sw1.lab.test\"");
    std::fs::write(lab.path("catalogs/sw1.json"), catalog).unwrap();
    for (tag, selected, other) in [
        ("network_vlan", "Network_vlan[10]", "Ntp_server"),
        ("192.0.2.10", "Ntp_server[192.0.2.10]", "Network_vlan"),
    ] {
        let planned = lab.run_blocking(&["plan", "--mock", "--tags", tag]);
        planned.assert_code(0);
        planned.assert_contains(selected);
        assert!(!planned.stdout.contains(other), "{planned:?}");
    }
}
