//! The layout of a graph in layers: predecessors on top.
//!
//! Each vertex is in the layer after its last predecessor. A line that crosses a layer gets a joint
//! there, so that it passes between the boxes. Within a layer everything moves towards its
//! neighbors (the layered layout of Sugiyama).

use std::collections::BTreeSet;

/// Rounds of ordering. More rounds do not improve the layout visibly.
const ROUNDS: usize = 8;

/// A vertex, or a joint of a line that crosses a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayoutSlot {
    Vertex(usize),
    Joint,
}

/// Layers from top to bottom, and the path of each line through their slots.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub(crate) layers: Vec<Vec<usize>>,
    pub(crate) slots: Vec<LayoutSlot>,
    /// For each line, its slots from the upper end to the lower end.
    pub(crate) paths: Vec<Vec<usize>>,
    /// Lines that close a cycle and point upwards.
    pub(crate) upwards: BTreeSet<usize>,
}

/// Arranges vertices `0..count` with lines between them.
pub(super) fn arrange(count: usize, lines: &[(usize, usize)]) -> Layers {
    let (depth, upwards) = depths(count, lines);
    let mut slots: Vec<LayoutSlot> = (0..count).map(LayoutSlot::Vertex).collect();
    let mut layers = vec![Vec::new(); depth.iter().max().map_or(0, |deepest| deepest + 1)];
    for (vertex, layer) in depth.iter().enumerate() {
        layers[*layer].push(vertex);
    }
    let mut paths = Vec::with_capacity(lines.len());
    for (from, to) in lines {
        let (top, bottom) = if depth[*from] <= depth[*to] {
            (*from, *to)
        } else {
            (*to, *from)
        };
        let mut path = vec![top];
        for layer in layers.iter_mut().take(depth[bottom]).skip(depth[top] + 1) {
            slots.push(LayoutSlot::Joint);
            layer.push(slots.len() - 1);
            path.push(slots.len() - 1);
        }
        path.push(bottom);
        paths.push(path);
    }
    let mut arranged = Layers {
        layers,
        slots,
        paths,
        upwards,
    };
    arranged.order();
    arranged
}

/// The layer of each vertex, and the lines that close a cycle.
fn depths(count: usize, lines: &[(usize, usize)]) -> (Vec<usize>, BTreeSet<usize>) {
    let mut waiting = vec![0; count];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (line, (from, to)) in lines.iter().enumerate() {
        if from != to {
            waiting[*to] += 1;
            after[*from].push(line);
        }
    }
    let mut depth = vec![0; count];
    let mut placed = vec![false; count];
    let mut upwards = BTreeSet::new();
    let mut ready: BTreeSet<usize> = (0..count).filter(|vertex| waiting[*vertex] == 0).collect();
    for _ in 0..count {
        // In a cycle nothing is ready: its first vertex goes on top.
        let vertex = ready
            .pop_first()
            .or_else(|| (0..count).find(|vertex| !placed[*vertex]))
            .expect("each round places one of them");
        placed[vertex] = true;
        for line in &after[vertex] {
            let to = lines[*line].1;
            if placed[to] {
                upwards.insert(*line);
                continue;
            }
            depth[to] = depth[to].max(depth[vertex] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.insert(to);
            }
        }
    }
    (depth, upwards)
}

impl Layers {
    /// Moves the slots of a layer towards the middle of their neighbors, downwards and upwards in
    /// turn.
    fn order(&mut self) {
        let mut above: Vec<Vec<usize>> = vec![Vec::new(); self.slots.len()];
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.slots.len()];
        for path in &self.paths {
            for pair in path.windows(2) {
                below[pair[0]].push(pair[1]);
                above[pair[1]].push(pair[0]);
            }
        }
        for round in 0..ROUNDS {
            let downwards = round % 2 == 0;
            let edges = if downwards { &above } else { &below };
            let count = self.layers.len();
            for step in 1..count {
                let (at, fixed) = if downwards {
                    (step, step - 1)
                } else {
                    (count - 1 - step, count - step)
                };
                let mut positions = vec![None; self.slots.len()];
                for (position, slot) in self.layers[fixed].iter().enumerate() {
                    positions[*slot] = Some(position);
                }
                let mut keyed: Vec<(f64, usize)> = self.layers[at]
                    .iter()
                    .enumerate()
                    .map(|(position, slot)| {
                        let tied: Vec<usize> = edges[*slot]
                            .iter()
                            .filter_map(|other| positions[*other])
                            .collect();
                        let middle = match tied.len() {
                            0 => position as f64,
                            count => tied.iter().sum::<usize>() as f64 / count as f64,
                        };
                        (middle, *slot)
                    })
                    .collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.layers[at] = keyed.into_iter().map(|(_, slot)| slot).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(count: usize, lines: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let arranged = arrange(count, lines);
        let vertices = |layer: &Vec<usize>| {
            let vertices = layer.iter().copied().filter(|slot| *slot < count);
            vertices.collect()
        };
        arranged.layers.iter().map(vertices).collect()
    }

    #[test]
    fn layers_put_predecessors_above_successors() {
        assert_eq!(layers(3, &[(2, 1), (1, 0), (2, 0)]), [[2], [1], [0]]);
        assert_eq!(layers(4, &[(0, 3), (1, 2)]), [vec![0, 1], vec![3, 2]]);
        assert!(layers(0, &[]).is_empty());
    }

    #[test]
    fn layers_route_long_lines_through_each_layer() {
        let arranged = arrange(3, &[(0, 1), (1, 2), (0, 2)]);
        assert_eq!(arranged.paths[2].len(), 3);
        assert_eq!(arranged.slots[arranged.paths[2][1]], LayoutSlot::Joint);
    }

    #[test]
    fn layers_draw_a_cycle_with_an_upward_line() {
        let arranged = arrange(3, &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert_eq!(arranged.upwards.into_iter().collect::<Vec<_>>(), [2]);
        assert_eq!(layers(3, &[(0, 1), (1, 2), (2, 0)]), [[0], [1], [2]]);
    }
}
