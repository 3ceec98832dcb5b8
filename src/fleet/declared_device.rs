//! What a file declares for a device as it is: the resources of an inspection without what a title says, what the
//! platform has by default, and what cannot be managed.
//!
//! `resource` and `import` write it. A plan of it is empty, also if `complete` adds the defaults again.

use std::sync::Arc;

use switchtender_devices::change::{Desired, Instance};
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::driver::{Driver, NoSecretHistory};
use switchtender_devices::model::{Role, TypeModel};
use switchtender_devices::names::TypeName;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::value::{Attributes, Name, Value};

use super::inspect::{Inspection, TypeInstances};
use super::manifest_resource::ManifestResource;
use crate::desired_state::declared::{
    DeclaredCompletion, DeclaredFile, DeclaredState, DeclaredValue,
};
use crate::natural_order;

/// The resources of a device as a file declares them.
#[derive(Debug, Default)]
pub(crate) struct DeclaredDevice {
    /// Secrets are [`Value::Sensitive`].
    pub(crate) state: DeclaredState,
    /// Attributes of single resources that nobody can compare: `TYPE[TITLE].ATTRIBUTE`.
    pub(crate) unmanaged: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Lines, rows and objects that are no resource.
    pub(crate) not_understood: Vec<NotUnderstood>,
    /// Resources that are declared without their secrets.
    pub(crate) without_secrets: usize,
    /// Resources that are left out, because they require a secret.
    pub(crate) needing_secrets: usize,
}

/// A resource that cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) type_name: TypeName,
    pub(crate) title: String,
    pub(crate) reason: String,
}

/// Whether values that are secrets are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredSecrets {
    Included,
    LeftOut,
}

impl DeclaredDevice {
    /// Resources that belong to the device are no part of it.
    pub(crate) fn new(inspection: Inspection, secrets: DeclaredSecrets) -> Self {
        let mut device = Self::default();
        for found in inspection.types {
            device.add_type(&inspection.driver, found, secrets);
        }
        device
    }

    /// Leaves only the resource with this title, whatever its case.
    pub(crate) fn select(&mut self, title: &str) {
        for resources in self.state.types.values_mut() {
            resources.retain(|own, _| own.eq_ignore_ascii_case(title));
        }
        self.state
            .types
            .retain(|_, resources| !resources.is_empty());
        let resources = self.state.types.iter();
        let titles = resources.flat_map(|(type_name, resources)| {
            let titles = resources.keys();
            titles.map(move |own| format!("{type_name}[{own}]."))
        });
        let titles: Vec<String> = titles.collect();
        let is_own = |item: &String| titles.iter().any(|own| item.starts_with(own));
        self.unmanaged.retain(is_own);
        self.left_out
            .retain(|one| one.title.eq_ignore_ascii_case(title));
        self.not_understood.retain(|text| text.may_be_of(title));
    }

    /// A file with all of it. What it does not say remains managed: `complete` has its types.
    pub(crate) fn file(self) -> DeclaredFile {
        let types = self.state.types.keys().cloned().collect();
        DeclaredFile {
            complete: Some(DeclaredCompletion::of(types)),
            unmanaged: self.unmanaged,
            state: self.state,
            ..DeclaredFile::default()
        }
    }

    fn add_type(&mut self, driver: &Driver, found: TypeInstances, secrets: DeclaredSecrets) {
        let model = &found.model;
        let compact = CompactType {
            driver,
            model,
            defaults: driver.default_attributes(model),
            not_understood: &found.not_understood,
        };
        let resources = ManifestResource::list(
            driver,
            model,
            found.instances.clone(),
            &found.not_understood,
            secrets == DeclaredSecrets::Included,
        );
        let mut declared = Vec::new();
        for (resource, instance) in resources.into_iter().zip(&found.instances) {
            self.needing_secrets += usize::from(resource.needs_secret);
            if let Some(reason) = resource.comment {
                if !resource.is_reserved {
                    self.leave_out(model, resource.title, reason);
                }
                continue;
            }
            self.without_secrets += usize::from(!resource.left_out.is_empty());
            let title = resource.title;
            match compact.attributes(&title, resource.attributes) {
                Ok((attributes, mut unmanaged)) => {
                    unmanaged.extend(compact.not_completed(&title, &attributes, instance));
                    let items = unmanaged.into_iter();
                    let items = items.map(|name| format!("{}[{title}].{name}", model.name));
                    self.unmanaged.extend(items);
                    declared.push((title, attributes));
                }
                Err(reason) => self.leave_out(model, title, reason),
            }
        }
        // The order of the entries of a list is that of the device.
        if model.object.is_none() {
            declared.sort_by(|(a, _), (b, _)| natural_order::compare(a, b));
        }
        if !declared.is_empty() {
            let resources = declared.into_iter().map(|(title, attributes)| {
                let attributes = attributes.into_iter();
                let value = |value| Some(DeclaredValue::Value(value));
                (
                    title,
                    attributes.map(|(name, one)| (name, value(one))).collect(),
                )
            });
            self.state
                .types
                .insert(model.name.clone(), resources.collect());
        }
        self.not_understood.extend(found.not_understood);
    }

    fn leave_out(&mut self, model: &TypeModel, title: String, reason: String) {
        self.left_out.push(LeftOut {
            type_name: model.name.clone(),
            title,
            reason,
        });
    }
}

/// A type whose resources are made compact.
struct CompactType<'a> {
    driver: &'a Driver,
    model: &'a Arc<TypeModel>,
    defaults: Attributes,
    not_understood: &'a [NotUnderstood],
}

impl CompactType<'_> {
    /// The attributes that a file has to say, and those that it cannot say without a finding.
    ///
    /// # Errors
    /// Why the resource would be refused.
    fn attributes(
        &self,
        title: &str,
        mut all: Attributes,
    ) -> Result<(Attributes, Vec<Name>), String> {
        let names = self.model.names(title);
        all.retain(|name, value| !self.is_in_title(&names, name, value));
        let mut findings = Vec::new();
        let Some(desired) = self.desired(title, &all) else {
            return Ok((all, findings));
        };
        for problem in self.driver.check(&desired) {
            let name: Name = problem.attribute.as_str().into();
            if problem.severity == Severity::Error {
                return Err(format!("{name}: {}", problem.message));
            }
            if all.remove(&name).is_some() && self.defaults.contains_key(&name) {
                findings.push(name);
            }
        }
        Ok((all, findings))
    }

    /// Whether a file need not have a value: the title has it, or the device has it by default.
    fn is_in_title(&self, names: &Attributes, name: &Name, value: &Value) -> bool {
        let Some(attribute) = self.model.attributes.get(name) else {
            return false;
        };
        let value = value.unwrap_sensitive();
        if *name == "ensure" {
            return value.as_str() == Some("present");
        }
        match attribute.role {
            Role::ReadOnly => true,
            Role::Namevar => {
                let own = names.get(name).and_then(Value::scalar_text);
                own.is_some() && own == value.scalar_text()
            }
            _ => match self.defaults.get(name) {
                Some(default) => default == value,
                None => attribute.is_unset(value),
            },
        }
    }

    /// The attributes that `complete` must not fill in: the device has something else, and the type cannot say it.
    fn not_completed(&self, title: &str, declared: &Attributes, instance: &Instance) -> Vec<Name> {
        let mut completed = declared.clone();
        for (name, value) in &self.defaults {
            if !completed.contains_key(name) {
                completed.insert(name.clone(), value.clone());
            }
        }
        let Some(mut desired) = self.desired(title, &completed) else {
            return Vec::new();
        };
        desired.attributes.remove("ensure");
        let differing = self
            .driver
            .differs(&desired, Some(instance), &NoSecretHistory);
        let unread = self
            .driver
            .unread_attributes(&desired, instance, self.not_understood);
        let mut names: Vec<Name> = differing.into_iter().chain(unread).collect();
        names.retain(|name| !declared.contains_key(name) && self.defaults.contains_key(name));
        names.dedup();
        names
    }

    /// A resource as the catalog has it; `None` if its attributes are not valid together.
    fn desired(&self, title: &str, attributes: &Attributes) -> Option<Desired> {
        let mut attributes = attributes.clone();
        for (name, value) in self.model.names(title) {
            if !attributes.contains_key(&name) {
                attributes.insert(name, value);
            }
        }
        self.model.without_conflicts(&mut attributes);
        let resolved = self.model.resolve(title, &attributes).ok()?;
        Some(Desired {
            reference: format!("{}[{title}]", self.model.name).into(),
            model: Arc::clone(self.model),
            attributes: self.driver.canonicalize(self.model, resolved).ok()?,
        })
    }
}
