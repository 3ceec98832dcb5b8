//! The graph of a catalog that is drawn and not applied. What a broken catalog contains is drawn, too.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source};
use switchtender_devices::driver::{Facts, Registry};

use crate::catalog::{self, Loading};
use crate::graph::{self, Drawing};
use crate::validate::{self, Policy, ReferenceIndex, RuleContext, TargetResolver};

/// Maximum number of resources in a graph of the complete catalog. A larger graph is not readable.
pub(crate) const LARGEST: usize = 300;

/// The graph of a catalog.
pub(crate) struct CatalogGraph {
    pub(crate) drawing: Drawing,
    /// Finds the node of a reference.
    pub(crate) index: ReferenceIndex,
    /// What `validate` calls errors.
    pub(crate) errors: Vec<Diagnostic>,
}

impl CatalogGraph {
    /// Reads a catalog.
    ///
    /// # Errors
    /// No part of it is readable.
    pub(crate) fn read(source: &Arc<Source>, registry: &Registry) -> Result<Self, Vec<Diagnostic>> {
        let (catalog, damaged, mut errors) = match catalog::load(source, &Loading::default()) {
            Ok(catalog) => (catalog, BTreeSet::new(), Vec::new()),
            Err(error) => match error.readable {
                Some(readable) => (readable.catalog, readable.damaged, error.diagnostics),
                None => return Err(error.diagnostics),
            },
        };
        let target = TargetResolver::default().resolve(&catalog, registry, &Facts::default());
        let policy = Policy::default();
        let context = RuleContext::new(&catalog, registry, &policy, &target).without(damaged);
        context.mask(&mut errors);
        errors.extend(validate::check(&context));
        errors.retain(|found| found.severity == Severity::Error);
        Ok(Self {
            drawing: validate::draw(&context),
            index: context.index,
            errors,
        })
    }
}

/// The graph of the complete catalog as an SVG image.
///
/// # Errors
/// Why it is not drawn.
pub(crate) fn complete_svg(source: &Arc<Source>, registry: &Registry) -> Result<String, String> {
    let graph = CatalogGraph::read(source, registry).map_err(|findings| {
        let first = findings.into_iter().next();
        first.map_or_else(
            || "the catalog is invalid".to_owned(),
            |found| found.message,
        )
    })?;
    match graph.drawing.nodes.len() {
        count if count > LARGEST => Err(too_large(count)),
        _ => Ok(graph::svg(&graph.drawing)),
    }
}

/// The error about a complete graph of so many resources.
pub(crate) fn too_large(count: usize) -> String {
    format!("cannot draw {count} resources and containers: the limit is {LARGEST}")
}
