//! A proxy host: `puppet.conf`, `device.conf`, credentials, and the program at work with them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::mocks::{ENABLE_PASSWORD, PASSWORD, Switch, USER};
use super::process::{Finished, run};
use super::site::{Site, program, write};

pub(crate) struct Proxy {
    dir: PathBuf,
}

/// The name of a device.
pub(crate) fn name(number: usize) -> String {
    format!("dev{number}.lab.test")
}

impl Proxy {
    pub(crate) fn new(site: &Site, port: u16) -> Self {
        let dir = site.path("proxy");
        std::fs::create_dir_all(&dir).expect("a directory can be made");
        let conf = format!("[main]\nserver = localhost\nserverport = {port}\nwaitforcert = 0\n");
        write(&dir.join("puppet.conf"), &conf);
        Self { dir }
    }

    /// Writes `device.conf` for these switches, numbered from `first` on.
    pub(crate) fn describe(&self, switches: &[Switch], first: usize) {
        let mut conf = String::new();
        for (number, switch) in (first..).zip(switches) {
            let name = name(number);
            let credentials = json!({
                "host": "127.0.0.1", "port": switch.port, "user": USER, "password": PASSWORD,
                "enable_password": ENABLE_PASSWORD, "host_key_fingerprint": switch.fingerprint,
            });
            let file = self.dir.join(format!("{name}.conf"));
            write(&file, &credentials.to_string());
            writeln!(
                conf,
                "[{name}]\ntype cisco_ios\nurl file://{}",
                file.display()
            )
            .expect("text takes text");
        }
        write(&self.dir.join("device.conf"), &conf);
    }

    /// `switchtender device` over all of them.
    pub(crate) fn run(&self) -> Finished {
        let log = self.dir.join("log");
        let mut command = program();
        command
            .arg("device")
            .arg(format!("--confdir={}", self.dir.display()))
            .arg(format!("--vardir={}", self.dir.join("var").display()))
            .arg(format!("--logdest={}", log.display()));
        run(&mut command)
    }

    /// The same requests of the first devices by a bare client, in a process of its own.
    pub(crate) fn bare(&self, count: usize) -> Finished {
        let myself = std::env::current_exe().expect("a process knows its program");
        let mut command = Command::new(myself);
        command
            .arg("bare")
            .arg(&self.dir)
            .arg(count.to_string())
            .stdout(Stdio::null());
        run(&mut command)
    }
}

/// Where the report of a device's last run lies, below the proxy's directory.
pub(crate) fn last_report(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("var/devices/{name}/state/last_run_report.json"))
}
