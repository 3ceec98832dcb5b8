//! Merges the files of a device, attribute by attribute.
//!
//! A later file replaces values of an earlier one; `~` removes what earlier files declared. Resources
//! have the order in which they are first declared.

use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source, did_you_mean};
use switchtender_devices::map::IndexMap;

use super::document::{YamlKey, YamlNode, YamlValue};
use super::state_directory::{StateFile, StateScope};

/// The key of a file for values that templates use.
pub(super) const VARIABLES: &str = "vars";
/// The key of a file for types whose undeclared instances are removed.
pub(super) const PURGE: &str = "purge";

/// Keys that `resource` prints for what cannot be managed and what was not understood.
pub(super) const NOT_DECLARED: [&str; 2] = ["not_managed", "not_understood"];

/// The state of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergedState {
    /// Resources by type and title.
    pub(crate) types: IndexMap<String, IndexMap<String, MergedResource>>,
    /// Types whose undeclared instances are removed, each with its origin.
    pub(crate) purge: IndexMap<String, ValueOrigin>,
    /// Values that templates use.
    pub(crate) variables: IndexMap<String, MergedValue>,
    /// Errors of the files. The parts that they are about are left out.
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) removals: Vec<Removal>,
}

/// A `~`.
#[derive(Clone, Debug)]
pub(crate) struct Removal {
    pub(crate) origin: ValueOrigin,
    /// What it removes.
    pub(crate) subject: String,
    /// An earlier file has it.
    pub(crate) is_effective: bool,
}

impl Removal {
    /// Warnings about removals that have no effect for any device.
    pub(crate) fn unused<'a>(all: impl Iterator<Item = &'a Removal>) -> Vec<Diagnostic> {
        let mut by_position: IndexMap<(String, usize), (&Removal, bool)> = IndexMap::default();
        for removal in all {
            let ValueOrigin { source, span } = &removal.origin;
            let found = by_position
                .entry((source.name.clone(), span.start))
                .or_insert((removal, false));
            found.1 |= removal.is_effective;
        }
        let unused = by_position
            .into_values()
            .filter(|(_, is_effective)| !is_effective);
        unused
            .map(
                |(
                    Removal {
                        origin, subject, ..
                    },
                    _,
                )| {
                    let message =
                        format!("no earlier file sets {subject}: the removal has no effect");
                    Diagnostic::warning("unused-removal", message)
                        .at(&origin.source, origin.span.clone(), "")
                        .help("check the name, or remove the line")
                },
            )
            .collect()
    }
}

/// A resource with the origin of its first declaration.
#[derive(Clone, Debug)]
pub(crate) struct MergedResource {
    pub(crate) origin: ValueOrigin,
    /// The origin of its type.
    pub(crate) type_origin: ValueOrigin,
    pub(crate) attributes: IndexMap<String, MergedValue>,
}

impl MergedResource {
    /// A resource without attributes.
    pub(super) fn at(origin: ValueOrigin, type_origin: ValueOrigin) -> Self {
        Self {
            origin,
            type_origin,
            attributes: IndexMap::default(),
        }
    }
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct MergedValue {
    pub(crate) value: YamlValue,
    pub(crate) origin: ValueOrigin,
    /// The origin of its name.
    pub(crate) name_origin: ValueOrigin,
    /// The label of the file, if a label file set the value.
    label: Option<FileLabel>,
    /// Another value in the file of another label, if the inventory does not order the two labels.
    conflict: Option<ValueOrigin>,
}

impl MergedValue {
    fn conflict(&self, subject: &str) -> Option<Diagnostic> {
        let other = self.conflict.as_ref()?;
        let message = format!("two labels set {subject} to different values");
        let finding = self.origin.error("state-conflict", message);
        let finding = finding.at(&other.source, other.span.clone(), "the other value");
        Some(finding.help(
            "set it in the file of the device, or order the keys with label_order in the inventory",
        ))
    }
}

/// The label of a file.
#[derive(Clone, Debug)]
struct FileLabel {
    key: String,
    /// The inventory orders the key.
    is_ordered: bool,
}

impl FileLabel {
    fn is_ordered_against(&self, other: &FileLabel) -> bool {
        self.key == other.key || (self.is_ordered && other.is_ordered)
    }
}

/// A position in a file.
#[derive(Clone, Debug)]
pub(crate) struct ValueOrigin {
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

impl ValueOrigin {
    /// Line in the file, from 1.
    pub(crate) fn line(&self) -> usize {
        self.source.position(self.span.start).0
    }

    /// An error at this position.
    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.span.clone(), "")
    }
}

/// Merges files; each scope comes after those that it replaces.
pub(super) fn merge(layers: &[(StateScope, Arc<StateFile>)]) -> MergedState {
    let mut merge = Merge::default();
    for (scope, file) in layers {
        let layer = Layer { scope, file };
        merge.findings.extend(file.repeated.iter().cloned());
        for (key, node) in &file.entries {
            match key.name.as_str() {
                VARIABLES => merge.variables(&layer, node),
                PURGE => merge.purge(&layer, node),
                name if NOT_DECLARED.contains(&name) => {}
                _ => merge.type_entry(&layer, key, node),
            }
        }
    }
    merge.finish()
}

/// One file with its scope.
struct Layer<'a> {
    scope: &'a StateScope,
    file: &'a StateFile,
}

impl Layer<'_> {
    fn origin(&self, span: &Range<usize>) -> ValueOrigin {
        ValueOrigin {
            source: Arc::clone(&self.file.source),
            span: span.clone(),
        }
    }
}

#[derive(Default)]
struct Merge {
    state: MergedState,
    findings: Vec<Diagnostic>,
}

impl Merge {
    fn variables(&mut self, layer: &Layer<'_>, node: &YamlNode) {
        match &node.value {
            YamlValue::Null => self.state.variables.clear(),
            YamlValue::Map(entries) => {
                for (key, value) in entries {
                    let removed = set(&mut self.state.variables, layer, key, value);
                    self.removal(layer, key, format!("variable {}", key.name), removed);
                }
            }
            _ => self.error(layer, &node.span, "`vars` must map names to values"),
        }
    }

    fn purge(&mut self, layer: &Layer<'_>, node: &YamlNode) {
        const FORM: &str = "`purge` must be a list of types";
        let list = match &node.value {
            YamlValue::Null => {
                self.state.purge.clear();
                return;
            }
            YamlValue::List(list) => list.as_slice(),
            _ => return self.error(layer, &node.span, FORM),
        };
        for item in list {
            match &item.value {
                YamlValue::Text(name) => {
                    let origin = layer.origin(&item.span);
                    self.state.purge.entry(name.clone()).or_insert(origin);
                }
                _ => self.error(layer, &item.span, FORM),
            }
        }
    }

    fn type_entry(&mut self, layer: &Layer<'_>, key: &YamlKey, node: &YamlNode) {
        if node.value == YamlValue::Null {
            let removed = self.state.types.shift_remove(&key.name);
            self.removal(layer, key, key.name.clone(), Some(removed.is_some()));
            return;
        }
        let YamlValue::Map(resources) = &node.value else {
            let form = format!("`{}` must map titles to attributes", key.name);
            let finding = layer.origin(&node.span).error("state-form", form);
            let help = did_you_mean(&key.name, [VARIABLES, PURGE]);
            let title = first_text(&node.value).unwrap_or("TITLE");
            let form =
                format!("write `{title}: {{}}` below it, or `{title}:` with attributes below it");
            let help = Some(help.unwrap_or(form));
            self.findings.push(Diagnostic { help, ..finding });
            return;
        };
        for (title, resource) in resources {
            let resources = self.state.types.entry(key.name.clone()).or_default();
            let attributes = match &resource.value {
                YamlValue::Null => {
                    let removed = resources.shift_remove(&title.name);
                    let subject = format!("{} {}", key.name, title.name);
                    self.removal(layer, title, subject, Some(removed.is_some()));
                    continue;
                }
                YamlValue::Map(attributes) => attributes,
                _ => {
                    let form = format!("`{}` must map attributes to values", title.name);
                    let finding = layer.origin(&resource.span).error("state-form", form);
                    let help = format!("write `{}: {{ATTRIBUTE: VALUE}}`, or `{{}}`", title.name);
                    self.findings.push(finding.help(help));
                    continue;
                }
            };
            let (origin, of_type) = (layer.origin(&title.span), layer.origin(&key.span));
            let merged = resources
                .entry(title.name.clone())
                .or_insert_with(|| MergedResource::at(origin, of_type));
            let mut removals = Vec::new();
            for (name, value) in attributes {
                removals.push((name, set(&mut merged.attributes, layer, name, value)));
            }
            for (name, removed) in removals {
                let subject = format!("{} of {} {}", name.name, key.name, title.name);
                self.removal(layer, name, subject, removed);
            }
        }
    }

    /// Remembers a removal. `is_effective` is `None` for a value.
    fn removal(
        &mut self,
        layer: &Layer<'_>,
        key: &YamlKey,
        subject: String,
        is_effective: Option<bool>,
    ) {
        self.state
            .removals
            .extend(is_effective.map(|is_effective| Removal {
                origin: layer.origin(&key.span),
                subject,
                is_effective,
            }));
    }

    fn error(&mut self, layer: &Layer<'_>, span: &Range<usize>, message: &str) {
        let finding = layer.origin(span).error("state-form", message);
        self.findings.push(finding);
    }

    fn finish(mut self) -> MergedState {
        for (type_name, resources) in &self.state.types {
            for (title, resource) in resources {
                for (name, value) in &resource.attributes {
                    let subject = format!("{name} of {type_name} {title}");
                    self.findings.extend(value.conflict(&subject));
                }
            }
        }
        for (name, value) in &self.state.variables {
            let subject = format!("variable {name}");
            self.findings.extend(value.conflict(&subject));
        }
        self.state.errors = self.findings;
        self.state
    }
}

/// The first text of a list: it was meant as a title.
fn first_text(value: &YamlValue) -> Option<&str> {
    match value {
        YamlValue::Text(text) => Some(text),
        YamlValue::List(items) => first_text(&items.first()?.value),
        _ => None,
    }
}

/// Sets a value, or removes it. Returns whether a removal had an effect.
fn set(
    values: &mut IndexMap<String, MergedValue>,
    layer: &Layer<'_>,
    key: &YamlKey,
    node: &YamlNode,
) -> Option<bool> {
    if node.value == YamlValue::Null {
        return Some(values.shift_remove(&key.name).is_some());
    }
    let label = match layer.scope {
        StateScope::Label { position, key } => Some(FileLabel {
            key: key.clone(),
            is_ordered: position.is_some(),
        }),
        StateScope::Common | StateScope::Platform | StateScope::Device => None,
    };
    let earlier = values.get(&key.name);
    let conflict = label.as_ref().zip(earlier).and_then(|(label, earlier)| {
        let other = earlier.label.as_ref()?;
        let differs = !label.is_ordered_against(other) && earlier.value != node.value;
        let new = differs.then(|| earlier.origin.clone());
        earlier.conflict.clone().or(new)
    });
    let value = MergedValue {
        value: node.value.clone(),
        origin: layer.origin(&node.span),
        name_origin: layer.origin(&key.span),
        label,
        conflict,
    };
    values.insert(key.name.clone(), value);
    None
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::*;

    fn merged(files: &[(StateScope, &str)]) -> Result<MergedState, Vec<Diagnostic>> {
        let layers: Vec<(StateScope, Arc<StateFile>)> = files
            .iter()
            .zip(1..)
            .map(|((scope, text), number)| {
                let source = Source::new(format!("{number}.yaml"), *text);
                let document::YamlDocument { entries, repeated } =
                    document::parse(&source).unwrap();
                let file = StateFile {
                    source,
                    entries,
                    repeated,
                };
                (scope.clone(), Arc::new(file))
            })
            .collect();
        let state = merge(&layers);
        if state.errors.is_empty() {
            Ok(state)
        } else {
            Err(state.errors)
        }
    }

    fn label(key: &str, position: Option<usize>) -> StateScope {
        StateScope::Label {
            position,
            key: key.to_owned(),
        }
    }

    #[test]
    fn merge_replaces_and_removes_attribute_by_attribute() {
        let state = merged(&[
            (
                StateScope::Common,
                "ntp_server:\n  192.0.2.1: {prefer: true, key: 7}\n  192.0.2.2: {}\nnetwork_dns: {default: {}}\npurge: [ntp_server]\n",
            ),
            (
                StateScope::Device,
                "network_dns: ~\nntp_server:\n  192.0.2.3: {}\n  192.0.2.2: ~\n  192.0.2.1: {prefer: ~, key: 8}\npurge: [vrf]\n",
            ),
        ])
        .unwrap();
        let types: Vec<&String> = state.types.keys().collect();
        assert_eq!(types, ["ntp_server"]);
        let titles: Vec<&String> = state.types["ntp_server"].keys().collect();
        assert_eq!(titles, ["192.0.2.1", "192.0.2.3"]);
        let first = &state.types["ntp_server"]["192.0.2.1"];
        let names: Vec<&String> = first.attributes.keys().collect();
        assert_eq!(names, ["key"]);
        let key = &first.attributes["key"].value;
        assert!(matches!(key, YamlValue::Plain(plain) if plain.written == "8"));
        assert_eq!(first.attributes["key"].origin.source.name, "2.yaml");
        assert_eq!(first.origin.line(), 2);
        let purged: Vec<&String> = state.purge.keys().collect();
        assert_eq!(purged, ["ntp_server", "vrf"]);
    }

    #[test]
    fn merge_refuses_different_values_of_labels_without_order() {
        const OSLO: &str = "network_dns: {default: {domain: oslo.example}}\n";
        const EDGE: &str = "network_dns: {default: {domain: edge.example}}\n";
        let unordered = [(label("role", None), EDGE), (label("site", None), OSLO)];
        let errors = merged(&unordered).unwrap_err();
        assert_eq!(
            errors[0].message,
            "two labels set domain of network_dns default to different values"
        );
        let files: Vec<&str> = errors[0]
            .labels
            .iter()
            .map(|label| label.source.name.as_str())
            .collect();
        assert_eq!(files, ["2.yaml", "1.yaml"]);

        let own = "network_dns: {default: {domain: sw1.example}}\n";
        let overridden = [&unordered[..], &[(StateScope::Device, own)]].concat();
        assert!(merged(&overridden).is_ok());

        let equal = [(label("role", None), OSLO), (label("site", None), OSLO)];
        assert!(merged(&equal).is_ok());

        let ordered = [
            (label("role", Some(0)), EDGE),
            (label("site", Some(1)), OSLO),
        ];
        let state = merged(&ordered).unwrap();
        let domain = &state.types["network_dns"]["default"].attributes["domain"].value;
        assert_eq!(*domain, YamlValue::Text("oslo.example".to_owned()));
    }

    #[test]
    fn merge_reports_every_wrong_form_with_its_line() {
        let errors = merged(&[(
            StateScope::Common,
            "ntp_server: [192.0.2.1]\nvrf:\n  red: 5\npurge: vrf\nvars: 1\n",
        )])
        .unwrap_err();
        let found: Vec<(String, usize)> = errors
            .iter()
            .map(|error| {
                let label = &error.labels[0];
                let line = label.source.position(label.span.start).0;
                (error.message.clone(), line)
            })
            .collect();
        let expected = [
            ("`ntp_server` must map titles to attributes", 1),
            ("`red` must map attributes to values", 3),
            ("`purge` must be a list of types", 4),
            ("`vars` must map names to values", 5),
        ];
        let expected = expected.map(|(message, line)| (message.to_owned(), line));
        assert_eq!(found, expected);
        let help = errors[0].help.as_deref().unwrap();
        assert!(help.starts_with("write `192.0.2.1: {}` below it"), "{help}");
    }
}
