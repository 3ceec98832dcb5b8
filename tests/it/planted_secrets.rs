//! The planted secrets of `tests/fixtures/secrets` are in no output about a device that has them, and harmless text
//! with the same words stays readable.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_support::catalog::resource;
use test_support::lab::Lab;
use test_support::program::ProgramOutput;

fn corpus(kind: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/secrets");
    let text = fs::read_to_string(folder.join(format!("cisco_ios.{kind}.txt"))).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && *line != "end");
    lines.map(|line| format!("{line}\n")).collect()
}

/// The configuration with a secret in place of each mark, and the secrets.
pub(crate) fn planted() -> (String, Vec<String>) {
    let corpus = corpus("planted");
    let (mut text, mut rest, mut secrets) = (String::new(), corpus.as_str(), Vec::new());
    while let Some((before, marked)) = rest.split_once('«') {
        let (mark, after) = marked.split_once('»').unwrap();
        let secret = mark.replace('S', &format!("Zq{:03}xW", secrets.len()));
        text += &format!("{before}{secret}");
        secrets.extend(secret.split(' ').map(str::to_owned));
        rest = after;
    }
    // Short words of a secret are in other words.
    secrets.retain(|secret| secret.len() >= 6);
    (text + rest, secrets)
}

#[track_caller]
fn assert_no_secret(text: &str, secrets: &[String], what: &str) {
    let found: Vec<&str> = text
        .lines()
        .filter(|line| secrets.iter().any(|secret| line.contains(secret)))
        .collect();
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

fn recording(configuration: &str) -> String {
    let exchange = |name: &str, command: &str, text: &str| {
        let lines = text.lines().map(|line| format!("< {line}\n"));
        let lines: String = lines.collect();
        format!("read {name}\n> {command}\n{lines}= done\n\n")
    };
    let version = "Cisco IOS Software, C3750 Software (C3750-IPSERVICESK9-M), Version 15.0(2)SE11, RELEASE SOFTWARE (fc3)\n\
        sw1 uptime is 1 week\ncisco WS-C3750G-24TS-1U (PowerPC405) processor (revision F0) with 131072K bytes of memory.\n\
        Processor board ID FDO0000\n";
    let mut text = "switchtender recording 1: cisco_ios\n\n".to_owned();
    text += &exchange("version", "show version", version);
    text += &exchange("config", "show running-config", configuration);
    for (name, command) in [
        ("vlan_brief", "show vlan brief"),
        ("switchport", "show interfaces switchport"),
        ("interfaces_status", "show interfaces status"),
        ("ip_access_lists", "show ip access-lists"),
        ("snmp_user", "show snmp user"),
        ("vtp_status", "show vtp status"),
    ] {
        text += &exchange(name, command, "");
    }
    text
}

/// A device with all planted lines and all harmless ones.
fn lab() -> (Lab, Vec<String>) {
    let mut lab = Lab::new();
    lab.add_device("sw1", "cisco_ios", 9, None);
    let (planted, secrets) = planted();
    let configuration = planted + &corpus("harmless") + "end\n";
    for (folder, file, text) in [
        ("recordings", "sw1.recording", recording(&configuration)),
        ("running", "sw1.cfg", configuration),
    ] {
        fs::create_dir_all(lab.path(folder)).unwrap();
        fs::write(lab.path(folder).join(file), text).unwrap();
    }
    (lab, secrets)
}

const MOCK: [&str; 3] = ["--mock", "--mock-config", "recordings"];

#[tokio::test(flavor = "multi_thread")]
async fn planted_secrets_are_in_no_backup_and_harmless_lines_are() {
    let (lab, secrets) = lab();
    let saved = lab.run(&[&["backup", "configs"][..], &MOCK].concat()).await;
    saved.assert_code(0);
    let text = fs::read_to_string(lab.path("configs/sw1.cfg")).unwrap();
    assert_no_secret(&text, &secrets, "configs/sw1.cfg");
    let answers = fs::read_to_string(lab.path("configs/sw1.json")).unwrap();
    assert_no_secret(&answers, &secrets, "configs/sw1.json");
    let lines: Vec<&str> = text.lines().collect();
    let harmless = corpus("harmless");
    let lost = harmless.lines().filter(|line| !lines.contains(line));
    assert_eq!(lost.collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_secrets_are_in_no_export() {
    let (lab, secrets) = lab();
    let outputs: [&[&str]; 3] = [&[], &["--output", "json"], &["--output", "yaml"]];
    for output in outputs {
        let arguments = [&["resource", "sw1", "--all"], output, &MOCK].concat();
        let printed = lab.run(&arguments).await;
        assert!(printed.stdout.len() > 1000, "{}", printed.text());
        assert_no_secret(&printed.text(), &secrets, &arguments.join(" "));
    }
}

fn purge(type_name: &str) -> Value {
    resource("Resources", type_name, json!({ "purge": true }))
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_secrets_are_in_no_plan() {
    let (lab, secrets) = lab();
    let types = [
        "snmp_community",
        "snmp_notification_receiver",
        "ntp_auth_key",
        "radius_server",
        "tacacs_server",
        "ios_user",
        "ios_bgp_neighbor",
        "ios_hsrp_group",
    ];
    let mut resources: Vec<Value> = types.into_iter().map(purge).collect();
    let areas = json!({"ensure": "present", "process": "1", "areas": [["3", "stub"]]});
    resources.push(resource("Ios_ospf_process", "1", areas));
    lab.write_resources("sw1", &resources);
    let plans: [&[&str]; 2] = [&["-vvv"], &["--output", "json"]];
    let mut printed: Vec<(String, ProgramOutput)> = Vec::new();
    for more in plans {
        let arguments = [&["plan", "--running", "running", "--allow", "purge"], more].concat();
        printed.push((arguments.join(" "), lab.run(&arguments).await));
    }
    for (what, output) in &printed {
        assert_no_secret(&output.text(), &secrets, what);
    }
    for (path, text) in lab.files("state") {
        assert_no_secret(&text, &secrets, &path.display().to_string());
    }
    let text = &printed[0].1;
    // Names of resources that purging makes have no secrets, and their numbers tell them apart.
    text.assert_contains("Snmp_community[•••• (2)]");
    text.assert_contains("no snmp-server community ••••");
    text.assert_contains("Ntp_auth_key[1]");
    text.assert_contains("no ntp authentication-key 1");
}
