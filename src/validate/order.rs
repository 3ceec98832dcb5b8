//! The order of a catalog: declared relations, containment, automatic relations.
//!
//! Follows `docs/reference/transaction.md`, section 3. A container is two vertices, one before and one after its
//! content. An automatic relation is added unless the two resources have a direct one. A reference of a property
//! yields to other relations, as in `graph::references`.

use std::collections::HashMap;

use petgraph::algo::{astar, is_cyclic_directed, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;
use switchtender_devices::change::Desired;
use switchtender_devices::model::{AutoKind, Role};

use super::relation::RelationTarget;
use super::rule_context::RuleContext;
use crate::catalog::ResourceRef;
use crate::graph::cycle;
use crate::route::Destination;

/// The reason why one resource comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderReason {
    /// The relation with this number in [`RuleContext::relations`].
    Declared(usize),
    /// A container and its content.
    Contains,
    /// A value of the resource names the other.
    Automatic { of: usize, kind: AutoKind },
}

/// An automatic relation that is not added, because a declared one has the opposite direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderConflict {
    /// The resource with the automatic relation.
    pub(crate) of: usize,
    pub(crate) other: usize,
    pub(crate) kind: AutoKind,
    /// Whether the resource must come after the other.
    pub(crate) after: bool,
    /// The declared relation.
    pub(crate) declared: usize,
}

/// A cycle: each vertex with the reason for the next.
pub(crate) type OrderCycle = Vec<(usize, OrderReason)>;

/// The order of a catalog.
#[derive(Debug, Default)]
pub(crate) struct EvaluationOrder {
    /// Two vertices per resource; only containers use the second.
    graph: DiGraph<(), OrderReason>,
    pub(crate) conflicts: Vec<OrderConflict>,
}

/// An automatic relation of a resource.
struct AutomaticRelation {
    other: usize,
    kind: AutoKind,
    /// Whether the other resource comes first.
    is_first: bool,
    yields: bool,
}

fn automatic_relations(
    context: &RuleContext<'_>,
    index: usize,
    desired: &Desired,
) -> Vec<AutomaticRelation> {
    // A removed resource is removed before the resources that it needs.
    let is_reversed = |other| desired.is_absent() && context.is_removed(other);
    let mut found = Vec::new();
    for relation in &desired.model.relations {
        let first = matches!(relation.kind, AutoKind::Require | AutoKind::Subscribe);
        let names = desired.related(relation).into_iter();
        let others = names.filter_map(|name| {
            let reference = ResourceRef::new(&relation.target, &name);
            context.index.find(&reference).filter(|at| *at != index)
        });
        found.extend(others.map(|other| AutomaticRelation {
            other,
            kind: relation.kind,
            is_first: first != is_reversed(other),
            yields: false,
        }));
    }
    let object =
        |of: &Desired| Some((of.model.name.clone(), of.model.object_name(&of.attributes)?));
    for reference in desired.model.references() {
        let attribute = desired.model.attributes.get(reference.attribute.as_str());
        let names = desired
            .model
            .referenced_names(reference, &desired.attributes);
        let others = names.iter().flat_map(|name| {
            let name = ResourceRef::new(&reference.target, name);
            context.index.of_object(&name)
        });
        let others = others.filter(|at| {
            let typed = context.typed[*at].as_ref();
            let other = typed.and_then(|typed| typed.desired.as_ref());
            let is_own = other
                .and_then(object)
                .is_some_and(|of| object(desired) == Some(of));
            let is_gone = other.is_some_and(|of| of.is_absent() && of.model.object.is_none());
            !is_own && (desired.is_absent() || !is_gone)
        });
        found.extend(others.map(|other| AutomaticRelation {
            other,
            kind: AutoKind::Require,
            is_first: !is_reversed(other),
            yields: attribute.is_none_or(|attribute| attribute.role != Role::Namevar),
        }));
    }
    found
}

/// The declared relation that prevents the edge of a reference.
fn conflict(
    from: usize,
    to: usize,
    why: OrderReason,
    back: &[OrderReason],
) -> Option<OrderConflict> {
    let OrderReason::Automatic { of, kind } = why else {
        return None;
    };
    let declared = back.iter().find_map(|reason| match reason {
        OrderReason::Declared(number) => Some(*number),
        _ => None,
    })?;
    Some(OrderConflict {
        of,
        other: if of == from { to } else { from },
        kind,
        after: to == of,
        declared,
    })
}

/// The first vertex of a container, or the resource.
fn begin(index: usize) -> usize {
    2 * index
}

/// The last vertex of a container, or the resource.
fn end(context: &RuleContext<'_>, index: usize) -> usize {
    match context.destinations[index] {
        Destination::Container => 2 * index + 1,
        _ => 2 * index,
    }
}

impl EvaluationOrder {
    pub(crate) fn new(context: &RuleContext<'_>) -> Self {
        let count = context.destinations.len();
        let mut order = Self::default();
        (0..2 * count).for_each(|_| {
            order.graph.add_node(());
        });
        // Direct relations between resources.
        let mut direct: HashMap<(usize, usize), Option<usize>> = HashMap::new();
        for (number, relation) in context.relations.iter().enumerate() {
            if let RelationTarget::Found(other) = relation.target {
                let (first, then) = if relation.kind.is_reverse() {
                    (other, relation.from)
                } else {
                    (relation.from, other)
                };
                direct.entry((first, then)).or_insert(Some(number));
                order.add(
                    end(context, first),
                    begin(then),
                    OrderReason::Declared(number),
                );
            }
        }
        let mut yielding = Vec::new();
        for (index, _, desired) in context.desired() {
            for automatic in automatic_relations(context, index, desired) {
                let (from, to) = if automatic.is_first {
                    (automatic.other, index)
                } else {
                    (index, automatic.other)
                };
                if let Some(Some(declared)) = direct.get(&(to, from)) {
                    order.conflicts.push(OrderConflict {
                        of: index,
                        other: automatic.other,
                        kind: automatic.kind,
                        after: to == index,
                        declared: *declared,
                    });
                }
                if direct.contains_key(&(to, from)) || direct.contains_key(&(from, to)) {
                    continue;
                }
                direct.insert((from, to), None);
                let why = OrderReason::Automatic {
                    of: index,
                    kind: automatic.kind,
                };
                if automatic.yields {
                    yielding.push((from, to, why));
                } else {
                    order.add(end(context, from), begin(to), why);
                }
            }
        }
        for &(container, content) in &context.catalog.edges {
            order.add(begin(container), begin(content), OrderReason::Contains);
            order.add(
                end(context, content),
                end(context, container),
                OrderReason::Contains,
            );
        }
        for index in 0..count {
            let (first, last) = (begin(index), end(context, index));
            if first != last {
                order.add(first, last, OrderReason::Contains);
            }
        }
        order.add_yielding(context, &yielding);
        order
    }

    /// Adds the edges of references, except those that close a cycle.
    fn add_yielding(&mut self, context: &RuleContext<'_>, edges: &[(usize, usize, OrderReason)]) {
        let first = self.graph.edge_count();
        for (from, to, why) in edges {
            self.add(end(context, *from), begin(*to), *why);
        }
        if edges.is_empty() || !is_cyclic_directed(&self.graph) {
            return;
        }
        let mut component_of = vec![0; self.graph.node_count()];
        for (number, members) in kosaraju_scc(&self.graph).iter().enumerate() {
            members
                .iter()
                .for_each(|member| component_of[member.index()] = number);
        }
        self.graph.retain_edges(|graph, edge| {
            let ends = graph.edge_endpoints(edge);
            let is_inside = |(from, to): (NodeIndex, NodeIndex)| {
                component_of[from.index()] == component_of[to.index()]
            };
            edge.index() < first || !ends.is_some_and(is_inside)
        });
        for (from, to, why) in edges {
            let (source, target) = (end(context, *from), begin(*to));
            if component_of[source] != component_of[target] {
                continue;
            }
            let back = self.path(NodeIndex::new(target), NodeIndex::new(source));
            match back {
                None => self.add(source, target, *why),
                Some(back) => self.conflicts.extend(conflict(*from, *to, *why, &back)),
            }
        }
    }

    /// The reasons on a shortest path between two vertices.
    fn path(&self, from: NodeIndex, to: NodeIndex) -> Option<Vec<OrderReason>> {
        let (_, path) = astar(&self.graph, from, |node| node == to, |_| 1, |_| 0)?;
        let steps = path.windows(2).filter_map(|step| {
            let reasons = self.graph.edges_connecting(step[0], step[1]);
            Some(*reasons.min_by_key(|reason| reason.id())?.weight())
        });
        Some(steps.collect())
    }

    fn add(&mut self, from: usize, to: usize, why: OrderReason) {
        self.graph
            .add_edge(NodeIndex::new(from), NodeIndex::new(to), why);
    }

    /// Pairs of resources, the first before the second, with the reason.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = (usize, usize, OrderReason)> {
        let edges = self.graph.edge_references();
        edges.map(|edge| {
            let ends = [edge.source(), edge.target()].map(|end| end.index() / 2);
            (ends[0], ends[1], *edge.weight())
        })
    }

    /// The shortest cycle of each strongly connected component.
    pub(crate) fn cycles(&self) -> Vec<OrderCycle> {
        let mut cycles: Vec<OrderCycle> = kosaraju_scc(&self.graph)
            .into_iter()
            .filter(|component| {
                component.len() > 1 || self.graph.contains_edge(component[0], component[0])
            })
            .filter_map(|mut component| {
                component.sort_unstable();
                self.shortest(&component)
            })
            .collect();
        cycles.sort_by_key(|cycle| cycle.first().map(|(index, _)| *index));
        cycles
    }

    fn shortest(&self, component: &[NodeIndex]) -> Option<OrderCycle> {
        let path = cycle::shortest(component, |node| self.graph.neighbors(node))?;
        Some(
            path.iter()
                .enumerate()
                .filter_map(|(at, node)| {
                    let next = path[(at + 1) % path.len()];
                    // The first of several reasons.
                    let reasons = self.graph.edges_connecting(*node, next);
                    let first = reasons.min_by_key(|reason| reason.id())?;
                    Some((node.index() / 2, *first.weight()))
                })
                .collect(),
        )
    }
}
