//! `schema` prints JSON Schema: Python's `jsonschema` accepts the shipped examples with it, and rejects
//! mistakes. Without that package the test prints that it was skipped, except with
//! `SWITCHTENDER_REQUIRE_PEERS=1`.

use std::fs;
use std::process::Command;

use serde_json::{Value as Json, json};
use switchtender_mocks::SwitchOptions;
use test_support::lab::{Lab, switch_options};
use test_support::{program, stderr_note};

const CHECK: &str = "\
import json, sys, jsonschema
schema, documents = json.load(open(sys.argv[1]))
checker = jsonschema.Draft202012Validator
checker.check_schema(schema)
print(json.dumps([[e.message[:200] for e in checker(schema).iter_errors(d)] for d in documents]))
";

fn has_jsonschema() -> bool {
    let found = Command::new("python3")
        .args(["-c", "import jsonschema"])
        .output();
    found.is_ok_and(|output| output.status.success())
        || std::env::var_os("SWITCHTENDER_REQUIRE_PEERS").is_some()
}

/// The errors of each document.
fn errors(format: &str, documents: &[Json]) -> Vec<Vec<String>> {
    let printed = program::run(&["schema", format]);
    printed.assert_code(0);
    let schema: Json = serde_json::from_str(&printed.stdout).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input.json");
    fs::write(&path, json!([schema, documents]).to_string()).unwrap();
    let output = Command::new("python3")
        .args(["-c", CHECK])
        .arg(&path)
        .output();
    let output = output.unwrap();
    let answer = serde_json::from_slice(&output.stdout);
    answer.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The definition files below a directory of the repository, as documents.
fn definitions(directory: &str) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(definitions(&name));
        } else if name.ends_with(".toml") {
            let document = toml(&fs::read_to_string(&path).unwrap());
            found.push((name, document));
        }
    }
    found
}

#[test]
fn the_schema_of_definitions_accepts_shipped_files_and_rejects_wrong_keys() {
    if !has_jsonschema() {
        stderr_note::print("skipped: python3 has no package `jsonschema`");
        return;
    }
    let mut files = definitions("devices/definitions");
    files.extend(definitions("examples/definitions"));
    assert!(files.len() > 100, "{}", files.len());
    let (names, documents): (Vec<String>, Vec<Json>) = files.into_iter().unzip();
    let found = errors("definitions", &documents);
    let found: Vec<_> = names.iter().zip(found).collect();
    let wrong: Vec<_> = found
        .iter()
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");

    let model = |line: &str| toml(&format!("schema = 1\ntype = \"x\"\n{line}\n"));
    let platform = |line: &str| toml(&format!("schema = 1\nplatform = \"p\"\n{line}\n"));
    let implementation = |line: &str| {
        let text = format!("schema = 1\nplatform = \"p\"\ntype = \"x\"\n{line}\n");
        toml(&text)
    };
    let invalid = [
        toml("schema = 1\nensurable = true"),
        toml("type = \"x\"\nensurable = true"),
        model("[[autorequire]]\nfrom = \"a\""),
        model("ensurabel = true"),
        model("ensurable = \"yes\""),
        model("runs_on = \"devices\""),
        model("[attr.x]\nvaluse = []"),
        model("[[rule]]\ntogehter = [\"a\"]"),
        model("[instance]\nline = \"x\""),
        platform("transport = \"telnet\""),
        platform("transport = \"ssh-cli\"\n[mode.x]\npromt = \"#\""),
        platform("transport = \"ssh-cli\"\n[read.x]\ncommand = 1"),
        platform("transport = \"rest\"\n[mode.x]\nprompt = \"#\""),
        platform("transport = \"netconf\"\n[attr.x]\nline = \"x\""),
        implementation("[instance]\nblok = \"x\""),
        implementation("[attr.x]\nlines = \"x\""),
        implementation("[attr.x]\nmany = \"yes\""),
        implementation("[[variant]]\nwhen = { model = \"x\" }\n[variant.attr.x]\nlines = \"x\""),
        implementation("[[test]]\nname = \"x\"\ncomands = []"),
        implementation("mode = \"config\""),
    ];
    let found = errors("definitions", &invalid);
    assert!(found.iter().all(|errors| !errors.is_empty()), "{found:#?}");
}

/// The paths of properties without a description.
fn undescribed(schema: &Json, root: &Json, path: &str, found: &mut Vec<String>) {
    if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
        for (name, property) in properties {
            let reference = property.get("$ref").and_then(Json::as_str);
            let target = reference.and_then(|text| root.pointer(text.trim_start_matches('#')));
            let has_text = |one: &Json| one.get("description").and_then(Json::as_str) > Some("");
            if !has_text(property) && !target.is_some_and(has_text) {
                found.push(format!("{path}.{name}"));
            }
        }
    }
    match schema {
        Json::Object(entries) => {
            for (key, value) in entries {
                undescribed(value, root, &format!("{path}/{key}"), found);
            }
        }
        Json::Array(items) => {
            for item in items {
                undescribed(item, root, path, found);
            }
        }
        _ => {}
    }
}

#[test]
fn schemas_describe_their_properties() {
    for format in ["state", "inventory"] {
        let printed = program::run(&["schema", format]);
        let schema: Json = serde_json::from_str(&printed.stdout).unwrap();
        let mut found = Vec::new();
        undescribed(&schema, &schema, "", &mut found);
        // The keys of structured values have no texts of their own.
        found.retain(|path| !path.contains("/anyOf"));
        assert!(found.is_empty(), "{format}: {found:#?}");
    }
}

fn yaml(text: &str) -> Json {
    serde_saphyr::from_str(text).unwrap()
}

fn toml(text: &str) -> Json {
    let table: toml::Table = text.parse().unwrap();
    serde_json::to_value(table).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn schemas_accept_examples_and_reject_errors() {
    if !has_jsonschema() {
        stderr_note::print("skipped: python3 has no package `jsonschema`");
        return;
    }
    let page = fs::read_to_string("docs/desired-state.md").unwrap();
    let parts = page.split("<!-- file: ").skip(1);
    let mut valid: Vec<Json> = parts
        .map(|part| {
            let (_, rest) = part.split_once("```yaml\n").unwrap();
            yaml(rest.split_once("```").unwrap().0)
        })
        .collect();
    assert!(valid.len() > 2, "{valid:?}");
    let mut lab = Lab::new();
    let config = "ntp server 192.0.2.10 prefer\nlogging host 192.0.2.20\nsnmp-server community s3cret RO\n\
                  interface GigabitEthernet1/0/1\n description {{ text }}\n switchport access vlan 10\n";
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        vlans: vec![(10, "users".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    let export = [
        "resource",
        "sw1",
        "--all",
        "--output",
        "yaml",
        "--output-dir",
        "out",
    ];
    lab.run(&export).await.assert_code(0);
    let exported = yaml(&lab.files("out")[0].1);
    assert!(exported.as_object().unwrap().len() > 5, "{exported}");
    valid.push(exported);
    let found = errors("state", &valid);
    assert!(found.iter().all(Vec::is_empty), "{found:#?}");

    let invalid = [
        json!({"network_vlna": {}}),
        json!({"network_vlan": {"10": {"vlan_nam": "users"}}}),
        json!({"ntp_server": {"192.0.2.10": {"prefer": "maybe"}}}),
        json!({"network_interface": {"GigabitEthernet1/0/1": {"mtu": {}}}}),
        json!({"tacacs_server": {"t1": {"key": {"secret": {"environment": "X"}}}}}),
        json!({"purge": "ntp_server"}),
        json!({"ntp_server": {"192.0.2.10": {"noop": "maybe"}}}),
        json!({"ntp_server": {"192.0.2.10": {"require": 10}}}),
    ];
    let found = errors("state", &invalid);
    assert!(found.iter().all(|errors| !errors.is_empty()), "{found:#?}");

    let example = fs::read_to_string("examples/inventory.toml").unwrap();
    let found = errors("inventory", &[toml(&example)]);
    assert!(found[0].is_empty(), "{found:#?}");
    let device = |line: &str| toml(&format!("[device.sw1]\n{line}\n"));
    let invalid = [
        device("hots = \"x\""),
        device("port = 70000"),
        device("host_key = \"maybe\""),
        device("password = { env = \"A\", file = \"b\" }"),
        device("jump = { adress = \"x\" }"),
        device("jump = { address = \"x\" }"),
        toml("[limits]\nconcurrency = 0"),
        toml("[devices.sw1]"),
    ];
    let found = errors("inventory", &invalid);
    assert!(found.iter().all(|errors| !errors.is_empty()), "{found:#?}");
}
