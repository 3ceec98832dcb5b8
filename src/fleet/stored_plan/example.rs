//! A planned device for tests.

use std::collections::BTreeMap;

use super::{PlannedDevice, PlannedOperation, PlannedResource};
use crate::store::identity::DeviceIdentity;
use crate::transaction::CommandRecord;

/// The last line is the command, the others are its modes.
fn command(lines: &[&str]) -> CommandRecord {
    let (text, mode) = lines.split_last().unwrap();
    CommandRecord {
        mode: mode.iter().map(|line| (*line).to_owned()).collect(),
        text: Some((*text).to_owned()),
        ..CommandRecord::default()
    }
}

pub(super) fn device(operations: &[(&str, &[&str])]) -> PlannedDevice {
    let resource = |(name, lines): &(&str, &[&str])| PlannedResource {
        resource: (*name).to_owned(),
        file: Some("state/sw1.yaml".to_owned()),
        line: Some(7),
        read: [("mtu".to_owned(), "1500".to_owned())].into(),
        changes: Vec::new(),
        not_restored: Vec::new(),
        operations: vec![PlannedOperation {
            command: command(lines),
            secrets: vec!["1f".to_owned()],
        }],
    };
    PlannedDevice {
        platform: "cisco_ios".to_owned(),
        identity: DeviceIdentity::parse("FCW1"),
        key: Some("k".to_owned()),
        catalog: "a".to_owned(),
        definitions: "b".to_owned(),
        resources: operations.iter().map(resource).collect(),
        difference: "+vlan 10".to_owned(),
        has_secrets: false,
        failures: BTreeMap::new(),
    }
}
