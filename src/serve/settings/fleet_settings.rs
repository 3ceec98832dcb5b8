//! The table `[fleet]`: this process as a node of a fleet.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use switchtender_devices::document::{Item, Table};

use super::values::{BAD_VALUE, duration};
use crate::history::ServerAddress;
use crate::serve::link::settings::JoinSettings;

const DEFAULT_LEASE: Duration = Duration::from_secs(120);
const SHORTEST_LEASE: Duration = Duration::from_secs(2);
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(60 * 60);

/// This process as a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetSettings {
    /// `None`: the name of the host.
    pub(crate) node: Option<String>,
    /// Empty: the sites that no node names.
    pub(crate) sites: Vec<String>,
    /// The time after which a lease that is not renewed expires.
    pub(crate) lease: Duration,
    /// Whether it runs devices.
    pub(crate) runs: bool,
    /// The hubs of a worker. `None`: the node has the database.
    pub(crate) join: Option<JoinSettings>,
    /// The file has the table.
    pub(crate) is_set: bool,
}

impl Default for FleetSettings {
    fn default() -> Self {
        Self {
            node: None,
            sites: Vec::new(),
            lease: DEFAULT_LEASE,
            runs: true,
            join: None,
            is_set: false,
        }
    }
}

impl FleetSettings {
    /// Reads the table; relative paths begin at `directory`.
    pub(super) fn read(root: &Table<'_>, directory: &Path) -> Self {
        let Some(table) = root.table("fleet") else {
            return Self::default();
        };
        let default = Self::default();
        let node = table.get("node").and_then(|item| name(&item, "a node"));
        let sites = table.get("sites").and_then(|item| item.list());
        let sites = sites.unwrap_or_default();
        let sites = sites.iter().filter_map(|item| name(item, "a site"));
        let settings = Self {
            node,
            sites: sites.collect(),
            lease: table
                .get("lease")
                .and_then(|item| lease(&item))
                .unwrap_or(default.lease),
            runs: table.bool("runs").unwrap_or(default.runs),
            join: JoinSettings::read(&table, directory),
            is_set: true,
        };
        let join = table.get("join");
        if let Some(join) = &join {
            settings.check_worker(join);
        }
        table.finish();
        if join.is_some() {
            check_other_tables_of_worker(root);
        } else {
            check_store(root);
        }
        settings
    }

    /// A worker runs the devices of sites that it names.
    fn check_worker(&self, join: &Item<'_>) {
        let problem = if self.sites.is_empty() {
            "a worker needs `sites`: the hub gives it the devices of its own sites only"
        } else if self.runs {
            return;
        } else {
            "a worker without runs has nothing to do: remove `runs = false`"
        };
        join.error(BAD_VALUE, problem);
    }
}

/// A file of SQLite has one process.
fn check_store(root: &Table<'_>) {
    let store = root.string("store").unwrap_or_default();
    if !ServerAddress::is_meant(&store)
        && let Some(item) = root.get("fleet")
    {
        let message = "a fleet needs a database of PostgreSQL";
        let help = "set `store = \"postgresql://…\"`, or remove [fleet]";
        (root.findings).error_with_help("fleet-store", item.span.clone(), message, help);
    }
}

/// A worker has no database and no pages: `listen` is the address of its metrics.
fn check_other_tables_of_worker(root: &Table<'_>) {
    if let Some(item) = root.get("store") {
        let message = "a node has either `store` or `join`: a worker has no database";
        let help = "remove `store` of a worker, or `join` of a hub";
        (root.findings).error_with_help("fleet-store", item.span.clone(), message, help);
    }
    for key in ["web", "oidc"] {
        if let Some(item) = root.get(key) {
            let message = format!("`{key}` is a setting of hubs: a worker has no pages and no API");
            let help = "move it to the hubs; `listen` gives a worker /metrics and /healthz";
            (root.findings).error_with_help("worker-pages", item.span.clone(), message, help);
        }
    }
    let address = root.string("listen");
    let address = address.and_then(|text| text.parse::<SocketAddr>().ok());
    if let (Some(address), Some(item)) = (address, root.get("listen"))
        && !address.ip().is_loopback()
    {
        let message = "a worker listens on loopback only: its metrics need no login";
        let help = "write `127.0.0.1:8440`, and put a proxy with a login before it";
        (root.findings).error_with_help("worker-pages", item.span.clone(), message, help);
    }
}

fn name(item: &Item<'_>, of: &str) -> Option<String> {
    let text = item.string()?.to_string();
    let is_valid = !text.is_empty() && !text.chars().any(char::is_control);
    if !is_valid {
        item.error(BAD_VALUE, format!("`{text}` is not the name of {of}"));
    }
    is_valid.then_some(text)
}

fn lease(item: &Item<'_>) -> Option<Duration> {
    let value = duration(item)?;
    let is_valid = (SHORTEST_LEASE..=LONGEST_LEASE).contains(&value);
    if !is_valid {
        let message = "a lease has from 2 seconds to 1 hour";
        item.error(BAD_VALUE, message);
    }
    is_valid.then_some(value)
}
