//! `switchtender mock puppet-server` by hand: its own lines lead to a run of `device`.

use std::process::Stdio;

use serde_json::json;
use switchtender_mocks::CliSwitch;
use test_support::catalog::{catalog, vlan};
use test_support::lab::{ENABLE, PASSWORD, switch_options};
use test_support::program;
use test_support::proxy_host::write;
use tokio::io::{AsyncBufReadExt as _, BufReader};

#[tokio::test(flavor = "multi_thread")]
async fn mock_puppet_server_serves_catalogs_to_device() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let name = "sw1.lab.test";
    for directory in ["pup", "catalogs"] {
        std::fs::create_dir(path(directory)).unwrap();
    }
    write(
        &path("catalogs/any.json"),
        &catalog(name, &[vlan(10, "one")]).to_string(),
        0o644,
    );
    let switch = CliSwitch::start(switch_options(name), 0).await.unwrap();
    let credentials = json!({
        "host": "127.0.0.1", "port": switch.address().port(), "username": "ops",
        "password": PASSWORD, "enable_password": ENABLE,
    });
    write(&path("sw1.conf"), &credentials.to_string(), 0o640);
    let url = format!("file://{}", path("sw1.conf").display());
    let device_conf = format!("[{name}]\ntype cisco_ios\nurl {url}\n");
    write(&path("pup/device.conf"), &device_conf, 0o600);

    let mut mock = tokio::process::Command::new(program::path())
        .args(["mock", "puppet-server", "catalogs"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(mock.stdout.take().unwrap()).lines();
    let mut printed = Vec::new();
    let command = loop {
        let line = lines.next_line().await.unwrap().expect("a line");
        if let Some(command) = line.strip_prefix("  switchtender ") {
            break command.replace(" --noop", " --waitforcert=0");
        }
        printed.push(line);
    };
    assert!(
        printed[0].starts_with("puppet server: https://localhost:"),
        "{printed:?}"
    );
    let certificates = printed[1].strip_prefix("CA certificates: ").unwrap();
    let certificates = std::fs::read_to_string(certificates).unwrap();
    assert_eq!(certificates.matches("BEGIN CERTIFICATE").count(), 2);
    assert_eq!(printed[2], "catalogs: sw1.lab.test");

    let arguments: Vec<&str> = command.split_whitespace().collect();
    let run = program::switchtender(&arguments)
        .current_dir(dir.path())
        .output();
    let run = run.unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let vlans = switch.vlans();
    assert!(vlans.iter().any(|(id, ..)| *id == 10), "{vlans:?}");
}

#[test]
fn mock_puppet_server_names_the_file_that_is_no_catalog() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sw1.json");
    std::fs::write(&file, "{}").unwrap();
    let output = program::run(&["mock", "puppet-server", &file.display().to_string()]);
    output.assert_code(1);
    output.assert_contains("sw1.json: it has no name\nhint: set \"name\"");
}
