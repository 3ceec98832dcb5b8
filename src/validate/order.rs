//! The order of a catalog: declared relations, containment, automatic relations.
//!
//! Follows `docs/reference/transaction.md`, section 3. A container is two vertices, one before and one after its
//! content. An automatic relation is added unless the two resources have a direct one.

use std::collections::HashMap;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;
use switchtender_devices::model::AutoKind;

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
        for (index, _, desired) in context.desired() {
            for relation in &desired.model.relations {
                let first = matches!(relation.kind, AutoKind::Require | AutoKind::Subscribe);
                for name in desired.related(relation) {
                    let reference = ResourceRef::new(&relation.target, &name);
                    let Some(other) = context.index.find(&reference).filter(|at| *at != index)
                    else {
                        continue;
                    };
                    // A removed resource is removed before the resources that it needs.
                    let is_reversed = desired.is_absent() && context.is_removed(other);
                    let (from, to) = if first != is_reversed {
                        (other, index)
                    } else {
                        (index, other)
                    };
                    if let Some(Some(declared)) = direct.get(&(to, from)) {
                        order.conflicts.push(OrderConflict {
                            of: index,
                            other,
                            kind: relation.kind,
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
                        kind: relation.kind,
                    };
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
        order
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
