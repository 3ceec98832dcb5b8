//! Drift: how long it is open, and its last difference.

use std::sync::Arc;

use super::*;

fn drift_is_open_until_it_is_corrected_or_gone(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
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
    assert_eq!(found[0].message, "name is 'old', should be 7");
    assert_eq!(found[0].cause, "desired state");
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

fn drift_has_the_difference_of_the_last_run(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let plan = |minute, value: &str| {
        let mut run = completed(RunKind::Plan, minute, &[("Vlan[1]", "pending")]);
        let status = Arc::make_mut(&mut run.record.resources[0]);
        status.events[0].previous_value = Some(value.into());
        status.corrective_change = true;
        run
    };
    let (first, _) = sandbox.add("sw1", plan(0, "one"));
    sandbox.add("sw1", plan(1, "three"));
    let all = DriftFilter {
        limit: 10,
        ..DriftFilter::default()
    };
    let found = sandbox.read(|reader| reader.drift(&all));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].since, found[0].since_run), (time(0), first));
    assert_eq!(found[0].message, "name is 'three', should be 7");
    assert_eq!(found[0].cause, "device");
}

/// Undos, and plans with another desired state than that of the device, tell nothing about it.
fn previews_are_no_drift(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let run = |minute, kind, resource: &str, word, origin: Option<(&str, bool)>| {
        let origin = origin.map(|(path, is_authoritative)| CatalogOrigin {
            path: path.to_owned(),
            is_authoritative,
        });
        CompletedRun {
            origin,
            ..completed(kind, minute, &[(resource, word)])
        }
    };
    let open = |sandbox: &Sandbox| {
        let filter = DriftFilter {
            is_open: true,
            limit: 10,
            ..DriftFilter::default()
        };
        let found = sandbox.read(|reader| reader.drift(&filter));
        let found = found.into_iter().map(|entry| entry.resource);
        found.collect::<Vec<_>>()
    };
    let (apply, plan) = (RunKind::Apply, RunKind::Plan);
    let state = Some(("/state", false));
    // Without a run, the first desired state counts.
    sandbox.add("sw1", run(0, plan, "Vlan[1]", "pending", state));
    assert_eq!(open(&sandbox), ["Vlan[1]"]);
    sandbox.add(
        "sw1",
        run(1, apply, "Vlan[1]", "changed", Some(("/state", true))),
    );
    for (minute, origin) in [(2, Some(("/other", false))), (3, None)] {
        let preview = run(minute, plan, "Vlan[9]", "pending", origin);
        let (_, effect) = sandbox.add("sw1", preview);
        assert_eq!(effect.drift_after, 0, "{origin:?}");
    }
    sandbox.add("sw1", run(4, plan, "Vlan[1]", "pending", state));
    assert_eq!(open(&sandbox), ["Vlan[1]"]);
    // An undo ends no drift of resources that it does not have.
    sandbox.add("sw1", run(5, apply, "Vlan[9]", "changed", None));
    assert_eq!(open(&sandbox), ["Vlan[1]"]);
    let resources = sandbox.read(|reader| reader.fleet_device("sw1")).unwrap();
    assert_eq!(resources.resources, 1);
}

on_each_engine! {
    drift_is_open_until_it_is_corrected_or_gone,
    drift_has_the_difference_of_the_last_run,
    previews_are_no_drift,
}
