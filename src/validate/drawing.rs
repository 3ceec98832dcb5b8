//! The graph of a catalog for display, drawn from what its relations say, whether or not it can be
//! applied.

use std::collections::BTreeMap;

use switchtender_devices::model::AutoKind;

use super::order::OrderReason;
use super::relation::RelationTarget;
use super::rule_context::RuleContext;
use crate::catalog::ResourceRef;
use crate::graph::{Drawing, DrawnLine, DrawnNode, LineStyle, NodeStyle};
use crate::route::Destination;

/// Draws the resources of a catalog in their order, and then the missing targets of relations.
pub(crate) fn draw(context: &RuleContext<'_>) -> Drawing {
    let mut nodes: Vec<DrawnNode> = context
        .resources()
        .map(|(index, resource)| DrawnNode {
            name: resource.reference.to_string(),
            position: resource.position.clone(),
            kind: match context.destinations[index] {
                Destination::Container => NodeStyle::Container,
                _ => NodeStyle::Resource,
            },
        })
        .collect();
    let mut missing: BTreeMap<&ResourceRef, usize> = BTreeMap::new();
    let mut order: BTreeMap<(usize, usize), LineStyle> = BTreeMap::new();
    let mut add = |from, to, kind| {
        let style = order.entry((from, to)).or_insert(kind);
        *style = kind.max(*style);
    };
    for relation in &context.relations {
        let other = match &relation.target {
            RelationTarget::Found(other) => *other,
            RelationTarget::Missing(reference) => *missing.entry(reference).or_insert_with(|| {
                nodes.push(DrawnNode {
                    name: reference.to_string(),
                    position: None,
                    kind: NodeStyle::Missing,
                });
                nodes.len() - 1
            }),
            RelationTarget::Invalid => continue,
        };
        let kind = if relation.kind.has_refresh() {
            LineStyle::Refresh
        } else {
            LineStyle::Order
        };
        if relation.kind.is_reverse() {
            add(other, relation.from, kind)
        } else {
            add(relation.from, other, kind)
        }
    }
    for (from, to, reason) in context.order().reasons() {
        if let OrderReason::Automatic { kind, .. } = reason {
            let style = match kind {
                AutoKind::Subscribe | AutoKind::Notify => LineStyle::Refresh,
                _ => LineStyle::Automatic,
            };
            add(from, to, style);
        }
    }
    let mut contains = context.catalog.edges.clone();
    contains.sort_unstable();
    let contains = contains.into_iter().map(|(from, to)| DrawnLine {
        from,
        to,
        kind: LineStyle::Contains,
    });
    let order = order.into_iter();
    let order = order.map(|((from, to), kind)| DrawnLine { from, to, kind });
    Drawing {
        lines: contains.chain(order).collect(),
        nodes,
    }
}
