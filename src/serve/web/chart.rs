//! A chart of runs and drift over time, as inline SVG.
//!
//! Each period is a bar of its runs by result. The line is the number of devices with drift. Exact numbers
//! are in the title of each bar and in a table for screen readers.

use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 40.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// The runs of a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChartPeriod {
    /// Start of the period, for readers.
    pub(super) label: String,
    pub(super) unchanged: u64,
    pub(super) changed: u64,
    pub(super) failed: u64,
    /// Devices with drift. `None`: unknown.
    pub(super) drifted: Option<u64>,
}

impl ChartPeriod {
    fn total(&self) -> u64 {
        self.unchanged + self.changed + self.failed
    }

    fn title(&self) -> String {
        let drift = self
            .drifted
            .map_or(String::new(), |count| format!(", {count} with drift"));
        format!(
            "{}: {} unchanged, {} changed, {} failed{drift}",
            self.label, self.unchanged, self.changed, self.failed
        )
    }
}

/// Draws the chart. The labels are escaped.
pub(super) fn svg(periods: &[ChartPeriod]) -> String {
    let largest = periods.iter().map(ChartPeriod::total).max().unwrap_or(0);
    let most_drift = periods.iter().filter_map(|period| period.drifted).max();
    let runs = scale(largest);
    let drift = scale(most_drift.unwrap_or(0));
    let bottom = HEIGHT - BOTTOM;
    let height = bottom - TOP;
    let step = (WIDTH - LEFT - RIGHT) / (periods.len().max(1) as f64);
    let mut out = String::new();
    let mut put = |text: std::fmt::Arguments<'_>| {
        out.write_fmt(text).expect("a string takes all text");
    };
    put(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Runs and drift over time">"#
    ));
    for half in 0..=2_u64 {
        let y = bottom - height * half as f64 / 2.0;
        put(format_args!(
            r#"<line class="axis" x1="{LEFT}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/>"#,
            WIDTH - RIGHT
        ));
        if (runs * half).is_multiple_of(2) {
            let value = runs * half / 2;
            put(format_args!(
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{value}</text>"#,
                LEFT - 6.0,
                y + 4.0
            ));
        }
        if most_drift.is_some() && (drift * half).is_multiple_of(2) {
            let value = drift * half / 2;
            put(format_args!(
                r#"<text x="{:.1}" y="{:.1}">{value}</text>"#,
                WIDTH - RIGHT + 6.0,
                y + 4.0
            ));
        }
    }
    let labels = (periods.len() / 8).max(1);
    for (number, period) in periods.iter().enumerate() {
        let x = LEFT + step * number as f64;
        put(format_args!(
            "<g><title>{}</title>",
            escape_html(&period.title())
        ));
        // The hover area is the complete column.
        put(format_args!(
            r#"<rect x="{x:.1}" y="{TOP}" width="{step:.1}" height="{height:.1}" fill-opacity="0"/>"#
        ));
        let mut y = bottom;
        let parts = [
            ("unchanged", period.unchanged),
            ("changed", period.changed),
            ("failed", period.failed),
        ];
        for (class, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
            // A failure among thousands of runs is still visible.
            let size = (height * count as f64 / runs as f64).max(1.5);
            y -= size;
            put(format_args!(
                r#"<rect class="{class}" x="{:.1}" y="{y:.1}" width="{:.1}" height="{size:.1}"/>"#,
                x + step * 0.1,
                step * 0.8
            ));
        }
        put(format_args!("</g>"));
        if number % labels == 0 {
            put(format_args!(
                r#"<text x="{:.1}" y="{:.1}">{}</text>"#,
                x,
                HEIGHT - 6.0,
                escape_html(&period.label)
            ));
        }
    }
    let points: Vec<String> = periods
        .iter()
        .enumerate()
        .filter_map(|(number, period)| {
            let count = period.drifted?;
            let x = LEFT + step * (number as f64 + 0.5);
            let y = bottom - height * count as f64 / drift as f64;
            Some(format!("{x:.1},{y:.1}"))
        })
        .collect();
    if !points.is_empty() {
        put(format_args!(
            r#"<polyline class="drift" points="{}"/>"#,
            points.join(" ")
        ));
    }
    put(format_args!("</svg>"));
    out
}

/// The end of an axis: 1, 2 or 5 times a power of ten.
fn scale(largest: u64) -> u64 {
    let mut unit = 1;
    loop {
        for factor in [1, 2, 5] {
            if unit * factor >= largest.max(1) {
                return unit * factor;
            }
        }
        unit *= 10;
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
    fn chart_is_xml_with_bars_and_exact_numbers() {
        let period = |label: &str, failed| ChartPeriod {
            label: label.to_owned(),
            unchanged: 90,
            changed: 8,
            failed,
            drifted: Some(3),
        };
        let svg = svg(&[period("<10:00>", 2), period("11:00", 0)]);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let titles: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("title"))
            .filter_map(|node| node.text())
            .collect();
        assert_eq!(
            titles,
            [
                "<10:00>: 90 unchanged, 8 changed, 2 failed, 3 with drift",
                "11:00: 90 unchanged, 8 changed, 0 failed, 3 with drift"
            ]
        );
        let height = |class: &str| -> f64 {
            let bar = document
                .descendants()
                .find(|node| node.attribute("class") == Some(class));
            bar.unwrap().attribute("height").unwrap().parse().unwrap()
        };
        // 100 runs are the complete height of 138 pixels.
        assert!((height("unchanged") - 124.2).abs() < 0.1);
        assert!((height("failed") - 2.8).abs() < 0.1);
    }

    #[test]
    fn chart_axes_end_at_round_numbers() {
        let ends: Vec<u64> = [0, 1, 2, 3, 7, 10, 11, 499, 501].map(scale).to_vec();
        assert_eq!(ends, [1, 1, 2, 5, 10, 10, 20, 500, 1000]);
    }
}
