//! Drift: how long it is open, and its last difference.

use super::*;

#[test]
fn drift_is_open_until_it_is_corrected_or_gone() {
    let sandbox = Sandbox::new();
    let plan = |minute, word| completed(RunKind::Plan, minute, &[("Vlan[1]", word)]);
    let (first, effect) = sandbox.add("sw1", plan(0, "pending"));
    assert_eq!((effect.drift_before, effect.drift_after), (0, 1));
    sandbox.add("sw1", plan(1, "pending"));
    // A resource that was not evaluated may still differ.
    sandbox.add("sw1", plan(2, "skipped"));
    let open = DriftFilter {
        is_open: true,
        limit: 10,
        ..DriftFilter::default()
    };
    let found = sandbox.read(|reader| reader.drift(&open));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].since, found[0].since_run), (time(0), first));
    assert_eq!(found[0].message, "name: changed old to 7");
    sandbox.add(
        "sw1",
        completed(RunKind::Apply, 3, &[("Vlan[1]", "changed")]),
    );
    assert!(sandbox.read(|reader| reader.drift(&open)).is_empty());
    sandbox.add("sw1", plan(4, "pending"));
    sandbox.add("sw1", plan(5, "unchanged"));
    let all = DriftFilter {
        limit: 10,
        ..DriftFilter::default()
    };
    let ends: Vec<_> = sandbox
        .read(|reader| reader.drift(&all))
        .into_iter()
        .map(|entry| (entry.end_reason.unwrap_or_default(), entry.ended))
        .collect();
    let expected = [("gone", 5), ("corrected", 3)];
    let expected = expected.map(|(reason, minute)| (reason.to_owned(), Some(time(minute))));
    assert_eq!(ends, expected);
}

#[test]
fn drift_has_the_difference_of_the_last_run() {
    let sandbox = Sandbox::new();
    let plan = |minute, message: &str| {
        let mut run = completed(RunKind::Plan, minute, &[("Vlan[1]", "pending")]);
        let status = run.report.resource_statuses.values_mut().next().unwrap();
        status.events[0].message = Some(message.to_owned());
        run
    };
    let (first, _) = sandbox.add("sw1", plan(0, "current_value one, should be two"));
    sandbox.add("sw1", plan(1, "current_value three, should be two"));
    let all = DriftFilter {
        limit: 10,
        ..DriftFilter::default()
    };
    let found = sandbox.read(|reader| reader.drift(&all));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].since, found[0].since_run), (time(0), first));
    assert_eq!(found[0].message, "name: current_value three, should be two");
}
