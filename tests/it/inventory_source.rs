//! Devices from a command: the NetBox example against answers of NetBox, and failures as users see them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;
use std::thread::JoinHandle;

use serde_json::Value as Json;
use test_support::peer;
use test_support::program::{self, ProgramOutput};

const FIXTURES: &str = "tests/fixtures/netbox";
const TOKEN: &str = "s3cret-token";

fn is_skipped() -> bool {
    peer::skips(peer::missing_programs("test-tools.sh", &["python3"]))
}

/// Answers the requests of NetBox's two pages; returns its URL, and what it received.
fn netbox() -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let pages: Vec<String> = ["page1.json", "page2.json"]
        .iter()
        .map(|name| fs::read_to_string(Path::new(FIXTURES).join(name)).unwrap())
        .map(|page| page.replace("BASE", &base))
        .collect();
    let server = std::thread::spawn(move || {
        let mut received = Vec::new();
        for page in pages {
            let (stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
            let request: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            received.push(request.join("\n"));
            let head = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n";
            write!(
                &stream,
                "{head}Content-Length: {}\r\n\r\n{page}",
                page.len()
            )
            .unwrap();
        }
        received
    });
    (base, server)
}

fn show(environment: &[(&str, &str)]) -> ProgramOutput {
    let path = ["examples/inventory/inventory.toml"];
    let arguments = [
        "inventory",
        "show",
        "--run-commands",
        "--output",
        "json",
        "--inventory",
    ];
    let mut command = program::switchtender(&[&arguments[..], &path].concat());
    command.env_remove("NETBOX_URL").env_remove("NETBOX_TOKEN");
    command.envs(environment.iter().copied());
    let output: Output = command.output().unwrap();
    let output = ProgramOutput::from(output);
    output.assert_no_secrets();
    output
}

#[test]
fn netbox_example_prints_devices() {
    if is_skipped() {
        return;
    }
    let (base, server) = netbox();
    let output = show(&[("NETBOX_URL", base.as_str()), ("NETBOX_TOKEN", TOKEN)]);
    output.assert_code(0);
    let received = server.join().unwrap();
    assert!(
        received[0].starts_with(
            "GET /api/dcim/devices/?status=active&tag=switchtender&limit=500 HTTP/1.1\n"
        ),
        "{received:?}"
    );
    assert!(
        received
            .iter()
            .all(|request| request.contains(&format!("Authorization: Token {TOKEN}"))),
        "{received:?}"
    );
    let value = |device: &Json, key: &str| device["settings"][key]["value"].clone();
    let devices: Vec<[Json; 5]> = output
        .objects()
        .iter()
        .map(|device| {
            let name = device["device"].clone();
            let of = |key| value(device, key);
            [
                name,
                of("platform"),
                of("address"),
                of("site"),
                of("labels.role"),
            ]
        })
        .collect();
    let expected = [
        ["sw1", "cisco_ios", "192.0.2.101", "berlin", "access"],
        [
            "lb1",
            "f5_bigip",
            "2001:db8::201",
            "berlin",
            "load-balancer",
        ],
        ["r1", "frr", "192.0.2.1", "hamburg", "router"],
    ];
    assert_eq!(devices, expected.map(|row| row.map(Json::from)));
    let password = &output.objects()[0]["settings"]["password"];
    assert_eq!(password["value"], "environment variable DEVICE_PASSWORD");
}

#[test]
fn failed_command_is_reported_with_its_message() {
    if is_skipped() {
        return;
    }
    let unset = show(&[]);
    unset.assert_code(1);
    unset.assert_contains(
        "netbox.py` failed with exit code 1: the environment variable NETBOX_URL is not set",
    );
    unset.assert_contains("examples/inventory/inventory.toml:6:11");
    // Nothing listens there.
    let refused = show(&[
        ("NETBOX_URL", "http://127.0.0.1:1"),
        ("NETBOX_TOKEN", TOKEN),
    ]);
    refused.assert_code(1);
    refused.assert_contains("Connection refused");
}

/// Other commands have the devices, too.
#[test]
fn devices_of_a_command_are_planned() {
    let directory = tempfile::tempdir().unwrap();
    let inventory = directory.path().join("inventory.toml");
    let list = "{\"_meta\": {\"hostvars\": {\"sw1\": {\"ansible_host\": \"192.0.2.1\", \
                \"ansible_network_os\": \"ios\", \"ansible_user\": \"u\"}}}}";
    fs::write(directory.path().join("hosts.json"), list).unwrap();
    fs::write(
        &inventory,
        "[source]\ncommand = [\"cat\", \"hosts.json\"]\n",
    )
    .unwrap();
    let state = directory.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::write(
        state.join("common.yaml"),
        "network_vlan:\n  10: {vlan_name: users}\n",
    )
    .unwrap();
    let path = |path: &Path| path.display().to_string();
    let (inventory, state) = (path(&inventory), path(&state));
    let arguments = ["--mock", "--inventory", &inventory, "--state", &state];
    let planned = program::run(&[&["plan"], &arguments[..]].concat());
    planned.assert_code(0);
    assert!(
        planned.stdout.starts_with("sw1 (cisco_ios)\n"),
        "{planned:?}"
    );
}
