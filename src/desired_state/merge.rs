//! Merges the files of a device, attribute by attribute.
//!
//! A later file replaces values of an earlier one; `~` removes what earlier files and profiles have. Resources
//! have the order in which they are first declared. The steps: each file becomes declarations of types
//! ([`declaration`](super::expand::declaration)), the layers are merged ([`layered`](super::layered)), and profiles
//! are resolved ([`profile`](super::expand::profile)).

use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::did_you_mean;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::view::USE;

use super::expand::declaration::{DeclarationReader, Declarations, TitleKind};
use super::expand::profile::{Profiles, Resolution};
use super::expand::view::{FileKey, Views};
use super::layered::{LayeredResources, LayeredValue, MergeFindings};
use super::merged_state::{MergedState, ValueOrigin};
use super::state_directory::{StateFile, StateScope};
use super::yaml_value::{YamlNode, YamlValue};
use crate::coverage::strict::Strict;

/// The key of a file for values that templates use.
pub(super) const VARIABLES: &str = "vars";
/// The key of a file for types whose undeclared instances are removed.
pub(super) const PURGE: &str = "purge";
/// The key of a file for attributes that resources share.
pub(super) const PROFILES: &str = "profiles";

/// The key of a file for what is left to others.
pub(super) const UNMANAGED: &str = "unmanaged";
/// The key of a file for types whose resources have defaults where no file sets a value.
pub(super) const COMPLETE: &str = "complete";
/// The key of a file for lines that must be managed.
pub(super) const STRICT: &str = "strict";

/// Keys that `resource` prints for what cannot be managed and what was not understood.
pub(super) const NOT_DECLARED: [&str; 2] = ["not_managed", "not_understood"];

/// The label of a file.
#[derive(Clone, Debug)]
pub(super) struct FileLabel {
    key: String,
    /// The inventory orders the key.
    is_ordered: bool,
}

impl FileLabel {
    pub(super) fn is_ordered_against(&self, other: &FileLabel) -> bool {
        self.key == other.key || (self.is_ordered && other.is_ordered)
    }
}

/// One file with its scope.
pub(super) struct Layer<'a> {
    /// Of a device, from 0.
    pub(super) number: usize,
    file: &'a StateFile,
    pub(super) label: Option<Arc<FileLabel>>,
}

impl Layer<'_> {
    pub(super) fn origin(&self, span: &Range<usize>) -> ValueOrigin {
        ValueOrigin {
            source: Arc::clone(&self.file.source),
            span: span.clone(),
        }
    }
}

/// Merges files; each scope comes after those that it replaces.
pub(super) fn merge(layers: &[(StateScope, Arc<StateFile>)], views: &Views<'_>) -> MergedState {
    let mut merge = Merge {
        views,
        state: MergedState::default(),
        variables: IndexMap::default(),
        resources: LayeredResources::default(),
        profiles: Profiles::default(),
        findings: MergeFindings::new(),
    };
    for (number, (scope, file)) in layers.iter().enumerate() {
        let label = match scope {
            StateScope::Label { position, key } => Some(Arc::new(FileLabel {
                key: key.clone(),
                is_ordered: position.is_some(),
            })),
            StateScope::Common | StateScope::Platform | StateScope::Device => None,
        };
        merge.add(&Layer {
            number,
            file,
            label,
        });
    }
    merge.finish()
}

struct Merge<'a> {
    views: &'a Views<'a>,
    state: MergedState,
    variables: IndexMap<String, LayeredValue>,
    resources: LayeredResources,
    profiles: Profiles,
    findings: MergeFindings,
}

impl Merge<'_> {
    fn add(&mut self, layer: &Layer<'_>) {
        let file = layer.file;
        self.findings.errors.extend(file.repeated.iter().cloned());
        let mut reader = DeclarationReader {
            views: self.views,
            layer,
            kind: TitleKind::Resource,
            found: Declarations::default(),
        };
        for (key, node) in &file.entries {
            match key.name.as_str() {
                VARIABLES => self.variables(layer, node),
                PURGE => self.purge(layer, node),
                PROFILES => self.profiles(layer, node),
                UNMANAGED => self.unmanaged(layer, node),
                COMPLETE => {
                    let found = self.state.completion.read(layer, node, self.views);
                    self.findings.errors.extend(found);
                }
                STRICT => self.strict(layer, node),
                USE => {
                    let finding = layer
                        .origin(&key.span)
                        .error("state-form", "`use` belongs to a resource");
                    let help = "write it below a title: `TYPE: {TITLE: {use: PROFILE}}`";
                    self.findings.errors.push(finding.help(help));
                }
                name if NOT_DECLARED.contains(&name) => {}
                _ => reader.read(key, node),
            }
        }
        let Declarations { findings, .. } = &mut reader.found;
        self.findings.errors.append(findings);
        self.resources.add(layer, &reader.found, &mut self.findings);
    }

    fn variables(&mut self, layer: &Layer<'_>, node: &YamlNode) {
        match &node.value {
            YamlValue::Null => self.variables.clear(),
            YamlValue::Map(entries) => {
                for (key, value) in entries {
                    let entry = (key, value);
                    let (variables, findings) = (&mut self.variables, &mut self.findings);
                    LayeredValue::set_variable(variables, layer, entry, findings);
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

    fn unmanaged(&mut self, layer: &Layer<'_>, node: &YamlNode) {
        const FORM: &str = "`unmanaged` must be a list of types, attributes and patterns";
        let list = match &node.value {
            YamlValue::Null => return self.state.unmanaged.clear(),
            YamlValue::List(list) => list.as_slice(),
            _ => return self.error(layer, &node.span, FORM),
        };
        for item in list {
            let Some(text) = item.value.written() else {
                self.error(layer, &item.span, FORM);
                continue;
            };
            let origin = layer.origin(&item.span);
            let added = self.state.unmanaged.add(text, origin, self.views);
            self.findings.errors.extend(added.err().map(|found| *found));
        }
    }

    fn strict(&mut self, layer: &Layer<'_>, node: &YamlNode) {
        let word = node.value.written().map(str::parse::<Strict>);
        match (&node.value, word) {
            (YamlValue::Null, _) => self.state.strict = None,
            (_, Some(Ok(strict))) => self.state.strict = Some(strict),
            _ => self.error(layer, &node.span, "`strict` must be `sections` or `all`"),
        }
    }

    fn profiles(&mut self, layer: &Layer<'_>, node: &YamlNode) {
        let scopes = match &node.value {
            YamlValue::Null => {
                self.profiles = Profiles::default();
                return;
            }
            YamlValue::Map(scopes) => scopes,
            _ => {
                const FORM: &str = "`profiles` must map types or views to profiles";
                return self.error(layer, &node.span, FORM);
            }
        };
        for (key, node) in scopes {
            let is_known = match self.views.key(&key.name) {
                FileKey::Type => self
                    .views
                    .registry
                    .type_names()
                    .any(|name| *name == key.name),
                FileKey::View(_) | FileKey::OtherView => true,
            };
            if !is_known {
                let message = format!("`{}` is neither a type nor a view", key.name);
                let finding = layer.origin(&key.span).error("state-form", message);
                let types = self.views.registry.type_names().map(|name| name.as_str());
                let help = did_you_mean(&key.name, types.chain(self.views.names()));
                let form = "write `profiles: {TYPE: {NAME: {ATTRIBUTE: VALUE}}}`".to_owned();
                let finding = finding.help(help.unwrap_or(form));
                self.findings.errors.push(finding);
                continue;
            }
            let mut reader = DeclarationReader {
                views: self.views,
                layer,
                kind: TitleKind::Profile,
                found: Declarations::default(),
            };
            reader.read(key, node);
            let mut found = reader.found;
            self.findings.errors.append(&mut found.findings);
            let (profiles, findings) = (&mut self.profiles, &mut self.findings);
            profiles.add(layer, &key.name, &found, findings);
        }
    }

    fn error(&mut self, layer: &Layer<'_>, span: &Range<usize>, message: &str) {
        let finding = layer.origin(span).error("state-form", message);
        self.findings.errors.push(finding);
    }

    fn finish(mut self) -> MergedState {
        for (name, value) in &self.variables {
            let subject = format!("variable {name}");
            self.findings.errors.extend(value.conflict(&subject));
        }
        let variables = self.variables.into_iter();
        let variables = variables
            .map(|(name, value)| (name, value.merged))
            .collect();
        let mut resolution = Resolution::new(self.views, self.profiles, self.findings);
        let mut types = resolution.resolve(self.resources);
        let mut findings = resolution.finish();
        let (unmanaged, purge) = (&self.state.unmanaged, &self.state.purge);
        findings.errors.extend(unmanaged.purged_instances(purge));
        let warnings = unmanaged.remove_from(&mut types);
        MergedState {
            types,
            variables,
            errors: findings.errors,
            warnings,
            entries: findings.entries,
            ..self.state
        }
    }
}
