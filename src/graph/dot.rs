//! Graphs as `.dot` files (`docs/reference/transaction.md`, section 16).

use std::fmt::Write;

use switchtender_devices::printable;

use crate::catalog::Resources;
use crate::catalog::node::NodeId;

use super::build::BuiltGraph;
use super::cycle::{self, DependencyCycle};
use super::drawing::{Drawing, LineStyle, NodeStyle};
use super::edges::Edges;
use super::vertex::{Graph, VertexId};

/// Names and texts of the graphs of every run.
pub fn files(built: &BuiltGraph, resources: &Resources) -> Vec<(&'static str, String)> {
    vec![
        ("resources.dot", self::resources(resources)),
        (
            "relationships.dot",
            relationships(&built.relationships, resources),
        ),
        (
            "expanded_relationships.dot",
            expanded(&built.graph, resources),
        ),
    ]
}

/// The maximum number of walks to draw for a cycle.
const WALKS_PER_CYCLE: usize = 10;

/// `resources.dot`: containment.
pub(crate) fn resources(resources: &Resources) -> String {
    let mut dot = Dot::new("Resources");
    for id in resources.order() {
        dot.vertex(resources.node(*id).reference.as_str());
    }
    for id in resources.order() {
        for content in resources.contents(*id) {
            dot.edge(
                resources.node(*id).reference.as_str(),
                resources.node(*content).reference.as_str(),
            );
        }
    }
    dot.finish()
}

/// `relationships.dot`: relationships between resources and containers.
pub(crate) fn relationships(edges: &Edges<NodeId>, resources: &Resources) -> String {
    let mut dot = Dot::new("Relationships");
    let name = |id: NodeId| resources.node(id).reference.as_str();
    for id in resources.order() {
        dot.vertex(name(*id));
    }
    for id in resources.order() {
        for (target, counts) in edges.outgoing(*id) {
            for _ in counts.kinds() {
                dot.edge(name(*id), name(target));
            }
        }
    }
    dot.finish()
}

/// `expanded_relationships.dot`: the graph that is traversed.
pub fn expanded(graph: &Graph, resources: &Resources) -> String {
    let mut dot = Dot::new("Expanded_relationships");
    let name = |id: VertexId| graph.vertex(id).graph_name(resources);
    for id in graph.ids() {
        dot.vertex(&name(id));
    }
    for id in graph.ids() {
        for (target, counts) in graph.edges.outgoing(id) {
            for _ in counts.kinds() {
                dot.edge(&name(id), &name(target));
            }
        }
    }
    dot.finish()
}

/// `cycles.dot`: some walks around each cycle, in Puppet's form.
pub fn cycles(cycles: &[DependencyCycle], graph: &Graph, resources: &Resources) -> String {
    let mut text = String::from("digraph Resource_Cycles {\n  label = \"Resource Cycles\"\n");
    for cycle in cycles {
        let mut walks = cycle::walks(graph, cycle, WALKS_PER_CYCLE);
        walks.sort_by_cached_key(|walk| {
            let name = |id: &VertexId| graph.vertex(*id).graph_name(resources);
            walk.iter().map(name).collect::<Vec<_>>()
        });
        for walk in walks {
            let names: Vec<String> = walk
                .iter()
                .map(|id| format!("\"{}\"", escape(&graph.vertex(*id).display_name(resources))))
                .collect();
            text += &names.join(" -> ");
            text.push('\n');
        }
    }
    text + "}\n"
}

/// A graph with the line styles of the SVG: containment dotted, automatic edges dashed, edges that
/// deliver events bold. Resources that are not in the catalog are dashed.
pub(crate) fn drawing(drawing: &Drawing) -> String {
    let mut dot = Dot::new("Relationships");
    for node in &drawing.nodes {
        let style = match node.kind {
            NodeStyle::Missing => ",\n        style = dashed,\n        color = red",
            _ => "",
        };
        dot.styled_vertex(&node.name, style);
    }
    for line in &drawing.lines {
        let style = match line.kind {
            LineStyle::Order => "solid",
            LineStyle::Automatic => "dashed",
            LineStyle::Refresh => "bold",
            LineStyle::Contains => "dotted",
        };
        let [from, to] = [line.from, line.to].map(|node| drawing.nodes[node].name.as_str());
        dot.styled_edge(from, to, &format!(",\n        style = {style}"));
    }
    dot.finish()
}

struct Dot(String);

impl Dot {
    fn new(name: &str) -> Self {
        Self(format!("digraph {name} {{\n    label = \"{name}\"\n"))
    }

    fn vertex(&mut self, name: &str) {
        self.styled_vertex(name, "");
    }

    fn styled_vertex(&mut self, name: &str, style: &str) {
        let name = escape(name);
        writeln!(
            self.0,
            "    \"{name}\" [\n        fontsize = 8,\n        label = \"{name}\"{style}\n    ]\n"
        )
        .expect("a string takes all text");
    }

    fn edge(&mut self, source: &str, target: &str) {
        self.styled_edge(source, target, "");
    }

    fn styled_edge(&mut self, source: &str, target: &str, style: &str) {
        writeln!(
            self.0,
            "    \"{}\" -> \"{}\" [\n        fontsize = 8{style}\n    ]\n",
            escape(source),
            escape(target)
        )
        .expect("a string takes all text");
    }

    fn finish(self) -> String {
        self.0 + "}\n"
    }
}

fn escape(name: &str) -> String {
    printable::escape(name)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}
