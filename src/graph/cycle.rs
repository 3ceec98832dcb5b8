//! Dependency cycles: detected before the first resource is evaluated, reported with the shortest
//! path (`docs/reference/transaction.md`, section 3, *Cycles*).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use petgraph::algo::kosaraju_scc;

use crate::catalog::Resources;

use super::ready_queue::ReadyQueue;
use super::vertex::{Graph, VertexId};

/// Vertices that depend on each other, sorted by reference.
pub(crate) type DependencyCycle = Vec<VertexId>;

/// All cycles, sorted by their members. Linear for a graph without cycles.
pub fn find(graph: &Graph, resources: &Resources) -> Vec<DependencyCycle> {
    if is_acyclic(graph) {
        return Vec::new();
    }
    let mut cycles: Vec<Vec<(String, VertexId)>> = kosaraju_scc(graph.edges.as_petgraph())
        .into_iter()
        .filter(|members| members.len() > 1 || graph.edges.contains(members[0], members[0]))
        .map(|members| {
            let mut members: Vec<(String, VertexId)> = members
                .into_iter()
                .map(|id| (graph.vertex(id).graph_name(resources), id))
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

/// Whether every vertex can be evaluated. Cheaper than strongly connected components.
fn is_acyclic(graph: &Graph) -> bool {
    let mut ready = ReadyQueue::new(graph);
    let evaluated = std::iter::from_fn(|| {
        let id = ready.pop()?;
        ready.finish(graph, id);
        Some(id)
    });
    evaluated.count() == graph.len()
}

/// The shortest cycle within a strongly connected set of vertices: each vertex leads to the next,
/// and the last to the first. If several are equally short, the one that starts at the earliest
/// vertex.
pub fn shortest<N: Copy + Eq + Hash, I: Iterator<Item = N>>(
    component: &[N],
    next: impl Fn(N) -> I,
) -> Option<Vec<N>> {
    // In a large component any of the short cycles is good enough.
    const STARTS: usize = 200;
    let inside: HashSet<N> = component.iter().copied().collect();
    let next = |member| next(member).filter(|target| inside.contains(target));
    let starts = component.iter().take(STARTS);
    starts
        .filter_map(|&start| back_to(start, next))
        .min_by_key(Vec::len)
}

/// The shortest path from a vertex back to itself.
fn back_to<N: Copy + Eq + Hash, I: Iterator<Item = N>>(
    start: N,
    next: impl Fn(N) -> I,
) -> Option<Vec<N>> {
    let mut came_from: HashMap<N, N> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(member) = queue.pop_front() {
        for target in next(member) {
            if target == start {
                let mut path = vec![member];
                while path[path.len() - 1] != start {
                    path.push(came_from[&path[path.len() - 1]]);
                }
                path.reverse();
                return Some(path);
            }
            if let Entry::Vacant(vacant) = came_from.entry(target) {
                vacant.insert(member);
                queue.push_back(target);
            }
        }
    }
    None
}

/// The number of walks to follow before a simpler method is used. Only large components with many
/// short paths exceed it.
const MAX_WALKS: usize = 100_000;

/// Up to `count` walks around the cycle in Puppet's form, from the first member, shortest first. A
/// walk ends where it meets itself, so it may have a tail before the loop.
pub fn walks(graph: &Graph, cycle: &DependencyCycle, count: usize) -> Vec<Vec<VertexId>> {
    let members: HashSet<VertexId> = cycle.iter().copied().collect();
    let inside = |id: VertexId| {
        graph
            .edges
            .successors(id)
            .filter(|target| members.contains(target))
    };
    // Walks share their beginnings: each entry refers to the one before it.
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

/// The walk that always follows the first edge.
fn any_walk<I: Iterator<Item = VertexId>>(
    first: VertexId,
    inside: impl Fn(VertexId) -> I,
) -> Vec<VertexId> {
    let mut walk = vec![first];
    let mut seen = HashSet::from([first]);
    while let Some(next) = walk.last().and_then(|last| inside(*last).next()) {
        walk.push(next);
        if !seen.insert(next) {
            break;
        }
    }
    walk
}

/// The message about all cycles. `graph_file` is the file with the graph of the cycles, if it is
/// written.
pub(crate) fn message(
    cycles: &[DependencyCycle],
    graph: &Graph,
    resources: &Resources,
    graph_file: Option<&str>,
    wording: Wording,
) -> String {
    let mut text = match cycles.len() {
        1 => "Found 1 dependency cycle:\n".to_owned(),
        count => format!("Found {count} dependency cycles:\n"),
    };
    for cycle in cycles {
        let name = |id: &VertexId| graph.vertex(*id).display_name(resources);
        let (names, line_break): (Vec<String>, _) = match wording {
            Wording::Puppet => {
                let walk = walks(graph, cycle, 1).swap_remove(0);
                (walk.iter().map(name).collect(), "\\n")
            }
            Wording::Lines => {
                let path = shortest(cycle, |id| graph.edges.successors(id))
                    .expect("members of a cycle reach themselves");
                let mut names: Vec<String> = path.iter().map(name).collect();
                // Both markers of a container have its name.
                names.dedup();
                names.push(names[0].clone());
                (names, "\n")
            }
        };
        text += &format!("({}){line_break}", names.join(" => "));
    }
    text + &match graph_file {
        Some(file) => format!("Cycle graph written to {file}."),
        None => "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz"
            .to_owned(),
    }
}

/// The form of the message about cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// The first walk that Puppet finds. Lines end in a backslash and an `n`.
    Puppet,
    /// The shortest path of each cycle on a line of its own.
    Lines,
}
