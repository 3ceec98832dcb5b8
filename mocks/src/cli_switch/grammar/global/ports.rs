//! Global lines about ports and VLANs of a switch.

use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;
use crate::cli_switch::vlan_list::VlanList;

/// "ip dhcp snooping vlan" in the Catalyst 3560 Command Reference.
pub(super) fn snooped_vlans(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    vlans(session, command, "ip dhcp snooping vlan")
}

/// "ip arp inspection vlan" in the Catalyst 3560 Command Reference.
pub(super) fn inspected_vlans(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    vlans(session, command, "ip arp inspection vlan")
}

/// Adds VLANs, or removes some. One line has all of them.
fn vlans(session: &mut ConfigSession<'_>, command: &Command, identity: &str) -> Reply {
    let Some(named) = VlanList::parse(command.word(4)) else {
        return Reply::Invalid(4);
    };
    let root = &mut session.device.edit().root;
    let current = root.value(identity).and_then(VlanList::parse);
    let current = current.unwrap_or_default();
    let vlans = if command.is_set() {
        current.union(&named)
    } else {
        current.without(&named)
    };
    if vlans.is_empty() {
        root.remove(identity);
    } else {
        root.set(Entry::line(
            command.rule,
            identity,
            format!("{identity} {vlans}"),
        ));
    }
    Reply::Silent
}

/// The line of one mode replaces that of the other.
pub(super) fn udld(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    if command.sign == LinePrefix::Set {
        root.remove("udld aggressive");
        root.remove("udld enable");
        root.set(command.entry(command.text()));
    } else {
        root.remove(&command.text());
    }
    Reply::Silent
}
