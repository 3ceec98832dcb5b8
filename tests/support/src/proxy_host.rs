//! A proxy host: a directory with the configuration of a client of a Puppet Server on loopback.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender::agent::client::facts::Facts;
use switchtender::agent::client::report_spool::Delivery;
use switchtender::agent::puppet_conf::{self, PuppetDirectories, Settings};
use switchtender::agent::run::{AgentRun, CatalogResponse, Proxy, RetrievedCatalog, RunError};
use switchtender::agent::run_log::Level;
use switchtender_devices::names::Certname;
use switchtender_mocks::puppet_server::PuppetServer;

use crate::program::{self, PLANTED};

/// A directory with `puppet.conf`, `device.conf` and `var`.
pub struct ProxyHost {
    dir: tempfile::TempDir,
    settings: BTreeMap<String, String>,
}

impl ProxyHost {
    /// A client of this server, with more settings.
    pub fn new(server: &PuppetServer, more: &[(&str, &str)]) -> Self {
        let port = server.port().to_string();
        let defaults = [
            ("server", "localhost"),
            ("serverport", port.as_str()),
            ("waitforcert", "0"),
            ("http_connect_timeout", "2"),
        ];
        Self {
            dir: tempfile::tempdir().expect("a directory"),
            settings: defaults
                .iter()
                .chain(more)
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    /// The same with its settings in `puppet.conf`, and with a `device.conf`.
    pub fn with_files(server: &PuppetServer, device_conf: &str) -> Self {
        let host = Self::new(server, &[]);
        let lines = host.settings.iter();
        let lines = lines.map(|(name, value)| format!("{name} = {value}\n"));
        let puppet_conf = format!("[main]\n{}", lines.collect::<String>());
        host.write("puppet.conf", &puppet_conf, 0o644);
        host.write("device.conf", device_conf, 0o600);
        host
    }

    /// A path in the host's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file with this mode, and returns its path.
    pub fn write(&self, name: &str, text: &str, mode: u32) -> String {
        let path = self.path(name);
        write(&path, text, mode);
        path.display().to_string()
    }

    /// The program with this host's directories.
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(program::path());
        command
            .args(arguments)
            .arg(format!("--confdir={}", self.dir.path().display()))
            .arg(format!("--vardir={}", self.path("var").display()))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command
    }

    /// The exit code and everything that the program printed.
    pub async fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command(arguments).output().await;
        outcome(&output.expect("the program starts"))
    }

    /// The settings as the program reads them, with these flags besides.
    pub fn settings(&self, flags: &[(&str, &str)]) -> Settings {
        let mut settings = self.settings.clone();
        for (name, value) in flags {
            settings.insert((*name).to_owned(), (*value).to_owned());
        }
        let home = PuppetDirectories {
            confdir: self.path("conf"),
            vardir: self.path("var"),
        };
        puppet_conf::read(&settings, &home).expect("readable settings")
    }

    /// One process of the program.
    pub fn process(&self, flags: &[(&str, &str)]) -> Arc<Proxy> {
        Arc::new(Proxy::new(self.settings(flags), 4))
    }
}

/// Writes a file with this mode.
pub fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).expect("a file can be written");
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, mode).expect("its owner sets its mode");
}

/// The exit code of a process and everything that it printed, which holds no secret.
pub fn outcome(output: &std::process::Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains(PLANTED), "{text}");
    (output.status.code().expect("it ended by itself"), text)
}

/// The certname of a test.
pub fn certname(name: &str) -> Certname {
    Certname::parse(name).expect("a valid certname")
}

/// Facts of a device, one with characters that require URL encoding.
pub fn facts(name: &str) -> Facts {
    let device =
        serde_json::json!({"operatingsystem": "LabOS", "hostname": name, "weird": "a+b %41"});
    let time = "2026-11-21T08:00:00Z".parse().expect("a time");
    let lifetime = std::time::Duration::from_secs(1800);
    let device = device.as_object().expect("an object");
    Facts::new(&certname(name), device, false, time, lifetime)
}

/// An agent run and its messages.
pub struct LoggedRun {
    /// The run, for the steps that follow.
    pub agent: AgentRun,
    /// The messages so far, in order.
    pub log: Vec<(Level, String)>,
}

impl LoggedRun {
    /// Delivers a report. Panics if the spool is not writable.
    pub async fn deliver(&mut self, report: &serde_json::Value) -> Option<Delivery> {
        let report = serde_json::value::to_raw_value(report).expect("a report is JSON");
        let delivery = self.agent.deliver(&report, &mut self.log).await;
        delivery.expect("the spool is writable")
    }
}

/// Whether a message of this level has this beginning.
pub fn has_message(log: &[(Level, String)], level: Level, beginning: &str) -> bool {
    log.iter()
        .any(|(of, message)| *of == level && message.starts_with(beginning))
}

/// Goes through a run up to its catalog, and stores it.
pub async fn run_of(
    proxy: &Arc<Proxy>,
    name: &str,
) -> (LoggedRun, Result<RetrievedCatalog, RunError>) {
    let mut agent = AgentRun::new(proxy, &certname(name));
    let mut log = Vec::new();
    let outcome = async {
        agent.set_up(&mut log).await?;
        agent.begin(&mut log).await?;
        let obtained = loop {
            match agent.catalog(&facts(name), &mut log).await? {
                CatalogResponse::Catalog(obtained, _) => break obtained,
                CatalogResponse::Restart(_) => {}
            }
        };
        agent.store_catalog(&obtained, false, &mut log).await?;
        Ok(obtained)
    }
    .await;
    (LoggedRun { agent, log }, outcome)
}
