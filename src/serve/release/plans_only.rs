//! Whether runs of a node may change a device: none applies an older release than the device has seen.

use crate::history::releases::ReleaseNumber;
use crate::serve::fleet::ServeFleet;

/// Why a run must not change its device. `None`: it may. `newer`: the device was changed with this release, which is
/// newer than that of the node. `rejected`: why the node does not use the newest one.
pub(crate) fn plans_only(
    fleet: &ServeFleet,
    newer: Option<ReleaseNumber>,
    rejected: Option<String>,
) -> Option<String> {
    if let Some(newer) = newer {
        let own = match fleet.release {
            Some(own) => format!("release {own}"),
            None => "files of its own".to_owned(),
        };
        return Some(format!(
            "the last run of the device had release {newer}, and this node has {own}"
        ));
    }
    let reason = fleet.rejected_release.clone().or(rejected)?;
    Some(format!(
        "this node does not use the newest release: {reason}"
    ))
}
