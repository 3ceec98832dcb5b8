//! Containment edges, resolved while they are read.

use std::borrow::Cow;

use switchtender_devices::diagnostic::Diagnostic;

use crate::catalog::compiled::CatalogResource;
use crate::catalog::index::ResourceIndex;
use crate::catalog::load_error::LoadErrors;
use crate::catalog::wire::WireEdge;

/// The containment edges that were read so far.
#[derive(Default)]
pub(super) struct Containment<'a> {
    pub(crate) edges: Vec<(usize, usize)>,
    count: usize,
    /// The last container: edges of one container usually follow each other.
    container: (Cow<'a, str>, Option<usize>),
    /// The next expected content: contents usually have the order of the resources.
    next: usize,
}

impl<'a> Containment<'a> {
    pub(crate) fn add(
        &mut self,
        edge: &WireEdge<'a>,
        names: &ResourceIndex,
        resources: &[CatalogResource],
        errors: &mut LoadErrors,
    ) {
        let index = self.count;
        self.count += 1;
        if edge.source.0 != self.container.0 {
            self.container = (edge.source.0.clone(), names.find(&edge.source.0));
        }
        let is_next = |content: &CatalogResource| content.reference.as_str() == edge.target.0;
        let content = if resources.get(self.next).is_some_and(is_next) {
            Some(self.next)
        } else {
            names.find(&edge.target.0)
        };
        self.next = content.map_or(self.next, |content| content + 1);
        let mut missing = |role: &str, text: &str| {
            errors.add(
                Diagnostic::error(
                    "catalog-edge",
                    format!("{role} of a containment edge is not in the catalog: {text}"),
                ),
                format!("Could not intern from data: Could not find relationship {role} {text:?}"),
                vec!["edges".into(), index.into(), role.into()],
            );
        };
        if self.container.1.is_none() {
            missing("source", &edge.source.0);
        }
        if content.is_none() {
            missing("target", &edge.target.0);
        }
        if let (Some(container), Some(content)) = (self.container.1, content) {
            self.edges.push((container, content));
        }
    }
}
