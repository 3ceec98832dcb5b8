//! One run: from typed resources to the last event.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use switchtender_devices::change::Wanted;
use switchtender_devices::model::RunsOn;
use switchtender_devices::provider::Provider;

use crate::catalog::resource::{NodeId, Resource, Tags};
use crate::catalog::types::TypeSource;
use crate::catalog::{Level, LoadError, Resources, Told};
use crate::deviations::{Deviation, Deviations};
use crate::graph::{self, Graph, Ready, Vertex, VertexId, cycle, dot};

use super::event::{Event, EventStatus, LogEntry, ResourceStatus, RunEvent, Sink, Skip};
use super::failures::Failures;
use super::history::{History, Memory, PlaceOf};
use super::refresh::Queue;
use super::tags::TagSelection;
use super::wanted::WantedOnce;

/// How a catalog is applied. The default is what a device run does.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Change nothing, say what would change. A resource's own `noop` wins.
    pub noop: bool,
    /// Apply only what has one of these tags; empty selects all.
    pub tags: TagSelection,
    /// Apply nothing that has one of these tags; wins over `tags`.
    pub skip_tags: TagSelection,
    pub ignore_schedules: bool,
    /// Say when each vertex is begun and how long it took.
    pub evaltrace: bool,
    pub merge_dependency_warnings: bool,
    /// Whether the run is for a device; host types are skipped then. Otherwise device types are.
    pub for_device: bool,
    pub mixed: Mixed,
    /// Emit the graphs; the name of the file that shows cycles is told in the message about them.
    pub cycles_file: Option<String>,
    /// Deviations from Puppet 7; [`Deviations::puppet7`] for none.
    pub deviations: Deviations,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            noop: false,
            tags: TagSelection::default(),
            skip_tags: TagSelection::default(),
            ignore_schedules: false,
            evaltrace: false,
            merge_dependency_warnings: false,
            for_device: true,
            mixed: Mixed::Warn,
            cycles_file: None,
            deviations: Deviations::default(),
        }
    }
}

/// What is said about host resources in a device's catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixed {
    /// They are listed once, as a warning.
    Warn,
    /// Nothing, as Puppet.
    Silent,
}

/// Everything that a run needs.
pub struct Input<'a> {
    pub resources: Resources,
    /// For resources that are made in the run.
    pub types: &'a dyn TypeSource,
    pub settings: &'a Settings,
    /// The present.
    pub clock: &'a (dyn Fn() -> Timestamp + Sync),
    /// The zone that schedules are told in.
    pub zone: TimeZone,
    /// What earlier runs left; changed in place, so that it is right at any moment.
    pub memory: &'a mut Memory,
    pub provider: &'a mut dyn Provider,
    pub sink: &'a mut dyn Sink,
    /// Asked before each resource: whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What ended a run early, in Puppet's words. It has been logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    pub message: String,
}

/// Applies a catalog. The last event is always [`RunEvent::Finished`].
///
/// # Errors
/// When the run cannot go on: dependency cycles (and, as Puppet 7, unknown schedules).
///
/// # Cancellation
/// Must not be dropped: a change may be under way. Ask it to stop through [`Input::stop`]; the
/// resource at hand is finished, what remains is reported as skipped.
pub async fn run(input: Input<'_>) -> Result<(), RunError> {
    let mut run = Run {
        started: None,
        graph: Graph::default(),
        failures: Failures::default(),
        queues: HashMap::default(),
        announced: HashSet::default(),
        announced_by_class: HashSet::default(),
        warned: HashSet::default(),
        prefetched: HashMap::default(),
        next_history: Vec::new(),
        place: PlaceOf::default(),
        generation_failed: false,
        made: HashMap::default(),
        reached: 0,
        wanted: WantedOnce::default(),
        deviations: &input.settings.deviations,
        resources: input.resources,
        types: input.types,
        settings: input.settings,
        clock: input.clock,
        zone: input.zone,
        memory: input.memory,
        provider_name: input.provider.name().into(),
        provider: input.provider,
        sink: input.sink,
        stop: input.stop,
    };
    let result = run.whole().await;
    let now = run.now();
    run.memory.expire(now);
    let (completed, error) = match &result {
        Ok(completed) => (*completed, None),
        Err(error) => {
            run.say(
                Level::Err,
                format!("Failed to apply catalog: {}", error.message),
            );
            (false, Some(error.message.clone()))
        }
    };
    let finished = RunEvent::Finished {
        completed,
        failed_to_generate: run.generation_failed,
        error,
        time: now,
    };
    run.sink.emit(finished);
    result.map(drop)
}

/// A run under way.
pub(super) struct Run<'a> {
    pub resources: Resources,
    pub types: &'a dyn TypeSource,
    pub settings: &'a Settings,
    pub deviations: &'a Deviations,
    pub clock: &'a (dyn Fn() -> Timestamp + Sync),
    pub zone: TimeZone,
    pub memory: &'a mut Memory,
    pub provider: &'a mut dyn Provider,
    pub provider_name: Arc<str>,
    pub sink: &'a mut dyn Sink,
    pub stop: &'a (dyn Fn() -> bool + Sync),

    pub graph: Graph,
    pub failures: Failures,
    pub queues: HashMap<VertexId, Queue>,
    /// The status of the resource whose turn it is.
    pub started: Option<(NodeId, ResourceStatus)>,
    /// Failed resources that a victim has announced.
    pub announced: HashSet<NodeId>,
    pub announced_by_class: HashSet<NodeId>,
    /// Failed resources that a class was warned about, merging warnings.
    pub warned: HashSet<NodeId>,
    /// By type: whether prefetching worked.
    pub prefetched: HashMap<String, bool>,
    /// What this run leaves of resources, to be remembered when it is over.
    pub next_history: Vec<(PlaceOf, History)>,
    /// In the memory, of the resource whose turn it is.
    pub place: PlaceOf,
    pub generation_failed: bool,
    /// How many things a vertex has made while it was evaluated.
    pub made: HashMap<VertexId, u32>,
    pub reached: usize,
    pub wanted: WantedOnce,
}

impl Run<'_> {
    /// The whole run; whether it was completed.
    async fn whole(&mut self) -> Result<bool, RunError> {
        for (level, node, message) in std::mem::take(&mut self.resources.messages) {
            self.say_at_load(node, level, message);
        }
        let now = self.now();
        self.generate().await;
        let applying = RunEvent::Applying {
            version: self.resources.version.clone(),
            environment: self.resources.environment.clone(),
            code_id: self.resources.code_id.clone(),
            catalog_uuid: self.resources.catalog_uuid.clone(),
            noop: self.settings.noop,
            time: now,
        };
        self.sink.emit(applying);
        if let Some(version) = self.resources.version.clone() {
            self.say(
                Level::Info,
                format!("Applying configuration version '{version}'"),
            );
        }
        self.tell_host_resources();
        self.build_graph();
        self.refuse_cycles()?;
        let to_read = self.resources_to_read();
        self.provider.expect(to_read);
        self.next_history.reserve(self.resources.len());
        self.memory.make_room(self.resources.len());
        let completed = self.traverse().await?;
        self.memory.leave(std::mem::take(&mut self.next_history));
        Ok(completed)
    }

    fn say_at_load(&mut self, node: NodeId, level: Level, message: String) {
        let node = self.resources.node(node);
        let told = Told {
            level,
            message,
            source: node.source(),
            tags: node.tags.clone(),
            place: node.place.clone(),
        };
        let entry = LogEntry::of(told, self.now());
        self.sink.emit(entry.into());
    }

    fn tell_host_resources(&mut self) {
        if !self.settings.for_device || self.settings.mixed == Mixed::Silent {
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
        self.say(Level::Warning, message);
        self.sink.emit(RunEvent::HostResources(host));
    }

    /// Where a resource is applied; the purging type everywhere, as from Puppet 8 on.
    pub(super) fn runs_on(&self, resource: &Resource) -> RunsOn {
        match resource.runs_on() {
            RunsOn::Host
                if resource.model().name == "resources"
                    && self.deviations.take(Deviation::PurgersApply) =>
            {
                RunsOn::Both
            }
            other => other,
        }
    }

    fn build_graph(&mut self) {
        let built = graph::build(&self.resources);
        self.graph = built.graph;
        for (node, message) in built.messages {
            if let Some((vertex, _)) = self.graph.ends(node) {
                self.say_of(vertex, Level::Debug, message);
            }
        }
        if self.settings.cycles_file.is_some() {
            let graphs = [
                ("resources.dot", dot::resources(&self.resources)),
                (
                    "relationships.dot",
                    dot::relationships(&built.relationships, &self.resources),
                ),
                (
                    "expanded_relationships.dot",
                    dot::expanded(&self.graph, &self.resources),
                ),
            ];
            for (file, text) in graphs {
                self.sink.emit(RunEvent::Graph { file, text });
            }
        }
    }

    fn refuse_cycles(&mut self) -> Result<(), RunError> {
        let cycles = cycle::find(&self.graph, &self.resources);
        if cycles.is_empty() {
            return Ok(());
        }
        let wording = if self.deviations.take(Deviation::CyclesAreShort) {
            cycle::Wording::Lines
        } else {
            cycle::Wording::Puppet
        };
        let file = self.settings.cycles_file.as_deref();
        let message = cycle::message(&cycles, &self.graph, &self.resources, file, wording);
        self.say(Level::Err, message);
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
        Err(RunError {
            message: "One or more resource dependency cycles detected in graph".to_owned(),
        })
    }

    /// The resources that this run will read from the device.
    fn resources_to_read(&mut self) -> Vec<Arc<Wanted>> {
        let read: Vec<NodeId> = self
            .graph
            .ids()
            .filter(|id| !self.graph.vertex(*id).is_marker() && !self.deselected(*id))
            .map(|id| self.graph.vertex(id).node())
            .filter(|node| {
                self.resources.resource(*node).is_some_and(|resource| {
                    !resource.ty.behaviour.providerless() && self.applies(self.runs_on(resource))
                })
            })
            .collect();
        read.into_iter()
            .filter_map(|node| Some(self.wanted.of(node, self.resources.resource(node)?)))
            .collect()
    }

    /// Whether something that runs there is applied in this run.
    pub(super) fn applies(&self, runs_on: RunsOn) -> bool {
        match runs_on {
            RunsOn::Both => true,
            RunsOn::Device => self.settings.for_device,
            RunsOn::Host => !self.settings.for_device,
        }
    }

    /// Walks the graph (section 4, *Traversal*); whether it got to the end.
    async fn traverse(&mut self) -> Result<bool, RunError> {
        let mut ready = Ready::new(&self.graph);
        let mut deferred = Vec::new();
        let mut progress = false;
        let mut providerless: Vec<String> = Vec::new();
        let mut stopped = (self.stop)();
        while !stopped && let Some(id) = ready.pop() {
            if self.is_suitable(id) {
                progress = true;
                self.turn(id, &mut ready).await?;
                ready.finish(&self.graph, id);
            } else {
                deferred.push(id);
            }
            if ready.is_empty() && !deferred.is_empty() {
                for id in std::mem::take(&mut deferred) {
                    if progress {
                        ready.enqueue(&self.graph, id);
                    } else {
                        self.give_up(id, &mut providerless);
                        ready.finish(&self.graph, id);
                    }
                }
                progress = false;
            }
            stopped = (self.stop)();
        }
        let mut cancelled = false;
        if stopped {
            if !deferred.is_empty() && self.deviations.take(Deviation::StoppedRunFails) {
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
        for type_name in providerless {
            self.say(
                Level::Err,
                format!("Could not find a suitable provider for {type_name}"),
            );
        }
        let incomplete = cancelled && self.deviations.take(Deviation::StoppedRunFails);
        Ok(!incomplete)
    }

    fn is_suitable(&self, id: VertexId) -> bool {
        let Vertex::Resource(node) = self.graph.vertex(id) else {
            return true;
        };
        self.resources.resource(node).is_none_or(|resource| {
            resource.ty.behaviour.providerless() || self.provider.supports(resource.model()).is_ok()
        })
    }

    /// A resource that no provider will ever take.
    fn give_up(&mut self, id: VertexId, providerless: &mut Vec<String>) {
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
        let tags = &self.resources.node(node).tags;
        if self.settings.tags.is_empty() || self.settings.tags.matches(tags) {
            if !providerless.contains(&model.name) {
                providerless.push(model.name.clone());
            }
            status.failed = true;
            self.failures.add(id);
            if self.deviations.take(Deviation::ProviderlessHasEvent) {
                let why = self.provider.supports(&model).err().unwrap_or_default();
                let message = if why.is_empty() {
                    format!("Could not find a suitable provider for {}", model.name)
                } else {
                    format!(
                        "Could not find a suitable provider for {}: {why}",
                        model.name
                    )
                };
                status.add(self.error_event(message));
            }
        }
        self.sink.emit(RunEvent::Resource(Arc::new(status)));
    }

    fn cancel(&mut self, id: VertexId) {
        self.say_of(id, Level::Debug, "Transaction canceled, skipping");
        if let Vertex::Resource(node) = self.graph.vertex(id) {
            let mut status = self.new_status(node);
            status.skipped = Some(Skip::Stopped);
            self.sink.emit(RunEvent::Resource(Arc::new(status)));
        }
    }

    /// One vertex, from what must be read for its type to its refresh.
    async fn turn(&mut self, id: VertexId, ready: &mut Ready) -> Result<(), RunError> {
        let vertex = self.graph.vertex(id);
        if let Vertex::Resource(node) = vertex {
            self.prefetch_if_needed(id, node).await;
            self.eval_generate(id, ready);
        }
        self.reached += 1;
        let (number, total) = (self.reached, self.graph.len());
        if let Vertex::Resource(node) = vertex {
            let reference = self.resources.node(node).reference.clone();
            self.sink.emit(RunEvent::Reached {
                reference,
                number,
                total,
            });
        }
        if self.settings.evaltrace {
            self.say_of(
                id,
                Level::Info,
                format!("Starting to evaluate the resource ({number} of {total})"),
            );
        }
        let begun = self.settings.evaltrace.then(|| self.now());
        let result = self.eval(id).await;
        if let (Some(begun), Ok(())) = (begun, &result) {
            let took = self.now().duration_since(begun).as_secs_f64();
            self.say_of(id, Level::Info, format!("Evaluated in {took:.2} seconds"));
        }
        if let Some((node, status)) = self.started.take() {
            // What is skipped may still be named when its type is prefetched, and what made others
            // when they are done.
            let is_over = status.skipped.is_none() && !self.made.contains_key(&id);
            self.sink.emit(RunEvent::Resource(Arc::new(status)));
            self.wanted.forget(node);
            if is_over {
                self.resources.release(node);
            }
        }
        result
    }

    /// Section 7, from step 3 on.
    async fn eval(&mut self, id: VertexId) -> Result<(), RunError> {
        let vertex = self.graph.vertex(id);
        if let Vertex::Resource(node) = vertex {
            let status = self.new_status(node);
            self.started = Some((node, status));
            let reference = self.resources.node(node).reference.shared();
            self.place = self.memory.place_of(&reference);
        }
        self.propagate_failure(id);
        if let Some(skip) = self.skip(id)? {
            if let Some(status) = self.status_mut(id) {
                status.skipped = Some(skip);
            }
            self.say_of(
                id,
                Level::Debug,
                "Resource is being skipped, unscheduling all events",
            );
            self.drop_events(id);
            if let Vertex::Resource(_) = vertex {
                self.keep_history();
            }
            return Ok(());
        }
        if let Vertex::Resource(node) = vertex {
            self.evaluate(id, node).await;
            let failed = self.status(id).is_some_and(|status| status.failed);
            if failed {
                self.failures.add(id);
            } else {
                self.queue_own_events(id);
            }
        }
        self.process_events(id).await;
        Ok(())
    }

    /// A skipped resource keeps what is remembered of it.
    fn keep_history(&mut self) {
        let known = self.memory.history(self.place);
        if !known.is_empty() {
            self.next_history.push((self.place, known.clone()));
        }
    }

    pub(super) fn status(&self, id: VertexId) -> Option<&ResourceStatus> {
        let vertex = self.graph.vertex(id);
        self.started
            .as_ref()
            .filter(|(node, _)| vertex == Vertex::Resource(*node))
            .map(|(_, status)| status)
    }

    pub(super) fn status_mut(&mut self, id: VertexId) -> Option<&mut ResourceStatus> {
        let vertex = self.graph.vertex(id);
        self.started
            .as_mut()
            .filter(|(node, _)| vertex == Vertex::Resource(*node))
            .map(|(_, status)| status)
    }

    pub(super) fn new_status(&self, node: NodeId) -> ResourceStatus {
        let asks_provider = self
            .resources
            .resource(node)
            .is_some_and(|resource| !resource.ty.behaviour.providerless());
        let node = self.resources.node(node);
        ResourceStatus {
            reference: node.reference.clone(),
            file: node.place.as_ref().map(|place| place.file.clone()),
            line: node.place.as_ref().map(|place| place.line),
            provider: asks_provider.then(|| Arc::clone(&self.provider_name)),
            containment_path: Arc::clone(&node.path),
            tags: node.tags.clone(),
            time: self.now(),
            evaluation_time: None,
            failed: false,
            failed_to_restart: false,
            restarted: false,
            changed: false,
            out_of_sync: false,
            corrective_change: false,
            skipped: None,
            change_count: 0,
            out_of_sync_count: 0,
            failed_dependencies: Vec::new(),
            events: Vec::new(),
            operations: Arc::default(),
        }
    }

    /// An event about a resource as a whole.
    pub(super) fn plain_event(
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
            failure: None,
            invalidates_refreshes: false,
        }
    }

    pub(super) fn error_event(&self, message: String) -> Event {
        self.plain_event("resource_error", EventStatus::Failure, message)
    }

    /// Whether a resource is noop: by itself, else by the global setting.
    pub(super) fn is_noop(&self, node: NodeId) -> bool {
        let node = self.resources.node(node);
        match (&node.resource, node.meta().noop) {
            (Some(_), Some(noop)) => noop,
            // A container's own noop says nothing about its markers.
            _ => self.settings.noop,
        }
    }
}

/// Says that a catalog could not be loaded: a run that died before it began.
pub fn refused(error: &LoadError, now: Timestamp, sink: &mut dyn Sink) {
    for told in &error.told {
        sink.emit(LogEntry::of(told.clone(), now).into());
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
    };
    sink.emit(entry.into());
    sink.emit(RunEvent::Finished {
        completed: false,
        failed_to_generate: false,
        error: Some(message.clone()),
        time: now,
    });
}
