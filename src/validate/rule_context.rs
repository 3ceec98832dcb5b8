//! The input of rules: a catalog with routes, types, relations and order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use switchtender_devices::change::Desired;
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::{Driver, Problem, Registry};
use switchtender_devices::model::canonical::{Defaults, ValueError};
use switchtender_devices::model::view::METAPARAMETERS;
use switchtender_devices::model::{Role, TypeModel};
use switchtender_devices::value::Name;

use super::Policy;
use super::order::EvaluationOrder;
use super::relation::{DeclaredRelation, ReferenceIndex, relations};
use super::target::CatalogTarget;
use crate::catalog::{
    Catalog, CatalogResource, ResourceRef, Segment, audited_properties, hides_value, locate_all,
};
use crate::compat::{Deviation, Deviations};
use crate::parallel;
use crate::route::{Destination, route};

/// A resource with its model.
#[derive(Debug)]
pub(crate) struct TypedResource {
    pub(crate) model: Arc<TypeModel>,
    /// The canonical attributes. `None`: an attribute is invalid.
    pub(crate) desired: Option<Desired>,
    /// Errors of the model.
    pub(crate) errors: Vec<ValueError>,
    /// Problems of the platform.
    pub(crate) problems: Vec<Problem>,
}

/// A catalog with all data for rules.
pub struct RuleContext<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) registry: &'a Registry,
    pub(crate) policy: &'a Policy,
    pub(crate) target: &'a CatalogTarget,
    /// In the order of the catalog, as `typed`.
    pub(crate) destinations: Vec<Destination>,
    /// `None`: the resource has no model.
    pub(crate) typed: Vec<Option<TypedResource>>,
    pub(crate) index: ReferenceIndex,
    pub(crate) relations: Vec<DeclaredRelation>,
    order: OnceLock<EvaluationOrder>,
    /// Indices of resources that are only partially readable.
    damaged: BTreeSet<usize>,
}

impl<'a> RuleContext<'a> {
    /// Resolves the destinations, types and relations of the catalog for the rules.
    pub fn new(
        catalog: &'a Catalog,
        registry: &'a Registry,
        policy: &'a Policy,
        target: &'a CatalogTarget,
    ) -> Self {
        let destinations = route(catalog, |name| registry.model(name).cloned());
        let mut index_of = ReferenceIndex::new(catalog);
        let driver = match target {
            CatalogTarget::Device { driver, .. } => driver.as_ref(),
            CatalogTarget::Host => None,
        };
        let typed = type_resources(catalog, &destinations, driver, policy.deviations);
        for (index, typed) in typed.iter().enumerate() {
            let desired = typed.as_ref().and_then(|typed| typed.desired.as_ref());
            let Some(desired) = desired else { continue };
            let type_name = catalog.resources[index].reference.type_name();
            let Some(name) = desired.model.object_name(&desired.attributes) else {
                continue;
            };
            let object = ResourceRef::new(type_name, &name);
            if desired.model.object.is_some() {
                index_of.add_part(object, index);
            } else {
                index_of.add(object, index);
            }
        }
        let relations = relations(catalog, &index_of);
        Self {
            catalog,
            registry,
            policy,
            target,
            destinations,
            typed,
            index: index_of,
            relations,
            order: OnceLock::new(),
            damaged: BTreeSet::new(),
        }
    }

    /// Excludes partially readable resources from typing, because their errors are known.
    #[must_use]
    pub fn without(mut self, damaged: BTreeSet<usize>) -> Self {
        for index in &damaged {
            self.typed[*index] = None;
        }
        self.damaged = damaged;
        self
    }

    /// Whether the catalog is checked on several threads.
    pub(crate) fn is_large(&self) -> bool {
        self.catalog.resources.len() >= LARGE
    }

    /// The order of the catalog, built at the first use.
    pub(crate) fn order(&self) -> &EvaluationOrder {
        self.order.get_or_init(|| EvaluationOrder::new(self))
    }

    /// The paths of secrets: values that the catalog or a model marks as sensitive. A secret title is
    /// part of references, but it is masked in excerpts of the catalog.
    pub(crate) fn secret_paths(&self) -> Vec<Vec<Segment>> {
        let mut paths = Vec::new();
        for (index, resource) in self.resources() {
            if self.secret_title(index, resource).is_some() {
                let own = |part: &[Segment]| {
                    let prefix = ["resources".into(), index.into()];
                    prefix.into_iter().chain(part.iter().cloned()).collect()
                };
                paths.push(own(&["title".into()]));
                let title = resource.reference.title();
                for (at, tag) in resource.tags.iter().enumerate() {
                    if tag.eq_ignore_ascii_case(title) {
                        paths.push(own(&["tags".into(), at.into()]));
                    }
                }
            }
            let model = self.destinations[index].model();
            let by_model = |name: &str| model.is_some_and(|model| hides_value(model, name));
            let mut add = |name: &str| {
                let path = ["resources".into(), index.into(), "parameters".into()];
                paths.push(path.into_iter().chain([name.into()]).collect());
            };
            for (name, value) in &resource.parameters {
                if by_model(name) || value.contains_secret() {
                    add(name);
                }
            }
            if self.damaged.contains(&index) {
                // An unreadable value is still in the text.
                let attributes = model
                    .into_iter()
                    .flat_map(|model| model.attributes.values());
                let by_model = attributes.filter(|attribute| attribute.sensitive);
                let names = by_model.map(|attribute| attribute.name.as_str());
                let marked = resource.sensitive.iter().map(String::as_str);
                names.chain(marked).for_each(add);
            }
        }
        paths
    }

    /// The secret attribute whose value is the title.
    pub(crate) fn secret_title(&self, index: usize, resource: &CatalogResource) -> Option<&str> {
        let model = self.destinations[index].model();
        let attributes = model
            .into_iter()
            .flat_map(|model| model.attributes.values());
        let mut secret = attributes.filter(|attr| attr.role == Role::Namevar && attr.sensitive);
        let titled = secret.find(|attr| !resource.parameters.contains_key(&attr.name))?;
        Some(&titled.name)
    }

    /// Masks secrets in the excerpts of findings that were made without models.
    pub fn mask(&self, findings: &mut [Diagnostic]) {
        if findings.is_empty() {
            return;
        }
        let paths = self.secret_paths();
        let spans = locate_all(&self.catalog.source.text, paths.iter().map(Vec::as_slice));
        let spans: Vec<_> = spans.into_iter().flatten().collect();
        // Findings share their sources.
        let mut hidden: Vec<(Arc<Source>, Arc<Source>)> = Vec::new();
        for label in findings.iter_mut().flat_map(|found| &mut found.labels) {
            if label.source.name != self.catalog.source.name {
                continue;
            }
            let masked = hidden
                .iter()
                .find(|(original, _)| Arc::ptr_eq(original, &label.source));
            label.source = match masked {
                Some((_, hidden)) => Arc::clone(hidden),
                None => {
                    let text = label.source.redacted(&spans);
                    hidden.push((Arc::clone(&label.source), Arc::clone(&text)));
                    text
                }
            };
        }
    }

    pub(crate) fn driver(&self) -> Option<&'a Driver> {
        match self.target {
            CatalogTarget::Device { driver, .. } => driver.as_ref(),
            CatalogTarget::Host => None,
        }
    }

    /// Maximum share of the interfaces that the catalog may shut down, in percent.
    pub(crate) fn max_shutdown(&self) -> Option<u8> {
        let of_device = match self.target {
            CatalogTarget::Device { max_shutdown, .. } => *max_shutdown,
            CatalogTarget::Host => None,
        };
        self.policy.max_shutdown.or(of_device)
    }

    /// Whether the given running configuration has an object with this name. `None`: unknown.
    pub(crate) fn has_running(&self, type_name: &str, name: &str) -> Option<bool> {
        match self.target {
            CatalogTarget::Device {
                running: Some(running),
                ..
            } => running.contains(type_name, name),
            _ => None,
        }
    }

    pub(crate) fn for_device(&self) -> bool {
        matches!(self.target, CatalogTarget::Device { .. })
    }

    /// Whether the target skips a resource.
    pub(crate) fn is_skipped(&self, index: usize) -> bool {
        if self.catalog.resources[index].is_virtual {
            return true;
        }
        if self.for_device() {
            self.destinations[index].is_host_only()
        } else {
            self.destinations[index].is_device_only()
        }
    }

    /// Whether the target applies a resource.
    pub(crate) fn is_applied(&self, index: usize) -> bool {
        !self.is_skipped(index)
            && matches!(
                self.destinations[index],
                Destination::Device(_) | Destination::Both(_) | Destination::Host
            )
    }

    /// Whether the catalog removes a resource.
    pub(crate) fn is_removed(&self, index: usize) -> bool {
        let typed = self.typed[index].as_ref();
        typed
            .and_then(|typed| typed.desired.as_ref())
            .is_some_and(Desired::is_absent)
    }

    /// Resources with their indices.
    pub(crate) fn resources(&self) -> impl Iterator<Item = (usize, &'a CatalogResource)> {
        self.catalog.resources.iter().enumerate()
    }

    /// Applied resources with a model, with their indices.
    pub(crate) fn typed(
        &self,
    ) -> impl Iterator<Item = (usize, &'a CatalogResource, &TypedResource)> {
        self.resources().filter_map(|(index, resource)| {
            let typed = self.typed[index].as_ref()?;
            self.is_applied(index).then_some((index, resource, typed))
        })
    }

    /// As [`RuleContext::typed`], only resources without errors, with their canonical attributes.
    pub(crate) fn desired(&self) -> impl Iterator<Item = (usize, &'a CatalogResource, &Desired)> {
        self.typed()
            .filter_map(|(index, resource, typed)| Some((index, resource, typed.desired.as_ref()?)))
    }
}

/// The value of the namevar, for types with a single namevar.
pub(crate) fn single_name(desired: &Desired) -> Option<String> {
    let mut names = desired.model.namevars();
    let name = names.next()?;
    if names.next().is_some() {
        return None;
    }
    let value = desired.attributes.get(name)?.unwrap_sensitive();
    value.scalar_text()
}

/// Catalogs with this many resources or more are checked on several threads.
const LARGE: usize = 2000;

fn type_resources(
    catalog: &Catalog,
    destinations: &[Destination],
    driver: Option<&Driver>,
    deviations: Deviations,
) -> Vec<Option<TypedResource>> {
    let typed = |(resource, destination): (&CatalogResource, &Destination)| {
        let model = destination.model()?;
        Some(type_resource(resource, model, driver, deviations))
    };
    let resources = catalog.resources.as_slice();
    if resources.len() < LARGE {
        resources.iter().zip(destinations).map(typed).collect()
    } else {
        let pairs: Vec<_> = resources.iter().zip(destinations).collect();
        parallel::map(&pairs, |pair| typed(*pair))
    }
}

fn type_resource(
    resource: &CatalogResource,
    model: &Arc<TypeModel>,
    driver: Option<&Driver>,
    deviations: Deviations,
) -> TypedResource {
    let is_own = |name: &Name| {
        !METAPARAMETERS.contains(&name.as_str()) || model.attributes.contains_key(name.as_str())
    };
    let mut supplied = Cow::Borrowed(&resource.parameters);
    if !supplied.keys().all(is_own) {
        supplied.to_mut().retain(|name, _| is_own(name));
    }
    let audited = audited_properties(&resource.parameters, model);
    let defaults = Defaults {
        except: &audited,
        puppet: !deviations.has(Deviation::PortStateStays),
    };
    let resolved = model
        .resolve_with(resource.reference.title(), &supplied, defaults)
        .and_then(|attributes| match driver {
            Some(driver) => driver.canonicalize(model, attributes),
            None => Ok(attributes),
        });
    let (desired, errors) = match resolved {
        Ok(attributes) => {
            let desired = Desired {
                reference: resource.reference.shared(),
                model: Arc::clone(model),
                attributes,
            };
            (Some(desired), Vec::new())
        }
        Err(errors) => (None, errors),
    };
    let problems = match (driver, &desired) {
        (Some(driver), Some(desired)) => driver.check(desired),
        _ => Vec::new(),
    };
    TypedResource {
        model: Arc::clone(model),
        desired,
        errors,
        problems,
    }
}
