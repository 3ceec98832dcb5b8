//! Traverses the graph (`docs/reference/transaction.md`, section 4, *Traversal*).

use std::sync::Arc;

use switchtender_devices::names::TypeName;

use crate::catalog::Level;
use crate::compat::Deviation;
use crate::graph::{ReadyQueue, Vertex, VertexId};

use super::event::{RunEvent, Skip};
use super::run::{Transaction, TransactionError};

impl Transaction<'_> {
    /// Traverses the graph. Returns whether all vertices were evaluated.
    pub(super) async fn traverse(&mut self) -> Result<bool, TransactionError> {
        let mut ready = ReadyQueue::new(&self.graph);
        let mut deferred = Vec::new();
        let mut progress = false;
        let mut is_providerless: Vec<TypeName> = Vec::new();
        let mut stopped = (self.stop)();
        self.notice_disconnect();
        while !stopped && let Some(id) = ready.pop() {
            if self.is_suitable(id) {
                progress = true;
                self.evaluate_vertex(id, &mut ready).await?;
                self.notice_disconnect();
                ready.finish(&self.graph, id);
            } else {
                deferred.push(id);
            }
            if ready.is_empty() && !deferred.is_empty() {
                for id in std::mem::take(&mut deferred) {
                    if progress {
                        ready.enqueue(&self.graph, id);
                    } else {
                        self.fail_unsuitable(id, &mut is_providerless);
                        ready.finish(&self.graph, id);
                    }
                }
                progress = false;
            }
            stopped = (self.stop)() || self.stops_after_failure();
        }
        self.warn_about_tags();
        self.warn_about_disconnect();
        let mut cancelled = false;
        if stopped {
            if !deferred.is_empty() && self.deviations.has(Deviation::StoppedRunFails) {
                cancelled = true;
                for id in deferred {
                    self.cancel(id);
                    ready.finish(&self.graph, id);
                }
            }
            while let Some(id) = ready.pop() {
                cancelled = true;
                self.cancel(id);
                ready.finish(&self.graph, id);
            }
        }
        for type_name in is_providerless {
            self.log(
                Level::Err,
                format!("Could not find a suitable provider for {type_name}"),
            );
        }
        let incomplete = cancelled && self.deviations.has(Deviation::StoppedRunFails);
        Ok(!incomplete)
    }

    fn stops_after_failure(&self) -> bool {
        self.settings.stop_at_failure && !self.progress.failures.is_empty()
    }

    /// Skips the remaining resources if the connection broke.
    fn notice_disconnect(&mut self) {
        if self.progress.disconnected.is_none() {
            self.progress.disconnected = self.provider.disconnected().map(Arc::from);
        }
    }

    /// Reports a broken connection once, not per resource. The error was logged by the resource, or
    /// by the read, in which it broke.
    fn warn_about_disconnect(&mut self) {
        let resources = match self.progress.skipped_after_disconnect {
            0 => return,
            1 => "1 resource is".to_owned(),
            count => format!("{count} resources are"),
        };
        self.log(
            Level::Warning,
            format!("nothing more is sent: {resources} skipped"),
        );
    }

    fn is_suitable(&self, id: VertexId) -> bool {
        let Vertex::Resource(node) = self.graph.vertex(id) else {
            return true;
        };
        self.resources.resource(node).is_none_or(|resource| {
            resource.ty.behavior.is_providerless()
                || self.is_never_applied(node)
                || self.provider.supports(resource.model()).is_ok()
        })
    }

    /// Warns about tags of the run that no resource has.
    fn warn_about_tags(&mut self) {
        if !self.deviations.has(Deviation::SilentErrorsWarn) {
            return;
        }
        let has_tag = |tag: &str| {
            self.graph.ids().any(|id| match self.graph.vertex(id) {
                Vertex::Resource(node) => {
                    let node = self.resources.node(node);
                    !node.is_default && node.tags.iter().any(|own| **own == *tag)
                }
                _ => false,
            })
        };
        let unknown: Vec<&str> = self
            .settings
            .tags
            .iter()
            .filter(|tag| !has_tag(tag))
            .collect();
        if !unknown.is_empty() {
            let tags = unknown.join(", ");
            self.log(Level::Warning, format!("no resource has the tags {tags}"));
        }
    }

    /// Fails a resource without a suitable provider.
    fn fail_unsuitable(&mut self, id: VertexId, is_providerless: &mut Vec<TypeName>) {
        let Vertex::Resource(node) = self.graph.vertex(id) else {
            return;
        };
        let Some(model) = self
            .resources
            .resource(node)
            .map(|resource| Arc::clone(resource.model()))
        else {
            return;
        };
        let mut status = self.new_status(node);
        if !self.is_deselected(id) {
            if !is_providerless.contains(&model.name) {
                is_providerless.push(model.name.clone());
            }
            status.failed = true;
            self.progress.failures.add(id);
            if self.deviations.has(Deviation::NoProviderHasEvent) {
                let mut message = format!("Could not find a suitable provider for {}", model.name);
                if let Err(reason) = self.provider.supports(&model) {
                    message = format!("{message}: {reason}");
                }
                status.add(self.error_event(message));
            }
        }
        self.sink.emit(RunEvent::Resource(Arc::new(status)));
    }

    fn cancel(&mut self, id: VertexId) {
        self.log_vertex(id, Level::Debug, "Transaction canceled, skipping");
        if let Vertex::Resource(node) = self.graph.vertex(id) {
            let mut status = self.new_status(node);
            status.skipped = Some(Skip::Stopped);
            self.sink.emit(RunEvent::Resource(Arc::new(status)));
        }
    }

    /// Evaluates one vertex, from prefetch to refresh.
    async fn evaluate_vertex(
        &mut self,
        id: VertexId,
        ready: &mut ReadyQueue,
    ) -> Result<(), TransactionError> {
        let vertex = self.graph.vertex(id);
        if let Vertex::Resource(node) = vertex {
            self.prefetch_if_needed(id, node).await;
            self.eval_generate(id, ready);
        }
        self.progress.evaluated_count += 1;
        let (number, total) = (self.progress.evaluated_count, self.graph.len());
        if let Vertex::Resource(node) = vertex {
            let reference = self.resources.node(node).reference.clone();
            self.sink.emit(RunEvent::Evaluating {
                reference,
                number,
                total,
            });
        }
        if self.settings.evaltrace {
            self.log_vertex(
                id,
                Level::Info,
                format!("Starting to evaluate the resource ({number} of {total})"),
            );
        }
        let start = self.settings.evaltrace.then(|| self.now());
        let result = self.eval(id).await;
        if let (Some(start), Ok(())) = (start, &result) {
            let elapsed = self.now().duration_since(start).as_secs_f64();
            self.log_vertex(
                id,
                Level::Info,
                format!("Evaluated in {elapsed:.2} seconds"),
            );
        }
        self.end_status(id);
        result
    }

    /// Emits the status of the resource that was evaluated.
    pub(super) fn end_status(&mut self, id: VertexId) {
        if let Some((node, status)) = self.progress.status.take() {
            // A skipped resource is still needed for the prefetch of its type, and a generator
            // until its children are evaluated.
            let is_over =
                status.skipped.is_none() && !self.progress.generated_counts.contains_key(&id);
            if matches!(status.skipped, Some(Skip::Reason(_))) && !status.is_default {
                self.progress.skipped_after_disconnect += 1;
            }
            let status = Arc::new(status);
            self.progress.evaluated.add(node, &status);
            self.sink.emit(RunEvent::Resource(status));
            self.progress.desired.remove(node);
            if is_over {
                self.resources.release(node);
            }
        }
    }

    /// Section 7, from step 3 on.
    async fn eval(&mut self, id: VertexId) -> Result<(), TransactionError> {
        let vertex = self.graph.vertex(id);
        if self.needs_events(id) {
            self.commit_staged().await;
        }
        if let Vertex::Resource(node) = vertex {
            let status = self.new_status(node);
            self.progress.status = Some((node, status));
            let reference = self.resources.node(node).reference.shared();
            self.progress.memory_index = self.memory.index_of(&reference);
        }
        self.propagate_failure(id);
        if let Some(skip) = self.skip(id)? {
            if let Some(status) = self.status_mut(id) {
                status.skipped = Some(skip);
            }
            self.log_vertex(
                id,
                Level::Debug,
                "Resource is being skipped, unscheduling all events",
            );
            self.drop_events(id);
            if let Vertex::Resource(_) = vertex {
                self.carry_history_over();
            }
            return Ok(());
        }
        if let Vertex::Resource(node) = vertex {
            self.evaluate(id, node).await;
            if self.hold_staged() {
                return Ok(());
            }
            self.end_evaluation(id);
        }
        self.process_events(id).await;
        Ok(())
    }

    /// Records the failure of a resource, or queues its events.
    pub(super) fn end_evaluation(&mut self, id: VertexId) {
        if self.status(id).is_some_and(|status| status.failed) {
            self.progress.failures.add(id)
        } else {
            self.queue_own_events(id)
        }
    }

    /// Keeps the history of a skipped resource.
    fn carry_history_over(&mut self) {
        let history = self.memory.history(self.progress.memory_index);
        if !history.is_empty() {
            self.progress
                .histories
                .push((self.progress.memory_index, history.clone()));
        }
    }
}
