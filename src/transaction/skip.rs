//! Reasons to skip a vertex, and the messages about them (`docs/reference/transaction.md`, section 7).

use std::sync::Arc;

use indexmap::IndexSet;
use switchtender_devices::model::RunsOn;

use crate::catalog::Level;
use crate::catalog::node::NodeId;
use crate::compat::Deviation;
use crate::graph::{Vertex, VertexId};

use super::event::Skip;
use super::run::{Transaction, TransactionError};
use super::schedule::ScheduleState;

impl Transaction<'_> {
    /// Collects the failed resources that a vertex depends on, from its direct predecessors.
    pub(super) fn propagate_failure(&mut self, id: VertexId) {
        if !self.progress.failures.is_empty() {
            let mut failed: IndexSet<NodeId> = IndexSet::new();
            for source in self.graph.edges.predecessors(id) {
                failed.extend(self.progress.failures.dependencies(source));
                if self.progress.failures.has(source) {
                    failed.insert(self.graph.vertex(source).node());
                }
            }
            let references = failed.iter();
            let references = references.map(|node| self.resources.node(*node).reference.clone());
            let references = references.collect();
            self.progress
                .failures
                .set_dependencies(id, failed.into_iter().collect());
            if let Some(status) = self.status_mut(id) {
                status.failed_dependencies = references;
            }
        }
        self.fail_if_prefetch_failed(id);
    }

    fn fail_if_prefetch_failed(&mut self, id: VertexId) {
        if self.progress.disconnected.is_some() {
            return;
        }
        let Vertex::Resource(node) = self.graph.vertex(id) else {
            return;
        };
        let Some(resource) = self.resources.resource(node) else {
            return;
        };
        let type_name = &resource.model().name;
        if self.progress.prefetched.get(type_name) == Some(&false) {
            let message = format!(
                "Prefetch failed for {type_name} provider '{}'",
                self.provider.name()
            );
            let event = self.error_event(message);
            if let Some(status) = self.status_mut(id) {
                status.add(event);
            }
            self.progress.failures.add(id);
        }
    }

    /// Whether the tags exclude the vertex from this run.
    pub(super) fn is_deselected(&self, id: VertexId) -> bool {
        let tags = &self.resources.node(self.graph.vertex(id).node()).tags;
        let settings = self.settings;
        settings.skip_tags.matches(tags)
            || (!settings.tags.is_empty() && !settings.tags.matches(tags))
    }

    /// Runs the checks in Puppet's order. Returns the first that applies.
    pub(super) fn skip(&mut self, id: VertexId) -> Result<Option<Skip>, TransactionError> {
        let vertex = self.graph.vertex(id);
        let tags = &self.resources.node(vertex.node()).tags;
        let settings = self.settings;
        if settings.skip_tags.matches(tags) {
            let message = format!("Skipping with skip tags {}", settings.skip_tags.render());
            self.log_vertex(id, Level::Debug, message);
            return Ok(Some(Skip::Tags));
        }
        if !settings.tags.is_empty() && !settings.tags.matches(tags) {
            let message = format!("Not tagged with {}", settings.tags.render());
            self.log_vertex(id, Level::Debug, message);
            return Ok(Some(Skip::Tags));
        }
        if let ScheduleState::NotNow = self.schedule_state(id)? {
            self.log_vertex(id, Level::Debug, "Not scheduled");
            return Ok(Some(Skip::Schedule));
        }
        if let Some(reason) = &self.progress.disconnected
            && !self.is_never_applied(vertex.node())
        {
            return Ok(Some(Skip::Reason(Arc::clone(reason))));
        }
        if !self.progress.failures.dependencies(id).is_empty() {
            self.log_failed_dependencies(id);
            return Ok(Some(Skip::FailedDependencies));
        }
        if self.progress.failures.has(id) {
            self.log_vertex(
                id,
                Level::Warning,
                "Skipping because provider prefetch failed",
            );
            return Ok(Some(Skip::PrefetchFailed));
        }
        if let Vertex::Resource(node) = vertex
            && self.resources.node(node).is_virtual
        {
            self.log_vertex(id, Level::Debug, "Skipping because virtual");
            return Ok(Some(Skip::Virtual));
        }
        let runs_on = match vertex {
            Vertex::Resource(node) => self
                .resources
                .resource(node)
                .map_or(RunsOn::Both, |resource| self.runs_on(resource)),
            _ if settings.for_device && !self.deviations.has(Deviation::ContainerEvents) => {
                RunsOn::Host
            }
            _ => RunsOn::Both,
        };
        if self.is_applied(runs_on) {
            return Ok(None);
        }
        let (message, skip) = if settings.for_device {
            (
                "Skipping host resources because running on a device",
                Skip::HostResource,
            )
        } else {
            (
                "Skipping device resources because running on a posix host",
                Skip::DeviceResource,
            )
        };
        self.log_vertex(id, Level::Debug, message);
        Ok(Some(skip))
    }

    fn log_failed_dependencies(&mut self, id: VertexId) {
        let merge = self.settings.merge_dependency_warnings;
        let vertex = self.graph.vertex(id);
        let dependencies = self.progress.failures.dependencies(id).to_vec();
        match vertex {
            Vertex::Resource(node) if merge => {
                let class = self
                    .resources
                    .container_of(node)
                    .and_then(|container| self.graph.ends(container))
                    .map(|(admissible, completed)| {
                        // The marker that is evaluated last represents the container.
                        if self.progress.failures.dependencies(completed).is_empty() {
                            admissible
                        } else {
                            completed
                        }
                    })
                    .filter(|class| !self.progress.failures.dependencies(*class).is_empty());
                let Some(class) = class else {
                    self.log_vertex(
                        id,
                        Level::Warning,
                        "Skipping because of failed dependencies",
                    );
                    return;
                };
                let source = self.path(self.graph.vertex(class).node());
                for dependency in self.progress.failures.dependencies(class).to_vec() {
                    if self.progress.announced.by_warning.insert(dependency) {
                        self.log_from(
                            class,
                            source.clone(),
                            Level::Warning,
                            "Skipping resources in class because of failed class dependencies"
                                .to_owned(),
                        );
                    }
                }
            }
            Vertex::Resource(_) => {
                for dependency in dependencies {
                    if self.progress.announced.by_resource.insert(dependency) {
                        let reference = self.resources.node(dependency).reference.to_string();
                        self.log_vertex(
                            id,
                            Level::Notice,
                            format!("Dependency {reference} has failures: true"),
                        );
                    }
                }
                self.log_vertex(
                    id,
                    Level::Warning,
                    "Skipping because of failed dependencies",
                );
            }
            _ if merge => {
                for dependency in dependencies {
                    if self.progress.announced.by_class.insert(dependency) {
                        let reference = self.resources.node(dependency).reference.to_string();
                        self.log_vertex(
                            id,
                            Level::Notice,
                            format!("Class dependency {reference} has failures: true"),
                        );
                    }
                }
            }
            _ => {}
        }
    }
}
