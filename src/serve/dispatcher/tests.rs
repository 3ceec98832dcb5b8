//! Requests that wait, and clocks that are set.

use std::time::Duration;

use jiff::tz::TimeZone;

use super::*;

fn at_once(all: usize) -> QueueLimits {
    QueueLimits {
        all,
        per_site: None,
        per_jump_host: None,
    }
}

fn every(seconds: u64) -> DeviceSchedule {
    DeviceSchedule {
        interval: Duration::from_secs(seconds),
        splay: Duration::from_secs(seconds),
        windows: Vec::new(),
        zone: TimeZone::UTC,
        applies: true,
        needs_approval: false,
        priority: 0,
    }
}

fn device(schedule: DeviceSchedule) -> ScheduledDevice {
    ScheduledDevice {
        name: "sw1".into(),
        schedule: Arc::new(schedule),
        member: Membership::default(),
    }
}

#[test]
fn requests_expire_and_scheduled_runs_do_not() {
    let limits = at_once(1);
    let now: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let mut dispatcher = Dispatcher::new(limits);
    for (number, minutes) in [(1, 61), (2, 60), (3, 59)] {
        let cause = RunCause::Request {
            run: RunId(number),
            kind: Some(RunKind::Apply),
        };
        let requested = now - SignedDuration::from_mins(minutes);
        dispatcher.request("sw1", cause, 0, requested);
    }
    let scheduled = Waiting {
        device: "sw2".into(),
        cause: RunCause::Schedule,
        due: now - SignedDuration::from_hours(48),
    };
    dispatcher.queue.add(scheduled, 0);
    let oldest = now - SignedDuration::from_hours(1);
    assert_eq!(dispatcher.take_expired(oldest), [RunId(1), RunId(2)]);
    assert_eq!(dispatcher.waiting(), 2);
}

#[test]
fn a_waiting_request_states_why_and_without_the_store_only_plans_start() {
    let limits = QueueLimits {
        all: 3,
        per_site: Some(1),
        per_jump_host: Some(1),
    };
    let now: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let schedule = Arc::new(every(3600));
    let places = [
        ("sw1", Some("a"), Some("j1")),
        ("sw2", Some("a"), None),
        ("sw3", Some("b"), Some("j1")),
        ("sw4", None, None),
    ];
    let devices = places.map(|(name, site, jump_host)| ScheduledDevice {
        name: name.into(),
        schedule: Arc::clone(&schedule),
        member: Membership {
            site: site.map(str::to_owned),
            jump_host: jump_host.map(str::to_owned),
        },
    });
    let mut dispatcher = Dispatcher::new(limits);
    dispatcher.set_devices(devices.into(), limits, &BTreeMap::new(), now);
    let mut request = |number: i64, device: &str| {
        let cause = RunCause::Request {
            run: RunId(number),
            kind: Some(RunKind::Apply),
        };
        dispatcher.request(device, cause, 0, now);
    };
    for (number, device) in [(1, "sw1"), (2, "sw1"), (3, "sw2"), (4, "sw3"), (5, "sw4")] {
        request(number, device);
    }
    // Requests wait for the store; a scheduled run does not change its device.
    let due = now + Duration::from_secs(3600);
    let plan = dispatcher.next_start(due, PermittedRuns::ScheduledPlans);
    let plan = plan.unwrap();
    assert_eq!(plan.kind, RunKind::Plan);
    assert_eq!(plan.plans_because, Some("the store cannot be used"));
    assert!(matches!(plan.cause, RunCause::Schedule));
    dispatcher.finish(&plan.device, false, due);
    let start = dispatcher.next_start(now, PermittedRuns::All).unwrap();
    assert_eq!(&*start.device, "sw1");
    let reasons = |dispatcher: &Dispatcher| {
        let found = (1..=5).map(|run| dispatcher.wait_reason(RunId(run)));
        found
            .map(|why| why.map_or_else(String::new, |why| why.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(&dispatcher),
        [
            "",
            "device runs",
            "limit per_site",
            "limit per_jump",
            "starts soon"
        ]
    );
    let full = QueueLimits { all: 1, ..limits };
    dispatcher.queue.set_limits(full);
    assert_eq!(reasons(&dispatcher)[4], "limit concurrency");
}

#[test]
fn request_to_apply_plans_after_the_device_got_mode_plan() {
    let limits = at_once(10);
    let now: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    for (applies, requested, expected) in [
        (true, RunKind::Apply, RunKind::Apply),
        (false, RunKind::Apply, RunKind::Plan),
        (false, RunKind::Noop, RunKind::Noop),
    ] {
        let schedule = DeviceSchedule {
            applies,
            ..every(3600)
        };
        let mut dispatcher = Dispatcher::new(limits);
        dispatcher.set_devices(vec![device(schedule)], limits, &BTreeMap::new(), now);
        let cause = RunCause::Request {
            run: RunId(1),
            kind: Some(requested),
        };
        dispatcher.request("sw1", cause, 0, now);
        let start = dispatcher.next_start(now, PermittedRuns::All).unwrap();
        assert_eq!(start.kind, expected);
    }
}

#[test]
fn a_clock_that_is_set_back_delays_no_run() {
    let limits = at_once(1);
    let now: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let wrong = now + SignedDuration::from_hours(1);
    let mut dispatcher = Dispatcher::new(limits);
    dispatcher.set_devices(vec![device(every(60))], limits, &BTreeMap::new(), wrong);
    assert!(dispatcher.next_start(wrong, PermittedRuns::All).is_none());
    assert!(dispatcher.next_start(now, PermittedRuns::All).is_none());
    let due = dispatcher.wake_at().unwrap();
    assert!(due <= now + SignedDuration::from_mins(1), "{due}");
    assert!(dispatcher.next_start(due, PermittedRuns::All).is_some());
    dispatcher.finish("sw1", false, due);
    let next = dispatcher.wake_at().unwrap();
    assert_eq!(next.duration_since(due), SignedDuration::from_mins(1));
}

/// Whatever made the device due while the clock was wrong, and without a start meanwhile.
#[test]
fn a_device_that_became_due_by_a_wrong_clock_runs_after_it_is_set_back() {
    type Step = fn(&mut Dispatcher, Timestamp);
    let steps: [(&str, Step); 3] = [
        ("a run ends, and is stored later", |dispatcher, wrong| {
            dispatcher.finish("sw1", false, wrong);
        }),
        ("the devices are replaced", |dispatcher, wrong| {
            dispatcher.finish("sw1", false, wrong);
            let devices = vec![device(every(60))];
            dispatcher.set_devices(devices, at_once(1), &BTreeMap::new(), wrong);
        }),
        ("a pause ends", |dispatcher, wrong| {
            let now = wrong - SignedDuration::from_hours(1);
            dispatcher.finish("sw1", false, now);
            dispatcher.set_paused("sw1", true, wrong);
            dispatcher.set_paused("sw1", false, wrong);
        }),
    ];
    for (name, step) in steps {
        let start: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
        let mut dispatcher = Dispatcher::new(at_once(1));
        let devices = vec![device(every(60))];
        dispatcher.set_devices(devices, at_once(1), &BTreeMap::new(), start);
        let now = dispatcher.wake_at().unwrap();
        assert!(dispatcher.next_start(now, PermittedRuns::All).is_some());
        step(&mut dispatcher, now + SignedDuration::from_hours(1));
        assert!(dispatcher.next_start(now, PermittedRuns::All).is_none());
        let due = dispatcher.wake_at().unwrap();
        assert!(due <= now + SignedDuration::from_mins(1), "{name}: {due}");
    }
}

#[test]
fn lateness_is_that_of_devices_that_are_due_while_no_run_starts() {
    let limits = at_once(1);
    let start: Timestamp = "2026-11-24T12:00:00Z".parse().unwrap();
    let mut dispatcher = Dispatcher::new(limits);
    dispatcher.set_devices(vec![device(every(60))], limits, &BTreeMap::new(), start);
    let due = dispatcher.wake_at().unwrap();
    let late = SignedDuration::from_mins(10);
    assert_eq!(dispatcher.lateness(due - late), SignedDuration::ZERO);
    assert_eq!(dispatcher.lateness(due + late), late);
    dispatcher.set_all_paused(&["sw1".to_owned()].into(), due);
    assert_eq!(dispatcher.lateness(due + late), SignedDuration::ZERO);
    dispatcher.set_all_paused(&BTreeSet::new(), due);
    assert!(dispatcher.wake_at().is_some());
}
