//! Rows of the store as a node sees them: how long one has been as it is, on the clock of the node.

use std::collections::BTreeMap;

use crate::clock::BootTime;
use crate::history::leases::{LeaseRow, NodeRow};

/// A row, and since when it is as it is.
#[derive(Clone, Debug)]
pub(super) struct Observed<T> {
    pub(super) row: T,
    pub(super) since: BootTime,
}

/// A row that its owner changes.
pub(super) trait Beating {
    /// Whether the owner has not changed it since.
    fn is_unchanged(&self, earlier: &Self) -> bool;
}

impl Beating for LeaseRow {
    fn is_unchanged(&self, earlier: &Self) -> bool {
        self == earlier
    }
}

impl Beating for NodeRow {
    /// The wishes of an operator are no sign of life.
    fn is_unchanged(&self, earlier: &Self) -> bool {
        self.beat == earlier.beat && self.node.boot == earlier.node.boot
    }
}

/// Replaces rows. One that is unchanged stays observed since then.
pub(super) fn observe<K: Ord, T: Beating>(
    observed: &mut BTreeMap<K, Observed<T>>,
    rows: Vec<T>,
    now: BootTime,
    key: impl Fn(&T) -> K,
) {
    let mut earlier = std::mem::take(observed);
    for row in rows {
        let key = key(&row);
        let since = match earlier.remove(&key) {
            Some(known) if row.is_unchanged(&known.row) => known.since,
            _ => now,
        };
        observed.insert(key, Observed { row, since });
    }
}
