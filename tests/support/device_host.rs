//! A proxy host for tests of `switchtender device`: a Puppet Server and switches on loopback.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use switchtender_mocks::puppet_server::PuppetServer;
use switchtender_mocks::{CliSwitch, RunningSwitch, SwitchOptions};

pub const PASSWORD: &str = "s3cret-pw";
const ENABLE: &str = "s3cret-en";

/// A proxy host with its devices.
pub struct Host {
    pub dir: tempfile::TempDir,
    pub server: PuppetServer,
    pub switches: Vec<RunningSwitch>,
}

impl Host {
    pub async fn new(count: usize) -> Self {
        Self::with_faults(count, &[]).await
    }

    /// Every switch has these faults.
    pub async fn with_faults(count: usize, faults: &[&str]) -> Self {
        Self::of(PuppetServer::start().await, count, faults).await
    }

    /// Against this server.
    pub async fn of(server: PuppetServer, count: usize, faults: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut switches = Vec::new();
        let mut device_conf = String::new();
        for number in 1..=count {
            let name = name(number);
            let options = SwitchOptions {
                name: name.clone(),
                hostname: format!("sw{number}"),
                user: "ops".to_owned(),
                password: PASSWORD.to_owned(),
                enable_password: Some(ENABLE.to_owned()),
                faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
                ..SwitchOptions::default()
            };
            let switch = CliSwitch::start(options, 0).await.unwrap();
            let credentials = json!({
                "host": "127.0.0.1", "port": switch.address().port(), "username": "ops",
                "password": PASSWORD, "enable_password": ENABLE,
            });
            write(
                &dir.path().join(format!("{name}.conf")),
                &credentials.to_string(),
                0o640,
            );
            device_conf += &format!(
                "[{name}]\ntype cisco_ios\nurl file://{}/{name}.conf\n\n",
                dir.path().display()
            );
            server
                .state()
                .catalogs
                .insert((name.clone(), "*".to_owned()), catalog(&name));
            switches.push(switch);
        }
        write(&dir.path().join("device.conf"), &device_conf, 0o600);
        let puppet_conf = format!(
            "[main]\nserver = localhost\nserverport = {}\nhttp_connect_timeout = 2\n[agent]\nwaitforcert = 0\n",
            server.port()
        );
        write(&dir.path().join("puppet.conf"), &puppet_conf, 0o644);
        Self {
            dir,
            server,
            switches,
        }
    }

    /// `switchtender device`, with what it says at hand.
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let dir = self.dir.path().display();
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_switchtender"));
        command
            .arg("device")
            .args(arguments)
            .arg(format!("--confdir={dir}"))
            .arg(format!("--vardir={dir}/var"))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command
    }

    /// The exit code and everything that was said.
    pub async fn run(&self, arguments: &[&str]) -> (i32, String) {
        outcome(&self.command(arguments).output().await.unwrap())
    }

    /// The last report that the server has of a device.
    pub fn report(&self, name: &str) -> Value {
        let state = self.server.state();
        let reports = state.reports.iter().rev();
        let report = reports
            .clone()
            .find(|report| report["host"] == name)
            .cloned();
        assert!(!format!("{report:?}").contains("s3cret"));
        report.unwrap_or_else(|| panic!("no report of {name}"))
    }

    pub fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// The exit code of a process and everything that it said, which is no secret.
pub fn outcome(output: &std::process::Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("s3cret"), "{text}");
    (output.status.code().unwrap(), text)
}

/// Asks a process to end in order.
pub fn terminate(process: u32) {
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &process.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
}

pub fn write(path: &std::path::Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub fn name(number: usize) -> String {
    format!("sw{number}.lab.test")
}

/// The recorded catalog of a switch, under another name.
pub fn catalog(name: &str) -> Value {
    let text =
        include_str!("../fixtures/puppetserver/catalogs/sw2.json").replace("sw2.lab.test", name);
    serde_json::from_str(&text).unwrap()
}

pub fn logs(report: &Value) -> Vec<String> {
    let entries = report["logs"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["message"].as_str().unwrap().to_owned())
        .collect()
}
