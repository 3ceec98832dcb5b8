//! What an operator must correct at nodes, as their records have it.

use std::time::Duration;

use super::fleet_status::NodeStatus;
use super::times::LeaseTimes;
use crate::history::leases::{LeaseAnswer, NodeRecord, NodeRow};

/// The shortest time after which a node does not answer.
const SHORTEST_SILENCE: i64 = 5;

/// A node without a beat for longer does not answer: three beats of its lease.
pub(crate) fn silent_seconds(node: &NodeRecord) -> i64 {
    let lease = Duration::from_millis(node.lease_ms);
    let silence = LeaseTimes { lease }.beat().saturating_mul(3);
    i64::try_from(silence.as_secs())
        .unwrap_or(i64::MAX)
        .max(SHORTEST_SILENCE)
}

/// A beat that is older is late: the node may be lost.
pub(crate) fn late_seconds(node: &NodeRecord) -> i64 {
    let lease = Duration::from_millis(node.lease_ms);
    let beat = LeaseTimes { lease }.beat();
    i64::try_from(beat.as_secs()).unwrap_or(i64::MAX) + 1
}

/// A node that does not answer.
pub(super) fn silence(node: &NodeStatus) -> String {
    let (name, age) = (&node.name, node.age_seconds);
    if node.shards == 0 {
        return format!(
            "the node {name} has not answered for {age} s and has no shard; start it, or run \
             `switchtender fleet evict {name} --forget`"
        );
    }
    format!(
        "the node {name} has not answered for {age} s; when its host is off, run `switchtender fleet evict {name}`"
    )
}

/// Nodes that start no run or have an old release, and settings that differ between nodes.
pub(super) fn of_records(rows: &LeaseAnswer, nodes: &[NodeStatus]) -> Vec<String> {
    let answering = rows.nodes.iter().zip(nodes);
    let answering = answering
        .filter(|(_, status)| ["running", "pages only", "draining"].contains(&status.state));
    let answering: Vec<&NodeRecord> = answering.map(|(row, _): (&NodeRow, _)| &row.node).collect();
    let mut found = Vec::new();
    for node in &answering {
        let name = &node.name;
        if let Some(reason) = &node.no_runs {
            found.push(format!("no run begins on the node {name}: {reason}"));
        } else if let Some(reason) = &node.rejected_release {
            found.push(format!(
                "the node {name} does not use the newest release, and only plans: {reason}"
            ));
        }
    }
    let reporting = |node: &&&NodeRecord| node.has_puppetdb;
    if answering.iter().any(|node| node.has_puppetdb) {
        let others = answering
            .iter()
            .filter(|node| node.runs && !node.has_puppetdb);
        let others = names(others);
        if !others.is_empty() {
            found.push(format!(
                "runs of these nodes are not reported to PuppetDB: {others}; set [puppetdb] in their serve.toml"
            ));
        }
        if !answering.iter().filter(reporting).any(|node| node.is_hub) {
            found.push("no hub has [puppetdb]: nothing is sent to PuppetDB".to_owned());
        }
    }
    let hubs = answering.iter().filter(|node| !node.webhooks.is_empty());
    let hubs: Vec<&&NodeRecord> = hubs.collect();
    if hubs.iter().any(|node| webhooks(node) != webhooks(hubs[0])) {
        let all = names(hubs.into_iter());
        found.push(format!(
            "these hubs have different webhooks, and one of them sends its own only: {all}; give all of them the same"
        ));
    }
    found
}

/// The names of webhooks in a fixed order.
fn webhooks(node: &NodeRecord) -> Vec<&String> {
    let mut names: Vec<&String> = node.webhooks.iter().collect();
    names.sort();
    names
}

fn names<'a>(nodes: impl Iterator<Item = &'a &'a NodeRecord>) -> String {
    let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::history::leases::SiteRow;
    use crate::history::site_devices::SiteDevices;
    use crate::serve::lease::fleet_status::FleetStatus;

    fn row(name: &str, change: impl FnOnce(&mut NodeRecord)) -> NodeRow {
        let mut node = NodeRecord {
            name: name.to_owned(),
            runs: true,
            is_hub: true,
            lease_ms: 20_000,
            ..NodeRecord::default()
        };
        change(&mut node);
        NodeRow {
            node,
            beat: 1,
            is_draining: false,
            is_evicted: false,
            age_seconds: 0,
        }
    }

    fn problems(nodes: Vec<NodeRow>) -> Vec<String> {
        let rows = LeaseAnswer {
            nodes,
            sites: vec![SiteRow {
                name: "default".to_owned(),
                shards: 1,
                next_shards: None,
            }],
            ..LeaseAnswer::default()
        };
        FleetStatus::new(rows, BTreeMap::new(), 0).problems
    }

    #[test]
    fn a_site_that_has_grown_is_a_warning() {
        let warnings = |devices: u32, next_shards: Option<u32>| {
            let rows = LeaseAnswer {
                nodes: vec![row("a", |_| {})],
                sites: vec![SiteRow {
                    name: "default".to_owned(),
                    shards: 2,
                    next_shards,
                }],
                ..LeaseAnswer::default()
            };
            let found = SiteDevices {
                guarantees: [("session".to_owned(), devices), ("timing".to_owned(), 1)].into(),
                ..SiteDevices::default()
            };
            let status = FleetStatus::new(rows, [("default".to_owned(), found)].into(), 0);
            assert_eq!(status.problems, Vec::<String>::new());
            status.warnings
        };
        assert_eq!(warnings(999, None), Vec::<String>::new());
        assert_eq!(
            warnings(1000, None),
            [
                "the site default has 1001 devices in 2 shards: run `switchtender fleet reshard default 5`"
            ]
        );
        assert_eq!(warnings(1000, Some(5)), Vec::<String>::new());
    }

    #[test]
    fn nodes_that_cannot_work_or_differ_are_problems() {
        assert_eq!(problems(vec![row("a", |_| {})]), Vec::<String>::new());
        let full = |node: &mut NodeRecord| node.no_runs = Some("the disk is full".to_owned());
        let found = problems(vec![row("a", full)]);
        assert!(
            found[0].starts_with("no node for site default"),
            "{found:?}"
        );
        assert_eq!(
            found[1..],
            ["no run begins on the node a: the disk is full"]
        );
        let old = |node: &mut NodeRecord| node.rejected_release = Some("release 5: no".to_owned());
        assert_eq!(
            problems(vec![row("a", old)]),
            ["the node a does not use the newest release, and only plans: release 5: no"]
        );
        let settings = |node: &mut NodeRecord| {
            node.has_puppetdb = true;
            node.webhooks = vec!["chat".to_owned()];
        };
        let other = |node: &mut NodeRecord| node.webhooks = vec!["pager".to_owned()];
        let found = problems(vec![row("a", settings), row("b", other), row("c", |_| {})]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("PuppetDB: b, c;"), "{found:?}");
        assert!(found[1].contains("different webhooks"), "{found:?}");
        // With the lease of 20 s, after three beats.
        let silent = NodeRow {
            age_seconds: 6,
            ..row("b", |_| {})
        };
        let found = problems(vec![row("a", |_| {}), silent]);
        assert!(found[0].contains("evict b --forget"), "{found:?}");
    }
}
