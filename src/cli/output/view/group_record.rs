//! What a group of devices shows of the record of one of them.

use std::sync::Arc;

use switchtender_devices::names::DeviceName;

use super::DeviceFailure;
use crate::catalog::Level;
use crate::clock;
use crate::diagnostic::Diagnostic;
use crate::report::RunRecord;
use crate::run_kind::RunKind;
use crate::transaction::{CommandOutcome, LogEntry, LogKind, ResourceStatus};

/// The notable resources and, in a plan, their commands. Those of other runs are shown where the device refused
/// them.
pub(super) fn of_record(kind: RunKind, record: &RunRecord) -> RunRecord {
    let notable = record.resources.iter().filter(|one| one.is_notable());
    let resources = notable.map(|status| {
        if kind == RunKind::Plan {
            return Arc::clone(status);
        }
        let commands = status.operations.iter();
        let refused = commands.filter(|one| one.outcome == CommandOutcome::Refused);
        Arc::new(ResourceStatus {
            operations: refused.cloned().collect(),
            ..ResourceStatus::clone(status)
        })
    });
    RunRecord {
        kind,
        resources: resources.collect(),
        logs: Vec::new(),
        facts: None,
        graph: None,
        ..record.clone()
    }
}

/// Why a device has no result. Its findings are messages.
pub(super) fn of_failure(
    kind: RunKind,
    device: &DeviceName,
    failure: &DeviceFailure,
    why: String,
) -> RunRecord {
    let hint = match failure {
        DeviceFailure::Run(error) => error.hint(),
        DeviceFailure::Task(_) => None,
    };
    let findings = findings(failure).iter();
    let own = format!("{device}: ");
    let log = |found: &Diagnostic| {
        let text = found.message.strip_prefix(&own).unwrap_or(&found.message);
        Arc::new(LogEntry {
            level: Level::Err,
            message: text.to_owned(),
            source: found.code.to_owned(),
            tags: Arc::default(),
            time: clock::timestamp(),
            file: None,
            line: None,
            kind: LogKind::Other,
        })
    };
    let logs = findings.clone().map(log).collect();
    let mut hints: Vec<String> = Vec::new();
    for text in findings.filter_map(|found| found.help.clone()).chain(hint) {
        // One hint can have another one at its end.
        match hints
            .iter_mut()
            .find(|known| text.ends_with(known.as_str()))
        {
            Some(known) => *known = text,
            None => hints.push(text),
        }
    }
    RunRecord {
        hint: Some(hints.join("; ")).filter(|text| !text.is_empty()),
        logs,
        ..RunRecord::lost(kind, why)
    }
}

/// Whether the reason stands in files: excerpts of them show it.
pub(super) fn has_positions(failure: &DeviceFailure) -> bool {
    let mut findings = findings(failure).iter();
    findings.any(|found| !found.labels.is_empty() || found.position.is_some())
}

fn findings(failure: &DeviceFailure) -> &[Diagnostic] {
    match failure {
        DeviceFailure::Run(error) => error.findings(),
        DeviceFailure::Task(_) => &[],
    }
}
