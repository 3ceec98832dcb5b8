//! A proxy host for tests of `switchtender device`: a Puppet Server and switches on loopback.

use std::ops::Deref;

use serde_json::{Value, json};
use switchtender_mocks::puppet_server::PuppetServer;
use switchtender_mocks::{CliSwitch, RunningSwitch};

use crate::catalog::recorded;
use crate::lab::{ENABLE, PASSWORD, parsed, switch_options};
use crate::program::PLANTED;
use crate::proxy_host::ProxyHost;

/// A proxy host with its server and its devices.
pub struct DeviceHost {
    host: ProxyHost,
    /// The mock Puppet Server.
    pub server: PuppetServer,
    /// The mock switches, `sw1.lab.test` and up.
    pub switches: Vec<RunningSwitch>,
}

impl Deref for DeviceHost {
    type Target = ProxyHost;

    fn deref(&self) -> &ProxyHost {
        &self.host
    }
}

impl DeviceHost {
    /// A host with a new server and this many switches without faults.
    pub async fn new(count: usize) -> Self {
        Self::with_faults(count, &[]).await
    }

    /// Every switch has these faults.
    pub async fn with_faults(count: usize, faults: &[&str]) -> Self {
        Self::with_server(PuppetServer::start().await, count, faults).await
    }

    /// Against this server.
    pub async fn with_server(server: PuppetServer, count: usize, faults: &[&str]) -> Self {
        let host = ProxyHost::with_files(&server, "");
        let mut switches = Vec::new();
        let mut device_conf = String::new();
        for number in 1..=count {
            let name = name(number);
            let mut options = switch_options(&name);
            options.hostname = format!("sw{number}");
            options.faults = parsed(faults);
            let switch = CliSwitch::start(options, 0).await.expect("a mock starts");
            let credentials = json!({
                "host": "127.0.0.1", "port": switch.address().port(), "username": "ops",
                "password": PASSWORD, "enable_password": ENABLE,
            });
            let file = host.write(&format!("{name}.conf"), &credentials.to_string(), 0o640);
            device_conf += &format!("[{name}]\ntype cisco_ios\nurl file://{file}\n\n");
            let catalogs = &mut server.state().catalogs;
            catalogs.insert((name.clone(), "*".to_owned()), catalog(&name));
            switches.push(switch);
        }
        host.write("device.conf", &device_conf, 0o600);
        Self {
            host,
            server,
            switches,
        }
    }

    /// `switchtender device`.
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        self.host.command(&[&["device"], arguments].concat())
    }

    /// `switchtender device`: the exit code and everything that it printed.
    pub async fn run(&self, arguments: &[&str]) -> (i32, String) {
        self.host.run(&[&["device"], arguments].concat()).await
    }

    /// The last report of a device that the server has.
    pub fn report(&self, name: &str) -> Value {
        let state = self.server.state();
        let report = state.reports.iter().rfind(|report| report["host"] == name);
        let report = report.unwrap_or_else(|| panic!("no report of {name}"));
        assert!(!report.to_string().contains(PLANTED));
        report.clone()
    }

    /// The text of a file in the host's directory. Panics if it is unreadable.
    pub fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// The name of a device of the host.
pub fn name(number: usize) -> String {
    format!("sw{number}.lab.test")
}

/// The recorded catalog of a switch, under another name.
pub fn catalog(name: &str) -> Value {
    let text = recorded("sw2").to_string().replace("sw2.lab.test", name);
    serde_json::from_str(&text).expect("a catalog is JSON")
}

/// The messages of a report's log.
pub fn logs(report: &Value) -> Vec<String> {
    let entries = report["logs"].as_array().expect("a report has logs");
    let messages = entries.iter().map(|entry| entry["message"].as_str());
    messages
        .map(|message| message.expect("a message is text").to_owned())
        .collect()
}
