//! Converts the resources of a catalog to typed ones (`docs/reference/transaction.md`, section 2, steps 5 to
//! 9).
//!
//! Attributes are assigned in the order of the type, then defaults, then the resource is validated.
//! Names are registered, default resources added, and relationships resolved. All errors are
//! collected; the message of the result is the first one, as in Puppet.

mod conversion;
mod defaults;
mod resource_error;
mod type_lookup;

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source};
use switchtender_devices::model::canonical::ValueError;
use switchtender_devices::model::{RunsOn, TypeModel};
use switchtender_devices::value::Attributes;

use self::conversion::Conversion;
pub(crate) use self::conversion::{GeneratedResourceError, convert_generated};
use self::defaults::{SCHEDULES, add_defaults};
use self::resource_error::ResourceError;
use self::type_lookup::TypeLookup;
use super::Level;
use super::compiled::{Catalog, manifest_position};
use super::load_error::{LoadError, LoadErrors, LoadMessage};
use super::redact::hides_value;
use super::resources::{Resources, node_id};
use super::types::TypeSource;
use crate::compat::{Deviation, Deviations};

/// The context of the conversion.
pub struct Typing<'a> {
    /// Finds the type of each resource.
    pub types: &'a dyn TypeSource,
    /// Brings attributes that the model has resolved into the platform's canonical form.
    pub canonicalize: &'a dyn Fn(&TypeModel, Attributes) -> Result<Attributes, ValueError>,
    /// Whether Puppet's schedules (`daily` and so on) are added.
    pub default_schedules: bool,
    /// The differences from Puppet 7 that apply.
    pub deviations: Deviations,
}

/// Converts every resource of a catalog to its type.
///
/// # Errors
/// With all errors of types, attributes, names and relationships.
pub fn convert(catalog: Catalog, typing: &Typing) -> Result<Resources, LoadError> {
    convert_canonical(catalog, typing, Vec::new())
}

/// As [`convert`], with canonical attributes that the caller already has, in the order of the
/// catalog.
///
/// # Errors
/// As [`convert`].
pub(crate) fn convert_canonical(
    mut catalog: Catalog,
    typing: &Typing,
    canonical: Vec<Option<Attributes>>,
) -> Result<Resources, LoadError> {
    let mut canonical = canonical.into_iter();
    let source = Arc::clone(&catalog.source);
    let mut errors = LoadErrors::new(&source);
    let declared = std::mem::take(&mut catalog.resources);
    let mut edges = std::mem::take(&mut catalog.edges);
    let format = catalog.format;
    let mut resources = Resources::of(catalog, declared.len() + SCHEDULES.len() + 1);
    let mut found_types = TypeLookup::default();
    // The number of resources before the first error.
    let mut right = 0;
    for (index, mut declared) in declared.into_iter().enumerate() {
        let ty = found_types.find(&declared, format, typing);
        let mut converting = Conversion {
            declared: &mut declared,
            typing,
            resources: &mut resources,
            messages: Vec::new(),
            canonical: canonical.next().flatten(),
        };
        let added = ty
            .and_then(|ty| converting.node(ty))
            .map(|node| (node, std::mem::take(&mut converting.messages)))
            .and_then(|(node, messages)| match resources.add(node) {
                Ok(id) => {
                    for (level, message) in messages {
                        if !typing.deviations.has(Deviation::PathsAreComplete) {
                            resources.nodes[id.index()].cut_path = true;
                        }
                        resources.messages.push((level, id, message));
                    }
                    Ok(())
                }
                Err(collision) => Err(ResourceError::new(
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
            Err(error) => {
                error.report(&declared, index, &mut errors);
                resources.add_refused(&declared);
            }
        }
    }
    // Contents have the order of the resources, not of the edges.
    edges.sort_by_key(|(_, content)| *content);
    for (container, content) in edges {
        resources.contain(node_id(container), node_id(content));
    }
    let is_secret = |type_name: &str, attribute: &str| {
        let found = typing.types.find(type_name);
        let device = found.filter(|found| found.model.runs_on != RunsOn::Host);
        device.is_some_and(|found| hides_value(&found.model, attribute))
    };
    if let Err(mut error) = errors.finish(&is_secret) {
        error.add_messages(resources, right);
        return Err(error);
    }
    add_defaults(&mut resources, typing);
    if let Err(id) = resources.build_paths() {
        let message = format!("{} contains itself", resources.node(id).reference);
        return Err(LoadError {
            diagnostics: vec![
                Diagnostic::error("containment-cycle", message.clone())
                    .in_manifest(resources.node(id).position.clone()),
            ],
            messages: Vec::new(),
            message,
            readable: None,
        });
    }
    match check_relations(&source, &mut resources, &is_secret) {
        Ok(()) => Ok(resources),
        Err(mut error) => {
            error.add_messages(resources, right);
            Err(error)
        }
    }
}

impl LoadError {
    /// Adds the messages about resources before the first error.
    fn add_messages(&mut self, mut resources: Resources, before: usize) {
        // A containment cycle leaves some resources without a path. It is reported elsewhere.
        let _ = resources.build_paths();
        for (level, id, message) in std::mem::take(&mut resources.messages) {
            let node = resources.node(id);
            if id.index() >= before {
                continue;
            }
            let mut warning =
                Diagnostic::warning("loading", format!("{}: {message}", node.reference))
                    .in_manifest(node.position.clone());
            warning.severity = match level {
                Level::Err => Severity::Error,
                _ => Severity::Warning,
            };
            self.diagnostics.push(warning);
            self.messages.push(LoadMessage {
                level,
                source: node.source(),
                tags: node.tags.clone(),
                position: node.position.clone(),
                message,
            });
        }
    }
}

/// Verifies that the target of every relationship exists (step 9).
fn check_relations(
    source: &Arc<Source>,
    resources: &mut Resources,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Result<(), LoadError> {
    resources.relate_all();
    let mut errors = LoadErrors::new(source);
    for (id, relation, other) in resources.unrelated() {
        let node = resources.node(*id);
        let role = if relation.is_inward() {
            "dependency"
        } else {
            "dependent"
        };
        let name = relation.name();
        let diagnostic = Diagnostic::error(
            "missing-reference",
            format!(
                "{}: target of {name} is not in the catalog: {other}",
                node.reference
            ),
        )
        .in_manifest(node.position.clone());
        errors.add(
            diagnostic,
            format!(
                "Could not find {role} {other} for {}{}",
                node.reference,
                manifest_position(node.position.as_ref())
            ),
            vec![
                "resources".into(),
                id.index().into(),
                "parameters".into(),
                name.into(),
            ],
        );
    }
    errors.finish(is_secret)
}
