//! The tables of one document: `inventory.toml`, or the output of its command.

use std::ops::Range;

use switchtender_devices::document::{Findings, Item, Table as Document};
use switchtender_devices::driver::Registry;
use switchtender_devices::map::IndexMap;

use super::ConcurrencyLimits;
use super::file_context::FileContext;
use super::group::Group;
use super::placeholders::has_placeholder;
use super::setting::{InventoryTable, TablePosition};
use super::source::DeviceSource;
use super::table_settings::TableSettings;
use super::vault_settings::VaultSettings;

/// The settings of tables with names.
pub(super) type NamedTables = IndexMap<String, (TableSettings, TablePosition)>;

/// Words that people try, each with the table.
const SYNONYMS: [(&str, &str); 8] = [
    ("devices", "device"),
    ("host", "device"),
    ("hosts", "device"),
    ("all", "defaults"),
    ("default", "defaults"),
    ("groups", "group"),
    ("platforms", "platform"),
    ("limit", "limits"),
];

/// The tables of a document.
#[derive(Default)]
pub(super) struct InventoryTables {
    pub(super) allow_readable: bool,
    pub(super) limits: ConcurrencyLimits,
    pub(super) label_order: Vec<(String, Range<usize>)>,
    pub(super) source: Option<DeviceSource>,
    pub(super) vault: Option<VaultSettings>,
    pub(super) defaults: TableSettings,
    pub(super) platforms: NamedTables,
    pub(super) groups: Vec<Group>,
    pub(super) devices: NamedTables,
}

impl InventoryTables {
    /// Reads `inventory.toml`.
    pub(super) fn read(root: &Document<'_>, file: &FileContext<'_>) -> Self {
        let allow_readable = root.bool("allow_readable").unwrap_or(false);
        let limits = root.table("limits").map(|table| read_limits(&table));
        let label_order = root.get("label_order").and_then(|item| item.list());
        let label_order = label_order.unwrap_or_default().into_iter();
        let label_order = label_order.filter_map(|item| Some((item.string()?, item.span.clone())));
        let source = root.table("source");
        let source = source.and_then(|table| DeviceSource::read(&table, file));
        let vault = root.table("vault");
        let vault = vault.and_then(|table| VaultSettings::read(&table, file));
        Self {
            allow_readable,
            limits: limits.unwrap_or_default(),
            label_order: label_order.collect(),
            source,
            vault,
            ..Self::read_settings(root, file)
        }
    }

    /// Reads the tables with settings: all that the output of a command has.
    pub(super) fn read_settings(root: &Document<'_>, file: &FileContext<'_>) -> Self {
        let defaults = root.table("defaults").map(|table| {
            let settings = TableSettings::read(&table, &InventoryTable::Defaults, file);
            refuse(&table, &["certname", "address"]);
            table.finish_with(TableSettings::SYNONYMS);
            settings
        });
        let groups = read_groups(root, file);
        let platforms = named(root, "platform", |name, table| {
            let of = InventoryTable::Platform(name.to_owned());
            let settings = TableSettings::read(table, &of, file);
            refuse(table, &["platform", "certname", "address"]);
            settings
        });
        let devices = named(root, "device", |name, table| {
            TableSettings::read(table, &InventoryTable::Device(name.to_owned()), file)
        });
        root.finish_with(&SYNONYMS);
        Self {
            defaults: defaults.unwrap_or_default(),
            groups,
            platforms,
            devices,
            ..Self::default()
        }
    }

    /// Replaces other names of platforms, such as those of Ansible.
    pub(super) fn replace_aliases(&mut self, registry: &Registry) {
        let tables = self.platforms.values_mut().chain(self.devices.values_mut());
        let groups = self.groups.iter_mut().map(|group| &mut group.settings);
        let tables = tables.map(|(settings, _)| settings);
        let all = std::iter::once(&mut self.defaults)
            .chain(tables)
            .chain(groups);
        for platform in all.filter_map(|settings| settings.platform.as_mut()) {
            let is_name = registry
                .platform_names()
                .any(|name| *name == platform.value);
            if !is_name && let Some(named) = registry.platform_by_alias(&platform.value) {
                platform.value = named.name.clone();
            }
        }
    }

    /// All settings of the document.
    pub(super) fn settings(&self) -> impl Iterator<Item = &TableSettings> {
        let tables = self.platforms.values().chain(self.devices.values());
        let groups = self.groups.iter().map(|group| &group.settings);
        let tables = tables.map(|(settings, _)| settings);
        std::iter::once(&self.defaults).chain(tables).chain(groups)
    }

    /// These tables, with those of `below`. A setting of a table in both is the one of this document.
    #[must_use]
    pub(super) fn over(mut self, below: Self) -> Self {
        self.defaults = self.defaults.over(&below.defaults);
        merge(&mut self.platforms, below.platforms);
        merge(&mut self.devices, below.devices);
        self.groups.extend(below.groups);
        self
    }
}

fn merge(above: &mut NamedTables, below: NamedTables) {
    for (name, (settings, position)) in below {
        match above.get_mut(&name) {
            Some((own, _)) => *own = std::mem::take(own).over(&settings),
            None => {
                above.insert(name, (settings, position));
            }
        }
    }
}

/// The position of a table.
fn position(findings: &Findings, span: &Range<usize>) -> TablePosition {
    TablePosition {
        source: findings.source.clone(),
        span: span.clone(),
    }
}

fn read_limits(table: &Document<'_>) -> ConcurrencyLimits {
    let number = |key| {
        let item = table.get(key)?;
        let number = item.integer()?;
        let limit = usize::try_from(number).ok().filter(|limit| *limit > 0);
        if limit.is_none() {
            item.error("limit", format!("`{}` must be at least 1", item.path));
        }
        limit
    };
    let limits = ConcurrencyLimits {
        concurrency: number("concurrency"),
        per_site: number("per_site"),
        per_jump: number("per_jump"),
    };
    table.finish();
    limits
}

/// The tables under `[key.<name>]`, with their positions.
fn named(
    root: &Document<'_>,
    key: &str,
    read: impl Fn(&str, &Document<'_>) -> TableSettings,
) -> NamedTables {
    let Some(tables) = root.table(key) else {
        return IndexMap::default();
    };
    let mut found = IndexMap::default();
    for (name, _, item) in tables.entries() {
        if let Some(table) = item.table() {
            let settings = read(&name, &table);
            table.finish_with(TableSettings::SYNONYMS);
            found.insert(name, (settings, position(item.findings, &item.span)));
        }
    }
    found
}

fn read_groups(root: &Document<'_>, file: &FileContext<'_>) -> Vec<Group> {
    let Some(tables) = root.table("group") else {
        return Vec::new();
    };
    let read = |name: &str, item: &Item<'_>| {
        let table = item.table()?;
        let group = Group::read(name, &table, position(item.findings, &item.span), file);
        refuse(&table, &["certname", "address"]);
        table.finish_with(TableSettings::SYNONYMS);
        Some(group)
    };
    let tables = tables.entries().into_iter();
    tables
        .filter_map(|(name, _, item)| read(&name, &item))
        .collect()
}

/// Reports keys that are only allowed in the table of a device, or with the name of the device.
fn refuse(table: &Document<'_>, keys: &[&str]) {
    for key in keys {
        if let Some(item) = table.get(key)
            && !item.as_str().is_some_and(has_placeholder)
        {
            let help = match *key {
                "platform" => "move it to [device.<name>]",
                _ => {
                    "move it to [device.<name>], or use the name of the device in it: \"{name}.example.com\""
                }
            };
            item.findings.error_with_help(
                "misplaced-key",
                item.span.clone(),
                format!("`{key}` is not allowed in [{}]", table.path),
                help,
            );
        }
    }
}
