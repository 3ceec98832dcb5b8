//! Findings of the last catalog of a device.

use switchtender_devices::diagnostic::Severity;

use super::*;
use crate::report::FindingRecord;

fn findings_of_the_last_catalog_are_listed(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let finding = FindingRecord {
        code: "cycle".to_owned(),
        severity: Severity::Error,
        message: "dependency cycle".to_owned(),
        file: Some("site.pp".to_owned()),
        line: Some(3),
        help: None,
        is_note: false,
    };
    let mut run = completed(RunKind::Apply, 0, &[]);
    run.record.findings = vec![finding.clone()];
    sandbox.add("sw1", run);
    let found = sandbox.read(|reader| reader.findings(None, 10, 0));
    assert_eq!(found[0].findings, [finding]);
    sandbox.add("sw1", completed(RunKind::Apply, 1, &[]));
    assert!(
        sandbox
            .read(|reader| reader.findings(None, 10, 0))
            .is_empty()
    );
}

fn findings_of_a_refused_catalog_replace_earlier_ones(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let finding = |code: &str| FindingRecord {
        code: code.to_owned(),
        severity: Severity::Error,
        message: code.to_owned(),
        file: None,
        line: None,
        help: None,
        is_note: false,
    };
    let codes = || {
        let found = sandbox.read(|reader| reader.findings(None, 10, 0));
        let findings = found.into_iter().flat_map(|device| device.findings);
        findings.map(|finding| finding.code).collect::<Vec<_>>()
    };
    let mut first = completed(RunKind::Apply, 0, &[]);
    first.record.findings = vec![finding("trunk")];
    sandbox.add("sw1", first);
    let mut refused = unreachable(1);
    refused.record.findings = vec![finding("cycle")];
    refused.record.is_unreachable = false;
    sandbox.add("sw1", refused);
    assert_eq!(codes(), ["cycle"]);
    // Without a connection, the catalog is not known.
    sandbox.add("sw1", unreachable(2));
    assert_eq!(codes(), ["cycle"]);
}

on_each_engine! {
    findings_of_the_last_catalog_are_listed,
    findings_of_a_refused_catalog_replace_earlier_ones,
}
