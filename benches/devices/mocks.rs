//! Mock switches in a process of their own.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::process;
use super::site::{self, Site};

pub(crate) const LATENCY: &str = "latency=20ms";
pub(crate) const USER: &str = "admin";
pub(crate) const PASSWORD: &str = "admin";
pub(crate) const ENABLE_PASSWORD: &str = "enable";

/// Where a mock is and by which key it is known.
pub(crate) struct Switch {
    pub port: u16,
    pub fingerprint: String,
}

/// Running mocks; stopped when dropped.
pub(crate) struct Mocks {
    child: Child,
    log: PathBuf,
    pub switches: Vec<Switch>,
}

impl Mocks {
    pub(crate) fn start(count: usize, site: &Site) -> Self {
        Self::start_with(count, site, &[])
    }

    /// The same with more options of `mock switch`.
    pub(crate) fn start_with(count: usize, site: &Site, options: &[&str]) -> Self {
        let log = site.path("exchanges.jsonl");
        let mut command = site::program();
        command
            .args(["mock", "switch", "--count", &count.to_string()])
            .args(["--fault", LATENCY, "--user", USER, "--password", PASSWORD])
            .args(["--enable-password", ENABLE_PASSWORD])
            .args(options);
        if count == 1 {
            command.arg("--log").arg(&log);
        }
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the mocks can be started");
        let lines = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
        let switches = lines
            .map_while(Result::ok)
            .filter_map(|line| switch(&line))
            .take(count)
            .collect();
        Self {
            child,
            log,
            switches,
        }
    }

    /// Processors' time that they have used until now.
    pub(crate) fn cpu(&self) -> Duration {
        process::cpu(self.child.id()).unwrap_or_default()
    }

    /// The lines of the newest connection, in order.
    pub(crate) fn last_connection(&self) -> Vec<String> {
        let exchanges = self.exchanges();
        let last = exchanges
            .last()
            .map(|exchange| exchange["connection"].clone());
        exchanges
            .into_iter()
            .filter(|exchange| Some(&exchange["connection"]) == last.as_ref())
            .map(|exchange| exchange["received"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    fn exchanges(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("the log is JSON lines"))
            .collect()
    }
}

impl Drop for Mocks {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `switch1: ssh -p 40001 admin@127.0.0.1  (host key SHA256:…)`
fn switch(line: &str) -> Option<Switch> {
    let (_, after) = line.split_once("ssh -p ")?;
    let (port, after) = after.split_once(' ')?;
    let (_, fingerprint) = after.split_once("host key ")?;
    Some(Switch {
        port: port.parse().ok()?,
        fingerprint: fingerprint.trim_end_matches(')').to_owned(),
    })
}
