//! The schedule and the catalogs of devices: defaults, and tables for some of them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::{Glob, GlobMatcher};
use jiff::tz::TimeZone;
use switchtender_devices::document::{Item, Table};

use super::values::{BAD_VALUE, duration, parsed};
use crate::clock;
use crate::inventory::{Device, DeviceSelection};
use crate::serve::schedule::DeviceSchedule;
use crate::serve::window::ChangeWindow;

const DEFAULT_INTERVAL: Duration = Duration::from_secs(30 * 60);

/// Where the catalog of a device comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CatalogPath {
    /// A directory with `<device>.json`.
    Catalogs(PathBuf),
    /// A directory of desired state.
    State(PathBuf),
}

/// Settings of devices. `None`: the table does not have it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceSettingsTable {
    interval: Option<Duration>,
    splay: Option<Duration>,
    windows: Option<Vec<ChangeWindow>>,
    zone: Option<TimeZone>,
    applies: Option<bool>,
    priority: Option<i32>,
    catalog: Option<CatalogPath>,
}

/// Settings for some devices.
#[derive(Clone, Debug)]
pub(crate) struct DeviceRule {
    /// The table, such as `device."core-*"`.
    pub(crate) table: String,
    /// Position of the name.
    pub(crate) span: Range<usize>,
    target: RuleTarget,
    settings: DeviceSettingsTable,
}

/// The devices of a rule.
#[derive(Clone, Debug)]
pub(crate) enum RuleTarget {
    Name(GlobMatcher),
    Label(DeviceSelection),
}

impl DeviceSettingsTable {
    pub(super) fn read(table: &Table<'_>, directory: &Path) -> Self {
        let catalogs = table.file_path("catalog", directory);
        let state = table.file_path("state", directory);
        if catalogs.is_some()
            && let Some(item) = table.get("state")
        {
            item.error(BAD_VALUE, "`catalog` and `state` cannot be combined");
        }
        let catalogs = catalogs.map(CatalogPath::Catalogs);
        let windows = table.get("windows").and_then(|item| item.list());
        let windows = windows.map(|items| {
            let items = items.iter();
            items
                .filter_map(|item| parsed(item, "a change window, such as `Mon-Fri 22:00-04:00`"))
                .collect()
        });
        let settings = Self {
            interval: table.get("interval").and_then(|item| duration(&item)),
            splay: table.get("splay").and_then(|item| duration(&item)),
            windows,
            zone: table.get("time_zone").and_then(|item| zone(&item)),
            applies: table.get("mode").and_then(|item| mode(&item)),
            priority: table.get("priority").and_then(|item| priority(&item)),
            catalog: catalogs.or(state.map(CatalogPath::State)),
        };
        table.finish();
        settings
    }

    /// The settings with those of a later table.
    fn with(self, later: &Self) -> Self {
        let later = later.clone();
        Self {
            interval: later.interval.or(self.interval),
            splay: later.splay.or(self.splay),
            windows: later.windows.or(self.windows),
            zone: later.zone.or(self.zone),
            applies: later.applies.or(self.applies),
            priority: later.priority.or(self.priority),
            catalog: later.catalog.or(self.catalog),
        }
    }

    /// The settings with those of the rules that match a device.
    pub(crate) fn with_rules(&self, rules: &[DeviceRule], device: RuleSubject<'_>) -> Self {
        let rules = rules.iter().filter(|rule| rule.matches(device));
        rules.fold(self.clone(), |settings, rule| settings.with(&rule.settings))
    }

    pub(crate) fn schedule(&self) -> DeviceSchedule {
        let interval = self.interval.unwrap_or(DEFAULT_INTERVAL);
        DeviceSchedule {
            interval,
            splay: self.splay.unwrap_or(interval),
            windows: self.windows.clone().unwrap_or_default(),
            zone: self.zone.clone().unwrap_or_else(clock::zone),
            applies: self.applies.unwrap_or(true),
            needs_approval: false,
            priority: self.priority.unwrap_or_default(),
        }
    }

    /// Whether the interval is set.
    pub(crate) fn has_interval(&self) -> bool {
        self.interval.is_some()
    }

    /// Where the catalogs of the devices come from.
    pub(crate) fn catalog(&self) -> Option<&CatalogPath> {
        self.catalog.as_ref()
    }
}

/// A device that rules are compared with.
#[derive(Clone, Copy)]
pub(crate) enum RuleSubject<'a> {
    Inventory(&'a Device),
    /// A device of `device.conf` has a name and no labels.
    Name(&'a str),
}

impl DeviceRule {
    pub(crate) fn settings(&self) -> &DeviceSettingsTable {
        &self.settings
    }

    pub(crate) fn is_label(&self) -> bool {
        matches!(self.target, RuleTarget::Label(_))
    }

    pub(crate) fn matches(&self, device: RuleSubject<'_>) -> bool {
        match (&self.target, device) {
            (RuleTarget::Name(pattern), RuleSubject::Inventory(device)) => {
                pattern.is_match(device.name.as_str())
            }
            (RuleTarget::Name(pattern), RuleSubject::Name(name)) => pattern.is_match(name),
            (RuleTarget::Label(labels), RuleSubject::Inventory(device)) => labels.matches(device),
            (RuleTarget::Label(_), RuleSubject::Name(_)) => false,
        }
    }
}

/// The tables `[device.PATTERN]` and `[label.'NAME=VALUE']`, labels first: a device is more specific.
pub(super) fn rules(root: &Table<'_>, directory: &Path) -> Vec<DeviceRule> {
    let mut rules = Vec::new();
    for key in ["label", "device"] {
        let Some(tables) = root.table(key) else {
            continue;
        };
        for (name, span, item) in tables.entries() {
            let target = match key {
                "label" => DeviceSelection::parse_labels(&name)
                    .ok()
                    .map(RuleTarget::Label),
                _ => Glob::new(&name)
                    .ok()
                    .map(|pattern| RuleTarget::Name(pattern.compile_matcher())),
            };
            let Some(target) = target else {
                let expected = match key {
                    "label" => "a label, such as `role=access`",
                    _ => "a pattern of names, such as `core-*`",
                };
                let message = format!("`{name}` is not {expected}");
                let help = "quote the name of the table";
                tables
                    .findings
                    .error_with_help(BAD_VALUE, span, message, help);
                continue;
            };
            if let Some(table) = item.table() {
                let settings = DeviceSettingsTable::read(&table, directory);
                rules.push(DeviceRule {
                    table: format!("{key}.\"{name}\""),
                    span,
                    target,
                    settings,
                });
            }
        }
    }
    rules
}

fn zone(item: &Item<'_>) -> Option<TimeZone> {
    let name = item.string()?;
    let zone = TimeZone::get(&name).ok();
    if zone.is_none() {
        let message = format!("`{name}` is not a time zone, such as `Europe/Berlin`");
        item.error(BAD_VALUE, message);
    }
    zone
}

fn mode(item: &Item<'_>) -> Option<bool> {
    let word = item.string()?;
    match word.as_str() {
        "apply" => Some(true),
        "plan" => Some(false),
        _ => {
            item.error(BAD_VALUE, format!("`{word}` is not `apply` or `plan`"));
            None
        }
    }
}

fn priority(item: &Item<'_>) -> Option<i32> {
    let number = item.integer()?;
    let value = i32::try_from(number).ok();
    if value.is_none() {
        item.error(BAD_VALUE, format!("`{number}` is not a priority"));
    }
    value
}
