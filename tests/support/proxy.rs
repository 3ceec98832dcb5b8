//! A proxy host in a directory of its own, for tests against a Puppet Server on loopback.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender::agent::client::facts::Facts;
use switchtender::agent::client::report_spool::Delivery;
use switchtender::agent::puppet_conf::{self, Home, Settings};
use switchtender::agent::run::{AgentRun, Obtained, Proxy, RunError};
use switchtender::agent::run_log::Level;
use switchtender_mocks::puppet_server::PuppetServer;
use tokio_util::sync::CancellationToken;

pub struct ProxyHost {
    pub dir: tempfile::TempDir,
    flags: BTreeMap<String, String>,
}

impl ProxyHost {
    pub fn new(server: &PuppetServer, flags: &[(&str, &str)]) -> Self {
        let port = server.port().to_string();
        let defaults = [
            ("server", "localhost"),
            ("serverport", port.as_str()),
            ("waitforcert", "0"),
            ("http_connect_timeout", "2"),
        ];
        Self {
            dir: tempfile::tempdir().unwrap(),
            flags: defaults
                .iter()
                .chain(flags)
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    pub fn settings(&self, more: &[(&str, &str)]) -> Settings {
        let mut flags = self.flags.clone();
        for (name, value) in more {
            flags.insert((*name).to_owned(), (*value).to_owned());
        }
        let home = Home {
            confdir: self.dir.path().join("conf"),
            vardir: self.dir.path().join("var"),
        };
        puppet_conf::read(&flags, &home).unwrap()
    }

    /// One process of the program.
    pub fn process(&self, more: &[(&str, &str)]) -> Arc<Proxy> {
        Arc::new(Proxy::new(self.settings(more), 4))
    }
}

pub fn facts(name: &str) -> Facts {
    let device =
        serde_json::json!({"operatingsystem": "LabOS", "hostname": name, "weird": "a+b %41"});
    let time = "2026-11-21T08:00:00Z".parse().unwrap();
    let lifetime = std::time::Duration::from_secs(1800);
    Facts::new(name, device.as_object().unwrap(), false, time, lifetime)
}

/// An agent run and its messages.
pub struct LoggedRun {
    pub agent: AgentRun,
    pub log: Vec<(Level, String)>,
}

impl LoggedRun {
    pub async fn deliver(&mut self, report: &serde_json::Value) -> Delivery {
        let delivery = self.agent.deliver(report, &mut self.log).await;
        delivery.unwrap().unwrap()
    }
}

/// Goes through a run up to its catalog, and keeps it.
pub async fn run_of(proxy: &Arc<Proxy>, name: &str) -> (LoggedRun, Result<Obtained, RunError>) {
    let mut agent = AgentRun::new(proxy, name);
    let mut log = Vec::new();
    let outcome = async {
        agent.set_up(&CancellationToken::new(), &mut log).await?;
        agent.begin(&mut log).await?;
        let (obtained, _) = agent.catalog(&facts(name), &mut log).await?;
        agent.keep(&obtained, false, &mut log).await?;
        Ok(obtained)
    }
    .await;
    (LoggedRun { agent, log }, outcome)
}
