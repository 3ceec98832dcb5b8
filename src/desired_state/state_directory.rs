//! The files of a `--state` directory, and those that apply to a device.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::Registry;
use switchtender_devices::model::{AttributeModel, TypeModel};
use switchtender_devices::regular_file;
use switchtender_devices::value::Value;

use super::document::{self, YamlDocument};
use super::error::StateError;
use super::expand::view::Views;
use super::merge::{self, PROFILES};
use super::merged_state::MergedState;
use super::secret_values::is_secret;
use super::yaml_value::{YamlKey, YamlNode, YamlValue};
use crate::inventory::{Device, Inventory};

/// The file of all devices.
pub(super) const COMMON: &str = "common.yaml";
/// The directory of platforms.
pub(super) const PLATFORM: &str = "platform";

/// Maximum size of a file in bytes.
const LARGEST: u64 = 16 << 20;

/// A directory of desired state.
#[derive(Debug)]
pub(crate) struct StateDirectory {
    pub(crate) path: PathBuf,
    /// Label keys of the inventory; files of later keys replace values of earlier ones.
    label_order: Vec<String>,
    /// The inventory has a Vault for secrets.
    has_vault: bool,
    /// Each file is read and parsed once.
    files: Mutex<HashMap<PathBuf, Option<Arc<StateFile>>>>,
}

/// A parsed file.
#[derive(Debug)]
pub(super) struct StateFile {
    pub(super) source: Arc<Source>,
    pub(super) entries: Vec<(YamlKey, YamlNode)>,
    /// Errors about repeated keys.
    pub(super) repeated: Vec<Diagnostic>,
}

/// Which devices a file applies to. Later scopes replace values of earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StateScope {
    Common,
    Platform,
    /// A label, with the position of its key in the inventory's order.
    Label {
        position: Option<usize>,
        key: String,
    },
    Device,
}

impl StateDirectory {
    /// A directory whose files are read when a device needs them.
    pub(crate) fn new(path: &Path, inventory: &Inventory) -> Self {
        Self {
            path: path.to_owned(),
            label_order: inventory.label_order.clone(),
            has_vault: inventory.vault.is_some(),
            files: Mutex::default(),
        }
    }

    /// Whether a file applies to a device. One that cannot be checked counts: reading it reports the error.
    pub(crate) fn manages(&self, device: &Device) -> bool {
        let mut paths = self.paths(device).into_iter();
        paths.any(|(_, path)| path.try_exists().unwrap_or(true))
    }

    /// The files that can apply to a device. Some do not exist.
    pub(crate) fn candidates(&self, device: &Device) -> impl Iterator<Item = PathBuf> {
        self.paths(device).into_iter().map(|(_, path)| path)
    }

    /// The merged state of a device. Errors of files that are YAML are part of it.
    ///
    /// # Errors
    /// A file cannot be read or is no YAML, or no file applies.
    pub(crate) fn merged(
        &self,
        device: &Device,
        registry: &Registry,
    ) -> Result<MergedState, StateError> {
        let mut layers = Vec::new();
        let mut findings = Vec::new();
        for (scope, path) in self.paths(device) {
            match self.file(&path, registry) {
                Ok(Some(file)) => layers.push((scope, file)),
                Ok(None) => {}
                Err(StateError::Invalid(found)) => findings.extend(found),
                Err(error) => return Err(error),
            }
        }
        if !findings.is_empty() {
            return Err(StateError::Invalid(findings));
        }
        if layers.is_empty() {
            return Err(StateError::Empty {
                directory: self.path.clone(),
                device: device.name.to_string(),
            });
        }
        let mut merged = MergedState {
            placeholders: device.placeholders(),
            ..merge::merge(&layers, &Views::new(registry, &device.platform))
        };
        if !self.has_vault {
            let errors = merged.secrets_without_vault(&self.path);
            merged.errors.extend(errors);
        }
        Ok(merged)
    }

    /// The files that apply to a device if they exist. Later ones replace values of earlier ones.
    fn paths(&self, device: &Device) -> Vec<(StateScope, PathBuf)> {
        let platform = format!("{}.yaml", device.platform);
        let mut paths = vec![
            (StateScope::Common, self.path.join(COMMON)),
            (
                StateScope::Platform,
                self.path.join(PLATFORM).join(platform),
            ),
        ];
        let mut labels: Vec<(StateScope, PathBuf)> = device
            .settings
            .labels
            .iter()
            .map(|(key, label)| {
                let scope = StateScope::Label {
                    position: self.label_order.iter().position(|name| name == key),
                    key: key.clone(),
                };
                let file = format!("{}.yaml", label.value);
                (scope, self.path.join("label").join(key).join(file))
            })
            .collect();
        labels.sort();
        paths.append(&mut labels);
        let file = format!("{}.yaml", device.name);
        paths.push((StateScope::Device, self.path.join("device").join(file)));
        paths
    }

    /// A parsed file, or `None` if there is no such file.
    fn file(&self, path: &Path, registry: &Registry) -> Result<Option<Arc<StateFile>>, StateError> {
        let files = || self.files.lock().expect("nothing panics while it is held");
        if let Some(file) = files().get(path) {
            return Ok(file.clone());
        }
        let file = read(&self.path, path, registry)?.map(Arc::new);
        files().insert(path.to_owned(), file.clone());
        Ok(file)
    }

    /// Warnings about files and directories whose names are wrong, so that they are not read.
    pub(crate) fn misnamed(&self) -> Vec<Diagnostic> {
        const DIRECTORIES: [&str; 3] = ["device", "label", PLATFORM];
        let mut found = Vec::new();
        for name in entries(&self.path) {
            let path = self.path.join(&name);
            if path.is_dir() && !DIRECTORIES.contains(&name.as_str()) {
                let meant = DIRECTORIES.iter().find(|one| name == format!("{one}s"));
                found.extend(meant.map(|meant| unused(&path, &format!("rename it to `{meant}`"))));
            }
        }
        let labels = self.path.join("label");
        let keys = entries(&labels).into_iter().map(|key| labels.join(key));
        let directories = [
            self.path.clone(),
            self.path.join("device"),
            self.path.join(PLATFORM),
        ];
        for directory in directories.into_iter().chain(keys) {
            for name in entries(&directory) {
                if let Some(stem) = name.strip_suffix(".yml") {
                    let reason = format!("rename it to `{stem}.yaml`");
                    found.push(unused(&directory.join(&name), &reason));
                }
            }
        }
        found
    }

    /// Warnings about files that apply to no device of the inventory.
    pub(crate) fn unused(&self, inventory: &Inventory) -> Vec<Diagnostic> {
        let label_exists = |key: &str, value: &str| {
            let mut devices = inventory.devices.values();
            devices.any(|device| device.label(key) == Some(value))
        };
        let mut found = self.misnamed();
        for (name, path) in yaml_files(&self.path.join("device")) {
            if !inventory.devices.contains_key(name.as_str()) {
                found.push(unused(
                    &path,
                    &format!("the inventory has no device {name}"),
                ));
            }
        }
        for (name, path) in yaml_files(&self.path.join(PLATFORM)) {
            let mut devices = inventory.devices.values();
            if !devices.any(|device| device.platform.as_str() == name) {
                found.push(unused(&path, &format!("no device has the platform {name}")));
            }
        }
        let labels = self.path.join("label");
        for key in entries(&labels) {
            for (value, path) in yaml_files(&labels.join(&key)) {
                if !label_exists(&key, &value) {
                    let reason = format!("no device has the label {key} = \"{value}\"");
                    found.push(unused(&path, &reason));
                }
            }
        }
        found
    }
}

fn unused(path: &Path, reason: &str) -> Diagnostic {
    let message = format!("{} is not used: {reason}", path.display());
    Diagnostic::warning("unused-state-file", message)
}

/// Names and paths of the YAML files in a directory, sorted.
fn yaml_files(directory: &Path) -> Vec<(String, PathBuf)> {
    let names = entries(directory).into_iter();
    names
        .filter_map(|name| {
            let stem = name.strip_suffix(".yaml")?.to_owned();
            Some((stem, directory.join(name)))
        })
        .collect()
}

/// The names in a directory, sorted; none if it does not exist.
fn entries(directory: &Path) -> Vec<String> {
    let found = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = found
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// The file that a path is, without links.
///
/// # Errors
/// There is none, or it is outside of the directory: its first line would be in a finding.
fn inside(directory: &Path, path: &Path) -> io::Result<PathBuf> {
    let file = fs::canonicalize(path)?;
    if file.starts_with(fs::canonicalize(directory)?) {
        Ok(file)
    } else {
        Err(io::Error::other(
            "it is a link to a file outside of the directory of the state",
        ))
    }
}

/// Reads a file of the directory.
fn read(
    directory: &Path,
    path: &Path,
    registry: &Registry,
) -> Result<Option<StateFile>, StateError> {
    let read = inside(directory, path).and_then(|file| regular_file::read_text(&file, LARGEST));
    let text = match read {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(StateError::Unreadable {
                path: path.to_owned(),
                source,
            });
        }
    };
    let source = Source::new(path.display().to_string(), text);
    match document::parse(&source) {
        Ok(YamlDocument {
            entries,
            mut repeated,
        }) => {
            // The first one of two entries is not in the map, and can have a secret.
            let secrets = if repeated.is_empty() {
                secret_spans(&entries, registry)
            } else {
                possible_secrets(&source.text, registry)
            };
            let source = source.redacted(&secrets);
            let labels = repeated.iter_mut().flat_map(|found| &mut found.labels);
            labels.for_each(|label| label.source = Arc::clone(&source));
            Ok(Some(StateFile {
                source,
                entries,
                repeated,
            }))
        }
        Err(mut finding) => {
            let masked = source.redacted(&possible_secrets(&source.text, registry));
            for label in &mut finding.labels {
                label.source = Arc::clone(&masked);
            }
            Err(StateError::Invalid(vec![finding]))
        }
    }
}

/// The values of sensitive attributes that are in clear text.
pub(super) fn secret_spans(
    entries: &[(YamlKey, YamlNode)],
    registry: &Registry,
) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for (key, node) in entries {
        if key.name == PROFILES {
            for (scope, profiles) in map(node) {
                secrets_of_titles(&scope.name, profiles, registry, &mut spans);
            }
        } else {
            secrets_of_titles(&key.name, node, registry, &mut spans);
        }
    }
    spans
}

/// The same for the titles of a type or a view, or the profiles of one.
fn secrets_of_titles(
    scope: &str,
    titles: &YamlNode,
    registry: &Registry,
    spans: &mut Vec<Range<usize>>,
) {
    if !matches!(titles.value, YamlValue::Map(_)) {
        return;
    }
    let own = registry.model(scope);
    let placed = |section: Option<&str>| {
        let models = registry.all_placed_types();
        let is_location = |model: &&Arc<TypeModel>| {
            let location = model.location.as_ref();
            location.is_some_and(|at| at.view == scope && at.section.as_deref() == section)
        };
        models.filter(is_location).collect::<Vec<_>>()
    };
    for (_, object) in map(titles) {
        if let Some(model) = own {
            secrets_of_attributes(&[model], object, spans);
            continue;
        }
        secrets_of_attributes(&placed(None), object, spans);
        for (name, section) in map(object) {
            secrets_of_attributes(&placed(Some(&name.name)), section, spans);
        }
    }
}

fn secrets_of_attributes(
    models: &[&Arc<TypeModel>],
    attributes: &YamlNode,
    spans: &mut Vec<Range<usize>>,
) {
    for (name, value) in map(attributes) {
        let found = models.iter();
        let mut found = found.filter_map(|model| model.attributes.get(name.name.as_str()));
        let has_secret = |attribute: &AttributeModel| match &value.value {
            YamlValue::Null => false,
            YamlValue::Map(entries) if is_secret(entries) => false,
            // The word for the default removes the secret.
            YamlValue::Text(text) => !attribute.is_unset(&Value::String(text.as_str().into())),
            _ => true,
        };
        if found.any(|attribute| attribute.sensitive && has_secret(attribute)) {
            spans.push(value.span.clone());
        }
    }
}

fn map(node: &YamlNode) -> &[(YamlKey, YamlNode)] {
    match &node.value {
        YamlValue::Map(entries) => entries,
        _ => &[],
    }
}

/// The ends of lines after the name of a sensitive attribute, in a file that is not YAML.
pub(super) fn possible_secrets(text: &str, registry: &Registry) -> Vec<Range<usize>> {
    let models = registry
        .models()
        .flat_map(|model| model.attributes.values());
    let names: HashSet<&str> = models
        .filter(|attribute| attribute.sensitive)
        .map(|attribute| attribute.name.as_str())
        .collect();
    let mut spans = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let name_before = |colon: usize| {
            let before = line[..colon].trim_end_matches(['"', '\'', ' ']);
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            names.contains(&before[before.trim_end_matches(is_name).len()..])
        };
        let mut colons = line.match_indices(':').map(|(colon, _)| colon);
        if let Some(colon) = colons.find(|colon| name_before(*colon)) {
            spans.push(start + colon + 1..end);
        }
        start = end;
    }
    spans
}
