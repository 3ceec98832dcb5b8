//! Puppet's report, format 12, with the extensions `revision`, `not_understood`, `configuration_difference`,
//! `protection` and `undone`, and `operations` and `skip_reason` per resource: written from a record, and read into one.

mod log;
mod operation;
mod status;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use switchtender_devices::map::IndexMap;
use switchtender_devices::provider::driver_provider::Verdict;

pub(crate) use log::PuppetLog;

use super::metrics::Metric;
use super::{Context, Number, ResourceUndo, RunRecord, UnknownText};
use crate::catalog::{CachedStatus, ConfigVersion, Level};
use crate::clock::puppet_times;
use crate::git::GitRevision;
use crate::transaction::{LogEntry, ResourceStatus, RunEvent};

/// The version of the report format.
const FORMAT: u32 = 12;

/// The name of a time that is the sum of all.
const TOTAL: &str = "total";

/// A report in Puppet's format. Contains no secret.
#[derive(Serialize, Deserialize)]
pub(crate) struct PuppetReport<'a> {
    host: Cow<'a, str>,
    #[serde(with = "puppet_times")]
    time: Timestamp,
    pub(crate) configuration_version: Option<Cow<'a, ConfigVersion>>,
    pub(crate) transaction_uuid: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) report_format: u32,
    #[serde(default)]
    pub(crate) puppet_version: Cow<'a, str>,
    pub(crate) status: PuppetStatus,
    #[serde(default)]
    transaction_completed: bool,
    #[serde(default)]
    pub(crate) noop: bool,
    #[serde(default)]
    pub(crate) noop_pending: bool,
    pub(crate) environment: Option<Cow<'a, str>>,
    #[serde(default, with = "log")]
    logs: Cow<'a, [Arc<LogEntry>]>,
    #[serde(default)]
    pub(crate) metrics: IndexMap<Cow<'a, str>, PuppetMetric>,
    /// By reference.
    #[serde(default, with = "status")]
    resource_statuses: Cow<'a, [Arc<ResourceStatus>]>,
    #[serde(default)]
    pub(crate) corrective_change: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_used: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) catalog_uuid: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) job_id: Option<Cow<'a, str>>,
    pub(crate) cached_catalog_status: Option<CachedStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<Cow<'a, GitRevision>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    not_understood: Cow<'a, [UnknownText]>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    configuration_difference: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protection: Option<Verdict>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    undone: Cow<'a, [ResourceUndo]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unreachable: bool,
}

/// The result of a run in Puppet's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PuppetStatus {
    Failed,
    Changed,
    Unchanged,
}

/// One category of numbers.
#[derive(Serialize, Deserialize)]
pub(crate) struct PuppetMetric {
    #[serde(default)]
    name: String,
    #[serde(default)]
    label: String,
    /// Name, label and value.
    #[serde(default)]
    pub(crate) values: Vec<(String, String, Number)>,
}

impl RunRecord {
    /// The report with all resources.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(PuppetReport::from(self)).expect("a report is JSON")
    }

    /// The report as it is delivered. `exclude_unchanged` leaves out resources without changes and failures;
    /// the metrics count them.
    pub fn to_raw_json(&self, exclude_unchanged: bool) -> Box<RawValue> {
        let mut report = PuppetReport::from(self);
        if exclude_unchanged {
            let statuses = self.resources.iter();
            let notable = statuses.filter(|status| has_change_or_failure(status));
            report.resource_statuses = notable.cloned().collect();
        }
        serde_json::value::to_raw_value(&report).expect("a report is JSON")
    }

    /// The report as text for a file, with a line for each field.
    pub(crate) fn to_pretty_json(&self) -> String {
        let report = PuppetReport::from(self);
        serde_json::to_string_pretty(&report).expect("a report is JSON") + "\n"
    }

    /// Reads a report in Puppet's format.
    ///
    /// # Errors
    /// The text is no report.
    pub(crate) fn of_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(|report: PuppetReport<'_>| report.into_record())
    }

    fn puppet_status(&self) -> PuppetStatus {
        let mut resources = self.resources.iter();
        if self.counts.failed_after_transaction
            || self.failed_to_generate
            || !self.completed
            || resources.any(|status| status.has_failed())
        {
            PuppetStatus::Failed
        } else if self.changes() > 0 {
            PuppetStatus::Changed
        } else {
            PuppetStatus::Unchanged
        }
    }
}

fn has_change_or_failure(status: &ResourceStatus) -> bool {
    status.has_failed() || status.out_of_sync || status.is_skipped()
}

impl<'a> From<&'a RunRecord> for PuppetReport<'a> {
    fn from(record: &'a RunRecord) -> Self {
        let context = &record.context;
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        let metrics = record.metrics().into_iter();
        let mut resources = record.resources.iter();
        Self {
            host: Cow::Borrowed(&context.host),
            time: context.time,
            configuration_version: record.configuration_version.as_ref().map(Cow::Borrowed),
            transaction_uuid: text(&context.transaction_uuid),
            report_format: FORMAT,
            puppet_version: Cow::Borrowed(&context.puppet_version),
            status: record.puppet_status(),
            transaction_completed: record.completed,
            noop: context.noop,
            noop_pending: resources.any(|status| status.is_pending()),
            environment: text(&record.environment),
            logs: Cow::Borrowed(&record.logs),
            metrics: metrics
                .map(|metric| (Cow::Borrowed(metric.name), PuppetMetric::from(metric)))
                .collect(),
            resource_statuses: Cow::Borrowed(&record.resources),
            corrective_change: record.has_corrective_change(),
            server_used: text(&context.server_used),
            catalog_uuid: text(&record.catalog_uuid),
            code_id: text(&record.code_id),
            job_id: text(&context.job_id),
            cached_catalog_status: Some(context.cached_catalog_status),
            revision: record.revision.as_ref().map(Cow::Borrowed),
            not_understood: Cow::Borrowed(&record.not_understood),
            configuration_difference: Cow::Borrowed(&record.difference),
            protection: record.protection,
            undone: Cow::Borrowed(&record.undone),
            unreachable: record.is_unreachable,
        }
    }
}

impl PuppetReport<'_> {
    /// The record of the run. What the format does not have is unknown.
    fn into_record(self) -> RunRecord {
        let text = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let environment = text(self.environment);
        let mut record = RunRecord::new(Context {
            host: self.host.into_owned(),
            time: self.time,
            transaction_uuid: text(self.transaction_uuid),
            puppet_version: self.puppet_version.into_owned(),
            noop: self.noop,
            environment: environment.clone(),
            server_used: text(self.server_used),
            job_id: text(self.job_id),
            cached_catalog_status: self.cached_catalog_status.unwrap_or(CachedStatus::NotUsed),
            log_level: Level::Debug,
        });
        for status in self.resource_statuses.iter() {
            record.fold(&RunEvent::Resource(Arc::clone(status)));
        }
        record.configuration_version = self.configuration_version.map(Cow::into_owned);
        record.revision = self.revision.map(Cow::into_owned);
        record.environment = environment;
        record.catalog_uuid = text(self.catalog_uuid);
        record.code_id = text(self.code_id);
        record.logs = self.logs.into_owned();
        record.not_understood = self.not_understood.into_owned();
        record.counts.not_understood = record.not_understood.len();
        record.difference = self.configuration_difference.into_owned();
        record.protection = self.protection;
        record.undone = self.undone.into_owned();
        record.is_unreachable = self.unreachable;
        record.completed = self.transaction_completed;
        record.counts.cut_short = !self.transaction_completed;
        let is_failed = self.status == PuppetStatus::Failed;
        record.is_not_run = is_failed && !record.completed && record.resources.is_empty();
        record.counts.failed_after_transaction = is_failed && !record.counts.has_failed();
        if let Some(mut times) = self.metrics.get("time").map(times) {
            let total = times.pop().filter(|(name, _)| name == TOTAL);
            record.ended = total
                .and_then(|(_, seconds)| Duration::try_from_secs_f64(seconds).ok())
                .and_then(|total| self.time.checked_add(total).ok());
            record.times = times.into_iter().collect();
        }
        record.mark_logs_of_changes();
        record
    }
}

/// The seconds of a metric.
fn times(metric: &PuppetMetric) -> Vec<(String, f64)> {
    let values = metric.values.iter();
    values
        .map(|(name, _, value)| (name.clone(), value.as_f64()))
        .collect()
}

impl From<Metric> for PuppetMetric {
    fn from(metric: Metric) -> Self {
        let values = metric.values.into_iter();
        Self {
            name: metric.name.to_owned(),
            label: label(metric.name),
            values: values
                .map(|(name, value)| {
                    let label = label(&name);
                    (name, label, value)
                })
                .collect(),
        }
    }
}

/// The name capitalized, `_` as a space.
fn label(name: &str) -> String {
    let mut label = name.replace('_', " ");
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    label
}
