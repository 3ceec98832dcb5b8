//! `after`: devices that run before a device.

use std::collections::HashSet;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use switchtender_devices::diagnostic::suggest;
use switchtender_devices::document::Findings;
use switchtender_devices::map::IndexMap;

use super::device::DeviceEntry;
use super::range;

/// Reports unknown devices, and devices that come after each other.
pub(super) fn check(findings: &Findings, devices: &IndexMap<String, DeviceEntry>) {
    let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
    // The devices of a group share one setting.
    let mut reported = HashSet::new();
    for device in devices.values() {
        let Some(after) = &device.settings.after else {
            continue;
        };
        for before in &after.value {
            if devices.contains_key(before) {
                graph.add_edge(before, &device.name, ());
            } else if reported.insert((after.origin.id(), before)) {
                let help = "name devices of the inventory: after = [\"core1\"]";
                let help = suggest(before, devices.keys().map(String::as_str), help);
                let message = format!("unknown device `{before}`");
                findings.push(after.origin.error("unknown-after", message).help(help));
            }
        }
    }
    for mut members in tarjan_scc(&graph) {
        members.sort_by_key(|name| devices.get_index_of(*name));
        let first = members[0];
        let message = match members.len() {
            1 if graph.contains_edge(first, first) => format!("`{first}` comes after itself"),
            1 => continue,
            _ => format!(
                "these devices come after each other: {}",
                range::of_names(members.iter().copied()).join(", ")
            ),
        };
        let after = devices[first].settings.after.as_ref();
        let origin = &after.expect("a device of a cycle has `after`").origin;
        let help = format!("remove a device from `after`, or set `after = []` in [device.{first}]");
        findings.push(origin.error("after-cycle", message).help(help));
    }
}
