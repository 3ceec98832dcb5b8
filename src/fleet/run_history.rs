//! The end of a device's run in the form of the history.

use std::collections::BTreeMap;

use jiff::Timestamp;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::session::{SessionError, SessionErrorKind};

use super::device_run::{DeviceRun, DeviceRunError, DeviceRunResult};
use super::run_counts::RunCounts;
use crate::error_chain::chain;
use crate::history::device_state::KnownDevice;
use crate::history::run::{RunNumbers, StoredFinding};
use crate::history::{CatalogOrigin, CompletedRun, RunStatus};
use crate::inventory::Device;
use crate::report::stored::StoredReport;
use crate::run_kind::RunKind;

/// A device of the inventory in the form of the history.
pub(crate) fn known_device(device: &Device) -> KnownDevice {
    let labels = device.settings.labels.iter();
    KnownDevice {
        name: device.name.to_string(),
        platform: device.platform.to_string(),
        site: device.site().map(str::to_owned),
        labels: labels
            .map(|(name, label)| (name.clone(), label.value.clone()))
            .collect(),
    }
}

/// The end of a run, with masked secrets.
pub(crate) fn completed(run: &DeviceRun, kind: RunKind, ended: Timestamp) -> CompletedRun {
    let report = StoredReport::of(&run.report);
    let origin = run.origin.clone().map(|path| CatalogOrigin {
        path,
        is_authoritative: kind == RunKind::Apply,
    });
    let completed = match &run.result {
        Ok(result) => of_result(result, kind, ended, report),
        Err(error) => CompletedRun {
            error: Some(run.mask.apply(&chain(error))),
            hint: error.hint().map(|hint| run.mask.apply(&hint)),
            is_unreachable: is_unreachable(error),
            findings: findings(error.findings(), |text| run.mask.apply(text)),
            ..without_result(kind, ended, report)
        },
    };
    CompletedRun {
        origin,
        ..completed
    }
}

/// The end of a run whose task has no result.
pub(crate) fn lost(error: String, kind: RunKind, ended: Timestamp) -> CompletedRun {
    CompletedRun {
        error: Some(error),
        ..without_result(kind, ended, StoredReport::default())
    }
}

fn of_result(
    result: &DeviceRunResult,
    kind: RunKind,
    ended: Timestamp,
    report: StoredReport,
) -> CompletedRun {
    let status = result.counts.status().parse();
    let facts: BTreeMap<String, String> = result
        .facts
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    CompletedRun {
        status: status.expect("the words of statuses agree"),
        counts: numbers(&result.counts),
        error: result.failure.clone(),
        facts: Some(facts),
        // Their secrets are masked already.
        findings: findings(&result.findings, str::to_owned),
        ..without_result(kind, ended, report)
    }
}

fn without_result(kind: RunKind, ended: Timestamp, report: StoredReport) -> CompletedRun {
    CompletedRun {
        kind,
        status: RunStatus::NotRun,
        ended,
        counts: RunNumbers::default(),
        error: None,
        hint: None,
        is_unreachable: false,
        facts: None,
        configuration: None,
        findings: Vec::new(),
        origin: None,
        report,
    }
}

fn numbers(counts: &RunCounts) -> RunNumbers {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    RunNumbers {
        resources: number(counts.resources),
        changed: number(counts.changed),
        failed: number(counts.failed),
        skipped: number(counts.skipped),
        pending: number(counts.pending),
        operations: number(counts.operations),
        to_send: number(counts.to_send),
        not_understood: number(counts.not_understood),
    }
}

fn findings(all: &[Diagnostic], mask: impl Fn(&str) -> String) -> Vec<StoredFinding> {
    let all = all.iter();
    all.map(|finding| {
        let position = finding.position.as_ref();
        StoredFinding {
            code: finding.code.to_owned(),
            severity: format!("{:?}", finding.severity).to_lowercase(),
            message: mask(&finding.message),
            file: position.map(|position| position.file.to_string()),
            line: position.map(|position| position.line),
            help: finding.help.as_deref().map(&mask),
        }
    })
    .collect()
}

/// Whether the device, or its jump host, could not be connected.
fn is_unreachable(error: &DeviceRunError) -> bool {
    let DeviceRunError::Session(SessionError { kind, .. }) = error else {
        return false;
    };
    is_unreachable_kind(kind)
}

fn is_unreachable_kind(kind: &SessionErrorKind) -> bool {
    match kind {
        SessionErrorKind::Unreachable { .. } | SessionErrorKind::ConnectTimeout { .. } => true,
        SessionErrorKind::JumpHost { kind, .. } => is_unreachable_kind(kind),
        _ => false,
    }
}
