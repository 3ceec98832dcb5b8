//! Event queues and refreshes (`docs/reference/transaction.md`, section 11).

use switchtender_devices::model::Refresh;

use crate::catalog::Level;
use crate::catalog::types::ValueStyle;
use crate::compat::Deviation;
use crate::graph::{Vertex, VertexId};

use super::event::{Event, EventStatus, OperationRecord};
use super::run::Transaction;

/// Events that wait for a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventQueue {
    count: u64,
    /// Events other than noop events.
    real: u64,
}

/// Events of one name from one source.
#[derive(Clone, Copy)]
struct EventGroup {
    count: u64,
    real: u64,
}

impl Transaction<'_> {
    /// Queues the events of a resource for its subscribers.
    pub(super) fn queue_own_events(&mut self, id: VertexId) {
        let Some(status) = self.status(id) else {
            return;
        };
        let counts = |event: &&Event| {
            event.status != EventStatus::Audit
                || !self.deviations.has(Deviation::AuditDoesNotRefresh)
        };
        let mut groups: Vec<(&str, EventGroup)> = Vec::new();
        for event in status.events.iter().filter(counts) {
            let real = u64::from(event.status != EventStatus::Noop);
            match groups.iter_mut().find(|(name, _)| *name == event.name) {
                Some((_, group)) => {
                    group.count += 1;
                    group.real += real;
                }
                None => groups.push((&event.name, EventGroup { count: 1, real })),
            }
        }
        let invalidates = status
            .events
            .iter()
            .any(|event| event.invalidates_refreshes);
        let groups: Vec<EventGroup> = groups.into_iter().map(|(_, group)| group).collect();
        if !groups.is_empty() {
            self.log_without_refresh(id);
        }
        for group in groups {
            self.deliver(id, group);
        }
        if invalidates {
            let name = self.graph.vertex(id).display_name(&self.resources);
            self.log_vertex(id, Level::Info, format!("Unscheduling refresh on {name}"));
            if let Some(queue) = self.progress.queues.get_mut(&id) {
                *queue = EventQueue::default();
            }
        }
    }

    /// Logs the targets of `notify` and `subscribe` on a device that have no refresh.
    fn log_without_refresh(&mut self, source: VertexId) {
        if self.graph.vertex(source).is_marker() {
            return;
        }
        let edges = self.graph.edges.outgoing(source);
        let targets = edges.filter(|(_, counts)| counts.refresh > 0);
        let targets: Vec<VertexId> = targets
            .map(|(target, _)| target)
            .filter(|target| match self.graph.vertex(*target) {
                Vertex::Resource(node) => self.resources.resource(node).is_some_and(|resource| {
                    resource.ty.behavior.values() == ValueStyle::Canonical
                        && resource.model().refresh == Refresh::No
                }),
                _ => false,
            })
            .collect();
        for target in targets {
            let name = self.graph.vertex(target).display_name(&self.resources);
            self.log_vertex(source, Level::Info, format!("{name} has no refresh action"));
        }
    }

    fn deliver(&mut self, source: VertexId, group: EventGroup) {
        let refreshes: Vec<(VertexId, u16)> = self
            .graph
            .edges
            .outgoing(source)
            .map(|(target, counts)| (target, counts.refresh))
            .filter(|(target, count)| *count > 0 && self.refreshes(*target))
            .collect();
        for (target, count) in refreshes {
            for _ in 0..count {
                self.queue(source, target, group);
            }
        }
        if self.refreshes_self(source) {
            // Only the first event of a group.
            let one = EventGroup {
                count: 1,
                real: group.real.min(1),
            };
            self.queue(source, source, one);
        }
    }

    pub(super) fn refreshes(&self, id: VertexId) -> bool {
        match self.graph.vertex(id) {
            Vertex::Resource(node) => self
                .resources
                .resource(node)
                .is_some_and(|resource| resource.model().refresh != Refresh::No),
            _ => true,
        }
    }

    fn refreshes_self(&self, id: VertexId) -> bool {
        let Vertex::Resource(node) = self.graph.vertex(id) else {
            return false;
        };
        self.resources.resource(node).is_some_and(|resource| {
            let removed = resource.purged
                || resource
                    .desired("ensure")
                    .is_some_and(|ensure| ensure.as_str() == Some("absent"));
            resource.model().refresh == Refresh::ItselfToo && !removed
        })
    }

    /// Whether events wait for a vertex, or its own changes refresh it.
    pub(super) fn is_refreshed(&self, id: VertexId) -> bool {
        let queue = self.progress.queues.get(&id);
        queue.is_some_and(|queue| queue.count > 0) || self.refreshes_self(id)
    }

    /// Whether a resource or a container of the catalog refreshes another one.
    pub(super) fn has_refreshes(&self) -> bool {
        let is_inner = |source: VertexId, target: VertexId| {
            let (source, target) = (self.graph.vertex(source), self.graph.vertex(target));
            target.completes() || source.is_marker() && !source.completes()
        };
        let mut targets = self.graph.ids().filter(|id| self.refreshes(*id));
        targets.any(|target| {
            let mut edges = self.graph.edges.incoming(target);
            edges.any(|(source, counts)| counts.refresh > 0 && !is_inner(source, target))
        })
    }

    fn queue(&mut self, source: VertexId, target: VertexId, group: EventGroup) {
        let vertex = self.graph.vertex(target);
        let name = vertex.display_name(&self.resources);
        if vertex.completes() {
            let message = format!("The container {name} will propagate my refresh event");
            self.log_vertex(source, Level::Debug, message);
        } else {
            self.log_vertex(source, Level::Info, format!("Scheduling refresh of {name}"));
        }
        let queue = self.progress.queues.entry(target).or_default();
        queue.count += group.count;
        queue.real += group.real;
    }

    /// Drops the events that wait for a skipped vertex.
    pub(super) fn drop_events(&mut self, id: VertexId) {
        if self.progress.queues.remove(&id).is_some() {
            let name = self.graph.vertex(id).display_name(&self.resources);
            self.log_vertex(
                id,
                Level::Info,
                format!("Unscheduling all events on {name}"),
            );
        }
    }

    /// Refreshes a vertex once if events wait for it.
    pub(super) async fn process_events(&mut self, id: VertexId) {
        let Some(queue) = self
            .progress
            .queues
            .get(&id)
            .copied()
            .filter(|queue| queue.count > 0)
        else {
            return;
        };
        let vertex = self.graph.vertex(id);
        let events = match queue.count {
            1 => "1 event".to_owned(),
            count => format!("{count} events"),
        };
        let noop = self.is_noop(vertex.node());
        if queue.real == 0 || noop {
            let message = format!("Would have triggered 'refresh' from {events}");
            self.log_vertex(id, Level::Notice, message);
            self.deliver(id, EventGroup { count: 1, real: 0 });
            return;
        }
        if let Vertex::Resource(node) = vertex
            && let Some(resource) = self.resources.resource(node)
        {
            let desired = self.progress.desired.get(node, resource);
            let Some(refreshed) = self.provider.refresh(&desired).await else {
                let message = format!(
                    "a refresh has no action on {}: {events} ignored",
                    self.provider_name
                );
                self.log_vertex(id, Level::Info, message);
                return;
            };
            let records = refreshed.operations.into_iter();
            let records = records.map(|(operation, result)| OperationRecord {
                operation,
                result: Some((result.outcome, result.duration)),
            });
            self.emit_operations(id, node, records.collect());
            if let Some(error) = refreshed.failure {
                self.failed_refresh(id, &error.message);
                return;
            }
            let message = format!("Triggered 'refresh' from {events}");
            self.log_vertex(id, Level::Notice, message.clone());
            let event = self.new_event("refresh", EventStatus::Success, message);
            if let Some(status) = self.status_mut(id) {
                status.add(event);
                status.restarted = true;
            }
        }
        self.deliver(id, EventGroup { count: 1, real: 1 });
    }

    fn failed_refresh(&mut self, id: VertexId, message: &str) {
        let text = format!("Failed to call refresh: {message}");
        self.log_vertex(id, Level::Err, text.clone());
        let event = self.error_event(text);
        if let Some(status) = self.status_mut(id) {
            status.failed_to_restart = true;
            status.add(event);
        }
        self.progress.failures.add(id);
        self.log_vertex(id, Level::Err, message);
    }
}
