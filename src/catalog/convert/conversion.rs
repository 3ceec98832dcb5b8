//! Converts one declared resource: assigns, checks and marks its attributes (`docs/reference/transaction.md`,
//! section 2, steps 5 to 7).

use std::sync::Arc;

use switchtender_devices::diagnostic::did_you_mean;
use switchtender_devices::model::canonical::{Defaults, ValueError};
use switchtender_devices::model::view::METAPARAMETERS;
use switchtender_devices::model::{AttributeModel, Role, TypeModel};
use switchtender_devices::value::{Attributes, Value};

use super::Typing;
use super::resource_error::ResourceError;
use crate::catalog::Level;
use crate::catalog::compiled::{CatalogResource, Position, ResourceKind};
use crate::catalog::metaparameters::{self, Relations, add_tag, is_valid_tag, normalize_tags};
use crate::catalog::node::Metaparameters;
use crate::catalog::resource::Resource;
use crate::catalog::resource_ref::ResourceRef;
use crate::catalog::resources::{NewNode, Resources, sorted_names};
use crate::catalog::tag_list::TagList;
use crate::catalog::types::{BehaviorError, NewResource, ResourceType, ValueStyle};
use crate::compat::Deviation;

/// Metaparameters and relationships.
type Meta = (Metaparameters, Relations);

/// One declared resource during its conversion.
pub(super) struct Conversion<'a, 'b> {
    pub(crate) declared: &'a mut CatalogResource,
    pub(crate) typing: &'a Typing<'b>,
    pub(crate) resources: &'a mut Resources,
    pub(crate) messages: Vec<(Level, String)>,
    /// Its canonical attributes, if the caller has them.
    pub(crate) canonical: Option<Attributes>,
}

impl Conversion<'_, '_> {
    pub(crate) fn node(&mut self, ty: Option<ResourceType>) -> Result<NewNode, ResourceError> {
        let reference = self.declared.reference.clone();
        let declared_tags = std::mem::take(&mut self.declared.tags);
        let mut position = self.declared.position.clone();
        let api = ty.as_ref().is_some_and(ResourceType::is_resource_api);
        let mut intern = |tag: &str| self.resources.intern_tag(tag);
        let mut tags = TagList::default();
        let keeps_tags = self.typing.deviations.has(Deviation::ResourceApiKeepsTags);
        // Catalogs by hand have none.
        if (api && !keeps_tags) || (keeps_tags && declared_tags.is_empty()) {
            own_tags(&mut tags, &reference, &mut intern);
        } else {
            tags = normalize_tags(declared_tags, &mut intern);
        }
        if api
            && position.is_some()
            && !self
                .typing
                .deviations
                .has(Deviation::ResourceApiKeepsPosition)
        {
            position = None;
        }
        let at = Position(position.as_ref());
        let (resource, (meta, relations)) = match ty {
            None => (None, self.meta(None, at)?),
            Some(ty) => {
                let (resource, meta) = self.resource(ty, at)?;
                (Some(resource), meta)
            }
        };
        let mut intern = |tag: &str| self.resources.intern_tag(tag);
        for tag in &meta.tags {
            add_tag(&mut tags, tag, &mut intern);
        }
        Ok(NewNode {
            is_virtual: self.declared.is_virtual,
            reference,
            position,
            tags: tags.into_vec(),
            meta,
            relations,
            name: match &resource {
                Some(_) => None,
                None => self
                    .declared
                    .parameters
                    .get("name")
                    .and_then(|name| name.unwrap_sensitive().as_str())
                    .map(str::to_owned),
            },
            resource,
        })
    }

    fn meta(&self, ty: Option<&ResourceType>, at: Position<'_>) -> Result<Meta, ResourceError> {
        let reference = &self.declared.reference;
        metaparameters::read(&self.declared.parameters, reference, |name| {
            let own = match ty {
                Some(ty) => ty.behavior.open() || ty.model.attributes.contains_key(name),
                None => name == "name",
            };
            own || METAPARAMETERS.contains(&name)
        })
        .map_err(|bad| {
            let own = if bad.positioned { at } else { Position(None) };
            ResourceError::attribute(
                bad.name,
                format!(
                    "Parameter {} failed on {reference}: {}{own}{at}",
                    bad.name, bad.message
                ),
            )
        })
    }

    fn resource(
        &mut self,
        ty: ResourceType,
        at: Position<'_>,
    ) -> Result<(Resource, Meta), ResourceError> {
        let reference = self.declared.reference.clone();
        if ty.behavior.values() == ValueStyle::Canonical {
            let attributes = self.canonical_attributes(&ty.model, at)?;
            let mut resource = Resource::canonical(ty, reference, attributes);
            let meta = self.meta(Some(&resource.ty), at)?;
            for name in metaparameters::audited(&self.declared.parameters, &resource.ty.model) {
                resource.audit(&name);
            }
            resource.names = names_beside_title(&resource);
            return Ok((resource, meta));
        }

        let mut resource = Resource::unassigned(ty, reference);
        let supplied = supplied(&resource, self.declared)?;
        let model = Arc::clone(&resource.ty.model);
        for role in [Role::Namevar, Role::Property, Role::Parameter] {
            for attribute in in_role(&model, role) {
                if let Some(value) = supplied.get(&attribute.name) {
                    self.assign(&mut resource, attribute, value, at)?;
                }
            }
        }
        let meta = self.meta(Some(&resource.ty), at)?;
        for name in supplied.keys() {
            if model.attributes.contains_key(name) || METAPARAMETERS.contains(&name.as_str()) {
                continue;
            }
            if resource.ty.behavior.open() {
                resource.assign_parameter(name.clone(), supplied[name].clone());
            } else {
                return Err(unknown_attribute(&model, name));
            }
        }
        let audited = metaparameters::audited(&self.declared.parameters, &model);
        resource.names = names_beside_title(&resource);
        let name = resource.name().to_owned();
        for role in [Role::Namevar, Role::Property, Role::Parameter] {
            for attribute in in_role(&model, role) {
                if resource.parameter(&attribute.name).is_some()
                    || resource.property(&attribute.name).is_some()
                {
                    continue;
                }
                let managed = is_managed(&resource);
                let Some(default) = resource.ty.behavior.default(attribute, &name, managed) else {
                    continue;
                };
                if audited.contains(&attribute.name) {
                    continue;
                }
                self.assign(&mut resource, attribute, &default, at)?;
            }
        }
        for name in audited {
            resource.audit(&name);
        }
        resource.names = names_beside_title(&resource);
        resource.sort();
        if let Err(error) = resource.ty.behavior.validate(&resource) {
            return Err(ResourceError::new(
                "validation",
                format!(
                    "Validation of {} failed: {error}{at}",
                    self.declared.reference
                ),
            ));
        }
        self.mark_sensitive(&mut resource);
        Ok((resource, meta))
    }

    /// Model and platform define the canonical attributes.
    fn canonical_attributes(
        &mut self,
        model: &Arc<TypeModel>,
        at: Position<'_>,
    ) -> Result<Attributes, ResourceError> {
        let supplied = self.take_attributes(model);
        let reference = &self.declared.reference;
        if let Some((name, _)) = supplied.iter().find(|(_, value)| **value == Value::Undef) {
            return Err(ResourceError::attribute(
                name,
                format!("Got nil value for {name}"),
            ));
        }
        let error = |error: ValueError| {
            let message = if model.attributes.contains_key(error.attribute.as_str()) {
                format!(
                    "Parameter {} failed on {reference}: {}{at}",
                    error.attribute, error.message
                )
            } else {
                format!("no parameter named '{}'", error.attribute)
            };
            ResourceError {
                summary: Some(
                    format!("{reference}: {}: {}", error.attribute, error.message).into(),
                ),
                help: error.help.map(Into::into),
                ..ResourceError::attribute(&error.attribute, message)
            }
        };
        if let Some(attributes) = self.canonical.take() {
            return Ok(attributes);
        }
        let audited = metaparameters::audited(&self.declared.parameters, model);
        let defaults = Defaults {
            except: &audited,
            puppet: !self.typing.deviations.has(Deviation::PortStateStays),
        };
        let resolved = model.resolve_with(reference.title(), &supplied, defaults);
        let resolved = resolved.map_err(|errors| {
            let mut errors = errors.into_iter().map(&error);
            let mut first = errors.next().expect("a failure has an error");
            first.further = errors.collect();
            first
        })?;
        (self.typing.canonicalize)(model, resolved).map_err(&error)
    }

    /// The attributes other than metaparameters.
    fn take_attributes(&mut self, model: &TypeModel) -> Attributes {
        let mut supplied = std::mem::take(&mut self.declared.parameters);
        supplied.retain(|name, value| {
            if !METAPARAMETERS.contains(&name.as_str()) {
                return true;
            }
            // A type can have an attribute with the name of a metaparameter: f5_monitor has
            // `provider`.
            let both = model.attributes.contains_key(name);
            let value = if both {
                value.clone()
            } else {
                std::mem::replace(value, Value::Undef)
            };
            self.declared.parameters.insert(name.clone(), value);
            both
        });
        supplied
    }

    fn assign(
        &self,
        resource: &mut Resource,
        attribute: &AttributeModel,
        value: &Value,
        at: Position<'_>,
    ) -> Result<(), ResourceError> {
        let name = &attribute.name;
        let values = resource.ty.behavior.values();
        // Resource API types get the wrapped value, other types its content.
        let value = match values {
            ValueStyle::ResourceApi => value,
            _ => value.unwrap_sensitive(),
        };
        if *value.unwrap_sensitive() == Value::Undef {
            return Err(ResourceError::attribute(
                name,
                format!("Got nil value for {name}"),
            ));
        }
        let failed = |message: String| {
            ResourceError::attribute(
                name,
                format!(
                    "Parameter {name} failed on {}: {message}{at}",
                    self.declared.reference
                ),
            )
        };
        let munge = |value: &Value| resource.ty.behavior.munge(resource, attribute, value);
        match attribute.role {
            Role::ReadOnly => Err(failed(format!(
                "Attempting to set `{name}` read_only attribute value to `{}`",
                value.ruby_to_s()
            ))),
            Role::Property | Role::InitOnly => {
                let desired: Result<Vec<_>, BehaviorError> = match (values, value) {
                    (ValueStyle::Classic, Value::List(items)) => items.iter().map(munge).collect(),
                    _ => munge(value).map(|value| vec![value]),
                };
                let sensitive = matches!(value, Value::Sensitive(_));
                resource.assign_property(
                    name.clone(),
                    desired.map_err(|error| failed(error.0))?,
                    sensitive,
                );
                Ok(())
            }
            Role::Namevar | Role::Parameter => {
                let value = munge(value).map_err(|error| failed(error.0))?;
                resource.assign_parameter(name.clone(), value);
                Ok(())
            }
        }
    }

    /// Marks the attributes that the compiler named as sensitive (section 2, *Sensitive marking*).
    fn mark_sensitive(&mut self, resource: &mut Resource) {
        for name in &self.declared.sensitive {
            let unable = format!("Unable to mark '{name}' as sensitive: ");
            if resource.mark_sensitive(name) {
                continue;
            }
            let (level, reason) = match resource.ty.model.attributes.get(name.as_str()) {
                Some(attribute) if attribute.is_property() => (
                    Level::Warning,
                    "the property itself was not assigned a value.".to_owned(),
                ),
                found if found.is_some() || METAPARAMETERS.contains(&name.as_str()) => (
                    Level::Warning,
                    format!(
                        "{name} is a parameter and not a property, and cannot be automatically redacted."
                    ),
                ),
                _ => (
                    Level::Err,
                    format!(
                        "the property itself is not defined on {}.",
                        resource.ty.model.name
                    ),
                ),
            };
            self.messages.push((level, unable + &reason));
        }
    }
}

/// Parameters of the catalog take precedence over values from the title.
fn supplied(resource: &Resource, declared: &CatalogResource) -> Result<Attributes, ResourceError> {
    let model = &resource.ty.model;
    let title = declared.reference.title();
    let mut supplied = model.names(title);
    if !model.titles.is_empty() && supplied.is_empty() {
        return Err(ResourceError::new(
            "title",
            format!("No set of title patterns matched the title \"{title}\"."),
        ));
    }
    for (name, value) in &declared.parameters {
        supplied.insert(name.clone(), value.clone());
    }
    Ok(supplied)
}

fn in_role(model: &TypeModel, role: Role) -> impl Iterator<Item = &AttributeModel> {
    model.attributes.values().filter(move |attribute| {
        attribute.role == role
            || (role == Role::Property && attribute.role == Role::InitOnly)
            || (role == Role::Parameter && attribute.role == Role::ReadOnly)
    })
}

fn unknown_attribute(model: &TypeModel, name: &str) -> ResourceError {
    let names = model.attributes.keys().map(|name| name.as_str());
    ResourceError {
        summary: Some(format!("{} has no attribute `{name}`", model.name).into()),
        help: did_you_mean(name, names).map(Into::into),
        ..ResourceError::attribute(name, format!("no parameter named '{name}'"))
    }
}

fn is_managed(resource: &Resource) -> bool {
    resource.properties().any(|(name, _)| {
        let desired = resource.desired(name);
        !matches!(desired.as_deref(), None | Some(Value::Bool(false)))
    })
}

/// The values of the namevars; empty if the only one equals the title.
fn names_beside_title(resource: &Resource) -> Vec<String> {
    let mut namevars = resource.ty.model.namevars();
    if let (Some(name), None) = (namevars.next(), namevars.next()) {
        let value = resource.parameter(name);
        let other = value.filter(|value| value.as_str() != Some(resource.reference.title()));
        return other.map(Value::ruby_to_s).into_iter().collect();
    }
    let names: Attributes = resource
        .ty
        .model
        .namevars()
        .filter_map(|name| Some((name.to_owned(), resource.parameter(name)?.clone())))
        .collect();
    sorted_names(&names)
}

fn own_tags(
    tags: &mut TagList,
    reference: &ResourceRef,
    intern: &mut impl FnMut(&str) -> Arc<str>,
) {
    add_tag(tags, reference.type_name(), intern);
    if is_valid_tag(reference.title()) {
        add_tag(tags, reference.title(), intern);
    }
}

/// Why a generated resource is invalid, in Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct GeneratedResourceError(String);

/// Converts a generated resource. The caller adds it to the catalog.
pub(crate) fn convert_generated(
    new: &NewResource,
    ty: ResourceType,
    typing: &Typing,
    resources: &mut Resources,
) -> Result<NewNode, GeneratedResourceError> {
    let mut declared = CatalogResource {
        reference: ResourceRef::new(&new.type_name, &new.title),
        kind: ResourceKind::Compilable,
        tags: Vec::new(),
        position: None,
        is_virtual: false,
        parameters: new.parameters.clone(),
        sensitive: Vec::new(),
    };
    let mut converting = Conversion {
        declared: &mut declared,
        typing,
        resources,
        messages: Vec::new(),
        canonical: None,
    };
    let mut node = converting
        .node(Some(ty))
        .map_err(|error| GeneratedResourceError(error.message))?;
    let mut tags = TagList::default();
    let mut intern = |tag: &str| resources.intern_tag(tag);
    own_tags(&mut tags, &node.reference, &mut intern);
    for tag in &node.tags {
        tags.add(tag, &mut intern);
    }
    node.tags = tags.into_vec();
    Ok(node)
}
