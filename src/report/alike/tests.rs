//! Groups of plans, from values and commands.

use switchtender_devices::value::Value;

use super::*;
use crate::catalog::{CachedStatus, ResourceRef};
use crate::report::Context;
use crate::run_kind::RunKind;
use crate::transaction::{CommandRecord, Event, EventStatus, ResourceStatus, RunEvent};

/// A property with its value and the desired one.
type Change<'a> = (&'a str, Value, Value);

fn status(reference: &str, changes: &[Change<'_>], commands: &[&str]) -> ResourceStatus {
    let mut status = ResourceStatus::of(ResourceRef::parse(reference).unwrap());
    for (property, before, after) in changes {
        status.add(Event {
            name: format!("{property}_changed"),
            property: Some((*property).into()),
            status: EventStatus::Noop,
            previous_value: Some(before.clone()),
            desired_value: Some(after.clone()),
            message: None,
            corrective_change: false,
            time: jiff::Timestamp::UNIX_EPOCH,
            historical_value: None,
            audited: false,
            redacted: None,
            invalidates_refreshes: false,
        });
    }
    let commands = commands.iter().map(|text| CommandRecord {
        text: Some((*text).to_owned()),
        ..CommandRecord::default()
    });
    status.operations = commands.collect();
    status
}

fn device(name: &str, statuses: Vec<ResourceStatus>) -> AlikeDevice {
    let mut record = RunRecord::new(Context {
        host: name.to_owned(),
        time: jiff::Timestamp::UNIX_EPOCH,
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
    for status in statuses {
        record.fold(&RunEvent::Resource(Arc::new(status)));
    }
    record.counts.cut_short = false;
    AlikeDevice {
        name: name.to_owned(),
        platform: "cisco_ios".to_owned(),
        own: OwnWords::of_name(name),
        record,
    }
}

fn groups(devices: impl IntoIterator<Item = AlikeDevice>) -> Vec<AlikeGroup> {
    let mut all = AlikeDevices::default();
    for device in devices {
        all.add(device);
    }
    all.groups(None)
}

/// The texts of the events and the commands of a group.
fn texts(group: &AlikeGroup) -> Vec<String> {
    let resources = group.record.resources.iter();
    let texts = resources.flat_map(|status| {
        let events = status.events.iter().filter_map(Event::text);
        let commands = status.operations.iter().filter_map(|one| one.text.clone());
        events.chain(commands).collect::<Vec<_>>()
    });
    texts.collect()
}

fn described(name: &str, old: &str, new: &str) -> AlikeDevice {
    let change = ("description", old.into(), new.into());
    let command = format!("description {new}");
    device(name, vec![status("Port[1]", &[change], &[&command])])
}

#[test]
fn own_names_are_no_column() {
    let names = (1..=300).map(|number| format!("sw{number}"));
    let groups = groups(names.map(|name| described(&name, "unset", &format!("uplink of {name}"))));
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].devices.len(), 300);
    assert!(groups[0].values.columns.is_empty());
    assert_eq!(
        texts(&groups[0]),
        [
            "description will change from 'unset' to 'uplink of {device}'",
            "description uplink of {device}"
        ]
    );
}

#[test]
fn values_that_differ_are_columns_and_equal_rows_are_one() {
    let values = [
        ("sw1", "a", "x 1"),
        ("sw2", "a", "x 1"),
        ("sw3", "b", "y"),
        ("sw4", "c", "z"),
    ];
    let more = [("sw5", "c", "long name of a port")];
    let all = values.iter().chain(&more);
    let groups = groups(all.map(|(name, old, new)| described(name, old, new)));
    assert_eq!(groups.len(), 1);
    assert_eq!(
        texts(&groups[0]),
        [
            "description will change from '{old description}' to '{description}'",
            "description {description}"
        ]
    );
    assert_eq!(groups[0].values.columns, ["old description", "description"]);
    let rows: Vec<(String, String)> = groups[0]
        .values
        .rows
        .iter()
        .map(|(devices, cells)| (devices.join(" "), cells.join("|")))
        .collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("sw1 sw2", "a|x 1"),
            ("sw3", "b|y"),
            ("sw4", "c|z"),
            ("sw5", "c|long name of a port")
        ]
    );
}

#[test]
fn few_different_texts_stay_as_they_are() {
    let values = [("sw1", "a"), ("sw2", "b"), ("sw3", "a"), ("sw4", "c")];
    let groups = groups(values.map(|(name, new)| described(name, "unset", new)));
    let devices: Vec<String> = groups.iter().map(|group| group.devices.join(" ")).collect();
    assert_eq!(devices, ["sw1 sw3", "sw2", "sw4"]);
    assert_eq!(texts(&groups[1])[1], "description b");
}

#[test]
fn commands_without_a_value_have_the_words_that_differ() {
    let port = |name: &str, old: i64, line: &str| {
        let change = (
            "vlans",
            Value::Integer(old),
            Value::List(vec![Value::Integer(7)]),
        );
        device(name, vec![status("Port[1]", &[change], &[line])])
    };
    let groups = groups([
        port("sw1", 1, "allowed vlan 1-3 add"),
        port("sw2", 2, "allowed vlan 4 add"),
        port("sw3", 3, "allowed vlan 5,6 add"),
        port("sw4", 4, "allowed vlan 8 add"),
    ]);
    assert_eq!(
        texts(&groups[0]),
        [
            "vlans will change from {old vlans} to [7]",
            "allowed vlan {command} add"
        ]
    );
    assert_eq!(groups[0].values.columns, ["old vlans", "command"]);
}

#[test]
fn many_sets_of_changes_are_grouped_by_resource() {
    // Each device has another pair of seven VLANs.
    let vlan = |number: usize| {
        let created = ("ensure", Value::Absent, "present".into());
        status(
            &format!("Network_vlan[{number}]"),
            &[created],
            &[&format!("vlan {number}")],
        )
    };
    let mut devices = Vec::new();
    for one in 0..7 {
        for other in one + 1..7 {
            let name = format!("sw{}", devices.len() + 1);
            devices.push(device(&name, vec![vlan(one), vlan(other)]));
        }
    }
    assert_eq!(devices.len(), 21);
    let groups = groups(devices);
    assert_eq!(groups.len(), 7);
    assert!(groups.iter().all(|group| group.devices.len() == 6));
    assert_eq!(texts(&groups[0]), ["will be created", "vlan 0"]);
}
