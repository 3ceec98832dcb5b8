//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write as _};

/// A page of metrics.
#[derive(Default)]
pub(super) struct MetricsText {
    text: String,
}

/// The kind of a metric.
#[derive(Clone, Copy)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

impl MetricsText {
    /// Begins a metric; its samples follow.
    pub(super) fn metric(&mut self, name: &str, kind: MetricKind, help: &str) {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        self.add(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// A sample with labels.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.add(format_args!("{name}"));
        for (number, (label, value)) in labels.iter().enumerate() {
            let before = if number == 0 { '{' } else { ',' };
            self.add(format_args!("{before}{label}=\"{}\"", escaped(value)));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        self.add(format_args!("{end} {value}\n"));
    }

    /// A metric with one sample.
    pub(super) fn single(&mut self, name: &str, kind: MetricKind, help: &str, value: impl Display) {
        self.metric(name, kind, help);
        self.sample(name, &[], value);
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all text");
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_text_has_help_type_and_escaped_labels() {
        let mut text = MetricsText::default();
        text.metric("a_total", MetricKind::Counter, "Number of a");
        text.sample("a_total", &[("x", "1\"2\\\n"), ("y", "z")], 3);
        text.single("b", MetricKind::Gauge, "Size of b", 0.5);
        assert_eq!(
            text.into_text(),
            "# HELP a_total Number of a\n# TYPE a_total counter\n\
             a_total{x=\"1\\\"2\\\\\\n\",y=\"z\"} 3\n\
             # HELP b Size of b\n# TYPE b gauge\nb 0.5\n"
        );
    }
}
