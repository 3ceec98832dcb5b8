//! `coverage` tells the class of each line of devices and saved configurations.

use std::fs;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};
use test_support::program::{self, PLANTED};

const CONFIGURATION: &str = "\
snmp-server community s3cret-public RO
ntp server 192.0.2.10
ip nhrp network-id 7
interface GigabitEthernet1/0/1
 description uplink
";

async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(CONFIGURATION.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

/// The class and the type of the line with a text.
fn line_of<'a>(report: &'a Value, text: &str) -> (&'a str, &'a str) {
    let lines = report["lines"].as_array().expect("a list");
    let mut lines = lines.iter();
    let line = lines.find(|line| line["text"].as_str().is_some_and(|own| own.trim() == text));
    let line = line.unwrap_or_else(|| panic!("{text}: {report:#}"));
    let word = |key: &str| line[key].as_str().unwrap_or_default();
    (word("class"), word("type"))
}

#[tokio::test(flavor = "multi_thread")]
async fn coverage_of_a_device_knows_what_a_catalog_declares() {
    let lab = lab().await;
    let server = resource("Ntp_server", "192.0.2.10", json!({"ensure": "present"}));
    lab.write_resources("sw1", &[server]);
    let printed = lab
        .run(&["coverage", "--catalog", "catalogs", "--output", "json"])
        .await;
    printed.assert_code(0);
    assert!(!printed.stdout.contains(PLANTED), "{}", printed.stdout);
    assert!(
        !printed.stdout.contains("s3cret-public"),
        "{}",
        printed.stdout
    );
    let report: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    for (text, class, type_name) in [
        ("ntp server 192.0.2.10", "managed", "ntp_server"),
        (
            "snmp-server community •••• RO",
            "available",
            "snmp_community",
        ),
        ("description uplink", "available", "network_interface"),
        ("ip nhrp network-id 7", "not covered", ""),
        ("end", "generated", ""),
    ] {
        assert_eq!(line_of(&report, text), (class, type_name), "{text}");
    }
    let page = lab.run(&["coverage", "sw1", "--output", "html"]).await;
    page.assert_code(0);
    page.assert_contains("ntp server 192.0.2.10");
    assert!(!page.stdout.contains("s3cret-public"), "{}", page.stdout);
}

#[test]
fn coverage_of_saved_configurations_lists_what_no_type_reads() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, further) in [("sw1", "ip nhrp shortcut\n"), ("sw2", "")] {
        let text = format!("version 15.2\n{CONFIGURATION}{further}end\n");
        fs::write(directory.path().join(format!("{name}.cfg")), text).expect("written");
    }
    let folder = directory.path().display().to_string();
    let options = ["coverage", "--config", &folder, "--platform", "cisco_ios"];
    let printed = program::run(&options);
    printed.assert_code(0);
    printed.assert_contains("2 devices, ");
    printed.assert_contains("ip nhrp");
    let json = program::run(&[&options[..], &["--output", "json"]].concat());
    let report: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let expected = json!([{"name": "ip nhrp", "lines": 3, "devices": 2}]);
    assert_eq!(report["not_covered"], expected);
    assert_eq!(report["devices"][0]["device"], "sw1");
    assert_eq!(report["devices"][0]["classes"]["not covered"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn strict_run_refuses_lines_that_are_not_managed() {
    let lab = lab().await;
    let server = resource("Ntp_server", "192.0.2.10", json!({"ensure": "present"}));
    lab.write_resources("sw1", &[server]);
    let plan = lab.run(&["plan", "--coverage"]).await;
    plan.assert_code(0);
    plan.assert_contains("Managed  Covered");
    plan.assert_contains("    ip nhrp network-id 7");
    // The first word of the declared line has no other line.
    lab.run(&["plan", "--strict", "sections"])
        .await
        .assert_code(0);
    let refused = lab.run(&["apply", "--strict", "all"]).await;
    refused.assert_code(1);
    refused.assert_contains("unmanaged-line");
    refused.assert_contains("`ip nhrp network-id 7` is not managed: no type reads it");
    refused.assert_contains("nothing was changed");
    assert!(
        !refused.stdout.contains("s3cret-public"),
        "{}",
        refused.stdout
    );

    let saved = lab.path("running/sw1.cfg");
    fs::create_dir_all(saved.parent().expect("a folder")).expect("created");
    fs::write(&saved, format!("version 15.2\n{CONFIGURATION}end\n")).expect("written");
    let checked = lab
        .run(&[
            "validate",
            "catalogs",
            "--running",
            "running",
            "--strict",
            "all",
        ])
        .await;
    checked.assert_code(1);
    checked
        .assert_contains("`description uplink` in `interface GigabitEthernet1/0/1` is not managed");
}

#[tokio::test(flavor = "multi_thread")]
async fn coverage_of_a_load_balancer_has_objects_and_fields() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let pool = resource(
        "F5_pool",
        "/Common/web",
        json!({"ensure": "present", "description": "shop"}),
    );
    lab.write_resources("lb1", &[pool]);
    lab.run(&["apply"]).await.assert_code(0);
    let printed = lab
        .run(&["coverage", "--catalog", "catalogs", "--output", "json"])
        .await;
    printed.assert_code(0);
    assert!(
        printed
            .stderr
            .contains("collections that no type reads are unknown"),
        "{}",
        printed.stderr
    );
    let report: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    for (text, class, type_name) in [
        ("/mgmt/tm/ltm/pool /Common/web", "managed", "f5_pool"),
        ("description: \"shop\"", "managed", "f5_pool"),
    ] {
        assert_eq!(line_of(&report, text), (class, type_name), "{text}");
    }
}
