//! Statements that no other test of the history uses: each engine accepts them, with and without a filter.

use super::*;
use crate::history::approvals::{ApprovalDecision, ApprovalState, NewApproval};
use crate::history::configuration_search::{ConfigurationSearch, line_pattern};
use crate::history::idempotency::KeyedRequest;
use crate::history::site_devices::SiteDevices;

fn write<T: Send + 'static>(
    sandbox: &Sandbox,
    write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
) -> T {
    sandbox.history.write_and_wait(write).unwrap()
}

fn waiting(device: &str, minute: i64) -> NewRun {
    NewRun {
        started: None,
        ..new_run(device, RunKind::Plan, time(minute))
    }
}

fn approvals_go_from_plan_to_run(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let new = NewApproval {
        run: waiting("sw1", 0),
        person: Some("alice".to_owned()),
        expires: time(60),
    };
    let (id, plan) = write(&sandbox, move |writer| writer.add_approval(&new));
    let state = || {
        let found = sandbox.read(|reader| reader.approval(id, time(2)));
        found.unwrap().0.state
    };
    assert_eq!(state(), ApprovalState::Planning);
    write(&sandbox, move |writer| {
        assert!(writer.start_run(plan, RunKind::Plan, time(1))?);
        assert!(
            !writer.start_run(plan, RunKind::Plan, time(1))?,
            "it starts once"
        );
        let pending = completed(RunKind::Plan, 1, &[("Vlan[1]", "pending")]);
        writer.finish_run(plan, &pending)?;
        writer.set_plan(id, "{}")
    });
    assert_eq!(state(), ApprovalState::Waiting);
    let decision = ApprovalDecision {
        is_approved: true,
        by: "bob".to_owned(),
        reason: String::new(),
        time: time(2),
    };
    assert!(write(&sandbox, move |writer| writer
        .decide_approval(id, &decision)));
    assert_eq!(state(), ApprovalState::Approved);
    assert_eq!(
        sandbox.read(|reader| reader.open_approvals(time(2))).len(),
        1
    );
    let apply = waiting("sw1", 3);
    let run = write(&sandbox, move |writer| writer.add_approved_run(id, &apply)).unwrap();
    assert_eq!(state(), ApprovalState::Running);
    let found = sandbox.read(|reader| reader.approval_of_run(run)).unwrap();
    assert_eq!((found.id, found.plan.as_deref()), (id, Some("{}")));
    write(&sandbox, move |writer| writer.end_approval(id));
    for (device, count) in [(None, 1), (Some("sw1"), 1), (Some("sw2"), 0)] {
        let found = sandbox.read(|reader| reader.approvals(device, time(2), 10));
        assert_eq!(found.len(), count, "{device:?}");
    }
}

fn requests_join_a_run_that_waits(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let requester = |name: &str| Requester {
        kind: RequesterKind::Api,
        name: name.to_owned(),
    };
    let request = |name: &str| {
        let run = NewRun {
            requester: requester(name),
            ..waiting("sw1", 0)
        };
        write(&sandbox, move |writer| writer.add_request(&run, time(-1)))
    };
    let AddedRequest::New(run) = request("alice") else {
        panic!("the first request is new");
    };
    assert_eq!(request("bob"), AddedRequest::Waiting(run));
    assert_eq!(request("bob"), AddedRequest::Waiting(run));
    // One that has expired is not joined.
    let late = waiting("sw1", 61);
    let added = write(&sandbox, move |writer| writer.add_request(&late, time(0)));
    let AddedRequest::New(late) = added else {
        panic!("{added:?}");
    };
    let expired = |minute| sandbox.read(|reader| reader.expired_requests(time(minute)));
    assert_eq!((expired(-1), expired(0)), (vec![], vec![run]));
    write(&sandbox, move |writer| {
        writer.cancel_run(late, time(61), None)
    });
    let detail = sandbox.read(|reader| reader.run_detail(run)).unwrap();
    assert_eq!(detail.further_requesters, [requester("bob")]);
    let keyed = KeyedRequest {
        sender: "alice".to_owned(),
        key: "one".to_owned(),
        request: "plan sw1".to_owned(),
    };
    write(&sandbox, move |writer| writer.add_key(&keyed, run, time(0)));
    let earlier = sandbox.read(|reader| reader.earlier_request("alice", "one", time(1)));
    assert_eq!(earlier.unwrap().run, run);
    let canceled = write(&sandbox, move |writer| {
        Ok((
            writer.cancel_run(run, time(1), Some("too late"))?,
            writer.start_run(run, RunKind::Plan, time(1))?,
            writer.device_name(run)?,
        ))
    });
    assert_eq!(canceled, (true, false, "sw1".to_owned()));
    let second = write(&sandbox, |writer| {
        let run = writer.add_run(&new_run("sw1", RunKind::Apply, time(2)))?;
        writer.end_lost_runs("sw1", None, None, time(3))?;
        Ok(run)
    });
    assert_eq!(
        sandbox.read(|reader| reader.run(second)).unwrap().status,
        RunStatus::Interrupted
    );
    assert!(sandbox.read(|reader| reader.running_devices()).is_empty());
}

fn each_filter_of_lists_is_accepted(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let device = |name: &str| KnownDevice {
        name: name.to_owned(),
        platform: "ios".to_owned(),
        site: Some("berlin".to_owned()),
        labels: BTreeMap::new(),
        address: String::new(),
        guarantee: (name == "sw2").then(|| "locked".to_owned()),
    };
    let devices = ["sw10", "sw2"].map(device);
    write(&sandbox, move |writer| {
        writer.update_devices(&devices, true, time(0))?;
        writer.set_due("sw2", Some(time(1)), 0, time(0))
    });
    let site = SiteDevices {
        guarantees: [("locked".to_owned(), 1), ("unknown".to_owned(), 1)].into(),
        lateness_seconds: 60,
    };
    let sites = sandbox.read(|reader| reader.site_devices(time(2)));
    assert_eq!(sites, BTreeMap::from([("berlin".to_owned(), site)]));
    let result = CompletedRun {
        configuration: Some("hostname sw2\ninterface Gi1\n".to_owned()),
        ..completed(
            RunKind::Apply,
            1,
            &[("Vlan[10]", "failed"), ("Vlan[9]", "changed")],
        )
    };
    let (run, _) = sandbox.add("sw2", result);
    for order in [
        FleetOrder::Name,
        FleetOrder::Status,
        FleetOrder::LastRun,
        FleetOrder::NextDue,
        FleetOrder::Site,
        FleetOrder::Model,
        FleetOrder::Version,
    ] {
        let filter = FleetFilter {
            order,
            limit: 10,
            ..FleetFilter::default()
        };
        assert_eq!(
            sandbox.read(|reader| reader.fleet(&filter)).len(),
            2,
            "{order:?}"
        );
    }
    let filter = FleetFilter {
        name: Some("sw".to_owned()),
        names: Some(vec!["sw2".to_owned()]),
        status: Some(RunStatus::Failed),
        result: Some(DeviceResult::Failed),
        platform: Some("ios".to_owned()),
        site: Some("berlin".to_owned()),
        limit: 10,
        ..FleetFilter::default()
    };
    assert_eq!(sandbox.read(|reader| reader.fleet(&filter)).len(), 1);
    let natural = FleetFilter {
        limit: 10,
        ..FleetFilter::default()
    };
    let names = sandbox.read(|reader| reader.fleet(&natural));
    let names: Vec<&str> = names.iter().map(|device| &*device.name).collect();
    assert_eq!(names, ["sw2", "sw10"]);
    let filter = RunFilter {
        device: Some("sw2".to_owned()),
        status: Some(RunStatus::Failed),
        kind: Some(RunKind::Apply),
        requester: Some(RequesterKind::Schedule),
        is_notable: true,
        queued_after: Some(time(0)),
        before: Some(RunId(run.0 + 1)),
        limit: 10,
        ..RunFilter::default()
    };
    assert_eq!(sandbox.read(|reader| reader.runs(&filter)).len(), 1);
    let named = RunFilter {
        name: Some("none".to_owned()),
        limit: 10,
        ..RunFilter::default()
    };
    assert!(sandbox.read(|reader| reader.runs(&named)).is_empty());
    let filter = DriftFilter {
        device: Some("sw2".to_owned()),
        resource: Some("Vlan".to_owned()),
        after: Some(time(0)),
        limit: 10,
        ..DriftFilter::default()
    };
    let _ = sandbox.read(|reader| reader.drift(&filter));
    let history = sandbox
        .read(|reader| reader.resource_history(Some("sw2"), "Vlan[9]", Some(RunId(run.0 + 1)), 10));
    assert_eq!(history.len(), 1);
    for (text, count) in [("", 2), ("VLAN", 2), ("[9]", 1)] {
        let found = sandbox.read(|reader| reader.search_resources("sw2", text, 10, 0));
        assert_eq!(found.len(), count, "{text}");
        let counted = sandbox.read(|reader| reader.count_resources("sw2", text));
        assert_eq!(usize::try_from(counted).unwrap(), count, "{text}");
    }
}

fn devices_are_read_with_all_that_is_known(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let text = "hostname sw1\ninterface Gi1\n";
    let result = CompletedRun {
        configuration: Some(text.to_owned()),
        ..completed(RunKind::Apply, 1, &[])
    };
    sandbox.add("sw1", result);
    for at in [None, Some(time(5))] {
        let facts = sandbox.read(|reader| reader.facts("sw1", at)).unwrap();
        assert_eq!(facts.facts["model"], "C9300");
    }
    assert!(
        sandbox
            .read(|reader| reader.facts("sw1", Some(time(0))))
            .is_none()
    );
    assert!(sandbox.read(|reader| reader.known_device("sw1")).is_some());
    assert!(sandbox.read(|reader| reader.fleet_device("sw1")).is_some());
    assert_eq!(sandbox.read(|reader| reader.first_runs()), None);
    let _ = sandbox.read(|reader| reader.line_classes("sw1"));
    let _ = sandbox.read(|reader| reader.config_lines());
    let search = ConfigurationSearch {
        pattern: line_pattern("gi1", false).unwrap(),
        is_regex: false,
        is_absent: false,
        names: None,
        limit: 10,
        offset: 0,
    };
    let found = sandbox.read(|reader| reader.search_configurations(&search));
    assert_eq!(found.devices[0].lines[0].text, "interface Gi1");
    let difference = sandbox.read(|reader| reader.device_difference("sw2", "sw1"));
    assert!(difference.contains("+hostname sw1"), "{difference}");
}

on_each_engine! {
    approvals_go_from_plan_to_run,
    requests_join_a_run_that_waits,
    each_filter_of_lists_is_accepted,
    devices_are_read_with_all_that_is_known,
}
