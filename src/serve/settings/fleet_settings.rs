//! The table `[fleet]`: this process as a node of a fleet.

use std::path::Path;
use std::time::Duration;

use switchtender_devices::document::{Item, Table};

use super::{BAD_VALUE, duration};
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
    pub(super) fn read(table: &Table<'_>, directory: &Path) -> Self {
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
            join: JoinSettings::read(table, directory),
            is_set: true,
        };
        if let Some(join) = table.get("join") {
            settings.check_worker(&join);
        }
        table.finish();
        settings
    }
}

impl FleetSettings {
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
