//! What an import read, wrote and left out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::draft::{ImportDraft, ImportSource};
use super::patch::Drift;
use super::read::ReadDevice;
use super::write::{ChangedFiles, SECRET_EXAMPLE};
use crate::cli::exit::Exit;
use crate::coverage::counts::ClassCounts;
use crate::import::drift::DriftDecision;
use crate::import::secret_references::{SECRET_DIRECTORY, SecretMode};
use crate::inventory::range;
use crate::parallel;
use crate::terminal_text::TerminalText;

/// The most resources of one reason that are listed.
const FEW: usize = 3;

/// The report of an import.
#[derive(Debug, Serialize)]
pub(super) struct ImportReport {
    is_dry_run: bool,
    /// Where saved configurations were read from.
    configs: Option<String>,
    read: Vec<String>,
    /// Devices with a file, of which no configuration is saved.
    missing: Vec<String>,
    /// Devices that are not imported, with the reason.
    pub(super) failed: BTreeMap<String, String>,
    /// Lines of the configurations.
    pub(super) configuration_lines: usize,
    /// Those that somebody wrote, and those that a type reads.
    written_lines: usize,
    covered_lines: usize,
    /// Keys of labels, with the number of their values.
    labels: Vec<(String, usize)>,
    profiles: Vec<ImportedProfile>,
    secrets: ReportedSecrets,
    resources: usize,
    left_out: Vec<NotImported>,
    drift: Vec<Drift>,
    files: Vec<WrittenFile>,
    /// Lines of the files.
    pub(super) lines: usize,
    new_devices: usize,
}

#[derive(Debug, Serialize)]
struct ImportedProfile {
    group: String,
    name: String,
    uses: usize,
}

#[derive(Debug, Serialize)]
struct ReportedSecrets {
    /// Names with the attributes that use them.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Attributes whose secrets are not written.
    left_out: BTreeSet<String>,
    /// Attributes of which devices show a hash only, with the devices. No file has them.
    hashed: BTreeMap<String, Vec<String>>,
    note: Option<String>,
}

/// A resource that is in no file.
#[derive(Debug, Serialize)]
struct NotImported {
    device: String,
    resource: String,
    reason: String,
}

#[derive(Debug, Serialize)]
struct WrittenFile {
    path: String,
    lines: usize,
    is_changed: bool,
}

/// What happens to a difference, in words.
pub(super) const DECISIONS: [(DriftDecision, &str); 5] = [
    (DriftDecision::Taken, "taken from the device"),
    (DriftDecision::Pending, "kept as in the files"),
    (
        DriftDecision::Conflict,
        "conflict, kept as in the files; decide with --take files or --take device",
    ),
    (
        DriftDecision::NoBase,
        "kept as in the files, because no import or apply is recorded; --take device overwrites them",
    ),
    (
        DriftDecision::Refused,
        "left out, because its plan would not be empty",
    ),
];

impl ImportReport {
    pub(super) fn new(
        source: &ImportSource<'_>,
        draft: &ImportDraft,
        changed: &ChangedFiles<'_>,
    ) -> Self {
        let fleet = source.fleet;
        let failed = fleet.failed.iter().chain(&draft.failed).cloned();
        let files = draft.files.iter().map(|(path, text)| WrittenFile {
            path: path.clone(),
            lines: text.lines().count(),
            is_changed: changed.contains_key(path.as_str()),
        });
        let files: Vec<WrittenFile> = files.collect();
        let coverage = parallel::map(&fleet.devices, ReadDevice::coverage);
        let label_counts = source.inventory.label_order.iter().map(|key| {
            let prefix = format!("label/{key}/");
            let own = files.iter().filter(|file| file.path.starts_with(&prefix));
            (key.clone(), own.count())
        });
        let profiles = draft.profiles.iter();
        let profiles = profiles.map(|((group, name), uses)| ImportedProfile {
            group: group.clone(),
            name: name.clone(),
            uses: *uses,
        });
        let is_known = |name: &str| {
            let mut names = fleet.devices.iter().map(|device| &*device.name);
            let mut failed = fleet.failed.iter();
            names.any(|own| own == name) || failed.any(|(own, _)| own == name)
        };
        let is_all = source.args.configs.is_some() && source.args.devices.is_empty();
        let own = draft.files.keys().filter(|_| is_all);
        let own = own.filter_map(|path| path.strip_prefix("device/")?.strip_suffix(".yaml"));
        let missing = own.filter(|name| !is_known(name)).map(str::to_owned);
        let missing = missing.collect();
        let configs = source.args.configs.as_ref();
        Self {
            is_dry_run: source.args.dry_run,
            configs: configs.map(|path| path.display().to_string()),
            missing,
            read: fleet
                .devices
                .iter()
                .map(|device| device.name.to_string())
                .collect(),
            failed: failed.collect(),
            configuration_lines: fleet.devices.iter().map(|device| device.lines()).sum(),
            written_lines: coverage.iter().map(ClassCounts::written).sum(),
            covered_lines: coverage.iter().map(ClassCounts::covered).sum(),
            labels: label_counts.collect(),
            profiles: profiles.collect(),
            secrets: ReportedSecrets::new(source, draft),
            resources: draft.resources,
            left_out: left_out(source, draft),
            drift: draft.drift.clone(),
            lines: files.iter().map(|file| file.lines).sum(),
            files,
            new_devices: source.inventory.new_devices,
        }
    }

    /// 4: some devices failed or have conflicts. 2: a dry run found changes. Otherwise 0.
    pub(super) fn exit(&self) -> Exit {
        let has_changes = self.files.iter().any(|file| file.is_changed);
        let is_open = |one: &Drift| {
            matches!(
                one.decision,
                DriftDecision::Conflict | DriftDecision::NoBase
            )
        };
        if !self.failed.is_empty() || self.drift.iter().any(is_open) {
            Exit(4)
        } else if self.is_dry_run && has_changes {
            Exit(2)
        } else {
            Exit::SUCCESS
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is JSON") + "\n"
    }

    /// The report for people.
    pub(super) fn text(&self) -> TerminalText {
        let mut text = TerminalText::new();
        let unread = |name: &&String| !self.read.contains(name);
        let all = self.read.len() + self.failed.keys().filter(unread).count();
        let (covered, written) = (self.covered_lines, self.written_lines);
        let source = self
            .configs
            .as_ref()
            .map(|path| format!(" --config {path}"));
        text.line(format_args!(
            "read {} of {all} devices: {covered} of {written} lines that somebody wrote have a type ({} %); \
             `switchtender coverage{}` lists the others",
            self.read.len(),
            (covered * 100).checked_div(written).unwrap_or(100),
            source.unwrap_or_default()
        ));
        for (device, reason) in &self.failed {
            text.line(format_args!("not imported: {device}: {reason}"));
        }
        if let Some(path) = self.configs.as_ref().filter(|_| !self.missing.is_empty()) {
            let names = range::of_names(self.missing.iter().map(String::as_str)).join(", ");
            text.line(format_args!(
                "no configuration in {path}: {names}; the files of these devices stay"
            ));
        }
        let labels = self.labels.iter();
        let labels: Vec<String> = labels
            .map(|(key, count)| format!("{key} ({count} files)"))
            .collect();
        if !labels.is_empty() {
            text.line(format_args!("labels: {}", labels.join(", ")));
        }
        for profile in &self.profiles {
            let ImportedProfile { group, name, uses } = profile;
            text.line(format_args!("profile: {name}, used by {uses} of {group}"));
        }
        if let Some(note) = &self.secrets.note {
            text.line(format_args!("{note}"));
        }
        for (attribute, devices) in &self.secrets.hashed {
            let names = range::of_names(devices.iter().map(String::as_str)).join(", ");
            text.line(format_args!(
                "in no file, because a device shows only its hash: {attribute} of {names}"
            ));
        }
        self.add_left_out(&mut text);
        self.add_drift(&mut text);
        let verb = if self.is_dry_run {
            "would write"
        } else {
            "written"
        };
        let changed = self.files.iter().filter(|file| file.is_changed);
        let changed: Vec<&str> = changed.map(|file| file.path.as_str()).collect();
        text.line(format_args!(
            "{verb}: {} of {} files; together they have {} lines for {} resources \
             and {} lines of configurations",
            changed.len(),
            self.files.len(),
            self.lines,
            self.resources,
            self.configuration_lines
        ));
        if self.new_devices > 0 {
            let count = self.new_devices;
            text.line(format_args!(
                "inventory: {count} new devices; check their addresses, and add credentials"
            ));
        }
        let is_open = |one: &Drift| one.decision != DriftDecision::Taken;
        let open = self.drift.iter().filter(|one| is_open(one)).count();
        match open {
            0 => text.line(format_args!(
                "plan of the files against what was read: empty"
            )),
            count => text.line(format_args!(
                "plan of the files against what was read: {count} differences, listed above"
            )),
        };
        text
    }

    /// What has changed since the last import or apply.
    fn add_drift(&self, text: &mut TerminalText) {
        for (decision, words) in DECISIONS {
            let mut resources: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
            for one in self.drift.iter().filter(|one| one.decision == decision) {
                let attribute = one.attribute.as_ref().map(|name| format!(".{name}"));
                let attribute = attribute.unwrap_or_default();
                let resource = format!("{}[{}]{attribute}", one.type_name, one.title);
                resources.entry(resource).or_default().insert(&one.device);
            }
            for (resource, devices) in resources {
                let names = range::of_names(devices).join(", ");
                text.line(format_args!("{words}: {resource} on {names}"));
            }
        }
    }

    /// Resources in no file: the number for each reason, with some of them.
    fn add_left_out(&self, text: &mut TerminalText) {
        let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for one in &self.left_out {
            let resource = format!("{} on {}", one.resource, one.device);
            reasons.entry(&one.reason).or_default().push(resource);
        }
        for (reason, resources) in reasons {
            let names = resources.iter().take(FEW).map(String::as_str);
            let names: Vec<&str> = names.collect();
            let more = match resources.len().saturating_sub(FEW) {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            text.line(format_args!(
                "left out: {}{more}: {reason}",
                names.join(", ")
            ));
        }
    }
}

/// Resources that the definitions or the plan refuse.
fn left_out(source: &ImportSource<'_>, draft: &ImportDraft) -> Vec<NotImported> {
    let mut found = Vec::new();
    for device in &source.fleet.devices {
        let of_device = |resource: String, reason: &str| NotImported {
            device: device.name.to_string(),
            resource,
            reason: reason.to_owned(),
        };
        for one in &device.declared.left_out {
            let resource = format!("{}[{}]", one.type_name, one.title);
            found.push(of_device(resource, &one.reason));
        }
        let Some(own) = draft.exclusions.get(&*device.name) else {
            continue;
        };
        for ((type_name, title), reason) in &own.resources {
            found.push(of_device(format!("{type_name}[{title}]"), reason));
        }
        for ((type_name, attribute), titles) in &own.attributes {
            for title in titles {
                let resource = format!("{type_name}[{title}].{attribute}");
                found.push(of_device(resource, "the device does not have its default"));
            }
        }
    }
    found
}

impl ReportedSecrets {
    fn new(source: &ImportSource<'_>, draft: &ImportDraft) -> Self {
        let secrets = &draft.secrets;
        let directory = source.args.directory.display();
        let count = secrets.secrets.len();
        let written = match source.args.secrets {
            SecretMode::Env if count > 0 => Some(format!(
                "secrets: {count}, written as {{secret: {{env: …}}}}; set the variables of {directory}/{SECRET_EXAMPLE}"
            )),
            SecretMode::File if count > 0 => Some(format!(
                "secrets: {count}, in files of {directory}/{SECRET_DIRECTORY}"
            )),
            _ if !secrets.left_out.is_empty() => Some(format!(
                "secrets: {} attributes are not managed",
                secrets.left_out.len()
            )),
            _ => None,
        };
        let mut hashed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for device in &source.fleet.devices {
            for attribute in &device.hashed {
                let devices = hashed.entry(attribute.clone()).or_default();
                devices.push(device.name.to_string());
            }
        }
        Self {
            hashed,
            names: secrets
                .secrets
                .iter()
                .map(|(name, secret)| (name.clone(), secret.uses.clone()))
                .collect(),
            left_out: secrets.left_out.keys().cloned().collect(),
            note: written,
        }
    }
}
