//! Profiles: attributes that resources share. They are merged through the layers as resources are, and resolved last:
//! own attributes of a resource win, whatever their layer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, did_you_mean};
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::view::USE;

use super::declaration::Declarations;
use super::view::Views;
use crate::desired_state::layered::{
    LayerPosition, LayeredResource, LayeredResources, LayeredType, MergeFindings,
};
use crate::desired_state::merge::Layer;
use crate::desired_state::merged_state::{MergedResource, MergedValue, UsedProfile, ValueOrigin};
use crate::desired_state::state_entry::{EntryKind, StateEntry};
use crate::desired_state::yaml_value::{YamlNode, YamlValue};

/// The profiles of the layers.
#[derive(Default)]
pub(in crate::desired_state) struct Profiles {
    /// By type or view. The title of a resource is the name of the profile.
    by_scope: IndexMap<String, LayeredResources>,
    /// Errors in them, by scope and name.
    problems: HashMap<(String, String), Vec<Diagnostic>>,
}

impl Profiles {
    /// Adds the profiles of a type or view in a file.
    pub(in crate::desired_state) fn add(
        &mut self,
        layer: &Layer<'_>,
        scope: &str,
        declarations: &Declarations<'_>,
        findings: &mut MergeFindings,
    ) {
        let profiles = self.by_scope.entry(scope.to_owned()).or_default();
        profiles.add(layer, declarations, findings);
        for (name, problem) in &declarations.of_profiles {
            let key = (scope.to_owned(), (*name).to_owned());
            let problems = self.problems.entry(key).or_default();
            problems.push(problem.clone());
        }
    }

    /// The names of the profiles of a type or view.
    fn names(&self, scope: &str) -> impl Iterator<Item = &str> {
        let profiles = self.by_scope.get(scope);
        let profiles = profiles.and_then(|profiles| profiles.types.get(scope));
        let all = profiles.into_iter().flat_map(|all| &all.resources);
        let declared = all.filter(|(_, profile)| !profile.is_removed);
        declared.map(|(name, _)| name.as_str())
    }
}

/// Resolves the profiles that resources use.
pub(in crate::desired_state) struct Resolution<'a> {
    views: &'a Views<'a>,
    profiles: Profiles,
    findings: MergeFindings,
    /// Scopes and names of profiles that are used.
    used: HashSet<(String, String)>,
    /// Positions of names whose errors are reported.
    reported: HashSet<(String, usize)>,
}

/// A profile that an object of a view uses, and where the object stands.
struct ObjectProfile {
    used: Arc<UsedProfile>,
    origin: ValueOrigin,
    type_origin: ValueOrigin,
    position: LayerPosition,
}

/// The profiles of objects, by type and title. They are in the order of their use.
type ObjectProfiles = IndexMap<String, IndexMap<String, Vec<ObjectProfile>>>;

type Attributes = IndexMap<String, MergedValue>;

impl<'a> Resolution<'a> {
    pub(in crate::desired_state) fn new(
        views: &'a Views<'a>,
        profiles: Profiles,
        findings: MergeFindings,
    ) -> Self {
        Self {
            views,
            profiles,
            findings,
            used: HashSet::new(),
            reported: HashSet::new(),
        }
    }

    /// The resources with the attributes of their profiles, in the order of the files.
    pub(in crate::desired_state) fn resolve(
        &mut self,
        mut resources: LayeredResources,
    ) -> IndexMap<String, IndexMap<String, MergedResource>> {
        self.report_conflicts();
        let mut of_objects = self.object_profiles(&mut resources);
        type Titled = (LayerPosition, String, MergedResource);
        let mut types: Vec<(LayerPosition, String, Vec<Titled>)> = Vec::new();
        for (name, objects) in &of_objects {
            let positions = objects.values().flatten();
            if let Some(first) = positions.map(|profile| profile.position).min() {
                let all = resources.types.entry(name.clone());
                let all = all.or_insert_with(|| LayeredType::at(first));
                all.position = all.position.min(first);
            }
        }
        for (type_name, all) in resources.types {
            let mut objects = of_objects.shift_remove(&type_name).unwrap_or_default();
            let mut merged = Vec::new();
            for (title, resource) in all.resources {
                let profiles = objects.shift_remove(&title).unwrap_or_default();
                let position = resource.position;
                let result = self.resource((&type_name, &title), resource, &profiles);
                merged.extend(result.map(|resource| (position, title, resource)));
            }
            for (title, profiles) in objects {
                let Some(first) = profiles.first() else {
                    continue;
                };
                let position = first.position;
                let (origin, of_type) = (first.origin.clone(), first.type_origin.clone());
                let resource = LayeredResource::at(origin, of_type, position);
                let result = self.resource((&type_name, &title), resource, &profiles);
                merged.extend(result.map(|resource| (position, title, resource)));
            }
            merged.sort_by_key(|(position, ..)| *position);
            types.push((all.position, type_name, merged));
        }
        types.sort_by_key(|(position, ..)| *position);
        let declared = types.into_iter().filter(|(.., all)| !all.is_empty());
        declared
            .map(|(_, name, all)| {
                let all = all.into_iter();
                (name, all.map(|(_, title, one)| (title, one)).collect())
            })
            .collect()
    }

    /// The findings, with those about profiles.
    pub(in crate::desired_state) fn finish(mut self) -> MergeFindings {
        for (scope, profiles) in &self.profiles.by_scope {
            let all = profiles.types.get(scope);
            for (name, profile) in all.into_iter().flat_map(|all| &all.resources) {
                if profile.is_removed {
                    continue;
                }
                self.findings.entries.push(StateEntry {
                    origin: profile.origin.clone(),
                    kind: EntryKind::Profile,
                    subject: format!("the profile `{name}` of {scope}"),
                    is_effective: self.used.contains(&(scope.clone(), name.clone())),
                });
            }
        }
        self.findings
    }

    /// Different values of two labels in profiles.
    fn report_conflicts(&mut self) {
        for profiles in self.profiles.by_scope.values() {
            for profile in profiles.types.values().flat_map(|all| &all.resources) {
                for (attribute, value) in &profile.1.attributes {
                    let subject = format!("{attribute} of the profile {}", profile.0);
                    self.findings.errors.extend(value.conflict(&subject));
                }
            }
        }
    }

    /// Takes the views out of the resources. Returns the profiles of their objects.
    fn object_profiles(&mut self, resources: &mut LayeredResources) -> ObjectProfiles {
        let mut found = ObjectProfiles::default();
        let views: Vec<&str> = self.views.names().collect();
        for view in views {
            let Some(objects) = resources.types.shift_remove(view) else {
                continue;
            };
            for (title, object) in objects.resources {
                for used in self.uses((view, &title), &object) {
                    let parts = self.profiles.by_scope[view].types.iter();
                    let parts = parts.filter(|(name, of_type)| {
                        *name != view && of_type.resources.contains_key(&used.name)
                    });
                    for (type_name, _) in parts {
                        let of_type = found.entry(type_name.clone()).or_default();
                        let all = of_type.entry(title.clone()).or_default();
                        all.push(ObjectProfile {
                            used: Arc::clone(&used),
                            origin: object.origin.clone(),
                            type_origin: object.type_origin.clone(),
                            position: object.position,
                        });
                    }
                }
            }
        }
        found
    }

    /// The profiles of a resource or object, in order.
    fn uses(
        &mut self,
        (scope, title): (&str, &str),
        resource: &LayeredResource,
    ) -> Vec<Arc<UsedProfile>> {
        let Some(value) = resource.attributes.get(USE) else {
            return Vec::new();
        };
        let subject = format!("`use` of {scope} {title}");
        self.findings.errors.extend(value.conflict(&subject));
        let origin = &value.merged.origin;
        let names: Option<Vec<(&str, ValueOrigin)>> = match &*value.merged.value {
            YamlValue::Null => Some(Vec::new()),
            YamlValue::List(items) => items.iter().map(|item| name_of(item, origin)).collect(),
            one => one.written().map(|name| vec![(name, origin.clone())]),
        };
        let Some(names) = names else {
            self.report(origin, || {
                let found = origin.error("state-form", "`use` must be the name of a profile");
                found.help("write `use: NAME` or `use: [FIRST, SECOND]`; later ones win")
            });
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, origin) in names {
            let is_known = self.profiles.names(scope).any(|known| known == name);
            if !is_known {
                let help = self.unknown_help(scope, name);
                self.report(&origin, || {
                    let message = format!("{scope} has no profile `{name}`");
                    origin.error("unknown-profile", message).help(help)
                });
                continue;
            }
            let key = (scope.to_owned(), name.to_owned());
            if self.used.insert(key.clone()) {
                let problems = self.profiles.problems.get(&key);
                self.findings
                    .errors
                    .extend(problems.into_iter().flatten().cloned());
            }
            found.push(Arc::new(UsedProfile {
                name: name.to_owned(),
                origin,
            }));
        }
        found
    }

    fn unknown_help(&self, scope: &str, name: &str) -> String {
        let near = did_you_mean(name, self.profiles.names(scope));
        near.unwrap_or_else(|| {
            let form = format!("declare it: `profiles: {{{scope}: {{{name}: {{…}}}}}}`");
            let scopes = self.profiles.by_scope.keys();
            let mut others =
                scopes.filter(|other| self.profiles.names(other).any(|one| one == name));
            match others.next() {
                Some(other) => format!("{form}; the profile `{name}` is one of {other}"),
                None => form,
            }
        })
    }

    /// Reports a finding once for each position: all titles of a range have it.
    fn report(&mut self, origin: &ValueOrigin, finding: impl FnOnce() -> Diagnostic) {
        let position = (origin.source.name.clone(), origin.span.start);
        if self.reported.insert(position) {
            self.findings.errors.push(finding());
        }
    }

    /// A resource with its profiles. `None`: it is removed.
    fn resource(
        &mut self,
        (type_name, title): (&str, &str),
        resource: LayeredResource,
        of_object: &[ObjectProfile],
    ) -> Option<MergedResource> {
        let mut attributes = Attributes::default();
        let mut is_declared = !resource.is_removed;
        let object_scope = self.views.with_type(type_name);
        for profile in of_object {
            let scope = object_scope.unwrap_or_default();
            is_declared |= self.apply(&mut attributes, (scope, type_name), &profile.used);
        }
        if let Some(mark) = &resource.mark {
            if !attributes.is_empty() {
                let subject = format!("{type_name} {title}");
                self.findings.removal(mark.clone(), subject, true);
            }
            attributes.clear();
            is_declared = !resource.is_removed;
        }
        if !is_declared {
            return None;
        }
        for profile in self.uses((type_name, title), &resource) {
            self.apply(&mut attributes, (type_name, type_name), &profile);
        }
        for (name, value) in resource.attributes {
            if name == USE {
                continue;
            }
            let subject = || format!("{name} of {type_name} {title}");
            self.findings.errors.extend(value.conflict(&subject()));
            if !value.is_mark() {
                attributes.insert(name, value.merged);
            } else if attributes.shift_remove(&name).is_some() {
                let origin = value.merged.name_origin.clone();
                self.findings.removal(origin, subject(), true);
            }
        }
        Some(MergedResource {
            origin: resource.origin,
            type_origin: resource.type_origin,
            attributes,
        })
    }

    /// Adds the attributes that a profile has for a type. Returns whether it declares the resource.
    fn apply(
        &mut self,
        attributes: &mut Attributes,
        (scope, type_name): (&str, &str),
        used: &Arc<UsedProfile>,
    ) -> bool {
        let parts = self.profiles.by_scope.get(scope);
        let parts = parts.and_then(|profiles| profiles.types.get(type_name));
        let Some(part) = parts.and_then(|parts| parts.resources.get(&used.name)) else {
            return false;
        };
        if let Some(mark) = &part.mark {
            if !attributes.is_empty() {
                let subject = format!("{type_name} {}", used.name);
                self.findings.removal(mark.clone(), subject, true);
            }
            attributes.clear();
        }
        for (name, value) in &part.attributes {
            if value.is_mark() {
                let is_effective = attributes.shift_remove(name).is_some();
                let subject = format!("{name} of {type_name} {}", used.name);
                let origin = value.merged.name_origin.clone();
                self.findings.removal(origin, subject, is_effective);
                continue;
            }
            let size = value.merged.value.size();
            if let Err(error) = self.findings.charge(size) {
                self.report(&used.origin, || {
                    let found = used.origin.error("state-range", error.to_string());
                    found.help("use the profile for fewer titles")
                });
                return true;
            }
            let merged = MergedValue {
                through: Some(Arc::clone(used)),
                ..value.merged.clone()
            };
            attributes.insert(name.clone(), merged);
        }
        !part.is_removed
    }
}

/// The name of a profile in a list.
fn name_of<'n>(item: &'n YamlNode, list: &ValueOrigin) -> Option<(&'n str, ValueOrigin)> {
    let name = item.value.written()?;
    let origin = ValueOrigin {
        span: item.span.clone(),
        ..list.clone()
    };
    Some((name, origin))
}
