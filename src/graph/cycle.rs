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
pub(super) fn is_acyclic(graph: &Graph) -> bool {
    let mut ready = ReadyQueue::new(graph);
    let evaluated = std::iter::from_fn(|| {
        let id = ready.pop()?;
        ready.finish(graph, id);
        Some(id)
    });
    evaluated.count() == graph.len()
}

/// A short cycle within a strongly connected set of vertices: each vertex leads to the next, and the
/// last to the first. Usually the shortest; if several are equally short, the one that starts at the
/// earliest vertex. The search in a large set ends early.
pub fn shortest<N: Copy + Eq + Hash, I: Iterator<Item = N>>(
    component: &[N],
    next: impl Fn(N) -> I,
) -> Option<Vec<N>> {
    const MAX_STARTS: usize = 200;
    let inside: HashSet<N> = component.iter().copied().collect();
    let next = |member| next(member).filter(|target| inside.contains(target));
    let mut best: Option<Vec<N>> = None;
    let mut visited = 0;
    for &start in component.iter().take(MAX_STARTS) {
        let below = best.as_ref().map_or(usize::MAX, Vec::len);
        best = path_to_itself(start, below, &mut visited, next).or(best);
        if best.is_some() && visited > MAX_VISITED {
            break;
        }
    }
    best
}

/// The number of visited vertices after which [`shortest`] tries no further start.
const MAX_VISITED: usize = 200_000;

/// The shortest path from a vertex back to itself, if it has fewer than `below` vertices. Counts the
/// visited vertices.
fn path_to_itself<N: Copy + Eq + Hash, I: Iterator<Item = N>>(
    start: N,
    below: usize,
    visited: &mut usize,
    next: impl Fn(N) -> I,
) -> Option<Vec<N>> {
    let mut came_from: HashMap<N, N> = HashMap::new();
    // Vertices with the number of vertices of their path.
    let mut queue = VecDeque::from([(start, 1)]);
    while let Some((member, length)) = queue.pop_front() {
        if length >= below {
            return None;
        }
        *visited += 1;
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
                queue.push_back((target, length + 1));
            }
        }
    }
    None
}

/// The number of walks to follow before a simpler method is used. Only large components with many
/// short paths exceed it.
const MAX_WALKS: usize = 100_000;
/// The number of steps to follow back in walks before a simpler method is used. Only a long cycle
/// exceeds it.
const MAX_STEPS_BACK: usize = 1_000_000;

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
    let mut steps_back = 0;
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
        steps_back += walk.len();
        if steps.len() > MAX_WALKS || steps_back > MAX_STEPS_BACK {
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

/// Maximum number of names in the message about a cycle.
const MAX_NAMES: usize = 20;

/// The messages about all cycles, the last about `graph_file`: the file with the graph of the
/// cycles, if it is written.
pub(crate) fn messages(
    cycles: &[DependencyCycle],
    graph: &Graph,
    resources: &Resources,
    graph_file: Option<&str>,
    wording: Wording,
) -> Vec<String> {
    let mut messages = vec![match cycles.len() {
        1 => "Found 1 dependency cycle:".to_owned(),
        count => format!("Found {count} dependency cycles:"),
    }];
    let mut puppet = String::new();
    for cycle in cycles {
        let name = |id: &VertexId| graph.vertex(*id).display_name(resources);
        match wording {
            Wording::Puppet => {
                let walk = walks(graph, cycle, 1).swap_remove(0);
                let names: Vec<String> = walk.iter().map(name).collect();
                puppet += &format!("({})\\n", names.join(" => "));
            }
            Wording::Lines => {
                let path = shortest(cycle, |id| graph.edges.successors(id))
                    .expect("members of a cycle reach themselves");
                let mut names: Vec<String> = path.iter().map(name).collect();
                // Both markers of a container have its name.
                names.dedup();
                let first = names[0].clone();
                if names.len() > MAX_NAMES {
                    let more = names.len() - MAX_NAMES;
                    names.truncate(MAX_NAMES);
                    names.push(format!("… {more} more"));
                }
                names.push(first);
                messages.push(format!("({})", names.join(" => ")));
            }
        }
    }
    let graph = match graph_file {
        Some(file) => format!("Cycle graph written to {file}."),
        None => "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz"
            .to_owned(),
    };
    match wording {
        Wording::Puppet => vec![format!("{}\n{puppet}{graph}", messages[0])],
        Wording::Lines => {
            messages.push(graph);
            messages
        }
    }
}

/// The form of the messages about cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// One message with the first walk that Puppet finds. Lines end in a backslash and an `n`.
    Puppet,
    /// The shortest path of each cycle in a message of its own.
    Lines,
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The visited vertices of the search in one cycle of this length.
    fn visits(length: u32) -> usize {
        let component: Vec<u32> = (0..length).collect();
        let visited = Cell::new(0);
        let path = shortest(&component, |vertex| {
            visited.set(visited.get() + 1);
            std::iter::once((vertex + 1) % length)
        });
        assert_eq!(path.unwrap().len(), component.len());
        visited.get()
    }

    #[test]
    fn shortest_is_linear_for_a_long_cycle() {
        for length in [50_000, 100_000, 200_000, 400_000] {
            let visits = visits(length);
            assert!(
                visits <= MAX_VISITED + 2 * length as usize,
                "{length}: {visits}"
            );
        }
    }

    #[test]
    fn shortest_finds_a_short_cycle_after_a_long_one() {
        // 0 → 1 → … → 9 → 0, and 5 → 4.
        let component: Vec<u32> = (0..10).collect();
        let path = shortest(&component, |vertex| {
            let back = (vertex == 5).then_some(4);
            back.into_iter().chain([(vertex + 1) % 10])
        });
        assert_eq!(path.unwrap(), [4, 5]);
    }
}
