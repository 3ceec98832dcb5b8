//! Decides from logs whether a write was stale, two applies overlapped, or a result was lost or stored twice.
//!
//! It compares no clocks that a fault changes: an order of writes, numbers of acquisitions, and times since the boot.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What `/proc/uptime` rounds.
const PRECISION: Duration = Duration::from_millis(10);

/// A write that a device accepted. Its value names the process and the round of desired values: the run.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) node: String,
    pub(super) value: String,
    /// Since the boot.
    pub(super) time: Duration,
}

/// A lease that a process acquired.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Acquisition {
    pub(super) shard: String,
    pub(super) epoch: i64,
    pub(super) node: String,
    /// Since the boot.
    pub(super) time: Duration,
}

/// The device, process and epoch of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunOwner {
    pub(super) device: String,
    pub(super) node: String,
    pub(super) epoch: i64,
}

/// What devices and the database show.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// The writes of each device, in order.
    pub(super) writes: BTreeMap<String, Vec<Write>>,
    pub(super) acquired: BTreeSet<Acquisition>,
    /// The shard of each device.
    pub(super) shards: BTreeMap<String, String>,
    /// The runs with a stored change, by device, resource and value.
    pub(super) stored: BTreeMap<(String, String, String), BTreeSet<i64>>,
    /// The number of runs that failed or were interrupted: their changes are unknown, and the store says so.
    pub(super) unfinished: BTreeMap<RunOwner, usize>,
    /// Runs without an end, after all processes have ended.
    pub(super) open: usize,
    /// Earlier sessions that a process ended at its device.
    pub(super) ended_sessions: usize,
}

/// What the evidence shows.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) writes: usize,
    /// The number of writes of each process.
    pub(super) writers: BTreeMap<String, usize>,
    /// Leases that another process had before.
    pub(super) takeovers: usize,
    /// Earlier sessions that a process ended at its device.
    pub(super) ended_sessions: usize,
    /// Writes after one of a newer lease.
    pub(super) stale: Vec<String>,
    /// Writes of a run after one of another process, which came after the first ones of the run.
    pub(super) overlapping: Vec<String>,
    /// Runs with a write, and without a result. Those without an end are some.
    pub(super) lost: Vec<String>,
    /// Changes with two results.
    pub(super) doubled: Vec<String>,
}

impl Evidence {
    /// The newest epoch that a process had for a device at a time; zero if it never had one.
    fn epoch(&self, device: &str, node: &str, time: Duration) -> i64 {
        let Some(shard) = self.shards.get(device) else {
            return 0;
        };
        let own = self
            .acquired
            .iter()
            .filter(|one| one.shard == *shard && one.node == node && one.time <= time + PRECISION);
        own.map(|one| one.epoch).max().unwrap_or(0)
    }

    fn takeovers(&self) -> usize {
        let pairs = self.acquired.iter().zip(self.acquired.iter().skip(1));
        pairs
            .filter(|(one, next)| one.shard == next.shard && one.node != next.node)
            .count()
    }

    pub(super) fn judge(&self) -> Verdict {
        let mut verdict = Verdict {
            takeovers: self.takeovers(),
            ended_sessions: self.ended_sessions,
            ..Verdict::default()
        };
        for (device, writes) in &self.writes {
            verdict.writes += writes.len();
            for write in writes {
                *verdict.writers.entry(write.node.clone()).or_default() += 1;
            }
            self.judge_order(device, writes, &mut verdict);
            self.judge_results(device, writes, &mut verdict);
        }
        if self.open > 0 {
            verdict.lost.push(format!("{} runs have no end", self.open));
        }
        let doubled = self.stored.iter().filter(|(_, runs)| runs.len() > 1);
        let doubled = doubled.map(|((device, resource, value), runs)| {
            format!("{device}: {value} of {resource} in the runs {runs:?}")
        });
        verdict.doubled.extend(doubled);
        verdict
    }

    fn judge_order(&self, device: &str, writes: &[Write], verdict: &mut Verdict) {
        let mut newest = (0, "");
        // Runs that another process has interrupted.
        let mut interrupted = BTreeSet::new();
        let mut last: Option<&Write> = None;
        for write in writes {
            let Write { node, value, time } = write;
            let epoch = self.epoch(device, node, *time);
            if epoch < newest.0 {
                verdict.stale.push(format!(
                    "{device}: {value} with epoch {epoch} after {} with epoch {}",
                    newest.1, newest.0
                ));
            } else {
                newest = (epoch, value);
            }
            if let Some(last) = last.filter(|last| last.node != *node) {
                interrupted.insert(&last.value);
                if interrupted.contains(value) {
                    verdict
                        .overlapping
                        .push(format!("{device}: {value} continues after {}", last.value));
                }
            }
            last = Some(write);
        }
    }

    fn judge_results(&self, device: &str, writes: &[Write], verdict: &mut Verdict) {
        let stored = self.stored.keys().filter(|(of, _, _)| of == device);
        let stored: BTreeSet<&String> = stored.map(|(_, _, value)| value).collect();
        let mut without: BTreeMap<RunOwner, BTreeSet<&str>> = BTreeMap::new();
        for Write { node, value, time } in writes {
            if !stored.contains(value) {
                let owner = RunOwner {
                    device: device.to_owned(),
                    node: node.clone(),
                    epoch: self.epoch(device, node, *time),
                };
                without.entry(owner).or_default().insert(value);
            }
        }
        for (owner, values) in without {
            let unfinished = self.unfinished.get(&owner).copied().unwrap_or(0);
            if values.len() > unfinished {
                verdict.lost.push(format!(
                    "{device}: {values:?} of epoch {}, and {unfinished} unfinished runs",
                    owner.epoch
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made-up evidence: writes of the runs `na1`, `nb2` and `na3`, with acquisitions between them.
    fn evidence() -> Evidence {
        let acquired = |(node, epoch, second): (&str, i64, u64)| Acquisition {
            shard: "default/0".to_owned(),
            epoch,
            node: node.to_owned(),
            time: Duration::from_secs(second),
        };
        let runs = [("nar1", 1), ("nbr2", 2), ("nar3", 3)];
        let stored = runs.map(|(value, run)| {
            let key = ("sw1".to_owned(), "vlan".to_owned(), value.to_owned());
            (key, BTreeSet::from([run]))
        });
        Evidence {
            writes: writes(&[("nar1", 10), ("nar1", 11), ("nbr2", 20), ("nar3", 30)]),
            acquired: BTreeSet::from([("a", 5, 1), ("b", 6, 15), ("a", 7, 25)].map(acquired)),
            shards: BTreeMap::from([("sw1".to_owned(), "default/0".to_owned())]),
            stored: BTreeMap::from(stored),
            ..Evidence::default()
        }
    }

    fn writes(writes: &[(&str, u64)]) -> BTreeMap<String, Vec<Write>> {
        let writes = writes.iter().map(|(value, second)| Write {
            node: value[1..2].to_owned(),
            value: (*value).to_owned(),
            time: Duration::from_secs(*second),
        });
        BTreeMap::from([("sw1".to_owned(), writes.collect())])
    }

    fn remove(evidence: &mut Evidence) {
        evidence.stored.retain(|(_, _, value), _| value != "nbr2");
    }

    /// The numbers of stale and overlapping writes, and of lost and doubled results.
    fn counts(change: impl FnOnce(&mut Evidence)) -> [usize; 4] {
        let mut evidence = evidence();
        change(&mut evidence);
        let verdict = evidence.judge();
        let Verdict {
            stale,
            overlapping,
            lost,
            doubled,
            ..
        } = &verdict;
        [stale, overlapping, lost, doubled].map(Vec::len)
    }

    #[test]
    fn nothing_is_wrong_with_writes_in_order() {
        assert_eq!(counts(|_| ()), [0; 4]);
        let verdict = evidence().judge();
        assert_eq!((verdict.writes, verdict.takeovers), (4, 2));
    }

    #[test]
    fn stale_and_overlapping_writes_are_seen() {
        // A run begins after one of a newer lease.
        let stale = writes(&[("nar1", 10), ("nbr2", 20), ("nar3", 22)]);
        assert_eq!(counts(|one| one.writes = stale), [1, 0, 0, 0]);
        // A run goes on after one of a newer lease.
        let both = writes(&[("nar1", 10), ("nbr2", 20), ("nar1", 22), ("nar3", 30)]);
        assert_eq!(counts(|one| one.writes = both), [1, 1, 0, 0]);
        // A process without a lease.
        let unknown = writes(&[("nar1", 10), ("ncr2", 20), ("nar3", 30)]);
        assert_eq!(counts(|one| one.writes = unknown)[0], 1);
        // Both in turn, with any leases.
        let overlapping = |one: &mut Evidence| {
            one.acquired.clear();
            one.writes = writes(&[("nar1", 10), ("nbr2", 11), ("nar1", 12), ("nbr2", 13)]);
        };
        assert_eq!(counts(overlapping), [0, 2, 0, 0]);
    }

    #[test]
    fn lost_and_doubled_results_are_seen() {
        assert_eq!(counts(remove), [0, 0, 1, 0]);
        // The store says that what the run changed is unknown, or what another one did.
        let unfinished = |epoch: i64| {
            counts(|one| {
                remove(one);
                let owner = RunOwner {
                    device: "sw1".to_owned(),
                    node: "b".to_owned(),
                    epoch,
                };
                one.unfinished.insert(owner, 1);
            })
        };
        assert_eq!(unfinished(6), [0; 4]);
        assert_eq!(unfinished(7), [0, 0, 1, 0]);
        assert_eq!(counts(|one| one.open = 1), [0, 0, 1, 0]);
        let twice = |one: &mut Evidence| {
            one.stored.values_mut().next().unwrap().insert(9);
        };
        assert_eq!(counts(twice), [0, 0, 0, 1]);
    }
}
