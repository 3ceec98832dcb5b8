//! From declared resources to typed ones (`docs/transaction.md`, section 2, steps 5 to 9).
//!
//! Attributes are assigned in the type's order, then defaults, then the resource as a whole is
//! checked; names are registered, default resources added, relationships looked up. All errors are
//! collected; the message of the whole is the one that Puppet would have stopped at.

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source};
use switchtender_devices::model::canonical::ValueError;
use switchtender_devices::model::{AttributeModel, Role, TypeModel};
use switchtender_devices::value::{Attributes, Name, Value};

use super::Level;
use super::load::{Catalog, Declared, Findings, Kind, LoadError, Position, Told, position};
use super::metaparameters::{self, Relations, add_tag, kept_tags, valid_tag};
use super::position::Segment;
use super::resource::{Metaparameters, Relation, Resource};
use super::resource_ref::ResourceRef;
use super::resources::{NewNode, Resources, node_id, sorted_names};
use super::types::{self, NewResource, ResourceType, TypeSource, Values};
use crate::deviations::{Deviation, Deviations};

/// What typing needs besides the catalog.
pub struct Typing<'a> {
    pub types: &'a dyn TypeSource,
    /// The platform's canonical form of attributes that the model has resolved.
    pub canonicalize: &'a dyn Fn(&TypeModel, Attributes) -> Result<Attributes, ValueError>,
    /// Whether Puppet's schedules (`daily` and so on) are added.
    pub default_schedules: bool,
    pub deviations: &'a Deviations,
}

/// Gives every resource of a catalog its type.
///
/// # Errors
/// With every finding about types, attributes, names and relationships.
pub fn convert(catalog: Catalog, typing: &Typing) -> Result<Resources, LoadError> {
    convert_known(catalog, typing, Vec::new())
}

/// As [`convert`], where the canonical attributes of some resources, in the order of the catalog,
/// have been worked out before: models and platform are not asked again.
///
/// # Errors
/// As [`convert`].
pub fn convert_known(
    mut catalog: Catalog,
    typing: &Typing,
    known: Vec<Option<Attributes>>,
) -> Result<Resources, LoadError> {
    let mut known = known.into_iter();
    let source = Arc::clone(&catalog.source);
    let mut findings = Findings::new(&source);
    let declared = std::mem::take(&mut catalog.resources);
    let mut edges = std::mem::take(&mut catalog.edges);
    let format = catalog.format;
    let mut resources = Resources::of(catalog, declared.len() + SCHEDULES.len() + 1);
    let mut found_types = FoundTypes::default();
    // Before the first that is wrong.
    let mut right = 0;
    for (index, mut declared) in declared.into_iter().enumerate() {
        let ty = found_types.find(&declared, format, typing);
        let mut converting = Converting {
            declared: &mut declared,
            typing,
            resources: &mut resources,
            messages: Vec::new(),
            known: known.next().flatten(),
        };
        let added = ty
            .and_then(|ty| converting.node(ty))
            .map(|node| (node, std::mem::take(&mut converting.messages)))
            .and_then(|(node, messages)| match resources.add(node) {
                Ok(id) => {
                    for (level, message) in messages {
                        if !typing.deviations.take(Deviation::PathsAreWhole) {
                            resources.nodes[id.index()].cut_path = true;
                        }
                        resources.messages.push((level, id, message));
                    }
                    Ok(())
                }
                Err(collision) => Err(Finding::whole(
                    if collision.duplicate {
                        "duplicate"
                    } else {
                        "alias"
                    },
                    collision.message,
                )),
            });
        match added {
            Ok(()) if right == index => right += 1,
            Ok(()) => {}
            Err(finding) => {
                finding.report(&declared, index, &mut findings);
                resources.add_refused(&declared);
            }
        }
    }
    // Contents in the order of the resources, whatever the order of the edges.
    edges.sort_by_key(|(_, content)| *content);
    for (container, content) in edges {
        resources.contain(node_id(container), node_id(content));
    }
    if let Err(mut error) = findings.finish() {
        error.tell(resources, right);
        return Err(error);
    }
    add_defaults(&mut resources, typing);
    if let Err(id) = resources.build_paths() {
        let message = format!("{} contains itself", resources.node(id).reference);
        return Err(LoadError {
            diagnostics: vec![
                Diagnostic::error("containment-cycle", message.clone())
                    .in_manifest(resources.node(id).place.clone()),
            ],
            told: Vec::new(),
            message,
            readable: None,
        });
    }
    match check_relations(&source, &mut resources) {
        Ok(()) => Ok(resources),
        Err(mut error) => {
            error.tell(resources, right);
            Err(error)
        }
    }
}

impl LoadError {
    /// Adds what there is to say of the resources that were added before one that is wrong.
    fn tell(&mut self, mut resources: Resources, before: usize) {
        // A container that contains itself leaves some without a path; that is told another time.
        let _ = resources.build_paths();
        for (level, id, message) in std::mem::take(&mut resources.messages) {
            let node = resources.node(id);
            if id.index() >= before {
                continue;
            }
            let mut warning =
                Diagnostic::warning("loading", format!("{}: {message}", node.reference))
                    .in_manifest(node.place.clone());
            warning.severity = match level {
                Level::Err => Severity::Error,
                _ => Severity::Warning,
            };
            self.diagnostics.push(warning);
            self.told.push(Told {
                level,
                source: node.source(),
                tags: node.tags.clone(),
                place: node.place.clone(),
                message,
            });
        }
    }
}

/// Types by the name that resources have, each looked up once.
#[derive(Default)]
struct FoundTypes {
    known: foldhash::HashMap<String, Option<ResourceType>>,
}

impl FoundTypes {
    /// The type of a resource; `None` for a container.
    fn find(
        &mut self,
        declared: &Declared,
        format: u64,
        typing: &Typing,
    ) -> Result<Option<ResourceType>, Finding> {
        let type_name = declared.reference.type_name();
        if matches!(type_name, "Stage" | "Class") {
            return Ok(None);
        }
        let by_name = format < 2 || declared.kind == Kind::Missing;
        if !by_name && declared.kind != Kind::Compilable {
            return Ok(None);
        }
        let found = match self.known.get(type_name) {
            Some(known) => known.clone(),
            None => {
                let found = typing.types.find(&type_name.to_lowercase());
                self.known.insert(type_name.to_owned(), found.clone());
                found
            }
        };
        if format >= 2 && declared.kind == Kind::Missing {
            let typed = found.is_some() && typing.deviations.take(Deviation::KindlessIsTyped);
            return Ok(if typed { found } else { None });
        }
        match found {
            Some(found) => Ok(Some(found)),
            None if by_name => Ok(None),
            None if typing.deviations.take(Deviation::UnknownTypeFailsResource) => {
                Ok(Some(types::unknown(&type_name.to_lowercase())))
            }
            None => Err(Finding::whole(
                "unknown-type",
                format!("Resource type '{type_name}' was not found"),
            )),
        }
    }
}

/// Something wrong with one resource.
struct Finding {
    code: &'static str,
    attribute: Option<Box<str>>,
    /// Puppet's words.
    message: String,
    /// Ours, if they differ.
    summary: Option<Box<str>>,
    help: Option<Box<str>>,
    further: Vec<Finding>,
}

impl Finding {
    fn whole(code: &'static str, message: String) -> Self {
        Self {
            code,
            attribute: None,
            message,
            summary: None,
            help: None,
            further: Vec::new(),
        }
    }

    fn attribute(name: &str, message: String) -> Self {
        Self {
            attribute: Some(name.into()),
            ..Self::whole("attribute", message)
        }
    }

    fn report(self, declared: &Declared, index: usize, findings: &mut Findings) {
        let mut path: Vec<Segment> = vec!["resources".into(), index.into()];
        if let Some(name) = &self.attribute {
            path.push("parameters".into());
            path.push((&**name).into());
        }
        let summary = self.summary.map(String::from).unwrap_or_else(|| {
            // The place is told apart from the message.
            let position = declared.position();
            let mut text = self.message.as_str();
            while let Some(rest) = text
                .strip_suffix(position.as_str())
                .filter(|_| !position.is_empty())
            {
                text = rest;
            }
            text.to_owned()
        });
        let mut diagnostic =
            Diagnostic::error(self.code, summary).in_manifest(declared.place.clone());
        diagnostic.help = self.help.map(String::from);
        findings.add(diagnostic, self.message, path);
        for finding in self.further {
            finding.report(declared, index, findings);
        }
    }
}

/// Metaparameters, and relationships among them.
type Meta = (Metaparameters, Relations);

/// One declared resource on its way.
struct Converting<'a, 'b> {
    declared: &'a mut Declared,
    typing: &'a Typing<'b>,
    resources: &'a mut Resources,
    messages: Vec<(Level, String)>,
    /// Its canonical attributes, where they are known.
    known: Option<Attributes>,
}

impl Converting<'_, '_> {
    fn node(&mut self, ty: Option<ResourceType>) -> Result<NewNode, Finding> {
        let reference = self.declared.reference.clone();
        let mut tags = std::mem::take(&mut self.declared.tags);
        let mut place = self.declared.place.clone();
        let api = ty
            .as_ref()
            .is_some_and(|ty| ty.behaviour.values() == Values::ResourceApi);
        let mut intern = |tag: &str| self.resources.intern_tag(tag);
        if api && !self.typing.deviations.take(Deviation::ResourceApiKeepsTags) {
            tags.clear();
            own_tags(&mut tags, &reference, &mut intern);
        } else {
            tags = kept_tags(tags, &mut intern);
        }
        if api
            && place.is_some()
            && !self
                .typing
                .deviations
                .take(Deviation::ResourceApiKeepsPosition)
        {
            place = None;
        }
        let at = Position(place.as_ref());
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
            reference,
            place,
            tags,
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

    fn meta(&self, ty: Option<&ResourceType>, at: Position<'_>) -> Result<Meta, Finding> {
        let reference = &self.declared.reference;
        metaparameters::read(&self.declared.parameters, reference, |name| {
            let own = match ty {
                Some(ty) => ty.behaviour.open() || ty.model.attributes.contains_key(name),
                None => name == "name",
            };
            own || metaparameters::NAMES.contains(&name)
        })
        .map_err(|bad| {
            let own = if bad.positioned { at } else { Position(None) };
            Finding::attribute(
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
    ) -> Result<(Resource, Meta), Finding> {
        let reference = self.declared.reference.clone();
        if ty.behaviour.values() == Values::Canonical {
            let attributes = self.canonical_attributes(&ty.model, at)?;
            let mut resource = Resource::canonical(ty, reference, attributes);
            let meta = self.meta(Some(&resource.ty), at)?;
            for name in self.audited(&resource, &meta.0) {
                resource.audit(&name);
            }
            resource.names = names_beside_title(&resource);
            return Ok((resource, meta));
        }

        let mut resource = Resource::unassigned(ty, reference);
        let given = given(&resource, self.declared)?;
        let model = Arc::clone(&resource.ty.model);
        for role in [Role::Namevar, Role::Property, Role::Parameter] {
            for attribute in in_role(&model, role) {
                if let Some(value) = given.get(&attribute.name) {
                    self.assign(&mut resource, attribute, value, at)?;
                }
            }
        }
        let meta = self.meta(Some(&resource.ty), at)?;
        for name in given.keys() {
            if model.attributes.contains_key(name) || metaparameters::NAMES.contains(&name.as_str())
            {
                continue;
            }
            if resource.ty.behaviour.open() {
                resource.assign_parameter(name.clone(), given[name].clone());
            } else {
                return Err(unknown_attribute(&model, name));
            }
        }
        let audited = self.audited(&resource, &meta.0);
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
                let Some(default) = resource.ty.behaviour.default(attribute, &name, managed) else {
                    continue;
                };
                if audited.contains(&attribute.name)
                    && !self.typing.deviations.take(Deviation::AuditKeepsDefaults)
                {
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
        if let Err(message) = resource.ty.behaviour.validate(&resource) {
            return Err(Finding::whole(
                "validation",
                format!(
                    "Validation of {} failed: {message}{at}",
                    self.declared.reference
                ),
            ));
        }
        self.mark_sensitive(&mut resource);
        Ok((resource, meta))
    }

    /// Names that `audit` makes properties of.
    fn audited(&self, resource: &Resource, meta: &Metaparameters) -> Vec<Name> {
        let model = &resource.ty.model;
        if meta.audit == ["all"] {
            return model.properties().map(|one| one.name.clone()).collect();
        }
        let property = |name: &&Name| model.properties().any(|attribute| attribute.name == **name);
        meta.audit.iter().filter(property).cloned().collect()
    }

    /// Model and platform say what canonical attributes are.
    fn canonical_attributes(
        &mut self,
        model: &Arc<TypeModel>,
        at: Position<'_>,
    ) -> Result<Attributes, Finding> {
        let given = self.take_attributes(model);
        let reference = &self.declared.reference;
        if let Some((name, _)) = given.iter().find(|(_, value)| **value == Value::Undef) {
            return Err(Finding::attribute(
                name,
                format!("Got nil value for {name}"),
            ));
        }
        let finding = |error: ValueError| {
            let message = if model.attributes.contains_key(error.attribute.as_str()) {
                format!(
                    "Parameter {} failed on {reference}: {}{at}",
                    error.attribute, error.message
                )
            } else {
                format!("no parameter named '{}'", error.attribute)
            };
            Finding {
                summary: Some(
                    format!("{reference}: {}: {}", error.attribute, error.message).into(),
                ),
                help: error.help.map(Into::into),
                ..Finding::attribute(&error.attribute, message)
            }
        };
        if let Some(attributes) = self.known.take() {
            return Ok(attributes);
        }
        let resolved = model.resolve(reference.title(), &given);
        let resolved = resolved.map_err(|errors| {
            let mut errors = errors.into_iter().map(&finding);
            let mut first = errors.next().expect("a failure has an error");
            first.further = errors.collect();
            first
        })?;
        (self.typing.canonicalize)(model, resolved).map_err(&finding)
    }

    /// What is given besides metaparameters; these stay.
    fn take_attributes(&mut self, model: &TypeModel) -> Attributes {
        let mut given = std::mem::take(&mut self.declared.parameters);
        given.retain(|name, value| {
            if !metaparameters::NAMES.contains(&name.as_str()) {
                return true;
            }
            // A type may have an attribute of such a name, as f5_monitor has `provider`.
            let both = model.attributes.contains_key(name);
            let value = match both {
                true => value.clone(),
                false => std::mem::replace(value, Value::Undef),
            };
            self.declared.parameters.insert(name.clone(), value);
            both
        });
        given
    }

    fn assign(
        &self,
        resource: &mut Resource,
        attribute: &AttributeModel,
        value: &Value,
        at: Position<'_>,
    ) -> Result<(), Finding> {
        let name = &attribute.name;
        let values = resource.ty.behaviour.values();
        // Resource API types must be told that a value is wrapped, others get what is in it.
        let value = match values {
            Values::ResourceApi => value,
            _ => value.unwrap_sensitive(),
        };
        if *value.unwrap_sensitive() == Value::Undef {
            return Err(Finding::attribute(
                name,
                format!("Got nil value for {name}"),
            ));
        }
        let failed = |message: String| {
            Finding::attribute(
                name,
                format!(
                    "Parameter {name} failed on {}: {message}{at}",
                    self.declared.reference
                ),
            )
        };
        let munge = |value: &Value| resource.ty.behaviour.munge(resource, attribute, value);
        match attribute.role {
            Role::ReadOnly => Err(failed(format!(
                "Attempting to set `{name}` read_only attribute value to `{}`",
                value.ruby_to_s()
            ))),
            Role::Property | Role::InitOnly => {
                let wanted = match (values, value) {
                    (Values::Classic, Value::List(items)) => {
                        items.iter().map(munge).collect::<Result<Vec<_>, _>>()
                    }
                    _ => munge(value).map(|value| vec![value]),
                };
                let wanted = wanted.map_err(failed)?;
                let sensitive = matches!(value, Value::Sensitive(_));
                resource.assign_property(name.clone(), wanted, sensitive);
                Ok(())
            }
            Role::Namevar | Role::Parameter => {
                let value = munge(value).map_err(failed)?;
                resource.assign_parameter(name.clone(), value);
                Ok(())
            }
        }
    }

    /// Marks what the compiler named as sensitive (section 2, *Sensitive marking*).
    fn mark_sensitive(&mut self, resource: &mut Resource) {
        for name in &self.declared.sensitive {
            let unable = format!("Unable to mark '{name}' as sensitive: ");
            if resource.mark_sensitive(name) {
                continue;
            }
            let (level, why) = match resource.ty.model.attributes.get(name.as_str()) {
                Some(attribute) if attribute.is_property() => (
                    Level::Warning,
                    "the property itself was not assigned a value.".to_owned(),
                ),
                found if found.is_some() || metaparameters::NAMES.contains(&name.as_str()) => (
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
            self.messages.push((level, unable + &why));
        }
    }
}

/// The catalog's parameters over what the title says.
fn given(resource: &Resource, declared: &Declared) -> Result<Attributes, Finding> {
    let model = &resource.ty.model;
    let title = declared.reference.title();
    let mut given = model.names(title);
    if !model.titles.is_empty() && given.is_empty() {
        return Err(Finding::whole(
            "title",
            format!("No set of title patterns matched the title \"{title}\"."),
        ));
    }
    for (name, value) in &declared.parameters {
        given.insert(name.clone(), value.clone());
    }
    Ok(given)
}

fn in_role(model: &TypeModel, role: Role) -> impl Iterator<Item = &AttributeModel> {
    model.attributes.values().filter(move |attribute| {
        attribute.role == role
            || (role == Role::Property && attribute.role == Role::InitOnly)
            || (role == Role::Parameter && attribute.role == Role::ReadOnly)
    })
}

fn unknown_attribute(model: &TypeModel, name: &str) -> Finding {
    let known = model.attributes.keys().map(|name| name.as_str());
    Finding {
        summary: Some(format!("{} has no attribute `{name}`", model.name).into()),
        help: switchtender_devices::diagnostic::nearest(name, known)
            .map(|known| format!("did you mean `{known}`?").into()),
        ..Finding::attribute(name, format!("no parameter named '{name}'"))
    }
}

fn is_managed(resource: &Resource) -> bool {
    resource.properties().any(|(name, _)| {
        let wanted = resource.wanted(name);
        !matches!(wanted.as_deref(), None | Some(Value::Bool(false)))
    })
}

/// The values of the namevars; none where there is one and it is the title.
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
    tags: &mut Vec<Arc<str>>,
    reference: &ResourceRef,
    intern: &mut impl FnMut(&str) -> Arc<str>,
) {
    add_tag(tags, reference.type_name(), intern);
    if valid_tag(reference.title()) {
        add_tag(tags, reference.title(), intern);
    }
}

/// A resource that another one makes, not yet in the catalog.
pub(crate) fn made(
    new: &NewResource,
    ty: ResourceType,
    typing: &Typing,
    resources: &mut Resources,
) -> Result<NewNode, String> {
    let mut declared = Declared {
        reference: ResourceRef::new(&new.type_name, &new.title),
        kind: Kind::Compilable,
        tags: Vec::new(),
        place: None,
        exported: false,
        parameters: new.parameters.clone(),
        sensitive: Vec::new(),
    };
    let mut converting = Converting {
        declared: &mut declared,
        typing,
        resources,
        messages: Vec::new(),
        known: None,
    };
    let mut node = converting
        .node(Some(ty))
        .map_err(|finding| finding.message)?;
    let mut tags = Vec::new();
    own_tags(&mut tags, &node.reference, &mut |tag| {
        resources.intern_tag(tag)
    });
    for tag in node.tags {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    node.tags = tags;
    Ok(node)
}

/// Title, period and repetitions of the schedules that every run has.
const SCHEDULES: [(&str, &str, i64); 6] = [
    ("puppet", "hourly", 2),
    ("hourly", "hourly", 1),
    ("daily", "daily", 1),
    ("weekly", "weekly", 1),
    ("monthly", "monthly", 1),
    ("never", "never", 1),
];

/// Resources that every run has: schedules, if wanted, and the file bucket (step 8).
fn add_defaults(resources: &mut Resources, typing: &Typing) {
    let mut defaults = Vec::new();
    if typing.default_schedules {
        for (title, period, repeat) in SCHEDULES {
            let parameters = [
                ("period".to_owned(), Value::from(period)),
                ("repeat".to_owned(), repeat.into()),
            ];
            defaults.push(NewResource {
                type_name: "schedule".to_owned(),
                title: title.to_owned(),
                parameters: parameters.into_iter().collect(),
            });
        }
    }
    defaults.push(NewResource {
        type_name: "filebucket".to_owned(),
        title: "puppet".to_owned(),
        parameters: Attributes::default(),
    });
    for new in defaults {
        let Some(ty) = typing
            .types
            .find(&new.type_name)
            .or_else(|| types::built_in(&new.type_name))
        else {
            continue;
        };
        let node = made(&new, ty, typing, resources).expect("the defaults are valid");
        if resources.find(&node.reference).is_none() {
            let id = resources
                .add(node)
                .unwrap_or_else(|_| unreachable!("the name is free and there is no alias"));
            resources.nodes[id.index()].is_default = true;
        }
    }
}

/// Every reference of a relationship must lead somewhere (step 9).
fn check_relations(source: &Arc<Source>, resources: &mut Resources) -> Result<(), LoadError> {
    resources.relate_all();
    let mut findings = Findings::new(source);
    for (id, relation, other) in resources.unrelated() {
        let node = resources.node(*id);
        let what = if relation.inward() {
            "dependency"
        } else {
            "dependent"
        };
        let name = Relation::ALL.iter().find(|(known, _)| known == relation);
        let name = name.map_or("", |(_, name)| name);
        let diagnostic = Diagnostic::error(
            "missing-reference",
            format!(
                "{}: {name} names {other}, which is not in the catalog",
                node.reference
            ),
        )
        .in_manifest(node.place.clone());
        findings.add(
            diagnostic,
            format!(
                "Could not find {what} {other} for {}{}",
                node.reference,
                position(node.place.as_ref())
            ),
            vec![
                "resources".into(),
                id.index().into(),
                "parameters".into(),
                name.into(),
            ],
        );
    }
    findings.finish()
}
