//! The key `complete`: attributes that no file sets are at the platform's default.
//!
//! Without it, what files leave out is not managed, and a change on the device remains unseen.

use std::collections::{BTreeSet, HashMap};

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Driver;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::TypeModel;
use switchtender_devices::model::version::Version;
use switchtender_devices::value::{Attributes, Name, Value};

use super::view::Views;
use crate::desired_state::merge::Layer;
use crate::desired_state::merged_state::{MergedState, ValueOrigin};
use crate::desired_state::yaml_value::{YamlNode, YamlValue};

/// How the key is written.
const FORM: &str = "write `complete: all`, `complete: [TYPE, …]` or `complete: {types: [TYPE, …], version: \"0.2\"}`";

/// The word for all types.
const ALL: &str = "all";

/// The types that are completed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completion {
    all: Option<CompletionItem>,
    /// Those that a file lists: their version counts.
    types: IndexMap<String, CompletionItem>,
}

/// An item of a file.
#[derive(Clone, Debug)]
pub(crate) struct CompletionItem {
    pub(crate) origin: ValueOrigin,
    /// Newer attributes are left out.
    version: Option<Version>,
}

impl Completion {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_none() && self.types.is_empty()
    }

    /// What a run without facts lacks: the defaults depend on the model of the device.
    pub(crate) fn needs_facts(&self) -> Option<Diagnostic> {
        let (_, item) = self.items().next()?;
        let message = "the defaults of `complete` need the facts of the device";
        Some(item.origin.error("state-facts", message))
    }

    /// The item that completes a type.
    pub(crate) fn item(&self, type_name: &str) -> Option<&CompletionItem> {
        self.types.get(type_name).or(self.all.as_ref())
    }

    /// The items in order, by name.
    pub(in crate::desired_state) fn items(&self) -> impl Iterator<Item = (&str, &CompletionItem)> {
        let all = self.all.iter().map(|item| (ALL, item));
        all.chain(self.types.iter().map(|(name, item)| (name.as_str(), item)))
    }

    /// Adds the key of a file.
    pub(in crate::desired_state) fn read(
        &mut self,
        layer: &Layer<'_>,
        node: &YamlNode,
        views: &Views<'_>,
    ) -> Vec<Diagnostic> {
        let error = |span: &std::ops::Range<usize>, message: &str| {
            vec![layer.origin(span).error("state-form", message).help(FORM)]
        };
        let (types, version) = match &node.value {
            YamlValue::Null => {
                *self = Self::default();
                return Vec::new();
            }
            YamlValue::Map(entries) => {
                let (mut types, mut version) = (None, None);
                for (key, value) in entries {
                    match key.name.as_str() {
                        "types" => types = Some(value),
                        "version" => match value.value.written().and_then(Version::parse) {
                            Some(found) => version = Some(found),
                            None => return error(&value.span, "`version` must be a version"),
                        },
                        _ => {
                            return error(
                                &key.span,
                                "`complete` has the keys `types` and `version`",
                            );
                        }
                    }
                }
                let Some(types) = types else {
                    return error(&node.span, "`complete` has no `types`");
                };
                (types, version)
            }
            _ => (node, None),
        };
        let item = |span: &std::ops::Range<usize>| CompletionItem {
            origin: layer.origin(span),
            version,
        };
        let list = match &types.value {
            YamlValue::Text(word) if word == ALL => {
                self.all = Some(item(&types.span));
                return Vec::new();
            }
            YamlValue::List(list) => list,
            _ => return error(&types.span, "`complete` must be `all` or a list of types"),
        };
        let mut findings = Vec::new();
        for node in list {
            let name = node.value.written().unwrap_or_default();
            if views.registry.model(name).is_some() {
                self.types.insert(name.to_owned(), item(&node.span));
            } else {
                let (message, help) = views.no_type(name);
                let finding = layer.origin(&node.span).error("state-form", message);
                findings.push(finding.help(help));
            }
        }
        findings
    }
}

/// A value that a file does not have.
pub(in crate::desired_state) struct CompletedValue<'a> {
    pub(in crate::desired_state) name: Name,
    pub(in crate::desired_state) value: Value,
    /// The item of `complete`.
    pub(in crate::desired_state) origin: &'a ValueOrigin,
}

/// Completes the resources of a device.
pub(in crate::desired_state) struct Completer<'a> {
    state: &'a MergedState,
    defaults: HashMap<&'a str, Attributes>,
    /// Settings that several types have: the types with their attributes, the owner first.
    shared: Vec<Vec<(String, Name)>>,
    /// Attributes that are newer than the version of an item, by the position of the item.
    newer: IndexMap<(String, usize), (ValueOrigin, Version, BTreeSet<String>)>,
}

impl<'a> Completer<'a> {
    /// `models`: the types of the state.
    pub(in crate::desired_state) fn new(
        state: &'a MergedState,
        driver: &Driver,
        models: &[&'a TypeModel],
    ) -> Self {
        let completed = models.iter().copied();
        let completed = completed.filter(|model| {
            state.completion.item(&model.name).is_some() && driver.supports(model).is_ok()
        });
        let completed: Vec<&TypeModel> = completed.collect();
        let defaults = completed.iter();
        let defaults = defaults
            .map(|model| (model.name.as_str(), driver.default_attributes(model)))
            .collect();
        let shared = driver.shared_settings(&completed).into_iter();
        let shared = shared
            .map(|users| {
                let users = users.into_iter();
                users
                    .map(|(name, attribute)| (name.to_string(), attribute))
                    .collect()
            })
            .collect();
        Self {
            state,
            defaults,
            shared,
            newer: IndexMap::default(),
        }
    }

    /// The values that a resource has without a line in a file. `declared`: its attributes.
    pub(in crate::desired_state) fn values(
        &mut self,
        model: &TypeModel,
        title: &str,
        declared: &Attributes,
    ) -> Vec<CompletedValue<'a>> {
        let name = model.name.as_str();
        let state = self.state;
        let (Some(item), Some(defaults)) = (state.completion.item(name), self.defaults.get(name))
        else {
            return Vec::new();
        };
        let is_absent = declared.get("ensure").and_then(Value::as_str) == Some("absent");
        if is_absent {
            return Vec::new();
        }
        let mut all = declared.clone();
        let mut added: Vec<(Name, Value)> = Vec::new();
        for (attribute, value) in defaults.iter() {
            let is_set = declared.contains_key(attribute.as_str());
            if is_set || state.unmanaged.excludes(name, title, Some(attribute)) {
                continue;
            }
            if self.is_of_other(name, title, attribute) {
                continue;
            }
            let since = model
                .attributes
                .get(attribute.as_str())
                .and_then(|one| one.since);
            if let (Some(since), Some(version)) = (since, item.version)
                && since > version
            {
                let key = (item.origin.source.name.clone(), item.origin.span.start);
                let newer = self.newer.entry(key);
                let newer = newer.or_insert_with(|| (item.origin.clone(), since, BTreeSet::new()));
                newer.1 = newer.1.max(since);
                newer.2.insert(format!("{name}.{attribute}"));
                continue;
            }
            all.insert(attribute.clone(), value.clone());
            added.push((attribute.clone(), value.clone()));
        }
        without_conflicts(model, declared, &mut all);
        let stored = added
            .into_iter()
            .filter(|(name, _)| all.contains_key(name.as_str()));
        stored
            .map(|(name, value)| CompletedValue {
                name,
                value,
                origin: &item.origin,
            })
            .collect()
    }

    /// Whether another resource of the title has the setting.
    fn is_of_other(&self, type_name: &str, title: &str, attribute: &str) -> bool {
        let is_own = |user: &(String, Name)| user.0 == type_name && user.1 == *attribute;
        let declared = |user: &(String, Name)| {
            let resources = self.state.types.get(&user.0);
            resources.and_then(|resources| resources.get(title))
        };
        self.shared
            .iter()
            .filter(|users| users.iter().any(is_own))
            .any(|users| {
                let mut others = users.iter().filter(|user| !is_own(user));
                let is_set = others.any(|user| {
                    declared(user).is_some_and(|one| one.attributes.contains_key(user.1.as_str()))
                });
                let first = users.iter().find(|user| declared(user).is_some());
                is_set || first.is_some_and(|user| !is_own(user))
            })
    }

    /// A warning for each item whose version is older than attributes.
    pub(in crate::desired_state) fn finish(self) -> Vec<Diagnostic> {
        let newer = self.newer.into_values();
        newer
            .map(|(origin, version, names)| {
                /// Maximum number of names in a message.
                const MOST: usize = 8;
                let first: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
                let more = names.len().saturating_sub(MOST);
                let rest = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                let message = format!(
                    "`complete` does not set attributes that are newer than its version: {}{rest}",
                    first.join(", ")
                );
                let help =
                    format!("write `version: \"{version}\"` to set them to their defaults, too");
                Diagnostic::warning("new-attributes", message)
                    .at(&origin.source, origin.span.clone(), "")
                    .help(help)
            })
            .collect()
    }
}

/// Removes defaults that a rule of the type forbids next to what is declared.
fn without_conflicts(model: &TypeModel, declared: &Attributes, all: &mut Attributes) {
    while let Some(error) = model.without_conflicts(all) {
        let name = error.attribute.as_str();
        if declared.contains_key(name) || all.remove(name).is_none() {
            return;
        }
    }
}
