//! Counts and durations of the requests that the process answered.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::metrics_text::{MetricKind, MetricsText};

/// Upper limits of the buckets, in seconds.
const BUCKETS: [f64; 7] = [0.005, 0.01, 0.05, 0.1, 0.2, 1.0, 5.0];

/// Requests by route. The routes are those of the program, so their number is bounded.
#[derive(Default)]
pub(super) struct RequestMetrics {
    routes: Mutex<BTreeMap<RouteKey, RouteCounts>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RouteKey {
    route: String,
    method: &'static str,
    /// First digit of the status.
    class: u16,
}

#[derive(Clone, Copy, Default)]
struct RouteCounts {
    count: u64,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

impl RequestMetrics {
    pub(super) fn record(&self, route: &str, method: &str, status: u16, took: Duration) {
        let method = match method {
            "GET" => "GET",
            "POST" => "POST",
            "DELETE" => "DELETE",
            _ => "other",
        };
        let key = RouteKey {
            route: route.to_owned(),
            method,
            class: status / 100,
        };
        let mut routes = self.routes.lock().expect("no panic with the lock");
        let counts = routes.entry(key).or_default();
        let seconds = took.as_secs_f64();
        counts.count += 1;
        counts.seconds += seconds;
        for (bucket, limit) in counts.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= limit);
        }
    }

    pub(super) fn render(&self, text: &mut MetricsText) {
        const NAME: &str = "switchtender_http_request_duration_seconds";
        let routes = self.routes.lock().expect("no panic with the lock");
        text.metric(NAME, MetricKind::Histogram, "Duration of HTTP requests");
        for (key, counts) in routes.iter() {
            let status = format!("{}xx", key.class);
            let labels = [
                ("route", key.route.as_str()),
                ("method", key.method),
                ("status", status.as_str()),
            ];
            let bucket = |text: &mut MetricsText, limit: &str, count: u64| {
                let labels = [&labels[..], &[("le", limit)]].concat();
                text.sample(&format!("{NAME}_bucket"), &labels, count);
            };
            for (count, limit) in counts.buckets.iter().zip(BUCKETS) {
                bucket(text, &limit.to_string(), *count);
            }
            bucket(text, "+Inf", counts.count);
            text.sample(&format!("{NAME}_sum"), &labels, counts.seconds);
            text.sample(&format!("{NAME}_count"), &labels, counts.count);
        }
    }
}
