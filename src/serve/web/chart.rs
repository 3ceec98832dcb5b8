//! A chart of runs and drift over time, as inline SVG.
//!
//! Each period is a bar of its runs by result. The line is the number of devices with drift. Lengths along
//! the time are percentages, so that texts have the same size on every screen. Exact numbers are in the
//! title of each bar and in a table.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::status_label::StatusLabel;

// Percentages of the width.
const LEFT: f64 = 6.0;
const RIGHT: f64 = 94.0;
// Pixels.
const TOP: f64 = 10.0;
const BOTTOM: f64 = 102.0;
const LABELS: f64 = 118.0;

/// Labels of a chart. A small screen has half of them.
const MAX_LABELS: usize = 8;

/// The runs of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChartPeriod {
    pub(super) start: Timestamp,
    /// Start of the period, for readers.
    pub(super) label: String,
    /// The number of runs by result, from the bottom of the bar to its top.
    pub(super) runs: Vec<(&'static str, u64)>,
    /// Devices with drift at the end.
    pub(super) drifted: u64,
}

impl ChartPeriod {
    fn total(&self) -> u64 {
        self.runs.iter().map(|(_, count)| count).sum()
    }

    fn title(&self) -> String {
        let runs = self.runs.iter().filter(|(_, count)| *count > 0);
        let mut parts: Vec<String> = runs
            .map(|(result, count)| format!("{count} {result}"))
            .collect();
        if parts.is_empty() {
            parts.push("no runs".to_owned());
        }
        if self.drifted > 0 {
            parts.push(format!("{} with drift", self.drifted));
        }
        format!("{}: {}", self.label, parts.join(", "))
    }
}

/// Draws the chart; the last period is the present. `range`: the word by which the script writes times.
pub(super) fn svg(periods: &[ChartPeriod], range: &str) -> String {
    let largest = periods.iter().map(ChartPeriod::total).max();
    let most_drift = periods.iter().map(|period| period.drifted).max();
    let (runs, drift) = (scale(largest), scale(most_drift));
    let step = (RIGHT - LEFT) / (periods.len().max(1) as f64);
    let mut out = String::from(
        r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Runs and drift over time">"#,
    );
    draw_axes(&mut out, runs, drift.filter(|_| most_drift > Some(0)));
    for (number, period) in periods.iter().enumerate() {
        let x = LEFT + step * number as f64;
        draw_bar(&mut out, period, &ChartColumn { x, step, runs });
    }
    draw_labels(&mut out, periods, range);
    if let Some(drift) = drift.filter(|_| most_drift > Some(0)) {
        draw_drift(&mut out, periods, drift);
    }
    out.push_str("</svg>");
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all text");
}

/// Lines with the numbers of runs on the left, and of devices with drift on the right.
fn draw_axes(out: &mut String, runs: Option<u64>, drift: Option<u64>) {
    for half in 0..=2_u64 {
        let y = BOTTOM - (BOTTOM - TOP) * half as f64 / 2.0;
        put(
            out,
            format_args!(
                r#"<line class="axis" x1="{LEFT}%" x2="{RIGHT}%" y1="{y:.1}" y2="{y:.1}"/>"#
            ),
        );
        let sides = [(runs, LEFT - 0.6, "end"), (drift, RIGHT + 0.6, "start")];
        for (largest, x, anchor) in sides {
            let Some(largest) = largest.filter(|largest| (largest * half).is_multiple_of(2)) else {
                continue;
            };
            let value = short(largest * half / 2);
            put(
                out,
                format_args!(
                    r#"<text x="{x:.1}%" y="{:.1}" text-anchor="{anchor}">{value}</text>"#,
                    y + 4.0
                ),
            );
        }
    }
}

/// Where the bar of a period is, and the end of its axis.
struct ChartColumn {
    x: f64,
    step: f64,
    runs: Option<u64>,
}

fn draw_bar(out: &mut String, period: &ChartPeriod, column: &ChartColumn) {
    let ChartColumn { x, step, runs } = column;
    let height = BOTTOM - TOP;
    put(
        out,
        format_args!("<g><title>{}</title>", escape_html(&period.title())),
    );
    // The hover area is the complete column.
    put(
        out,
        format_args!(
            r#"<rect x="{x:.2}%" y="{TOP}" width="{step:.2}%" height="{height}" fill-opacity="0"/>"#
        ),
    );
    let mut y = BOTTOM;
    let largest = runs.unwrap_or(1) as f64;
    for (result, count) in period.runs.iter().filter(|(_, count)| *count > 0) {
        // A failure among thousands of runs is still visible.
        let size = (height * *count as f64 / largest).max(1.5);
        y -= size;
        let class = StatusLabel::new(*result).class();
        put(
            out,
            format_args!(
                r#"<rect class="{class}" x="{:.2}%" y="{y:.1}" width="{:.2}%" height="{size:.1}"/>"#,
                x + step * 0.1,
                step * 0.8
            ),
        );
    }
    out.push_str("</g>");
}

/// The times below the bars; the last one is `now`.
fn draw_labels(out: &mut String, periods: &[ChartPeriod], range: &str) {
    let step = (RIGHT - LEFT) / (periods.len().max(1) as f64);
    let distance = (periods.len() / MAX_LABELS).max(1);
    let labeled = periods.iter().enumerate().step_by(distance);
    // The space of the last label is that of `now`.
    let labeled = labeled.filter(|(number, _)| number + distance <= periods.len());
    for (count, (number, period)) in labeled.enumerate() {
        let x = LEFT + step * number as f64;
        let class = if count % 2 == 1 {
            r#" class="optional""#
        } else {
            ""
        };
        put(
            out,
            format_args!(
                r#"<text{class} x="{x:.2}%" y="{LABELS}" data-time="{}" data-range="{range}">{}</text>"#,
                period.start,
                escape_html(&period.label)
            ),
        );
    }
    put(
        out,
        format_args!(r#"<text x="{RIGHT}%" y="{LABELS}" text-anchor="end">now</text>"#),
    );
}

fn draw_drift(out: &mut String, periods: &[ChartPeriod], largest: u64) {
    let step = (RIGHT - LEFT) / (periods.len().max(1) as f64);
    let points: Vec<(f64, f64)> = periods
        .iter()
        .enumerate()
        .map(|(number, period)| {
            let x = LEFT + step * (number as f64 + 0.5);
            let y = BOTTOM - (BOTTOM - TOP) * period.drifted as f64 / largest as f64;
            (x, y)
        })
        .collect();
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        put(
            out,
            format_args!(
                r#"<line class="drift" x1="{x1:.2}%" y1="{y1:.1}" x2="{x2:.2}%" y2="{y2:.1}"/>"#
            ),
        );
    }
}

/// The end of an axis: 1, 2 or 5 times a power of ten.
fn scale(largest: Option<u64>) -> Option<u64> {
    let largest = largest?.max(1);
    let mut unit = 1;
    loop {
        for factor in [1, 2, 5] {
            if unit * factor >= largest {
                return Some(unit * factor);
            }
        }
        unit *= 10;
    }
}

/// A number with few digits.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number as f64 / 1_000.0),
        _ => format!("{}M", number as f64 / 1_000_000.0),
    }
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_is_xml_with_bars_exact_numbers_and_the_present() {
        let period = |label: &str, failed| ChartPeriod {
            start: Timestamp::UNIX_EPOCH,
            label: label.to_owned(),
            runs: vec![("unchanged", 90), ("pending", 8), ("not run", failed)],
            drifted: 3,
        };
        let svg = svg(&[period("<10:00>", 2), period("11:00", 0)], "day");
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts = |tag: &str| -> Vec<&str> {
            let nodes = document.descendants();
            let nodes = nodes.filter(|node| node.has_tag_name(tag));
            nodes.filter_map(|node| node.text()).collect()
        };
        assert_eq!(
            texts("title"),
            [
                "<10:00>: 90 unchanged, 8 pending, 2 not run, 3 with drift",
                "11:00: 90 unchanged, 8 pending, 3 with drift"
            ]
        );
        assert_eq!(texts("text").last(), Some(&"now"));
        let height = |class: &str| -> f64 {
            let bar = document
                .descendants()
                .find(|node| node.attribute("class") == Some(class));
            bar.unwrap().attribute("height").unwrap().parse().unwrap()
        };
        // 100 runs are the complete height of 92 pixels.
        assert!((height("unchanged") - 82.8).abs() < 0.1);
        assert!((height("pending") - 7.4).abs() < 0.1);
        assert!((height("not-run") - 1.8).abs() < 0.1);
    }

    #[test]
    fn chart_axes_end_at_round_numbers() {
        let ends = [0, 1, 2, 3, 7, 10, 11, 499, 501].map(|largest| scale(Some(largest)).unwrap());
        assert_eq!(ends, [1, 1, 2, 5, 10, 10, 20, 500, 1000]);
        assert_eq!(short(250), "250");
        assert_eq!(short(2_500), "2.5k");
    }
}
