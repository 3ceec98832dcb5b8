//! Resources in Puppet's reports: a map by reference. They are the largest part of a report, so they are
//! written one by one.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchtender_devices::map::IndexMap;
use switchtender_devices::value::{Name, Value};

use super::operation::PuppetOperation;
use crate::catalog::{ResourceRef, rich_data};
use crate::clock::puppet_times;
use crate::transaction::{Event, EventStatus, ResourceStatus, Skip};

/// The status of a resource.
#[derive(Serialize, Deserialize)]
struct StatusEntry<'a> {
    #[serde(default)]
    title: Cow<'a, str>,
    file: Option<Arc<str>>,
    line: Option<u64>,
    #[serde(default)]
    resource: Cow<'a, str>,
    #[serde(default)]
    resource_type: Cow<'a, str>,
    provider_used: Option<Arc<str>>,
    #[serde(default)]
    containment_path: Arc<[Arc<str>]>,
    evaluation_time: Option<f64>,
    #[serde(default)]
    tags: Arc<[Arc<str>]>,
    #[serde(default, with = "puppet_times")]
    time: Timestamp,
    #[serde(default)]
    failed: bool,
    #[serde(default)]
    failed_to_restart: bool,
    #[serde(default)]
    changed: bool,
    #[serde(default)]
    out_of_sync: bool,
    #[serde(default)]
    skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_reason: Option<String>,
    #[serde(default)]
    change_count: u64,
    #[serde(default)]
    out_of_sync_count: u64,
    #[serde(default)]
    events: Vec<EventEntry<'a>>,
    #[serde(default)]
    corrective_change: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    operations: Vec<PuppetOperation<'a>>,
}

/// An event in Puppet's order of keys.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Event")]
struct PuppetEvent {
    #[serde(default)]
    audited: bool,
    property: Option<Name>,
    #[serde(default, with = "rich_data::plain")]
    previous_value: Option<Value>,
    #[serde(default, with = "rich_data::plain")]
    desired_value: Option<Value>,
    #[serde(default, with = "rich_data::plain")]
    historical_value: Option<Value>,
    message: Option<String>,
    #[serde(default)]
    name: String,
    status: EventStatus,
    #[serde(with = "puppet_times")]
    time: Timestamp,
    redacted: Option<bool>,
    #[serde(default)]
    corrective_change: bool,
    #[serde(skip)]
    invalidates_refreshes: bool,
}

/// An event, without a copy when it is written.
struct EventEntry<'a>(Cow<'a, Event>);

impl Serialize for EventEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PuppetEvent::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for EventEntry<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = PuppetEvent::deserialize(deserializer)?;
        Ok(Self(Cow::Owned(event)))
    }
}

pub(super) fn serialize<S: Serializer>(
    statuses: &[Arc<ResourceStatus>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let statuses = statuses.iter();
    serializer.collect_map(
        statuses.map(|status| (status.reference.as_str(), StatusEntry::from(&**status))),
    )
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'static, [Arc<ResourceStatus>]>, D::Error> {
    let entries: IndexMap<String, StatusEntry<'_>> = IndexMap::deserialize(deserializer)?;
    let statuses = entries.into_iter().map(|(reference, entry)| {
        let reference = ResourceRef::parse(&reference).map_err(D::Error::custom)?;
        Ok(Arc::new(entry.into_status(reference)))
    });
    statuses.collect()
}

impl<'a> From<&'a ResourceStatus> for StatusEntry<'a> {
    fn from(status: &'a ResourceStatus) -> Self {
        Self {
            title: Cow::Borrowed(status.reference.title()),
            file: status.file.clone(),
            line: status.line,
            resource: Cow::Borrowed(status.reference.as_str()),
            resource_type: Cow::Borrowed(status.reference.type_name()),
            provider_used: status.provider.clone(),
            containment_path: Arc::clone(&status.containment_path),
            evaluation_time: status.evaluation_time.map(|took| took.as_secs_f64()),
            tags: status.tags.clone(),
            time: status.time,
            failed: status.failed,
            failed_to_restart: status.failed_to_restart,
            changed: status.changed,
            out_of_sync: status.out_of_sync,
            skipped: status.is_skipped(),
            skip_reason: status.skip_reason(),
            change_count: status.change_count,
            out_of_sync_count: status.out_of_sync_count,
            events: status
                .events
                .iter()
                .map(|event| EventEntry(Cow::Borrowed(event)))
                .collect(),
            corrective_change: status.corrective_change,
            operations: status.operations.iter().map(Into::into).collect(),
        }
    }
}

impl StatusEntry<'_> {
    fn into_status(self, reference: ResourceRef) -> ResourceStatus {
        let took = self.evaluation_time.map(Duration::try_from_secs_f64);
        let events = self.events.into_iter();
        let operations = self.operations.into_iter();
        ResourceStatus {
            is_default: is_default(&reference, self.file.is_none()),
            file: self.file,
            line: self.line,
            provider: self.provider_used,
            containment_path: self.containment_path,
            evaluation_time: took.and_then(Result::ok),
            tags: self.tags,
            time: self.time,
            failed: self.failed,
            failed_to_restart: self.failed_to_restart,
            changed: self.changed,
            out_of_sync: self.out_of_sync,
            skipped: self.skipped.then(|| Skip::of_text(self.skip_reason)),
            change_count: self.change_count,
            out_of_sync_count: self.out_of_sync_count,
            corrective_change: self.corrective_change,
            events: events.map(|EventEntry(event)| event.into_owned()).collect(),
            operations: operations.map(PuppetOperation::into_command).collect(),
            ..ResourceStatus::of(reference)
        }
    }
}

/// Whether every run has the resource: Puppet's file bucket and its schedules.
fn is_default(reference: &ResourceRef, has_no_file: bool) -> bool {
    let is_one = reference.as_str() == "Filebucket[puppet]" || reference.type_name() == "Schedule";
    is_one && has_no_file
}
