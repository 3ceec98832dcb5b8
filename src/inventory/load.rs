//! Loads an inventory: its devices, or all errors in it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source, suggest};
use switchtender_devices::document::{self, Findings};
use switchtender_devices::driver::Registry;
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::{Certname, DeviceName, PlatformName};
use switchtender_devices::regular_file;

use super::check::{check, check_label_order, check_parameters, check_transport, check_vault};
use super::device::DeviceEntry;
use super::file_context::{FileContext, masked_source, possible_secrets};
use super::file_mode::{WritableFile, readable_by_others};
use super::group::Memberships;
use super::secret_source::SecretSource;
use super::select::ADD_DEVICE;
use super::setting::TableSetting;
use super::source::{DeviceSource, SOURCE_COMMAND, SOURCE_LEFT_OUT, SOURCE_SKIPPED, SourceDevices};
use super::table_settings::{Jump, TableSettings};
use super::tables::{InventoryTables, NamedTables};
use super::{Device, Inventory, Secrets, range, referenced_files};

/// Maximum size in bytes. A hundred thousand devices need less.
const LARGEST: u64 = 64 << 20;

/// The code of the warning about an inventory that other users can write.
const WRITABLE: &str = "writable-inventory";

/// Options for loading an inventory.
#[derive(Clone, Debug, Default)]
pub(crate) struct InventoryOptions<'a> {
    /// The definitions. `None`: platforms are not checked.
    pub(crate) registry: Option<&'a Registry>,
    /// Accept secrets in files that other users can read.
    pub(crate) allow_readable: bool,
    /// No device is contacted: `address` and `user` are not required.
    pub(crate) is_offline: bool,
    /// Do not run the command of `[source]`.
    pub(crate) skips_command: bool,
    /// Check the files that the inventory names, too. Problems of devices are errors of the inventory.
    pub(crate) check_referenced_files: bool,
}

/// Returns the output of a source.
type SourceRun<'a> = dyn Fn(&DeviceSource, &Secrets) -> Result<Vec<u8>, Diagnostic> + 'a;

impl Inventory {
    /// The warnings about commands that do not run, and about devices of a source that are left out. Every reader of the file prints them.
    pub(crate) fn command_warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        let codes = [WRITABLE, SOURCE_SKIPPED, SOURCE_LEFT_OUT];
        let warnings = self.warnings.iter();
        warnings.filter(move |found| codes.contains(&found.code))
    }

    /// What is wrong with single devices: a missing setting, or an unknown platform. The others run.
    pub(crate) fn device_problems<'a>(
        devices: impl IntoIterator<Item = &'a Device>,
    ) -> Vec<Diagnostic> {
        let problems = devices.into_iter().flat_map(|device| &device.problems);
        distinct(problems.cloned())
    }

    /// Loads a file.
    ///
    /// # Errors
    /// All errors of the file, sorted by position, followed by the warnings.
    pub(crate) fn load(
        path: &Path,
        options: &InventoryOptions<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let name = path.display().to_string();
        let (text, mode) = read(path).map_err(|error| {
            let hint = match &error {
                ReadInventoryError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                    "choose the inventory with --inventory FILE, or write one with `switchtender inventory init`"
                }
                _ => "choose the inventory with --inventory FILE",
            };
            vec![
                Diagnostic::error(
                    "cannot-read",
                    format!("cannot read inventory {name}: {error}"),
                )
                .help(hint),
            ]
        })?;
        let file = FileContext {
            base: path.parent().unwrap_or(Path::new("")),
            text: &text,
        };
        Self::parse_with(&name, &file, mode, options, &DeviceSource::run)
    }

    /// Parses the text of an inventory whose relative paths start at `base`. `readable`: the mode of
    /// the file if other users can access it. Runs no command: `[source]` has no devices.
    pub(crate) fn parse(
        name: &str,
        text: &str,
        base: &Path,
        readable: Option<u32>,
        options: &InventoryOptions<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let file = FileContext { base, text };
        Self::parse_with(name, &file, readable, options, &no_output)
    }

    /// As [`Inventory::parse`]; `run` returns the output of the source.
    pub(super) fn parse_with(
        name: &str,
        file: &FileContext<'_>,
        readable: Option<u32>,
        options: &InventoryOptions<'_>,
        run: &SourceRun<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let source = masked_source(name, file.text);
        let findings = Findings::new(&source);
        let mut tables = document::read(&findings, |root| InventoryTables::read(root, file));
        let allow_readable = tables.allow_readable || options.allow_readable;
        for settings in tables.settings() {
            literals(&findings, settings, readable.filter(|_| !allow_readable));
        }
        let writable = WritableFile::new(name, readable);
        if let Some(file) = &writable {
            let text = format!("{file}: its commands do not run");
            findings.push(Diagnostic::warning(WRITABLE, text).help(file.help()));
        }
        let mut output = None;
        let mut problems = DeviceProblems::default();
        let command = tables.source.take().filter(|_| !findings.has_errors());
        if let Some(command) = &command
            && options.skips_command
        {
            findings.push(command.skipped());
        } else if let Some(command) = &command {
            let read = match &writable {
                Some(file) => Err(command.refused(file)),
                None => {
                    let secrets = Secrets::new(allow_readable).with_vault(tables.vault.clone());
                    run(command, &secrets)
                }
            };
            let read = read.and_then(|bytes| command.document(&bytes));
            match read {
                Ok(SourceDevices {
                    text,
                    problems: found,
                    warnings,
                }) => {
                    problems.extend(found);
                    warnings.into_iter().for_each(|found| findings.push(found));
                    let of_output = Findings::new(&masked_source(&command.name(), &text));
                    let file = FileContext {
                        base: file.base,
                        text: &text,
                    };
                    let below = document::read(&of_output, |root| {
                        InventoryTables::read_settings(root, &file)
                    });
                    tables = tables.over(below);
                    output = Some(of_output);
                }
                Err(error) => findings.push(error),
            }
        }
        if let Some(registry) = options.registry {
            tables.replace_aliases(registry);
        }
        let InventoryTables {
            limits,
            label_order,
            vault,
            defaults,
            platforms,
            groups,
            devices,
            ..
        } = tables;
        let unknown = |name: &str| options.registry.and_then(|one| unknown_platform(name, one));
        for (name, (_, position)) in &platforms {
            if let Some(mut found) = unknown(name) {
                if !options.check_referenced_files {
                    found.severity = Severity::Warning;
                }
                findings.push(found.at(&position.source, position.span.clone(), ""));
            }
        }
        if options.check_referenced_files && devices.is_empty() {
            findings.error_with_help(
                "no-devices",
                0..0,
                "the inventory has no device",
                ADD_DEVICE,
            );
        }
        let devices = expanded(&findings, devices);
        let names = devices.keys().map(String::as_str);
        let memberships = Memberships::new(&groups, names, &findings);
        let devices: IndexMap<String, DeviceEntry> = devices
            .into_iter()
            .map(|(name, (own, position))| {
                let own = memberships.apply(&name, own, &findings);
                let mut settings = merge(own, &platforms, &defaults);
                let unfilled = settings.fill(&settings.placeholders(&name));
                problems.extend(unfilled.into_iter().map(|found| (name.clone(), found)));
                let device = DeviceEntry {
                    name: name.clone(),
                    position,
                    settings,
                };
                check_names(&findings, &device);
                problems.extend(incomplete(&device, options.is_offline));
                if let Some(TableSetting { value, origin }) = &device.settings.platform
                    && let Some(found) = unknown(value)
                {
                    let found = found.at(&origin.source, origin.span.clone(), "");
                    problems.push((name.clone(), found));
                }
                (name, device)
            })
            .collect();
        for device in devices.values() {
            check_transport(&findings, device, options.registry);
            check_parameters(&findings, device, options.registry);
        }
        check(&findings, &devices);
        check_vault(&findings, &devices, vault.is_some());
        check_label_order(&findings, &label_order, &devices);
        let mut hidden = Vec::new();
        let mut found = Vec::new();
        for findings in [Some(findings), output].into_iter().flatten() {
            let (of, mut ranges) = (Arc::clone(&findings.source), findings.hidden());
            let mut list = findings.into_list();
            if list.iter().any(|found| found.code == "toml-syntax") {
                ranges.extend(possible_secrets(&of.text));
            } else if !Arc::ptr_eq(&of, &source) {
                problems.extend(of_devices(&mut list));
            }
            hidden.push((of, ranges));
            found.extend(list);
        }
        if options.check_referenced_files {
            found.extend(referenced_files::check(&devices, allow_readable));
        }
        let mut follow_up: Vec<&str> = Vec::new();
        if found.iter().any(|found| found.code == "toml-syntax") {
            // After a syntax error, keys can seem to be missing or to have another type.
            follow_up.extend(["missing-key", "wrong-kind", "no-devices", "no-credentials"]);
        }
        if found
            .iter()
            .any(|found| [SOURCE_COMMAND, SOURCE_SKIPPED].contains(&found.code))
        {
            // Devices and settings of the command are not there.
            follow_up.extend([
                "missing-key",
                "no-devices",
                "no-credentials",
                "unknown-label",
            ]);
        }
        found.retain(|found| !follow_up.contains(&found.code));
        problems.retain(|(_, found)| !follow_up.contains(&found.code));
        for (of, ranges) in &hidden {
            redact(&mut found, of, ranges);
            for (_, problem) in &mut problems {
                redact(std::slice::from_mut(problem), of, ranges);
            }
        }
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        if options.check_referenced_files || found.iter().any(is_error) {
            found.extend(distinct(problems.iter().map(|(_, found)| found.clone())));
        }
        found.sort_by_key(|found| {
            let label = found.labels.first();
            label.map(|label| (label.source.name != source.name, label.span.start))
        });
        let (errors, warnings): (Vec<_>, Vec<_>) = found.into_iter().partition(is_error);
        if !errors.is_empty() {
            return Err(errors.into_iter().chain(warnings).collect());
        }
        let mut by_device: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        for (device, problem) in problems {
            by_device.entry(device).or_default().push(problem);
        }
        let complete = |device: DeviceEntry| {
            let problems = by_device.remove(&device.name).unwrap_or_default();
            let device = device.complete(problems)?;
            Some((device.name.clone(), device))
        };
        Ok(Self {
            source,
            devices: devices.into_values().filter_map(complete).collect(),
            limits,
            label_order: label_order.into_iter().map(|(key, _)| key).collect(),
            allow_readable,
            writable,
            vault,
            warnings,
        })
    }
}

/// The source of a text without a file: no device.
fn no_output(_source: &DeviceSource, _secrets: &Secrets) -> Result<Vec<u8>, Diagnostic> {
    Ok(Vec::new())
}

/// What is wrong with devices, by their names.
pub(super) type DeviceProblems = Vec<(String, Diagnostic)>;

/// Findings without those that say the same, or are about a setting that devices share.
fn distinct(found: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let (mut messages, mut places) = (BTreeSet::new(), BTreeSet::new());
    let found = found.into_iter();
    found
        .filter(|found| {
            let label = found.labels.first();
            let location = label.map(|label| (Arc::as_ptr(&label.source), label.span.start));
            // A table can lack several keys.
            let is_new = found.code == "missing-key" || places.insert((found.code, location));
            messages.insert(found.message.clone()) && is_new
        })
        .collect()
}

/// Takes the errors in tables of devices: those of one device do not stop the others.
fn of_devices(list: &mut Vec<Diagnostic>) -> DeviceProblems {
    let mut problems = DeviceProblems::new();
    list.retain(|found| {
        let label = found.labels.first();
        let device = label.and_then(|label| table_device(&label.source.text, label.span.start));
        let Some(device) = device.filter(|_| found.severity == Severity::Error) else {
            return true;
        };
        problems.push((device, found.clone()));
        false
    });
    problems
}

/// The device whose table has a position: that of the last header before it.
fn table_device(text: &str, position: usize) -> Option<String> {
    let line_end = text[position..].find('\n').map(|length| position + length);
    let before = &text[..line_end.unwrap_or(text.len())];
    let header = before.lines().rev().find(|line| line.starts_with('['))?;
    let table: toml::Table = header.parse().ok()?;
    let devices = table.get("device")?.as_table()?;
    devices.keys().next().cloned()
}

/// Redacts ranges of a file in the excerpts of findings.
pub(crate) fn redact(found: &mut [Diagnostic], source: &Arc<Source>, ranges: &[Range<usize>]) {
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
    #[error("the file is not UTF-8 (byte {position})")]
    NotUtf8 { position: usize },
}

/// The text, and the mode if other users can access the file.
fn read(path: &Path) -> Result<(String, Option<u32>), ReadInventoryError> {
    let file = regular_file::open(path, LARGEST)?;
    let mode = readable_by_others(&file)?;
    let bytes = regular_file::read_open(file, LARGEST)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, mode)),
        Err(error) => Err(ReadInventoryError::NotUtf8 {
            position: error.utf8_error().valid_up_to(),
        }),
    }
}

/// The devices, one for each number of a range in their names.
fn expanded(findings: &Findings, devices: NamedTables) -> NamedTables {
    let mut found = NamedTables::default();
    for (name, (settings, position)) in devices {
        let names = match range::expand(&name) {
            None => vec![name],
            Some(Ok(names)) => names,
            Some(Err(error)) => {
                let message = format!("`{name}` is no device name: {error}");
                findings.push(position.error("range", message).help(range::HELP));
                continue;
            }
        };
        let addresses = settings.addresses(names.len(), findings);
        for (index, name) in names.into_iter().enumerate() {
            let mut settings = settings.clone();
            if let (Some(address), Some(addresses)) = (&mut settings.address, &addresses) {
                address.value.clone_from(&addresses[index]);
            }
            let other = found.insert(name.clone(), (settings, position.clone()));
            if let Some((_, other)) = other {
                let message = format!("two tables have the device `{name}`");
                findings.push(
                    position
                        .error("duplicate-device", message)
                        .at(&other.source, other.span, "the other table")
                        .help("take it out of the range, and put what differs in a [group.<name>]"),
                );
            }
        }
    }
    found
}

/// The platforms in `examples/definitions`, each with its aliases.
const EXAMPLE_PLATFORMS: &str = include_str!("example_platforms.txt");

/// The example platform with this name or alias.
fn example_platform(name: &str) -> Option<&'static str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let platforms = EXAMPLE_PLATFORMS.lines();
    platforms
        .map(|line| line.split(' '))
        .find(|names| names.clone().any(|known| plain(known) == plain(name)))
        .and_then(|mut names| names.next())
}

/// The error that a platform does not exist.
fn unknown_platform(name: &str, registry: &Registry) -> Option<Diagnostic> {
    if registry.platform_names().any(|known| *known == *name) {
        return None;
    }
    let names: Vec<&str> = registry
        .platform_names()
        .map(PlatformName::as_str)
        .collect();
    let help = platform_hint(&names, Some(registry), name);
    let message = format!("unknown platform `{name}`");
    Some(Diagnostic::error("unknown-platform", message).help(help))
}

/// What to do about a platform that does not exist. `names` are those of the platforms.
pub(crate) fn platform_hint(names: &[&str], registry: Option<&Registry>, name: &str) -> String {
    match registry.and_then(|registry| registry.platform_by_alias(name)) {
        Some(platform) => format!("did you mean `{}`?", platform.name),
        None => match example_platform(name) {
            Some(example) => format!(
                "`{example}` is in examples/definitions of the sources: pass that directory as --definitions"
            ),
            None => {
                let all = format!(
                    "platforms: {}; your own need --definitions DIR",
                    names.join(", ")
                );
                suggest(name, names.iter().copied(), all)
            }
        },
    }
}

/// Reports secrets in clear text: as errors if other users can read the file.
fn literals(findings: &Findings, layer: &TableSettings, readable: Option<u32>) {
    for (key, setting) in layer.secrets() {
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
                    "use {key} = {{ env = \"…\" }}, or `chmod 600 {}`, or set `allow_readable = true` before the first section",
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
fn merge(own: TableSettings, platforms: &NamedTables, defaults: &TableSettings) -> TableSettings {
    let platform = own.platform.as_ref().or(defaults.platform.as_ref());
    let layer = platform.and_then(|platform| platforms.get(platform.value.as_str()));
    match layer {
        Some((layer, _)) => own.over(layer),
        None => own,
    }
    .over(defaults)
}

/// Reports an invalid name.
fn check_names(findings: &Findings, device: &DeviceEntry) {
    let (name, position) = (&device.name, &device.position);
    if let Err(error) = DeviceName::parse(name) {
        findings.push(
            position
                .error("device-name", error.to_string())
                .help(error.hint),
        );
    } else if let Err(error) = Certname::parse(device.certname()) {
        let hint = format!("set `certname` in [device.{name}]: {}", error.hint);
        findings.push(position.error("certname", error.to_string()).help(hint));
    }
}

/// The required settings that a device does not have.
fn incomplete(device: &DeviceEntry, is_offline: bool) -> DeviceProblems {
    let (name, position, settings) = (&device.name, &device.position, &device.settings);
    let required = [
        ("platform", settings.platform.is_none()),
        ("address", !is_offline && settings.address.is_none()),
        // A token replaces user and password.
        (
            "user",
            !is_offline && settings.user.is_none() && settings.token.is_none(),
        ),
    ];
    let missing = required.into_iter().filter(|(_, is_missing)| *is_missing);
    let problem = |(key, _): (&str, bool)| {
        let message = format!("device `{name}` has no `{key}`");
        let help = match key {
            // Several devices do not have one address.
            "address" => format!(
                "add address = \"…\" to [device.{name}], or address = \"{{name}}.example.com\" to [defaults]"
            ),
            _ => format!(
                "add {key} = \"…\" to [device.{name}], its group, [platform.<name>] or [defaults]"
            ),
        };
        let found = position.error("missing-key", message).help(help);
        (name.clone(), found)
    };
    missing.map(problem).collect()
}

#[cfg(test)]
mod tests;
