//! One run, from typed resources to the last event.

use std::sync::Arc;

use foldhash::HashMap;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use switchtender_devices::change::Desired;
use switchtender_devices::model::RunsOn;
use switchtender_devices::names::TypeName;
use switchtender_devices::provider::Provider;

use crate::catalog::node::{NodeId, Tags};
use crate::catalog::resource::Resource;
use crate::catalog::types::TypeSource;
use crate::catalog::{Level, LoadError, LoadMessage, Resources};
use crate::compat::{Deviation, Deviations};
use crate::graph::{self, Graph, Vertex, VertexId, cycle, dot};
use crate::route::HostResourcePolicy;

use super::desired_cache::DesiredCache;
use super::event::{LogEntry, LogKind, ResourceStatus, RunEvent, Sink};
use super::failures::{AnnouncedFailures, Failures};
use super::history::{History, Memory, MemoryIndex};
use super::refresh::EventQueue;
use super::settings::TransactionSettings;
use super::staged::StagedResources;
use super::verify::EvaluatedResources;

/// The input of a run.
pub struct Input<'a> {
    /// The catalog's resources, converted to their types.
    pub resources: Resources,
    /// For generated resources.
    pub types: &'a dyn TypeSource,
    /// Report changes without applying them. A resource's own `noop` takes precedence.
    pub noop: bool,
    /// The options of the run, such as tags.
    pub settings: &'a TransactionSettings,
    /// Returns the current time.
    pub clock: &'a (dyn Fn() -> Timestamp + Sync),
    /// The time zone of schedules.
    pub zone: TimeZone,
    /// State of earlier runs. It is updated in place, so that it is correct at any moment.
    pub memory: &'a mut Memory,
    /// Reads and changes the device.
    pub provider: &'a mut dyn Provider,
    /// Receives the events of the run.
    pub sink: &'a mut dyn Sink,
    /// Called before each resource; returns true to stop the run.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// The reason why a run ended early, in Puppet's words. It has been logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TransactionError {
    pub(crate) message: String,
}

/// Applies a catalog. The last event is always [`RunEvent::Finished`].
///
/// # Errors
/// The run cannot continue: the catalog has dependency cycles (or, with Puppet 7's behavior, an
/// unknown schedule).
///
/// # Cancellation
/// Must not be dropped: a change may be in progress. Stop it through [`Input::stop`]: the current
/// resource is completed, and the remaining ones are reported as skipped.
pub async fn run(input: Input<'_>) -> Result<(), TransactionError> {
    let mut run = Transaction {
        graph: Graph::default(),
        progress: Progress::default(),
        deviations: input.settings.deviations,
        resources: input.resources,
        types: input.types,
        noop: input.noop,
        settings: input.settings,
        clock: input.clock,
        zone: input.zone,
        memory: input.memory,
        provider_name: input.provider.name().into(),
        provider: input.provider,
        sink: input.sink,
        stop: input.stop,
    };
    let result = run.execute().await;
    let now = run.now();
    run.memory.expire(now);
    let (completed, error) = match &result {
        Ok(completed) => (*completed, None),
        Err(error) => {
            run.log(
                Level::Err,
                format!("Failed to apply catalog: {}", error.message),
            );
            (false, Some(error.message.clone()))
        }
    };
    let finished = RunEvent::Finished {
        completed,
        failed_to_generate: run.progress.failed_to_generate,
        error,
        time: now,
    };
    run.sink.emit(finished);
    result.map(drop)
}

/// A run: its input, the graph, and the progress so far.
pub(super) struct Transaction<'a> {
    pub(crate) resources: Resources,
    pub(crate) types: &'a dyn TypeSource,
    pub(crate) noop: bool,
    pub(crate) settings: &'a TransactionSettings,
    pub(crate) deviations: Deviations,
    pub(crate) clock: &'a (dyn Fn() -> Timestamp + Sync),
    pub(crate) zone: TimeZone,
    pub(crate) memory: &'a mut Memory,
    pub(crate) provider: &'a mut dyn Provider,
    pub(crate) provider_name: Arc<str>,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
    pub(crate) graph: Graph,
    pub(crate) progress: Progress,
}

/// The progress of a run.
#[derive(Default)]
pub(super) struct Progress {
    /// The number of evaluated vertices.
    pub(crate) evaluated_count: usize,
    /// The status of the resource under evaluation.
    pub(crate) status: Option<(NodeId, ResourceStatus)>,
    /// The entry of the resource under evaluation.
    pub(crate) memory_index: MemoryIndex,
    pub(crate) desired: DesiredCache,
    /// By type: whether prefetch succeeded.
    pub(crate) prefetched: HashMap<TypeName, bool>,
    pub(crate) failures: Failures,
    pub(crate) announced: AnnouncedFailures,
    pub(crate) queues: HashMap<VertexId, EventQueue>,
    /// The number of resources that a vertex generated during its evaluation.
    pub(crate) generated_counts: HashMap<VertexId, u32>,
    /// The number of resources that failed to generate others.
    pub(crate) failed_to_generate: usize,
    pub(crate) evaluated: EvaluatedResources,
    /// Resources whose changes the device applies together.
    pub(crate) staged: StagedResources,
    /// Whether a resource or a container of the catalog refreshes another one.
    pub(crate) has_refreshes: bool,
    /// The reason of a broken connection, after the evaluation in which it broke.
    pub(crate) disconnected: Option<Arc<str>>,
    pub(crate) skipped_after_disconnect: usize,
    /// Histories of this run, stored at its end.
    pub(crate) histories: Vec<(MemoryIndex, History)>,
}

impl Transaction<'_> {
    /// Executes the run. Returns whether it was completed.
    async fn execute(&mut self) -> Result<bool, TransactionError> {
        for (level, node, message) in std::mem::take(&mut self.resources.messages) {
            self.log_load_message(node, level, message);
        }
        let now = self.now();
        self.generate().await;
        let applying = RunEvent::Applying {
            version: self.resources.version.clone(),
            environment: self.resources.environment.clone(),
            code_id: self.resources.code_id.clone(),
            catalog_uuid: self.resources.catalog_uuid.clone(),
            noop: self.noop,
            time: now,
        };
        self.sink.emit(applying);
        if let Some(version) = self.resources.version.clone() {
            self.log(
                Level::Info,
                format!("Applying configuration version '{version}'"),
            );
        }
        self.emit_host_resources();
        self.build_graph();
        self.refuse_cycles()?;
        self.progress.has_refreshes = self.has_refreshes();
        let to_read = self.resources_to_read();
        self.provider.expect(to_read);
        self.progress.histories.reserve(self.resources.len());
        self.memory.reserve(self.resources.len());
        let named = self.named_objects();
        let completed = self.traverse().await;
        self.warn_of_missing_objects(named).await;
        self.commit_staged().await;
        self.verify().await;
        let completed = completed?;
        self.memory
            .replace_histories(std::mem::take(&mut self.progress.histories));
        Ok(completed)
    }

    fn log_load_message(&mut self, node: NodeId, level: Level, message: String) {
        let node = self.resources.node(node);
        let message = LoadMessage {
            level,
            message,
            source: node.source(),
            tags: node.tags.clone(),
            position: node.position.clone(),
        };
        let entry = LogEntry::new(message, self.now());
        self.sink.emit(entry.into());
    }

    fn emit_host_resources(&mut self) {
        if !self.settings.for_device || self.settings.host_resources == HostResourcePolicy::Silent {
            return;
        }
        let host: Vec<_> = self
            .resources
            .order()
            .iter()
            .map(|id| self.resources.node(*id))
            .filter(|node| {
                !node.is_default
                    && node
                        .resource
                        .as_ref()
                        .is_some_and(|resource| self.runs_on(resource) == RunsOn::Host)
            })
            .map(|node| node.reference.clone())
            .collect();
        if host.is_empty() {
            return;
        }
        let names: Vec<String> = host.iter().map(ToString::to_string).collect();
        let message = match names.len() {
            1 => format!(
                "1 resource is for a host and is not applied to this device: {}",
                names[0]
            ),
            count => format!(
                "{count} resources are for a host and are not applied to this device: {}",
                names.join(", ")
            ),
        };
        self.log(Level::Warning, message);
        self.sink.emit(RunEvent::HostResources(host));
    }

    /// The side on which a resource is applied. `resources` is applied everywhere, as in Puppet 8.
    pub(super) fn runs_on(&self, resource: &Resource) -> RunsOn {
        match resource.runs_on() {
            RunsOn::Host
                if resource.ty.behavior.is_purging()
                    && self.deviations.has(Deviation::PurgersApply) =>
            {
                RunsOn::Both
            }
            other => other,
        }
    }

    fn build_graph(&mut self) {
        let mut built = graph::build(&self.resources);
        if self.settings.cycles_file.is_some() {
            let graphs = dot::files(&built, &self.resources);
            for (file, text) in graphs {
                self.sink.emit(RunEvent::Graph { file, text });
            }
        }
        let messages = std::mem::take(&mut built.messages);
        self.graph = built.graph;
        for (node, message) in messages {
            if let Some((vertex, _)) = self.graph.ends(node) {
                self.log_vertex(vertex, Level::Debug, message);
            }
        }
    }

    fn refuse_cycles(&mut self) -> Result<(), TransactionError> {
        let cycles = cycle::find(&self.graph, &self.resources);
        if cycles.is_empty() {
            return Ok(());
        }
        let wording = if self.deviations.has(Deviation::ShortCycles) {
            cycle::Wording::Lines
        } else {
            cycle::Wording::Puppet
        };
        let file = self.settings.cycles_file.as_deref();
        for message in cycle::messages(&cycles, &self.graph, &self.resources, file, wording) {
            self.log(Level::Err, message);
        }
        if file.is_some() {
            let text = dot::cycles(&cycles, &self.graph, &self.resources);
            self.sink.emit(RunEvent::Graph {
                file: "cycles.dot",
                text,
            });
        }
        for id in cycles.into_iter().flatten() {
            if let Vertex::Resource(node) = self.graph.vertex(id) {
                let mut status = self.new_status(node);
                let message = "resource is part of a dependency cycle";
                status.add(self.error_event(message.to_owned()));
                self.sink.emit(RunEvent::Resource(Arc::new(status)));
            }
        }
        Err(TransactionError {
            message: "One or more resource dependency cycles detected in graph".to_owned(),
        })
    }

    /// The resources that this run reads from the device.
    fn resources_to_read(&mut self) -> Vec<Arc<Desired>> {
        let read: Vec<NodeId> = self
            .graph
            .ids()
            .filter(|id| !self.graph.vertex(*id).is_marker() && !self.is_deselected(*id))
            .map(|id| self.graph.vertex(id).node())
            .filter(|node| {
                let resource = self.resources.resource(*node);
                resource.is_some_and(|resource| !resource.ty.behavior.is_providerless())
                    && !self.is_never_applied(*node)
            })
            .collect();
        read.into_iter()
            .filter_map(|node| {
                Some(
                    self.progress
                        .desired
                        .get(node, self.resources.resource(node)?),
                )
            })
            .collect()
    }

    /// Whether a resource is skipped in every run of this kind: it is for the other side, or virtual.
    pub(super) fn is_never_applied(&self, node: NodeId) -> bool {
        let node = self.resources.node(node);
        let resource = node.resource.as_ref();
        node.is_virtual || resource.is_some_and(|resource| !self.is_applied(self.runs_on(resource)))
    }

    /// Whether resources of this side are applied in this run.
    pub(super) fn is_applied(&self, runs_on: RunsOn) -> bool {
        match runs_on {
            RunsOn::Both => true,
            RunsOn::Device => self.settings.for_device,
            RunsOn::Host => !self.settings.for_device,
        }
    }

    /// Whether a resource is noop: by its own setting, otherwise by the global one.
    pub(super) fn is_noop(&self, node: NodeId) -> bool {
        let node = self.resources.node(node);
        match (&node.resource, node.meta().noop) {
            (Some(_), Some(noop)) => noop,
            // The noop setting of a container does not apply to its markers.
            _ => self.noop,
        }
    }
}

/// Emits the events of a run that ended because the catalog cannot be loaded.
pub fn refused(error: &LoadError, now: Timestamp, sink: &mut dyn Sink) {
    for message in &error.messages {
        sink.emit(LogEntry::new(message.clone(), now).into());
    }
    let message = &error.message;
    let entry = LogEntry {
        level: Level::Err,
        message: format!("Failed to apply catalog: {message}"),
        source: super::log::PUPPET.to_owned(),
        tags: Tags::default(),
        time: now,
        file: None,
        line: None,
        kind: LogKind::Other,
    };
    sink.emit(entry.into());
    sink.emit(RunEvent::Finished {
        completed: false,
        failed_to_generate: 0,
        error: Some(message.clone()),
        time: now,
    });
}
