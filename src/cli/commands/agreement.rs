//! One record says the same in every reader: what would change, in the same words, and how much.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::value::Value;

use super::{report, stored_plan, stored_run};
use crate::catalog::{CachedStatus, Level, ResourceRef, rich_data};
use crate::cli::output::view::plan::PlanText;
use crate::fleet::stored_plan::{
    PlanSources, PlannedChange, PlannedDevice, PlannedOperation, PlannedResource, StoredPlan,
};
use crate::history::runs::{RunDetail, RunDetailJson};
use crate::history::{CompletedRun, HistoryOptions, HistoryStore, NewRun, Requester, RunUuid};
use crate::report::page::{self, Page, PageDevice};
use crate::report::{Context, RunRecord};
use crate::run_kind::RunKind;
use crate::store::identity::DeviceIdentity;
use crate::transaction::{CommandRecord, Event, EventStatus, ResourceStatus, RunEvent};

const TIME: &str = "2026-11-24T12:00:00Z";

/// What a plan would change, in the words of every reader.
const WORDING: [&str; 4] = [
    "will be created",
    "vlan_id will be set to 7",
    "mtu will change from 1500 to 9000",
    "speed will be removed: 100",
];

/// A property, its value and the desired one.
type PropertyChange = (&'static str, Value, Value);

fn status(reference: &str, changes: Vec<PropertyChange>) -> ResourceStatus {
    let mut status = ResourceStatus::of(ResourceRef::parse(reference).unwrap());
    for (property, before, after) in changes {
        status.add(Event {
            name: format!("{property}_changed"),
            property: Some(property.into()),
            status: EventStatus::Noop,
            previous_value: Some(before),
            desired_value: Some(after),
            message: Some("Puppet's own text (noop)".to_owned()),
            corrective_change: false,
            time: TIME.parse().unwrap(),
            historical_value: None,
            audited: false,
            redacted: None,
            invalidates_refreshes: false,
        });
        status.operations = [CommandRecord {
            text: Some(format!("command of {property}")),
            ..CommandRecord::default()
        }]
        .into();
    }
    status
}

/// A plan with three resources, of which two would change.
fn planned() -> RunRecord {
    let created = vec![
        ("ensure", Value::Absent, "present".into()),
        ("vlan_id", Value::Absent, Value::Integer(7)),
    ];
    let changed = vec![
        ("mtu", Value::Integer(1500), Value::Integer(9000)),
        ("speed", Value::Integer(100), Value::Absent),
    ];
    let mut record = RunRecord::new(Context {
        host: "sw1".to_owned(),
        time: TIME.parse().unwrap(),
        transaction_uuid: None,
        puppet_version: "1".to_owned(),
        noop: true,
        environment: None,
        server_used: None,
        job_id: None,
        cached_catalog_status: CachedStatus::NotUsed,
        log_level: Level::Notice,
    });
    record.kind = RunKind::Plan;
    for status in [
        status("Network_vlan[7]", created),
        status("Network_interface[Gi1]", changed),
        status("Network_interface[Gi2]", Vec::new()),
    ] {
        record.fold(&RunEvent::Resource(Arc::new(status)));
    }
    record.fold(&RunEvent::Finished {
        completed: true,
        failed_to_generate: 0,
        error: None,
        time: TIME.parse().unwrap(),
    });
    record
}

/// The record in a plan file.
fn stored(record: &RunRecord) -> StoredPlan {
    let plain = |value: &Option<Value>| value.as_ref().map(rich_data::write_plain).unwrap();
    let resource = |status: &Arc<ResourceStatus>| PlannedResource {
        resource: status.reference.to_string(),
        file: None,
        line: None,
        read: BTreeMap::new(),
        changes: status
            .events
            .iter()
            .map(|event| PlannedChange {
                property: event.property.as_deref().unwrap().to_owned(),
                from: plain(&event.previous_value),
                to: plain(&event.desired_value),
            })
            .collect(),
        operations: status
            .operations
            .iter()
            .map(|command| PlannedOperation {
                command: command.clone(),
                secrets: Vec::new(),
            })
            .collect(),
        not_restored: Vec::new(),
    };
    let pending = record.managed().filter(|status| status.is_pending());
    let device = PlannedDevice {
        platform: "cisco_ios".to_owned(),
        identity: DeviceIdentity::default(),
        key: None,
        catalog: String::new(),
        definitions: String::new(),
        resources: pending.map(resource).collect(),
        difference: String::new(),
        has_secrets: false,
        failures: BTreeMap::new(),
    };
    StoredPlan {
        id: "1".to_owned(),
        created: TIME.to_owned(),
        author: "ops".to_owned(),
        program: "1".to_owned(),
        sources: PlanSources::default(),
        devices: [("sw1".to_owned(), device)].into(),
    }
}

/// The record as the store returns it.
fn of_store(record: &RunRecord) -> RunDetail {
    let directory = tempfile::tempdir().unwrap();
    let history = HistoryStore::open(HistoryOptions::at(directory.path().join("history.db")));
    let history = history.unwrap();
    let time = TIME.parse().unwrap();
    let new_run = NewRun {
        uuid: RunUuid::new(time),
        device: "sw1".to_owned(),
        kind: record.kind,
        follows_windows: false,
        requester: Requester::schedule(),
        priority: 0,
        queued: time,
        started: Some(time),
    };
    let completed = CompletedRun {
        record: record.clone(),
        ended: time,
        configuration: None,
        line_classes: None,
        origin: None,
    };
    let run = history.write_and_wait(move |writer| {
        let run = writer.add_run(&new_run)?;
        writer.finish_run(run, &completed)?;
        Ok(run)
    });
    let run = run.unwrap();
    history
        .read(|reader| reader.run_detail(run))
        .unwrap()
        .unwrap()
}

fn html(record: &RunRecord) -> String {
    page::render(&Page {
        title: "Plan".to_owned(),
        facts: Vec::new(),
        totals: None,
        devices: vec![PageDevice::new("sw1", record.clone())],
    })
}

#[test]
fn readers_of_one_record_agree() {
    let record = planned();
    let plan = stored(&record);
    let read_again = RunRecord::of_json(record.to_pretty_json().as_bytes()).unwrap();
    let detail = of_store(&record);
    let texts = [
        (
            "plan",
            PlanText::new(&record, None, false)
                .changes
                .as_str()
                .to_owned(),
        ),
        ("page", html(&record)),
        ("page of report --file", html(&read_again)),
        (
            "report --file",
            report::render(&read_again, false).as_str().to_owned(),
        ),
        (
            "report RUN",
            stored_run::render(&detail, false).as_str().to_owned(),
        ),
        (
            "plan show",
            stored_plan::render(&plan, false).as_str().to_owned(),
        ),
        (
            "page of plan show",
            page::render(&stored_plan::page_of(&plan)),
        ),
    ];
    for (reader, text) in &texts {
        for words in WORDING {
            assert!(text.contains(words), "{reader} without {words:?}: {text}");
        }
        assert!(!text.contains("(noop) "), "{reader}: {text}");
        assert!(
            text.contains("command of mtu") || text.contains("command of speed"),
            "{reader}"
        );
    }
    let counts = "3 resources: 0 changed, 0 failed, 0 skipped, 2 to change";
    for (reader, expected) in [
        ("report --file", counts),
        ("report RUN", counts),
        ("plan show", "resources to change: 2"),
        ("page", "<td class=\"number\">2</td>"),
        (
            "page of plan show",
            "<th>Resources to change</th><td>2</td>",
        ),
    ] {
        let (_, text) = texts.iter().find(|(name, _)| *name == reader).unwrap();
        assert!(text.contains(expected), "{reader}: {text}");
    }
    let of_plan = plan.devices["sw1"].record(TIME);
    let json = serde_json::to_value(RunDetailJson::from(detail)).unwrap();
    assert_eq!(json["pending"], 2);
    assert_eq!(json["status"], "pending");
    let report = record.to_json();
    assert_eq!(report["noop_pending"], true);
    for other in [&read_again, &of_plan] {
        assert_eq!(other.status(), record.status());
        assert_eq!(other.counts.pending, record.counts.pending);
        assert_eq!(other.counts.to_send, record.counts.to_send);
    }
    assert_eq!(read_again.counts, record.counts);
}
