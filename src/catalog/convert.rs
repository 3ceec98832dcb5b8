//! From declared resources to typed ones (`docs/reference/transaction.md`, section 2, steps 5 to 9).
//!
//! Attributes are assigned in the type's order, then defaults, then the resource as a whole is
//! checked; names are registered, default resources added, relationships looked up. All errors are
//! collected; the message of the whole is the one that Puppet would have stopped at.

mod conversion;
mod defaults;
mod resource_error;
mod type_lookup;

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source};
use switchtender_devices::model::TypeModel;
use switchtender_devices::model::canonical::ValueError;
use switchtender_devices::value::Attributes;

use self::conversion::Conversion;
pub(crate) use self::conversion::convert_generated;
use self::defaults::{SCHEDULES, add_defaults};
use self::resource_error::ResourceError;
use self::type_lookup::TypeLookup;
use super::Level;
use super::compiled::{Catalog, position};
use super::load_error::{LoadError, LoadErrors, LoadMessage};
use super::resource::Relation;
use super::resources::{Resources, node_id};
use super::types::TypeSource;
use crate::compat::{Deviation, Deviations};

/// What typing needs besides the catalog.
pub struct Typing<'a> {
    pub types: &'a dyn TypeSource,
    /// The platform's canonical form of attributes that the model has resolved.
    pub canonicalize: &'a dyn Fn(&TypeModel, Attributes) -> Result<Attributes, ValueError>,
    /// Whether Puppet's schedules (`daily` and so on) are added.
    pub default_schedules: bool,
    pub deviations: Deviations,
}

/// Gives every resource of a catalog its type.
///
/// # Errors
/// With every finding about types, attributes, names and relationships.
pub fn convert(catalog: Catalog, typing: &Typing) -> Result<Resources, LoadError> {
    convert_canonical(catalog, typing, Vec::new())
}

/// As [`convert`], where the canonical attributes of some resources, in the order of the catalog,
/// have been worked out before: models and platform are not asked again.
///
/// # Errors
/// As [`convert`].
pub fn convert_canonical(
    mut catalog: Catalog,
    typing: &Typing,
    known: Vec<Option<Attributes>>,
) -> Result<Resources, LoadError> {
    let mut known = known.into_iter();
    let source = Arc::clone(&catalog.source);
    let mut findings = LoadErrors::new(&source);
    let declared = std::mem::take(&mut catalog.resources);
    let mut edges = std::mem::take(&mut catalog.edges);
    let format = catalog.format;
    let mut resources = Resources::of(catalog, declared.len() + SCHEDULES.len() + 1);
    let mut found_types = TypeLookup::default();
    // Before the first that is wrong.
    let mut right = 0;
    for (index, mut declared) in declared.into_iter().enumerate() {
        let ty = found_types.find(&declared, format, typing);
        let mut converting = Conversion {
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
                        if !typing.deviations.has(Deviation::PathsAreComplete) {
                            resources.nodes[id.index()].cut_path = true;
                        }
                        resources.messages.push((level, id, message));
                    }
                    Ok(())
                }
                Err(collision) => Err(ResourceError::whole(
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
    // Containment in the order of the resources, whatever the order of the edges.
    edges.sort_by_key(|(_, content)| *content);
    for (container, content) in edges {
        resources.contain(node_id(container), node_id(content));
    }
    if let Err(mut error) = findings.finish() {
        error.add_messages(resources, right);
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
            messages: Vec::new(),
            message,
            readable: None,
        });
    }
    match check_relations(&source, &mut resources) {
        Ok(()) => Ok(resources),
        Err(mut error) => {
            error.add_messages(resources, right);
            Err(error)
        }
    }
}

impl LoadError {
    /// Adds what there is to say of the resources that were added before one that is wrong.
    fn add_messages(&mut self, mut resources: Resources, before: usize) {
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
            self.messages.push(LoadMessage {
                level,
                source: node.source(),
                tags: node.tags.clone(),
                place: node.place.clone(),
                message,
            });
        }
    }
}

/// Every reference of a relationship must lead somewhere (step 9).
fn check_relations(source: &Arc<Source>, resources: &mut Resources) -> Result<(), LoadError> {
    resources.relate_all();
    let mut findings = LoadErrors::new(source);
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
