//! What a device answered declares instances and selects variants.

use super::*;

#[test]
fn validate_running_configuration_declares_instances() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalog = one_resource(
        directory.path(),
        r#"{"type": "Ios_interface", "title": "Vlan10", "kind": "compilable_type",
            "parameters": {"vrf": "red"}}"#,
    );
    let running = directory.path().display().to_string();
    let cases = [
        (None, 0),
        (Some("vrf definition blue\n!\n"), 1),
        (Some("vrf definition red\n!\n"), 0),
    ];
    for (config, undeclared) in cases {
        if let Some(config) = config {
            std::fs::write(directory.path().join("sw9.lab.test.cfg"), config).expect("written");
        }
        let (_, by_catalog) =
            validate(&[&catalog, "--platform", "cisco_ios", "--running", &running]);
        let found = by_catalog.values().flatten();
        let found = found.filter(|line| line.contains(" undeclared ")).count();
        assert_eq!(found, undeclared, "{config:?}: {by_catalog:?}");
    }
}

#[test]
fn running_configuration_without_its_end_warns() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalog = one_resource(
        directory.path(),
        r#"{"type": "Vrf", "title": "red", "kind": "compilable_type",
            "parameters": {"ensure": "present"}}"#,
    );
    let running = directory.path().display().to_string();
    let complete = "version 15.2\n!\nvrf definition red\n!\nend\n";
    for (config, warnings) in [(complete, 0), (&complete[..complete.len() - 4], 1)] {
        std::fs::write(directory.path().join("sw9.lab.test.cfg"), config).expect("written");
        let (exit, by_catalog) =
            validate(&[&catalog, "--platform", "cisco_ios", "--running", &running]);
        let found = codes(&by_catalog);
        let found = found
            .iter()
            .filter(|code| code.ends_with("incomplete-answer"));
        assert_eq!(found.count(), warnings, "{config}: {by_catalog:?}");
        assert_eq!(exit, 0, "{by_catalog:?}");
    }
}

#[test]
fn validate_rest_answers_declare_instances() {
    let port = r#"{"type": "Ios_network_trunk", "title": "Gi1/0/1", "kind": "compilable_type",
                   "parameters": {"access_vlan": 25}}"#;
    let pool = r#"{"type": "F5_virtualserver", "title": "/Common/vs", "kind": "compilable_type",
                   "parameters": {"ensure": "present", "provider": "standard", "protocol": "tcp",
                                  "destination_address": "192.0.2.1", "service_port": "80",
                                  "default_pool": "/Common/web"}}"#;
    let cases = [
        (
            "cisco_ios",
            port,
            "cfg",
            // With VTP, the VLANs are not in the configuration.
            "vlan 10\n name users\n!\n",
            "",
        ),
        (
            "cisco_ios",
            port,
            "json",
            r#"{"vlan_brief": "VLAN Name                             Status    Ports\n---- -------------------------------- --------- ------\n10   users                            active    \n"}"#,
            "undeclared",
        ),
        (
            "cisco_ios",
            port,
            "cfg",
            "vlan 10\n name users\n!\nvlan 20-29,40\n!\n",
            "",
        ),
        (
            "cisco_ios",
            port,
            "json",
            r#"{"vlan_brief": "VLAN Name                             Status    Ports\n---- -------------------------------- --------- ------\n25   users                            active    \n"}"#,
            "",
        ),
        (
            "f5_bigip",
            pool,
            "json",
            r#"{"GET /mgmt/tm/ltm/pool": {"items": []}}"#,
            "undeclared",
        ),
        (
            "f5_bigip",
            pool,
            "json",
            r#"{"/mgmt/tm/ltm/pool": {"items": [{"name": "web", "fullPath": "/Common/web"}]}}"#,
            "",
        ),
        (
            "f5_bigip",
            pool,
            "json",
            r#"{"/mgmt/tm/ltm/pool": "<html>"}"#,
            "cannot-read",
        ),
        ("f5_bigip", pool, "json", "[]", "cannot-read"),
    ];
    for (platform, resource, ending, text, expected) in cases {
        let directory = tempfile::tempdir().expect("a directory");
        let catalog = one_resource(directory.path(), resource);
        let running = tempfile::tempdir().expect("a directory");
        let path = running.path().join(format!("sw9.lab.test.{ending}"));
        std::fs::write(path, text).expect("written");
        let running = running.path().display().to_string();
        let (exit, by_catalog) =
            validate(&[&catalog, "--platform", platform, "--running", &running]);
        let found = codes(&by_catalog);
        let desired = |code: &str| found.iter().any(|found| found.ends_with(code));
        let right = match expected {
            "" => !desired("undeclared") && exit == 0,
            "cannot-read" => desired(expected) && exit == 2,
            code => desired(code) && exit == 0,
        };
        assert!(right, "{platform} {text}: {exit} {by_catalog:?}");
    }
}

#[test]
fn validate_facts_select_variants() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalog = one_resource(
        directory.path(),
        r#"{"type": "Vrf", "title": "red", "kind": "compilable_type",
            "parameters": {"ensure": "present"}}"#,
    );
    let facts = tempfile::tempdir().expect("a directory");
    let facts_path = facts.path().display().to_string();
    // As an agent keeps them, and the values alone; what cannot be read is not passed over.
    let cases = [
        (r#"{"name": "sw9", "values": {"model": "9300"}}"#, 0),
        (r#"{"name": "sw9", "values": {"model": "2960"}}"#, 1),
        (r#"{"model": "2960"}"#, 1),
        ("{", 2),
    ];
    for (text, exit) in cases {
        std::fs::write(facts.path().join("sw9.lab.test.json"), text).expect("written");
        let (code, by_catalog) =
            validate(&[&catalog, "--platform", "cisco_ios", "--facts", &facts_path]);
        assert_eq!(code, exit, "{text}: {by_catalog:?}");
    }
}
