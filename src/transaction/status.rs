//! The status of the resource under evaluation, and its events without a property.

use std::sync::Arc;

use crate::catalog::node::NodeId;
use crate::graph::{Vertex, VertexId};

use super::event::{Event, EventStatus, ResourceStatus};
use super::run::Transaction;

impl Transaction<'_> {
    pub(super) fn status(&self, id: VertexId) -> Option<&ResourceStatus> {
        let vertex = self.graph.vertex(id);
        self.progress
            .status
            .as_ref()
            .filter(|(node, _)| vertex == Vertex::Resource(*node))
            .map(|(_, status)| status)
    }

    pub(super) fn status_mut(&mut self, id: VertexId) -> Option<&mut ResourceStatus> {
        let vertex = self.graph.vertex(id);
        self.progress
            .status
            .as_mut()
            .filter(|(node, _)| vertex == Vertex::Resource(*node))
            .map(|(_, status)| status)
    }

    pub(super) fn new_status(&self, node: NodeId) -> ResourceStatus {
        let asks_provider = self
            .resources
            .resource(node)
            .is_some_and(|resource| !resource.ty.behavior.is_providerless());
        let node = self.resources.node(node);
        ResourceStatus {
            is_default: node.is_default,
            is_declared_noop: node.meta().noop == Some(true),
            file: node.position.as_ref().map(|position| position.file.clone()),
            line: node.position.as_ref().map(|position| position.line),
            provider: asks_provider.then(|| Arc::clone(&self.provider_name)),
            containment_path: Arc::clone(&node.path),
            tags: node.tags.clone(),
            time: self.now(),
            ..ResourceStatus::of(node.reference.clone())
        }
    }

    /// An event without a property.
    pub(super) fn new_event(
        &self,
        name: impl Into<String>,
        status: EventStatus,
        message: String,
    ) -> Event {
        Event {
            name: name.into(),
            property: None,
            previous_value: None,
            desired_value: None,
            historical_value: None,
            status,
            message: Some(message),
            audited: false,
            corrective_change: false,
            redacted: Some(false),
            time: self.now(),
            invalidates_refreshes: false,
        }
    }

    pub(super) fn error_event(&self, message: String) -> Event {
        self.new_event("resource_error", EventStatus::Failure, message)
    }
}
