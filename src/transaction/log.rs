//! Log messages of a run and their sources (`docs/reference/transaction.md`, section 17, *Log entry*).

use jiff::Timestamp;

use crate::catalog::Level;
use crate::catalog::node::Tags;
use crate::graph::{Vertex, VertexId};

use super::event::{LogEntry, LogKind};
use super::run::Transaction;

/// The source of messages that are not about a resource.
pub(super) const PUPPET: &str = "Puppet";

impl Transaction<'_> {
    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Logs a message about the run.
    pub(super) fn log(&mut self, level: Level, message: impl Into<String>) {
        let entry = LogEntry {
            level,
            message: message.into(),
            source: PUPPET.to_owned(),
            tags: Tags::default(),
            time: self.now(),
            file: None,
            line: None,
            kind: LogKind::Other,
        };
        self.sink.emit(entry.into());
    }

    /// Logs a message about a vertex: a resource, or the marker of a container.
    pub(super) fn log_vertex(&mut self, id: VertexId, level: Level, message: impl Into<String>) {
        let vertex = self.graph.vertex(id);
        let source = match vertex {
            Vertex::Resource(node) => self.resources.node(node).source(),
            marker => marker.display_name(&self.resources),
        };
        self.log_from(id, source, level, message.into());
    }

    /// Logs a message about a property.
    pub(super) fn log_property(
        &mut self,
        id: VertexId,
        property: &str,
        level: Level,
        message: impl Into<String>,
    ) {
        let entry = self.property_entry(id, property, level, message.into());
        self.sink.emit(entry.into());
    }

    /// A message about a property.
    pub(super) fn property_entry(
        &self,
        id: VertexId,
        property: &str,
        level: Level,
        message: String,
    ) -> LogEntry {
        let mut source = self.path(self.graph.vertex(id).node());
        source.reserve_exact(property.len() + 1);
        source.push('/');
        source.push_str(property);
        self.entry_from(id, source, level, message)
    }

    pub(super) fn log_from(&mut self, id: VertexId, source: String, level: Level, message: String) {
        let entry = self.entry_from(id, source, level, message);
        self.sink.emit(entry.into());
    }

    fn entry_from(&self, id: VertexId, source: String, level: Level, message: String) -> LogEntry {
        let vertex = self.graph.vertex(id);
        let node = self.resources.node(vertex.node());
        // A container has a position, but its markers have none.
        let position = node.position.as_ref().filter(|_| !vertex.is_marker());
        LogEntry {
            level,
            message,
            source,
            tags: node.tags.clone(),
            time: self.now(),
            file: position.map(|position| position.file.clone()),
            line: position.map(|position| position.line),
            kind: LogKind::Other,
        }
    }

    pub(super) fn path(&self, node: crate::catalog::node::NodeId) -> String {
        self.resources.node(node).full_path()
    }
}
