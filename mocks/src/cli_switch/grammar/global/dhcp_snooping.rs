//! The VLANs of DHCP snooping: one line has all of them.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;
use crate::cli_switch::vlan_list::VlanList;

const IDENTITY: &str = "ip dhcp snooping vlan";

/// Adds VLANs, or removes some ("ip dhcp snooping vlan" in the Catalyst 3560 Command Reference).
pub(super) fn vlans(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Some(named) = VlanList::parse(command.word(4)) else {
        return Reply::Invalid(4);
    };
    let root = &mut session.device.edit().root;
    let current = root.value(IDENTITY).and_then(VlanList::parse);
    let current = current.unwrap_or_default();
    let vlans = if command.is_set() {
        current.union(&named)
    } else {
        current.without(&named)
    };
    if vlans.is_empty() {
        root.remove(IDENTITY);
    } else {
        root.set(Entry::line(
            command.rule,
            IDENTITY,
            format!("{IDENTITY} {vlans}"),
        ));
    }
    Reply::Silent
}
