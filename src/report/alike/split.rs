//! Records divided by resource: devices with many different sets of changes have common resources.

use std::sync::Arc;

use super::{AlikeDevice, AlikeDevices, Member, Variant};
use crate::report::{RunCounts, RunRecord};
use crate::transaction::LogEntry;

/// The same devices with a record for each resource, and one with the rest.
pub(super) fn by_resource(all: &AlikeDevices) -> AlikeDevices {
    let mut parts = AlikeDevices::default();
    let variants = all.shapes.values().flat_map(|variants| variants.values());
    for Variant {
        record, members, ..
    } in variants
    {
        let records = parts_of(record);
        for member in members {
            for (number, part) in records.iter().enumerate() {
                let warnings = if number == 0 {
                    &member.warnings[..]
                } else {
                    &[]
                };
                parts.add(device(member, part, warnings));
            }
        }
    }
    parts
}

fn device(member: &Member, part: &RunRecord, warnings: &[Arc<LogEntry>]) -> AlikeDevice {
    let mut record = part.clone();
    record.logs.splice(0..0, warnings.iter().cloned());
    AlikeDevice {
        name: member.name.clone(),
        platform: member.platform.clone(),
        own: member.own.clone(),
        record,
    }
}

/// A record for each notable resource, then one with what is not of a resource.
fn parts_of(record: &RunRecord) -> Vec<RunRecord> {
    let notable = record.resources.iter().filter(|one| one.is_notable());
    let notable: Vec<_> = notable.collect();
    if notable.is_empty() {
        return vec![record.clone()];
    }
    let is_of = |log: &LogEntry, reference: &str| log.source.contains(reference);
    let empty = RunRecord {
        resources: Vec::new(),
        difference: String::new(),
        ..record.clone()
    };
    let mut parts: Vec<RunRecord> = Vec::new();
    for status in &notable {
        let logs = record.logs.iter();
        parts.push(RunRecord {
            resources: vec![Arc::clone(status)],
            logs: logs
                .filter(|log| is_of(log, status.reference.as_str()))
                .cloned()
                .collect(),
            counts: RunCounts {
                failed: 0,
                cut_short: false,
                ..record.counts
            },
            not_understood: Vec::new(),
            without_difference: Vec::new(),
            undo: None,
            coverage: None,
            error: None,
            hint: None,
            ..empty.clone()
        });
    }
    let is_rest = |log: &&Arc<LogEntry>| {
        let mut all = notable.iter();
        !all.any(|status| is_of(log, status.reference.as_str()))
    };
    let rest = RunRecord {
        logs: record.logs.iter().filter(is_rest).cloned().collect(),
        ..empty
    };
    let has_undo = rest
        .undo
        .as_ref()
        .is_some_and(|undo| !undo.resources.is_empty());
    let has_more = !rest.logs.is_empty()
        || !rest.not_understood.is_empty()
        || !rest.without_difference.is_empty()
        || rest.counts.cut_short
        || rest.counts.failed > 0
        || rest.error.is_some()
        || rest.coverage.is_some()
        || has_undo;
    if has_more {
        parts.push(rest);
    }
    parts
}
