//! An inventory of mocks, catalogs for them, and the program at work on them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_support::catalog::{CatalogBuilder, resource};
use test_support::{program, proxy_host};

use super::mocks::{ENABLE_PASSWORD, Mocks, PASSWORD, USER};
use super::process::{Finished, run};

/// The built program.
pub(crate) fn program() -> Command {
    program::switchtender(&[])
}

/// A directory with everything that a run needs.
pub(crate) struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory can be made");
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes inventory and catalogs for running mocks.
    pub(crate) fn describe(&self, mocks: &Mocks) {
        self.describe_shared(mocks, 1);
    }

    /// The same with several devices at each mock.
    pub(crate) fn describe_shared(&self, mocks: &Mocks, devices: usize) {
        let mut inventory = format!(
            "[defaults]\nplatform = \"cisco_ios\"\nuser = \"{USER}\"\n\
             password = {{ env = \"BENCH_PASSWORD\" }}\nenable_password = {{ env = \"BENCH_ENABLE\" }}\n"
        );
        let catalogs = self.path("catalogs");
        std::fs::create_dir_all(&catalogs).expect("a directory can be made");
        for (number, switch) in mocks.switches.iter().enumerate() {
            let (first, last) = (number * devices + 1, (number + 1) * devices);
            let range = if devices == 1 {
                format!("switch{first}")
            } else {
                format!("switch[{first}-{last}]")
            };
            inventory.push_str(&entry(&range, switch.port, &switch.fingerprint));
            for device in first..=last {
                self.write_catalog(&format!("switch{device}"));
            }
        }
        write(&self.path("inventory.toml"), &inventory);
    }

    /// Writes the catalog of a device.
    pub(crate) fn write_catalog(&self, name: &str) {
        let file = self.path("catalogs").join(format!("{name}.json"));
        write(&file, &catalog(name).to_string());
    }

    /// `switchtender apply` over all devices; they are all at work at once.
    pub(crate) fn apply(&self) -> Finished {
        self.apply_with(&[])
    }

    /// The same with more options.
    pub(crate) fn apply_with(&self, options: &[&str]) -> Finished {
        let output = std::fs::File::create(self.path("output.jsonl")).expect("a file can be made");
        let mut command = program();
        command
            .args(["apply", "--output", "json", "--concurrency", "1000"])
            .args(options)
            .arg("--inventory")
            .arg(self.path("inventory.toml"))
            .arg("--catalog")
            .arg(self.path("catalogs"))
            .arg("--state-dir")
            .arg(self.path("state"))
            .env("BENCH_PASSWORD", PASSWORD)
            .env("BENCH_ENABLE", ENABLE_PASSWORD)
            .stdout(output);
        run(&mut command)
    }

    /// The output of the last run about its first device.
    pub(crate) fn device(&self) -> Value {
        let text = std::fs::read_to_string(self.path("output.jsonl")).expect("it was written");
        text.lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|object| object["kind"] == "device")
            .expect("each run tells of its devices")
    }

    /// The bare script over the first devices, in a process of its own as the program is.
    pub(crate) fn script(
        &self,
        mocks: &Mocks,
        lines: &[String],
        count: usize,
        manner: &str,
    ) -> Finished {
        let file = self.path("lines.json");
        write(&file, &json!(lines).to_string());
        let myself = std::env::current_exe().expect("a process knows its program");
        let ports = mocks.switches.iter().take(count);
        let mut command = Command::new(myself);
        command
            .args(["script", manner])
            .arg(&file)
            .args(ports.map(|switch| switch.port.to_string()))
            .stdout(Stdio::null());
        run(&mut command)
    }
}

/// The table of an inventory for devices at a port of loopback.
pub(crate) fn entry(name: &str, port: u16, fingerprint: &str) -> String {
    format!(
        "[device.\"{name}\"]\naddress = \"127.0.0.1\"\nport = {port}\nfingerprint = \"{fingerprint}\"\n"
    )
}

/// Writes a file that only its owner may read.
pub(crate) fn write(path: &Path, text: &str) {
    proxy_host::write(path, text, 0o600);
}

/// 50 VLANs, 24 interfaces, 4 NTP servers, 4 log hosts, as a Puppet server sends them.
pub(crate) fn catalog(device: &str) -> Value {
    let vlans = (101..=150).map(|id| {
        let parameters =
            json!({ "ensure": "present", "vlan_name": format!("bench-{id}"), "shutdown": false });
        ("Network_vlan", id.to_string(), parameters)
    });
    let interfaces = (1..=24).map(|port| {
        let parameters = json!({ "enable": port % 2 == 0, "description": format!("desk {port}") });
        (
            "Network_interface",
            format!("GigabitEthernet1/0/{port}"),
            parameters,
        )
    });
    let time = (1..=4).map(|host| {
        let parameters = json!({ "ensure": "present", "prefer": host == 1 });
        ("Ntp_server", format!("192.0.2.{host}"), parameters)
    });
    let logs = (21..=24).map(|host| {
        let parameters = json!({ "ensure": "present", "port": 5514 });
        ("Syslog_server", format!("192.0.2.{host}"), parameters)
    });
    let resources = vlans.chain(interfaces).chain(time).chain(logs);
    CatalogBuilder::new(device)
        .resources(resources.map(|(of, title, parameters)| resource(of, &title, parameters)))
        .build()
}
