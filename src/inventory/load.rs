//! Loads an inventory: its devices, or all errors in it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source, suggest};
use switchtender_devices::document::{self, Findings, Item, Table as Document};
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::{Certname, DeviceName, PlatformName};

use super::check::check;
use super::device::DeviceEntry;
use super::file_context::{FileContext, masked, possible_secrets};
use super::file_mode::readable_by_others;
use super::group::{Group, Memberships};
use super::secret_source::SecretSource;
use super::setting::{InventoryTable, TableSetting};
use super::table_settings::{Jump, NAME, TableSettings};
use super::{ConcurrencyLimits, Inventory, range, referenced_files};

/// Maximum size in bytes. A hundred thousand devices need less.
const LARGEST: u64 = 64 << 20;

/// Options for loading an inventory.
#[derive(Clone, Debug, Default)]
pub(crate) struct InventoryOptions {
    /// Names of the platforms. `None`: platforms are not checked.
    pub(crate) platforms: Option<BTreeSet<PlatformName>>,
    /// Accept secrets in files that other users can read.
    pub(crate) allow_readable: bool,
    /// Check the files that the inventory names, too.
    pub(crate) check_referenced_files: bool,
}

impl Inventory {
    /// Loads a file.
    ///
    /// # Errors
    /// All errors of the file, sorted by position, followed by the warnings.
    pub(crate) fn load(path: &Path, options: &InventoryOptions) -> Result<Self, Vec<Diagnostic>> {
        let name = path.display().to_string();
        let (text, mode) = read(path).map_err(|error| {
            let hint = "choose the inventory with --inventory FILE";
            vec![
                Diagnostic::error(
                    "cannot-read",
                    format!("cannot read inventory {name}: {error}"),
                )
                .help(hint),
            ]
        })?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse(&name, &text, base, mode, options)
    }

    /// Parses the text of an inventory whose relative paths start at `base`. `readable`: the mode of
    /// the file if other users can read it.
    pub(crate) fn parse(
        name: &str,
        text: &str,
        base: &Path,
        readable: Option<u32>,
        options: &InventoryOptions,
    ) -> Result<Self, Vec<Diagnostic>> {
        let file = FileContext { base, text };
        let source = Source::new(name, masked(text));
        let findings = Findings::new(&source);
        let (devices, limits, label_order, allow_readable) = document::read(&findings, |root| {
            let allowed = root.bool("allow_readable").unwrap_or(false) || options.allow_readable;
            let limits = root.table("limits").map(|table| read_limits(&table));
            let label_order = root.strings("label_order").unwrap_or_default();
            let defaults = root.table("defaults").map(|table| {
                let layer = TableSettings::read(&table, &InventoryTable::Defaults, &file);
                refuse(&table, &["certname", "address"]);
                table.finish();
                layer
            });
            let groups = read_groups(root, &file);
            let platforms = named(root, "platform", |name, table| {
                let layer =
                    TableSettings::read(table, &InventoryTable::Platform(name.to_owned()), &file);
                refuse(table, &["platform", "certname", "address"]);
                layer
            });
            let devices = named(root, "device", |name, table| {
                TableSettings::read(table, &InventoryTable::Device(name.to_owned()), &file)
            });
            root.finish();
            let own = || {
                let tables = platforms.values().chain(devices.values());
                let tables = tables.map(|(layer, _)| layer);
                let groups = groups.iter().map(|group| &group.settings);
                defaults.iter().chain(tables).chain(groups)
            };
            for layer in own() {
                literals(&findings, layer, readable.filter(|_| !allowed));
            }
            if let Some(names) = &options.platforms {
                for (name, (_, span)) in &platforms {
                    check_platform(&findings, names, name, span.clone());
                }
            }
            if options.check_referenced_files && devices.is_empty() {
                findings.error_with_help(
                    "no-devices",
                    0..0,
                    "the inventory has no device",
                    "add one: [device.sw1] with `platform`, `address` and `user`",
                );
            }
            let below = defaults.clone().unwrap_or_default();
            let devices = expanded(&findings, devices);
            let names = devices.keys().map(String::as_str);
            let memberships = Memberships::new(&groups, names, &findings);
            let devices: IndexMap<String, DeviceEntry> = devices
                .into_iter()
                .map(|(name, (own, span))| {
                    let own = memberships.apply(&name, own, &findings);
                    let mut settings = merge(own, &platforms, &below);
                    settings.insert_name(&name);
                    let device = DeviceEntry {
                        name: name.clone(),
                        span,
                        settings,
                    };
                    incomplete(&findings, &device);
                    (name, device)
                })
                .collect();
            if let Some(names) = &options.platforms {
                let mut seen = BTreeSet::new();
                for device in devices.values() {
                    if let Some(platform) = &device.settings.platform
                        && seen.insert(platform.origin.span.start)
                    {
                        let span = platform.origin.span.clone();
                        check_platform(&findings, names, &platform.value, span);
                    }
                }
            }
            check(&findings, &devices);
            (devices, limits.unwrap_or_default(), label_order, allowed)
        });
        let mut hidden = findings.hidden();
        let mut found = findings.into_list();
        if options.check_referenced_files {
            found.extend(referenced_files::check(&devices, allow_readable));
        }
        if found.iter().any(|found| found.code == "toml-syntax") {
            // After a syntax error, keys can seem to be missing or to have another type.
            let follow_up = ["missing-key", "wrong-kind", "no-devices", "no-credentials"];
            found.retain(|found| !follow_up.contains(&found.code));
            hidden.extend(possible_secrets(&source.text));
        }
        redact(&mut found, &source, &hidden);
        found.sort_by_key(|found| found.labels.first().map(|label| label.span.start));
        let (errors, warnings): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|found| found.severity == Severity::Error);
        if !errors.is_empty() {
            return Err(errors.into_iter().chain(warnings).collect());
        }
        let complete = |device: DeviceEntry| {
            device
                .complete()
                .map(|device| (device.name.clone(), device))
        };
        Ok(Self {
            source,
            devices: devices.into_values().filter_map(complete).collect(),
            limits,
            label_order,
            allow_readable,
            warnings,
        })
    }
}

/// Redacts ranges of the inventory in the excerpts of findings.
fn redact(found: &mut [Diagnostic], source: &Arc<Source>, ranges: &[Range<usize>]) {
    if ranges.is_empty() {
        return;
    }
    let redacted = source.redacted(ranges);
    let labels = found.iter_mut().flat_map(|found| &mut found.labels);
    for label in labels.filter(|label| Arc::ptr_eq(&label.source, source)) {
        label.source = Arc::clone(&redacted);
    }
}

/// An error of reading the file.
#[derive(Debug, thiserror::Error)]
enum ReadInventoryError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
    #[error("the file is not UTF-8 (byte {position})")]
    NotUtf8 { position: usize },
}

/// The text, and the mode if other users can read the file.
fn read(path: &Path) -> Result<(String, Option<u32>), ReadInventoryError> {
    let file = File::open(path)?;
    let mode = readable_by_others(&file)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(ReadInventoryError::TooLarge);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, mode)),
        Err(error) => Err(ReadInventoryError::NotUtf8 {
            position: error.utf8_error().valid_up_to(),
        }),
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
) -> IndexMap<String, (TableSettings, Range<usize>)> {
    let Some(tables) = root.table(key) else {
        return IndexMap::default();
    };
    let mut found = IndexMap::default();
    for (name, _, item) in tables.entries() {
        if let Some(table) = item.table() {
            let layer = read(&name, &table);
            table.finish();
            found.insert(name, (layer, item.span.clone()));
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
        let group = Group::read(name, &table, item.span.clone(), file);
        refuse(&table, &["certname", "address"]);
        table.finish();
        Some(group)
    };
    let tables = tables.entries().into_iter();
    tables
        .filter_map(|(name, _, item)| read(&name, &item))
        .collect()
}

/// The devices, one for each number of a range in their names.
fn expanded(
    findings: &Findings,
    devices: IndexMap<String, (TableSettings, Range<usize>)>,
) -> IndexMap<String, (TableSettings, Range<usize>)> {
    let mut found = IndexMap::default();
    for (name, (settings, span)) in devices {
        let names = match range::expand(&name) {
            None => vec![name],
            Some(Ok(names)) => names,
            Some(Err(error)) => {
                let message = format!("`{name}` is no device name: {error}");
                findings.error_with_help("range", span, message, range::HELP);
                continue;
            }
        };
        let addresses = settings.addresses(names.len(), findings);
        for (index, name) in names.into_iter().enumerate() {
            let mut settings = settings.clone();
            if let (Some(address), Some(addresses)) = (&mut settings.address, &addresses) {
                address.value.clone_from(&addresses[index]);
            }
            let other: Option<(TableSettings, Range<usize>)> =
                found.insert(name.clone(), (settings, span.clone()));
            if let Some((_, other)) = other {
                let message = format!("two tables have the device `{name}`");
                findings.push(
                    Diagnostic::error("duplicate-device", message)
                        .at(&findings.source, span.clone(), "")
                        .at(&findings.source, other, "the other table")
                        .help("take it out of the range, and put what differs in a [group.<name>]"),
                );
            }
        }
    }
    found
}

/// Reports keys that are only allowed in the table of a device, or with the name of the device.
fn refuse(table: &Document<'_>, keys: &[&str]) {
    for key in keys {
        if let Some(item) = table.get(key)
            && !item.value.as_str().is_some_and(|text| text.contains(NAME))
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

fn check_platform(
    findings: &Findings,
    names: &BTreeSet<PlatformName>,
    name: &str,
    span: Range<usize>,
) {
    if names.contains(name) {
        return;
    }
    let names: Vec<&str> = names.iter().map(PlatformName::as_str).collect();
    let all = format!("platforms: {}", names.join(", "));
    let help = suggest(name, names, all);
    let message = format!("unknown platform `{name}`");
    findings.error_with_help("unknown-platform", span, message, help);
}

/// Reports secrets in clear text: as errors if other users can read the file.
fn literals(findings: &Findings, layer: &TableSettings, readable: Option<u32>) {
    let secrets = [
        ("password", &layer.password),
        ("enable_password", &layer.enable_password),
        ("passphrase", &layer.passphrase),
        ("token", &layer.token),
    ];
    for (key, setting) in secrets {
        let Some(setting) = setting else { continue };
        if !matches!(setting.value, SecretSource::Literal(_)) {
            continue;
        }
        let origin = &setting.origin;
        findings.push(match readable {
            Some(mode) => origin
                .error(
                    "readable-secret",
                    format!("`{key}` is in clear text, and other users can read this file (mode {mode:04o})"),
                )
                .help(format!(
                    "use {key} = {{ env = \"…\" }}, or `chmod 600 {}`, or set allow_readable = true",
                    findings.source.name
                )),
            None => origin
                .warning("literal-secret", format!("`{key}` is in clear text in the inventory"))
                .help(format!(
                    "use {key} = {{ env = \"…\" }}, {{ file = \"…\" }} or {{ command = [\"…\"] }}"
                )),
        });
    }
    if let Some(TableSetting {
        value: Jump::Host(host),
        ..
    }) = &layer.jump
    {
        literals(findings, host, readable);
    }
}

/// A device's own settings over its platform's over the defaults.
fn merge(
    own: TableSettings,
    platforms: &IndexMap<String, (TableSettings, Range<usize>)>,
    defaults: &TableSettings,
) -> TableSettings {
    let platform = own.platform.as_ref().or(defaults.platform.as_ref());
    let layer = platform.and_then(|platform| platforms.get(platform.value.as_str()));
    match layer {
        Some((layer, _)) => own.over(layer),
        None => own,
    }
    .over(defaults)
}

/// Reports missing required settings and an invalid name.
fn incomplete(findings: &Findings, device: &DeviceEntry) {
    let name = &device.name;
    if let Err(error) = DeviceName::parse(name) {
        let span = device.span.clone();
        findings.error_with_help("device-name", span, error.to_string(), error.hint);
    } else if let Err(error) = Certname::parse(device.certname()) {
        let hint = format!("set `certname` in [device.{name}]: {}", error.hint);
        findings.error_with_help("certname", device.span.clone(), error.to_string(), hint);
    }
    let settings = &device.settings;
    for (key, is_missing) in [
        ("platform", settings.platform.is_none()),
        ("address", settings.address.is_none()),
        // A token replaces user and password.
        ("user", settings.user.is_none() && settings.token.is_none()),
    ] {
        if is_missing {
            findings.error_with_help(
                "missing-key",
                device.span.clone(),
                format!("device `{name}` has no `{key}`"),
                format!("add {key} = \"…\" to [device.{name}], its group, [platform.<name>] or [defaults]"),
            );
        }
    }
}

#[cfg(test)]
mod tests;
