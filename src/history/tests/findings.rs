//! Findings of the last catalog of a device.

use super::*;
use crate::history::run::StoredFinding;

#[test]
fn findings_of_the_last_catalog_are_listed() {
    let sandbox = Sandbox::new();
    let finding = StoredFinding {
        code: "cycle".to_owned(),
        severity: "error".to_owned(),
        message: "dependency cycle".to_owned(),
        file: Some("site.pp".to_owned()),
        line: Some(3),
        help: None,
    };
    let run = CompletedRun {
        findings: vec![finding.clone()],
        ..completed(RunKind::Apply, 0, &[])
    };
    sandbox.add("sw1", run);
    let found = sandbox.read(|reader| reader.findings(10, 0));
    assert_eq!(found[0].findings, [finding]);
    sandbox.add("sw1", completed(RunKind::Apply, 1, &[]));
    assert!(sandbox.read(|reader| reader.findings(10, 0)).is_empty());
}

#[test]
fn findings_of_a_refused_catalog_replace_earlier_ones() {
    let sandbox = Sandbox::new();
    let finding = |code: &str| StoredFinding {
        code: code.to_owned(),
        severity: "error".to_owned(),
        message: code.to_owned(),
        file: None,
        line: None,
        help: None,
    };
    let codes = || {
        let found = sandbox.read(|reader| reader.findings(10, 0));
        let findings = found.into_iter().flat_map(|device| device.findings);
        findings.map(|finding| finding.code).collect::<Vec<_>>()
    };
    let first = CompletedRun {
        findings: vec![finding("trunk")],
        ..completed(RunKind::Apply, 0, &[])
    };
    sandbox.add("sw1", first);
    let refused = CompletedRun {
        findings: vec![finding("cycle")],
        is_unreachable: false,
        ..unreachable(1)
    };
    sandbox.add("sw1", refused);
    assert_eq!(codes(), ["cycle"]);
    // Without a connection, the catalog is not known.
    sandbox.add("sw1", unreachable(2));
    assert_eq!(codes(), ["cycle"]);
}
