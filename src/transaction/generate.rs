//! Generated resources (`docs/reference/transaction.md`, section 6).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::TypeName;
use switchtender_devices::provider::ProviderError;
use switchtender_devices::secret::MASK;
use switchtender_devices::value::{Attributes, Name, Value};

use crate::catalog::node::{NodeId, Relation};
use crate::catalog::types::{BehaviorError, Generation, NewResource};
use crate::catalog::{
    GeneratedResourceError, Level, ResourceRef, TagList, Typing, convert_generated,
};
use crate::graph::{EdgeKind, ReadyQueue, Vertex, VertexId};

use super::event::{LogEntry, LogKind};
use super::run::Transaction;

/// Why a resource generates no others, in Puppet's words.
#[derive(Debug, thiserror::Error)]
enum GenerationError {
    #[error(transparent)]
    Behavior(#[from] BehaviorError),
    #[error("Could not find resource type '{0}'")]
    UnknownType(TypeName),
    #[error("Resource type '{0}' was not found")]
    NotFound(TypeName),
    #[error("Purging is only supported on types that accept 'ensure'")]
    NotPurgeable,
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Invalid(#[from] GeneratedResourceError),
    #[error("{0}")]
    Collision(String),
}

impl Transaction<'_> {
    /// Generates resources before the graph is built.
    pub(super) async fn generate(&mut self) {
        let mut generators: VecDeque<NodeId> = self.resources.added().collect();
        let mut generated_by: HashMap<NodeId, Vec<NodeId>> = HashMap::default();
        while let Some(generator) = generators.pop_front() {
            // A refused resource fails in its turn.
            let node = self.resources.node(generator);
            let Some(resource) = node.resource.as_deref().filter(|_| node.refusal.is_none()) else {
                continue;
            };
            let generated = match resource.ty.behavior.generate(resource) {
                Ok(None) => continue,
                Ok(Some(Generation::Resources(new))) => Ok((new, false)),
                Ok(Some(Generation::Purge { type_name })) => self
                    .purge_removals(generator, &type_name)
                    .await
                    .map(|new| (new, true)),
                Err(error) => Err(error.into()),
            };
            let mut children = Vec::new();
            let result = generated.and_then(|(new, purge)| {
                // In reverse: each is inserted directly after its generator.
                for new in new.iter().rev() {
                    let (child, is_new) = self.add_generated(generator, new, purge)?;
                    self.order_after_generator(generator, child);
                    if is_new {
                        children.push(child);
                    }
                }
                Ok(())
            });
            match result {
                Ok(()) => generators.extend(&children),
                Err(error) => self.log_generation_failure(generator, "generate", &error),
            }
            if !children.is_empty() {
                children.reverse();
                generated_by.insert(generator, children);
            }
        }
        self.resources.move_after_generators(&generated_by);
    }

    fn log_generation_failure(&mut self, generator: NodeId, how: &str, error: &GenerationError) {
        self.progress.failed_to_generate += 1;
        let message = format!("Failed to generate additional resources using '{how}': {error}");
        self.log_generator(generator, Level::Err, message);
    }

    fn log_generator(&mut self, generator: NodeId, level: Level, message: String) {
        let node = self.resources.node(generator);
        let entry = LogEntry {
            level,
            message,
            source: self.path(generator),
            tags: node.tags.clone(),
            time: self.now(),
            file: node.position.as_ref().map(|position| position.file.clone()),
            line: node.position.as_ref().map(|position| position.line),
            kind: LogKind::Other,
        };
        self.sink.emit(entry.into());
    }

    /// The removals of all instances that are not in the catalog.
    async fn purge_removals(
        &mut self,
        generator: NodeId,
        type_name: &TypeName,
    ) -> Result<Vec<NewResource>, GenerationError> {
        let ty = self.types.find(type_name);
        let ty = ty.ok_or_else(|| GenerationError::UnknownType(type_name.clone()))?;
        if !ty.model.attributes.contains_key("ensure") {
            return Err(GenerationError::NotPurgeable);
        }
        let instances = self.provider.instances(&ty.model).await?;
        let spared = self.provider.keep(&ty.model, &instances).await?;
        let meta = self.resources.node(generator).meta().clone();
        let relations = self.resources.node(generator).relations.clone();
        let mut removals = Vec::new();
        let mut equals: BTreeMap<String, usize> = BTreeMap::new();
        for (instance, spared) in instances.into_iter().zip(spared) {
            let names: Attributes = ty
                .model
                .namevars()
                .filter_map(|name| Some((name.to_owned(), instance.attributes.get(name)?.clone())))
                .collect();
            let values: Vec<String> = names
                .values()
                .map(|value| value.unwrap_sensitive().ruby_to_s())
                .collect();
            let title = values.join("/");
            let is_declared = self
                .resources
                .find(&ResourceRef::new(type_name, &title))
                .is_some()
                || [names.clone()]
                    .into_iter()
                    .chain(self.provider.wider_names(&ty.model, &names))
                    .any(|names| {
                        let declared = self.resources.find_instance(&ty.model.name, &names);
                        declared.is_some()
                    });
            if is_declared {
                continue;
            }
            let title = open_title(&ty.model, &names, &mut equals);
            if let Some(reason) = spared {
                self.log_spared(generator, &ty.model, &title, &reason);
                continue;
            }
            let mut parameters = names;
            for attribute in ty.model.attributes.values() {
                if attribute.required
                    && let Some(value) = instance.attributes.get(&attribute.name)
                {
                    parameters.insert(attribute.name.clone(), value.clone());
                }
            }
            parameters.insert("ensure".to_owned(), "absent".into());
            if let Some(noop) = meta.noop {
                parameters.insert("noop".to_owned(), noop.into());
            }
            if let Some(schedule) = &meta.schedule {
                parameters.insert("schedule".to_owned(), schedule.as_str().into());
            }
            if let Some(level) = meta.level {
                parameters.insert("loglevel".to_owned(), level.to_string().into());
            }
            if !meta.tags.is_empty() {
                parameters.insert("tag".to_owned(), meta.tags.clone().into());
            }
            for relation in Relation::ALL {
                let others: Vec<String> = relations
                    .iter()
                    .filter(|(kind, _)| *kind == relation)
                    .map(|(_, other)| self.resources.node(*other).reference.to_string())
                    .collect();
                if !others.is_empty() {
                    parameters.insert(relation.name().to_owned(), others.into());
                }
            }
            removals.push(NewResource {
                type_name: type_name.clone(),
                title,
                parameters,
            });
        }
        Ok(removals)
    }

    /// Logs that purging keeps an instance.
    fn log_spared(&mut self, generator: NodeId, model: &TypeModel, title: &str, reason: &str) {
        let reference = ResourceRef::new(&model.name, title);
        let message = format!("{reference} is not purged: {reason}");
        self.log_generator(generator, Level::Info, message);
    }

    /// Adds a generated resource, unless the catalog contains it. Returns whether it is new.
    fn add_generated(
        &mut self,
        generator: NodeId,
        new: &NewResource,
        purged: bool,
    ) -> Result<(NodeId, bool), GenerationError> {
        let reference = ResourceRef::new(&new.type_name, &new.title);
        if let Some(existing) = self.resources.find(&reference) {
            return Ok((existing, false));
        }
        let ty = self
            .types
            .find(&new.type_name)
            .ok_or_else(|| GenerationError::NotFound(new.type_name.clone()))?;
        let provider = &*self.provider;
        let typing = Typing {
            types: self.types,
            canonicalize: &|model, attributes| provider.canonicalize(model, attributes),
            default_schedules: false,
            deviations: self.deviations,
        };
        let mut node = convert_generated(new, ty, &typing, &mut self.resources)?;
        let inherited = self.resources.node(generator).tags.iter().cloned();
        let tags: TagList = node.tags.into_iter().chain(inherited).collect();
        node.tags = tags.into_vec();
        if let Some(resource) = node.resource.as_mut().filter(|_| purged) {
            resource.purged = true;
            // The device reports all properties of the instance.
            let model = Arc::clone(resource.model());
            for property in model.properties() {
                resource.audit(&property.name);
            }
        }
        let id = self
            .resources
            .add(node)
            .map_err(|collision| GenerationError::Collision(collision.message))?;
        self.resources.relate_all();
        if let Some(container) = self.resources.container_of(generator) {
            self.resources.contain(container, id);
        }
        self.resources.build_path(id);
        Ok((id, true))
    }

    /// Orders the generator before the child, unless the catalog relates the two.
    fn order_after_generator(&mut self, generator: NodeId, child: NodeId) {
        let refers = |from: NodeId, to: NodeId| {
            let relations = &self.resources.node(from).relations;
            relations.iter().any(|(_, other)| *other == to)
        };
        if refers(generator, child) || refers(child, generator) {
            return;
        }
        let relations = &mut self.resources.nodes[generator.index()].relations;
        // In Puppet's order of relationships.
        let at = relations
            .iter()
            .position(|(relation, _)| *relation == Relation::Notify)
            .unwrap_or(relations.len());
        relations.insert(at, (Relation::Before, child));
    }

    /// Generates resources during the evaluation of a resource. They come before its successors.
    pub(super) fn eval_generate(&mut self, id: VertexId, ready: &mut ReadyQueue) {
        let Vertex::Resource(generator) = self.graph.vertex(id) else {
            return;
        };
        let Some(resource) = self.resources.resource(generator) else {
            return;
        };
        let new = resource.ty.behavior.eval_generate(resource);
        let children = new.map_err(GenerationError::from).and_then(|new| {
            new.iter()
                .map(|new| self.add_generated(generator, new, false))
                .collect::<Result<Vec<_>, _>>()
        });
        let children = match children {
            Ok(children) if children.is_empty() => return,
            Ok(children) => children,
            Err(error) => {
                return self.log_generation_failure(generator, "eval_generate", &error);
            }
        };
        let mut waiting = Vec::new();
        let mut vertices = Vec::new();
        for (child, is_new) in children {
            if is_new {
                let key = self.inner_key(id);
                let vertex = self.graph.add_generated(Vertex::Resource(child), key);
                vertices.push(vertex);
            } else if let Some((vertex, _)) = self.graph.ends(child)
                && !ready.is_done(vertex)
                && !self.graph.edges.contains(vertex, id)
            {
                vertices.push(vertex);
            }
        }
        let key = self.inner_key(id);
        let sentinel = self.graph.add_generated(Vertex::Sentinel(generator), key);
        let inner: HashSet<VertexId> = vertices.iter().copied().collect();
        for (target, counts) in self.graph.edges.take_outgoing(id) {
            let source = if inner.contains(&target) {
                id
            } else {
                waiting.push(target);
                sentinel
            };
            for kind in counts.kinds() {
                self.graph.edges.add(source, target, kind);
            }
        }
        for child in &vertices {
            self.graph.edges.add(id, *child, EdgeKind::Order);
            self.graph.edges.add(*child, sentinel, EdgeKind::Refresh);
        }
        self.graph.edges.add(id, sentinel, EdgeKind::Refresh);
        waiting.extend(vertices);
        waiting.push(sentinel);
        ready.recount(&self.graph, waiting);
    }

    fn inner_key(&mut self, id: VertexId) -> crate::graph::OrderKey {
        let number = self.progress.generated_counts.entry(id).or_default();
        *number += 1;
        self.graph.key(id).inside(*number)
    }
}

/// The title of the resource for an instance, with a mask in place of secret names and a number among equal titles.
fn open_title(
    model: &TypeModel,
    names: &Attributes,
    equals: &mut BTreeMap<String, usize>,
) -> String {
    let is_secret = |(name, value): (&Name, &Value)| {
        model.attributes[name.as_str()].sensitive || value.contains_secret()
    };
    let texts = names.iter().map(|(name, value)| {
        if is_secret((name, value)) {
            MASK.to_owned()
        } else {
            value.ruby_to_s()
        }
    });
    let title = texts.collect::<Vec<_>>().join("/");
    if !names.iter().any(is_secret) {
        return title;
    }
    let number = equals.entry(title.clone()).or_default();
    *number += 1;
    match *number {
        1 => title,
        number => format!("{title} ({number})"),
    }
}
