//! What comes before what: stated relations, containment, automatic relations.
//!
//! Follows `docs/reference/transaction.md`, section 3: containers are replaced by two markers, automatic
//! relations are added where no direct one stands between the two.

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

/// OrderReason one thing comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderReason {
    /// The relation with this number in [`RuleContext::relations`].
    Stated(usize),
    /// A container and its content.
    Contains,
    /// A resource's value names the other.
    Automatic { of: usize, kind: AutoKind },
}

/// An automatic relation that is not added, because an explicit one leads the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderConflict {
    /// The resource whose type wants the relation.
    pub of: usize,
    pub other: usize,
    pub kind: AutoKind,
    /// Whether the resource belongs after the other.
    pub after: bool,
    /// The stated relation.
    pub stated: usize,
}

/// A way that ends where it begins: each step with the reason for the next.
pub type OrderCycle = Vec<(usize, OrderReason)>;

/// The order of a catalog.
#[derive(Debug, Default)]
pub struct EvaluationOrder {
    /// The two markers of each resource; those that are not containers use the first alone.
    graph: DiGraph<(), OrderReason>,
    pub conflicts: Vec<OrderConflict>,
}

/// The marker at which a container is entered, or the resource itself.
fn begin(index: usize) -> usize {
    2 * index
}

/// The marker at which a container is complete, or the resource itself.
fn end(context: &RuleContext<'_>, index: usize) -> usize {
    match context.destinations[index] {
        Destination::Container => 2 * index + 1,
        _ => 2 * index,
    }
}

impl EvaluationOrder {
    pub fn new(context: &RuleContext<'_>) -> Self {
        let count = context.destinations.len();
        let mut order = Self::default();
        (0..2 * count).for_each(|_| {
            order.graph.add_node(());
        });
        // Direct relations between resources, for the rules about automatic ones.
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
                    OrderReason::Stated(number),
                );
            }
        }
        for (index, _, wanted) in context.wanted() {
            for relation in &wanted.model.relations {
                let first = matches!(relation.kind, AutoKind::Require | AutoKind::Subscribe);
                for name in wanted.related(relation) {
                    let reference = ResourceRef::new(&relation.target, &name);
                    let Some(other) = context.index.find(&reference).filter(|at| *at != index)
                    else {
                        continue;
                    };
                    // What needs another goes before it, and away before it, too.
                    let turned = wanted.absent() && context.is_removed(other);
                    let (from, to) = if first != turned {
                        (other, index)
                    } else {
                        (index, other)
                    };
                    if let Some(Some(stated)) = direct.get(&(to, from)) {
                        order.conflicts.push(OrderConflict {
                            of: index,
                            other,
                            kind: relation.kind,
                            after: to == index,
                            stated: *stated,
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

    /// One cycle for each knot of the catalog, the shortest that there is in it.
    pub fn cycles(&self) -> Vec<OrderCycle> {
        let mut cycles: Vec<OrderCycle> = kosaraju_scc(&self.graph)
            .into_iter()
            .filter(|knot| knot.len() > 1 || self.graph.contains_edge(knot[0], knot[0]))
            .filter_map(|mut knot| {
                knot.sort_unstable();
                self.shortest(&knot)
            })
            .collect();
        cycles.sort_by_key(|cycle| cycle.first().map(|(index, _)| *index));
        cycles
    }

    fn shortest(&self, knot: &[NodeIndex]) -> Option<OrderCycle> {
        let way = cycle::shortest(knot, |node| self.graph.neighbors(node))?;
        Some(
            way.iter()
                .enumerate()
                .filter_map(|(at, node)| {
                    let next = way[(at + 1) % way.len()];
                    // Of several reasons the one that was found first.
                    let reasons = self.graph.edges_connecting(*node, next);
                    let first = reasons.min_by_key(|reason| reason.id())?;
                    Some((node.index() / 2, *first.weight()))
                })
                .collect(),
        )
    }
}
