//! Dependency cycles: found before the first resource, told with the shortest walk
//! (`docs/transaction.md`, section 3, *Cycles*).

use std::collections::{HashMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::catalog::Resources;

use super::vertex::{Graph, VertexId};

/// Vertices that wait for each other, sorted by reference.
pub type Cycle = Vec<VertexId>;

/// All cycles, sorted by their members. Linear where there are none.
pub fn find(graph: &Graph, resources: &Resources) -> Vec<Cycle> {
    let left = unreachable_in_order(graph);
    if left.is_empty() {
        return Vec::new();
    }
    let mut part = DiGraph::<VertexId, ()>::with_capacity(left.len(), left.len());
    let index: HashMap<VertexId, _> = left.iter().map(|id| (*id, part.add_node(*id))).collect();
    for id in &left {
        for link in graph.edges.out(id.0) {
            if let Some(target) = index.get(&VertexId(link.target)) {
                part.add_edge(index[id], *target, ());
            }
        }
    }
    let mut cycles: Vec<Vec<(String, VertexId)>> = kosaraju_scc(&part)
        .into_iter()
        .filter(|members| members.len() > 1 || part.contains_edge(members[0], members[0]))
        .map(|members| {
            let mut members: Vec<(String, VertexId)> = members
                .into_iter()
                .map(|member| {
                    let id = part[member];
                    (graph.vertex(id).reference(resources), id)
                })
                .collect();
            members.sort();
            members
        })
        .collect();
    cycles.sort();
    cycles
        .into_iter()
        .map(|members| members.into_iter().map(|(_, id)| id).collect())
        .collect()
}

/// What is left when everything that can be evaluated is.
fn unreachable_in_order(graph: &Graph) -> Vec<VertexId> {
    let mut waiting: Vec<usize> = graph
        .ids()
        .map(|id| graph.edges.incoming(id.0).len())
        .collect();
    let mut next: Vec<VertexId> = graph.ids().filter(|id| waiting[id.index()] == 0).collect();
    while let Some(id) = next.pop() {
        for link in graph.edges.out(id.0) {
            let count = &mut waiting[link.target as usize];
            *count -= 1;
            if *count == 0 {
                next.push(VertexId(link.target));
            }
        }
    }
    graph.ids().filter(|id| waiting[id.index()] > 0).collect()
}

/// How many walks are followed before a simpler way is taken; only large knots of many short ways
/// need more.
const MAX_WALKS: usize = 100_000;

/// Up to `count` walks from the first member around the cycle, shortest first. A walk ends where it
/// meets itself, so it may have a tail before the loop.
pub fn walks(graph: &Graph, cycle: &Cycle, count: usize) -> Vec<Vec<VertexId>> {
    let members: std::collections::HashSet<VertexId> = cycle.iter().copied().collect();
    let inside = |id: VertexId| {
        graph
            .edges
            .out(id.0)
            .iter()
            .map(|link| VertexId(link.target))
            .filter(|target| members.contains(target))
    };
    // Walks share their beginnings: each entry knows the one before it.
    let mut steps: Vec<(VertexId, Option<usize>)> = vec![(cycle[0], None)];
    let mut queue = VecDeque::from([0]);
    let mut found = Vec::new();
    while let Some(at) = queue.pop_front() {
        let (vertex, before) = steps[at];
        let mut walk = vec![vertex];
        let mut closes = false;
        let mut next = before;
        while let Some(step) = next {
            walk.push(steps[step].0);
            closes |= steps[step].0 == vertex;
            next = steps[step].1;
        }
        if closes {
            walk.reverse();
            found.push(walk);
            if found.len() >= count {
                break;
            }
            continue;
        }
        if steps.len() > MAX_WALKS {
            break;
        }
        for target in inside(vertex) {
            steps.push((target, Some(at)));
            queue.push_back(steps.len() - 1);
        }
    }
    if found.is_empty() {
        found.push(any_walk(cycle[0], inside));
    }
    found
}

/// The walk that always takes the first way.
fn any_walk<I: Iterator<Item = VertexId>>(
    first: VertexId,
    inside: impl Fn(VertexId) -> I,
) -> Vec<VertexId> {
    let mut walk = vec![first];
    let mut seen = std::collections::HashSet::from([first]);
    while let Some(next) = walk.last().and_then(|last| inside(*last).next()) {
        walk.push(next);
        if !seen.insert(next) {
            break;
        }
    }
    walk
}

/// The message about all cycles. `graph_file` is where the cycles were drawn, if they were.
pub fn message(
    cycles: &[Cycle],
    graph: &Graph,
    resources: &Resources,
    graph_file: Option<&str>,
    line_break: &str,
) -> String {
    let mut text = match cycles.len() {
        1 => "Found 1 dependency cycle:\n".to_owned(),
        count => format!("Found {count} dependency cycles:\n"),
    };
    for cycle in cycles {
        for walk in walks(graph, cycle, 1) {
            let names: Vec<String> = walk
                .iter()
                .map(|id| graph.vertex(*id).shown(resources))
                .collect();
            text += &format!("({}){line_break}", names.join(" => "));
        }
    }
    text + &match graph_file {
        Some(file) => format!("Cycle graph written to {file}."),
        None => "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz"
            .to_owned(),
    }
}
