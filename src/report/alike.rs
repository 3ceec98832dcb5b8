//! Devices with alike results: what is equal is told once, and what differs becomes a table.
//!
//! Devices form a group if the same resources change in the same way. The record of a group is that of its first
//! device, with placeholders such as `{description}` where the devices differ. So every reader renders a group as
//! it renders a device, and the table below it.

mod own_words;
mod shape;
mod slot;
mod split;
mod template;

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::RunRecord;
use crate::catalog::Level;
use crate::natural_order::natural_order;
use crate::transaction::{LogEntry, LogKind};
pub(crate) use own_words::OwnWords;
pub(crate) use shape::sentence;
use slot::Slot;
use template::{Column, Template};

/// Up to this number of different texts, each is shown as it is.
const FEW: usize = 3;
/// More groups are divided by resource, where this gives fewer of them.
const MANY_GROUPS: usize = 20;

/// A device with its result.
#[derive(Clone, Debug)]
pub(crate) struct AlikeDevice {
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) own: OwnWords,
    /// Its messages belong to the group if all devices have them. Warnings may differ.
    pub(crate) record: RunRecord,
}

/// Devices whose results are told together.
#[derive(Clone, Debug)]
pub(crate) struct AlikeGroup {
    pub(crate) devices: Vec<String>,
    pub(crate) platform: String,
    /// Without warnings. It has placeholders for what is in the table.
    pub(crate) record: RunRecord,
    /// The warnings, each with its devices.
    pub(crate) warnings: Vec<(Arc<LogEntry>, Vec<String>)>,
    pub(crate) values: ValueTable,
    /// The devices have different texts: the difference to the configuration is that of the first one.
    pub(crate) is_template: bool,
}

/// What differs between the devices of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTable {
    /// The names of the placeholders.
    pub(crate) columns: Vec<String>,
    /// The devices with these values, and the values.
    pub(crate) rows: Vec<(Vec<String>, Vec<String>)>,
}

/// Collects devices. Equal results are stored once.
#[derive(Default)]
pub(crate) struct AlikeDevices {
    /// By shape, then by texts.
    shapes: IndexMap<String, IndexMap<Vec<String>, Variant>>,
}

/// The devices with equal texts.
struct Variant {
    record: RunRecord,
    slots: Vec<Slot>,
    members: Vec<Member>,
}

/// What is different also on devices with equal texts.
#[derive(Clone)]
struct Member {
    name: String,
    platform: String,
    own: OwnWords,
    /// The lines of the resources in their files.
    lines: Vec<Option<u64>>,
    warnings: Vec<Arc<LogEntry>>,
}

impl AlikeDevices {
    pub(crate) fn add(&mut self, device: AlikeDevice) {
        let AlikeDevice {
            name,
            platform,
            own,
            mut record,
        } = device;
        let is_warning = |log: &Arc<LogEntry>| log.level == Level::Warning;
        let (warnings, logs) = std::mem::take(&mut record.logs)
            .into_iter()
            .partition(is_warning);
        record.logs = logs;
        let shape = shape::of(&platform, &record, &own);
        let (mut slots, mut texts) = (Vec::new(), Vec::new());
        // The texts are only read.
        slot::visit(&mut record, &mut |slot, text| {
            slots.push(slot);
            texts.push(text.clone());
        });
        texts.extend(shape::changed_lines(&record.difference));
        let notable = record.resources.iter().filter(|one| one.is_notable());
        let member = Member {
            name,
            platform,
            own,
            lines: notable.map(|status| status.line).collect(),
            warnings,
        };
        let variants = self.shapes.entry(shape).or_default();
        let variant = variants.entry(texts).or_insert_with(|| Variant {
            record,
            slots,
            members: Vec::new(),
        });
        variant.members.push(member);
    }

    /// The groups in the order of their first devices. `order` has the position of each device; without it,
    /// their names decide.
    pub(crate) fn groups(self, order: Option<&HashMap<&str, usize>>) -> Vec<AlikeGroup> {
        let order = DeviceOrder(order);
        let count: usize = self.shapes.values().map(group_count).sum();
        let shapes = if count > MANY_GROUPS {
            let parts = split::by_resource(&self);
            let part_count: usize = parts.shapes.values().map(group_count).sum();
            if part_count < count {
                parts.shapes
            } else {
                self.shapes
            }
        } else {
            self.shapes
        };
        let mut groups: Vec<AlikeGroup> = Vec::new();
        for variants in shapes.into_values() {
            let mut variants: Vec<(Vec<String>, Variant)> = variants.into_iter().collect();
            for (_, variant) in &mut variants {
                let members = &mut variant.members;
                members.sort_by(|one, other| order.compare(&one.name, &other.name));
            }
            let first = |variant: &Variant| variant.members[0].name.clone();
            variants.sort_by(|(_, one), (_, other)| order.compare(&first(one), &first(other)));
            if variants.len() <= FEW {
                groups.extend(variants.into_iter().map(|(_, variant)| equal(variant)));
            } else {
                groups.push(unlike(variants, &order));
            }
        }
        groups.sort_by(|one, other| order.compare(&one.devices[0], &other.devices[0]));
        groups
    }
}

/// The groups of one shape.
fn group_count(variants: &IndexMap<Vec<String>, Variant>) -> usize {
    if variants.len() <= FEW {
        variants.len()
    } else {
        1
    }
}

/// A group of devices with equal texts.
fn equal(variant: Variant) -> AlikeGroup {
    let Variant {
        record, members, ..
    } = variant;
    AlikeGroup {
        devices: members.iter().map(|member| member.name.clone()).collect(),
        platform: members[0].platform.clone(),
        record,
        warnings: warnings(&members),
        values: ValueTable::default(),
        is_template: false,
    }
}

/// A group of devices with different texts.
fn unlike(variants: Vec<(Vec<String>, Variant)>, order: &DeviceOrder<'_>) -> AlikeGroup {
    let slots = variants[0].1.slots.clone();
    let mut record = variants[0].1.record.clone();
    let mut devices: Vec<(Member, Arc<[String]>)> = Vec::new();
    for (texts, variant) in variants {
        let texts: Arc<[String]> = texts.into();
        let members = variant.members.into_iter();
        devices.extend(members.map(|member| (member, Arc::clone(&texts))));
    }
    devices.sort_by(|(one, _), (other, _)| order.compare(&one.name, &other.name));
    let own: Vec<&OwnWords> = devices.iter().map(|(member, _)| &member.own).collect();
    let mut template = Template::new(&own);
    // Values first: their placeholders are then in the commands, too.
    let mut indexes: Vec<usize> = (0..slots.len()).collect();
    indexes.sort_by_key(|index| Reverse(slots[*index].is_value()));
    let mut texts = vec![String::new(); slots.len()];
    for index in indexes {
        let all: Vec<&str> = devices.iter().map(|(_, texts)| &*texts[index]).collect();
        texts[index] = template.text(&slots[index], &all);
    }
    let mut texts = texts.into_iter();
    slot::visit(&mut record, &mut |_, text| {
        *text = texts.next().expect("each slot has a text");
    });
    let columns = template.into_columns();
    let members: Vec<Member> = devices.into_iter().map(|(member, _)| member).collect();
    forget_different_lines(&mut record, &members);
    AlikeGroup {
        devices: members.iter().map(|member| member.name.clone()).collect(),
        platform: members[0].platform.clone(),
        values: value_table(columns, &members),
        record,
        warnings: warnings(&members),
        is_template: true,
    }
}

/// A resource that stands in different lines has a file only.
fn forget_different_lines(record: &mut RunRecord, members: &[Member]) {
    let notable = record.resources.iter_mut().filter(|one| one.is_notable());
    for (index, status) in notable.enumerate() {
        let mut lines = members.iter().map(|member| member.lines[index]);
        if lines.any(|line| line != members[0].lines[index]) {
            Arc::make_mut(status).line = None;
        }
    }
}

/// The values of the placeholders; devices with equal values are one row.
fn value_table(columns: Vec<Column>, members: &[Member]) -> ValueTable {
    if columns.is_empty() {
        return ValueTable::default();
    }
    let mut rows: IndexMap<Vec<String>, Vec<String>> = IndexMap::default();
    for (index, member) in members.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cells[index].clone());
        let devices = rows.entry(cells.collect()).or_default();
        devices.push(member.name.clone());
    }
    ValueTable {
        columns: columns.into_iter().map(|column| column.name).collect(),
        rows: rows
            .into_iter()
            .map(|(cells, devices)| (devices, cells))
            .collect(),
    }
}

/// The warnings of all devices, those with equal texts or equal texts without own words once.
fn warnings(members: &[Member]) -> Vec<(Arc<LogEntry>, Vec<String>)> {
    type Warned<'a> = Vec<(Arc<LogEntry>, &'a Member)>;
    let mut all: IndexMap<(String, String), Warned<'_>> = IndexMap::default();
    for member in members {
        for entry in &member.warnings {
            let key = (entry.source.clone(), member.own.template(entry.text()));
            all.entry(key)
                .or_default()
                .push((Arc::clone(entry), member));
        }
    }
    let grouped = all.into_iter().map(|((_, common), entries)| {
        let first = &entries[0].0;
        let is_equal = entries
            .iter()
            .all(|(entry, _)| entry.text() == first.text());
        let mut entry = LogEntry::clone(first);
        if !is_equal {
            entry.message = common;
            entry.kind = LogKind::Other;
        }
        let mut names: Vec<String> = entries.iter().map(|(_, one)| one.name.clone()).collect();
        names.dedup();
        (Arc::new(entry), names)
    });
    grouped.collect()
}

/// The order of devices: their positions, or their names in natural order.
struct DeviceOrder<'a>(Option<&'a HashMap<&'a str, usize>>);

impl DeviceOrder<'_> {
    fn compare(&self, one: &str, other: &str) -> Ordering {
        let position = |name: &str| self.0.map(|order| order.get(name).copied());
        let by_position = position(one).cmp(&position(other));
        by_position.then_with(|| natural_order(one).cmp(&natural_order(other)))
    }
}

#[cfg(test)]
mod tests;
