//! A graph as an SVG image that needs no other program.

use std::fmt::Write;

use switchtender_devices::printable;

use super::drawing::{Drawing, LineStyle, NodeStyle};
use super::layers::{Layers, LayoutSlot, arrange};

// Lengths in pixels, for a monospaced font of 12 pixels.
const CHARACTER: f64 = 7.3;
const PADDING: f64 = 10.0;
const HEIGHT: f64 = 26.0;
const BESIDE: f64 = 20.0;
const BELOW: f64 = 52.0;
const MARGIN: f64 = 16.0;
const JOINT: f64 = 6.0;
const LEGEND: f64 = 20.0;
/// Between the rows of a layer that is wider than the image.
const ROW: f64 = 14.0;
/// A layer that is wider has several rows: an image of one page width is readable.
const WIDEST: f64 = 1100.0;

const STYLE: &str = "\
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328 }
.page { fill: #ffffff; stroke: none }
.head { fill: #57606a; stroke: none }
rect { fill: #f6f8fa; stroke: #57606a }
.container rect { fill: #ffffff; stroke-dasharray: 4 3 }
.missing rect { fill: #ffebe9; stroke: #cf222e; stroke-dasharray: 4 3 }
.center rect { fill: #ddf4ff; stroke: #0969da; stroke-width: 2 }
path { fill: none; stroke: #57606a }
.refresh { stroke: #bc4c00; stroke-width: 2 }
.automatic { stroke-dasharray: 6 4 }
.contains { stroke: #afb8c1; stroke-dasharray: 2 3 }
.upwards { stroke: #cf222e; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.page { fill: #0d1117 }
.head { fill: #9198a1 }
rect { fill: #151b23; stroke: #9198a1 }
.container rect { fill: #0d1117 }
.missing rect { fill: #2d1618; stroke: #f85149 }
.center rect { fill: #121d2f; stroke: #79c0ff }
path { stroke: #9198a1 }
.refresh { stroke: #e3b341 }
.contains { stroke: #484f58 }
.upwards { stroke: #f85149 }
}
";

/// Draws a graph with predecessors on top.
pub(crate) fn svg(drawing: &Drawing) -> String {
    let names: Vec<&str> = drawing
        .nodes
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    let lines: Vec<(usize, usize)> = (drawing.lines.iter())
        .map(|line| (line.from, line.to))
        .collect();
    let mut layers = arrange(names.len(), &lines);
    separate_unconnected(&mut layers, names.len(), &lines);
    let (positions, width, height) = positions(&layers, &names);

    let mut out = String::new();
    let mut put = |text: std::fmt::Arguments<'_>| {
        out.write_fmt(text).expect("a string takes all text");
        out.push('\n');
    };
    put(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
    ));
    put(format_args!("<style>\n{STYLE}</style>"));
    put(format_args!(
        r##"<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse" markerUnits="userSpaceOnUse"><path d="M0 0 L8 4 L0 8 z" class="head"/></marker></defs>"##
    ));
    put(format_args!(
        r##"<rect class="page" width="100%" height="100%"/>"##
    ));
    for (number, (line, slots)) in drawing.lines.iter().zip(&layers.paths).enumerate() {
        let class = match line.kind {
            _ if layers.upwards.contains(&number) || line.from == line.to => "upwards",
            LineStyle::Contains => "contains",
            LineStyle::Order => "order",
            LineStyle::Automatic => "automatic",
            LineStyle::Refresh => "refresh",
        };
        let ends = if slots[0] == line.from {
            r#"marker-end="url(#head)""#
        } else {
            r#"marker-start="url(#head)""#
        };
        let path = path(slots, &positions);
        put(format_args!(r#"<path class="{class}" d="{path}" {ends}/>"#));
    }
    for (vertex, node) in drawing.nodes.iter().enumerate() {
        let class = match node.kind {
            NodeStyle::Resource => "resource",
            NodeStyle::Container => "container",
            NodeStyle::Center => "center",
            NodeStyle::Missing => "missing",
        };
        let bounds = &positions[vertex];
        let left = bounds.x - bounds.width / 2.0;
        let name = escape(names[vertex]);
        let position = node.position.as_ref().map_or_else(String::new, |at| {
            format!(" ({}:{})", escape(&at.file), at.line)
        });
        put(format_args!(
            r#"<g class="{class}"><title>{name}{position}</title><rect x="{left:.1}" y="{:.1}" width="{:.1}" height="{HEIGHT}" rx="4"/><text x="{:.1}" y="{:.1}" text-anchor="middle">{name}</text></g>"#,
            bounds.y,
            bounds.width,
            bounds.x,
            bounds.y + HEIGHT / 2.0 + 4.0
        ));
    }
    put(format_args!(
        r#"<text x="{MARGIN}" y="{:.1}">{LEGEND_TEXT}</text>"#,
        height - 10.0
    ));
    put(format_args!("</svg>"));
    out
}

const LEGEND_TEXT: &str = "solid: require, before · thick: notify, subscribe · dashed: automatic · \
     dotted: contains · red: cycle, or not in the catalog";

/// The center of a slot's upper edge, and its size.
struct BoxPosition {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Moves the vertices without a line below the others.
fn separate_unconnected(layers: &mut Layers, count: usize, lines: &[(usize, usize)]) {
    let mut is_connected = vec![false; count];
    for (from, to) in lines {
        is_connected[*from] = true;
        is_connected[*to] = true;
    }
    let slots = &layers.slots;
    let is_alone = |slot: &usize| match slots[*slot] {
        LayoutSlot::Vertex(vertex) => !is_connected[vertex],
        LayoutSlot::Joint => false,
    };
    let mut alone: Vec<usize> = Vec::new();
    for layer in &mut layers.layers {
        alone.extend(layer.extract_if(.., |slot| is_alone(slot)));
    }
    layers.layers.push(alone);
    layers.layers.retain(|layer| !layer.is_empty());
}

/// The slots of a layer in rows that are not wider than the image.
fn rows<'l>(layer: &'l [usize], width_of: &dyn Fn(usize) -> f64) -> Vec<(&'l [usize], f64)> {
    let mut rows = Vec::new();
    let (mut start, mut width) = (0, 0.0);
    for (at, slot) in layer.iter().enumerate() {
        let own = width_of(*slot);
        if at > start && width + BESIDE + own > WIDEST {
            rows.push((&layer[start..at], width));
            (start, width) = (at, own);
        } else {
            width += own + if at > start { BESIDE } else { 0.0 };
        }
    }
    rows.push((&layer[start..], width));
    rows
}

/// The position of each slot, and the size of the image.
fn positions(layers: &Layers, names: &[&str]) -> (Vec<BoxPosition>, f64, f64) {
    let width_of = |slot: usize| match layers.slots[slot] {
        LayoutSlot::Vertex(vertex) => {
            names[vertex].chars().count() as f64 * CHARACTER + 2.0 * PADDING
        }
        LayoutSlot::Joint => JOINT,
    };
    let wrapped: Vec<Vec<(&[usize], f64)>> = (layers.layers.iter())
        .map(|layer| rows(layer, &width_of))
        .collect();
    let legend = LEGEND_TEXT.chars().count() as f64 * CHARACTER;
    let widths = wrapped.iter().flatten().map(|(_, width)| *width);
    let widest = widths.fold(legend, f64::max);
    let mut positions: Vec<BoxPosition> = (0..layers.slots.len())
        .map(|slot| BoxPosition {
            x: 0.0,
            y: 0.0,
            width: width_of(slot),
            height: if matches!(layers.slots[slot], LayoutSlot::Joint) {
                0.0
            } else {
                HEIGHT
            },
        })
        .collect();
    let mut top = MARGIN;
    for rows in &wrapped {
        for (row, width) in rows {
            let mut left = MARGIN + (widest - width) / 2.0;
            for slot in *row {
                let bounds = &mut positions[*slot];
                bounds.x = left + bounds.width / 2.0;
                bounds.y = top + (HEIGHT - bounds.height) / 2.0;
                left += bounds.width + BESIDE;
            }
            top += HEIGHT + ROW;
        }
        top += BELOW - ROW;
    }
    let bottom = if wrapped.is_empty() { top } else { top - BELOW };
    (positions, widest + 2.0 * MARGIN, bottom + MARGIN + LEGEND)
}

/// A path from the lower edge of each slot to the upper edge of the next.
fn path(line: &[usize], positions: &[BoxPosition]) -> String {
    let first = &positions[line[0]];
    if line.len() == 2 && line[0] == line[1] {
        let (right, middle) = (first.x + first.width / 2.0, first.y + HEIGHT / 2.0);
        return format!(
            "M{right:.1} {:.1} C{:.1} {:.1} {:.1} {:.1} {right:.1} {:.1}",
            middle - 6.0,
            right + 24.0,
            middle - 14.0,
            right + 24.0,
            middle + 14.0,
            middle + 6.0
        );
    }
    let mut text = format!("M{:.1} {:.1}", first.x, first.y + first.height);
    for pair in line.windows(2) {
        let (from, to) = (&positions[pair[0]], &positions[pair[1]]);
        let (start, end) = (from.y + from.height, to.y);
        let bend = (end - start) / 2.0;
        write!(
            text,
            " C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            from.x,
            start + bend,
            to.x,
            end - bend,
            to.x,
            end
        )
        .expect("a string takes all text");
    }
    text
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable::escape(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML cannot represent these characters.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
