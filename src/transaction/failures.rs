//! Failed vertices and their dependents (`docs/reference/transaction.md`, section 7).

use foldhash::{HashMap, HashSet};

use crate::catalog::node::NodeId;
use crate::graph::VertexId;

/// Failures of a run. Most runs have none.
#[derive(Debug, Default)]
pub(super) struct Failures {
    failed: HashSet<VertexId>,
    dependencies: HashMap<VertexId, Vec<NodeId>>,
}

/// Failed resources that messages have already named.
#[derive(Debug, Default)]
pub(super) struct AnnouncedFailures {
    pub(crate) by_resource: HashSet<NodeId>,
    pub(crate) by_class: HashSet<NodeId>,
    /// In a merged warning of a class.
    pub(crate) by_warning: HashSet<NodeId>,
}

impl Failures {
    pub(crate) fn is_empty(&self) -> bool {
        self.failed.is_empty()
    }

    /// Marks a vertex as failed, or as failed to restart.
    pub(crate) fn add(&mut self, id: VertexId) {
        self.failed.insert(id);
    }

    pub(crate) fn has(&self, id: VertexId) -> bool {
        self.failed.contains(&id)
    }

    /// Failed resources that a vertex depends on, directly or indirectly.
    pub(crate) fn dependencies(&self, id: VertexId) -> &[NodeId] {
        self.dependencies.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn set_dependencies(&mut self, id: VertexId, failed: Vec<NodeId>) {
        if !failed.is_empty() {
            self.dependencies.insert(id, failed);
        }
    }
}
