//! Lines about the spanning tree.

use super::has_port_types;
use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, on, rule};
use crate::cli_switch::tree::{Block, Entry};
use crate::cli_switch::vlan_list::VlanList;

/// The modes, the timers, and the defaults of ports.
pub(super) const RULES: &[Rule] = &[
    // Spanning tree: Catalyst 2960 Command Reference 12.2(25)FX, "spanning-tree ..."; recording i0737, "extend system-id".
    rule(
        "spanning-tree mode ! (pvst | rapid-pvst | mst)",
        Effect::Unless("spanning-tree mode pvst"),
    ),
    rule("spanning-tree bridge assurance", Effect::OnByDefault),
    on(
        has_port_types,
        "spanning-tree portfast (network | edge) default",
        Effect::Run(portfast),
    ),
    rule(
        "spanning-tree portfast [edge] (default | bpduguard default | bpdufilter default)",
        Effect::Run(portfast),
    ),
    rule("spanning-tree loopguard default", Effect::Store),
    rule("spanning-tree extend system-id", Effect::Store),
    rule(
        "spanning-tree pathcost method ! (long | short)",
        Effect::Unless("spanning-tree pathcost method short"),
    ),
    rule("spanning-tree uplinkfast", Effect::Store),
    rule(
        "spanning-tree uplinkfast max-update-rate ! <0-32000>",
        Effect::Unless("spanning-tree uplinkfast max-update-rate 150"),
    ),
    rule("spanning-tree mst configuration", Effect::Run(region)),
    rule(
        "spanning-tree mst hello-time ! <1-10>",
        Effect::Unless("spanning-tree mst hello-time 2"),
    ),
    rule(
        "spanning-tree mst forward-time ! <4-30>",
        Effect::Unless("spanning-tree mst forward-time 15"),
    ),
    rule(
        "spanning-tree mst max-age ! <6-40>",
        Effect::Unless("spanning-tree mst max-age 20"),
    ),
    rule(
        "spanning-tree mst max-hops ! <1-255>",
        Effect::Unless("spanning-tree mst max-hops 20"),
    ),
    rule(
        "spanning-tree mst <word> priority ! <0-61440>",
        Effect::Run(priority),
    ),
    rule(
        "spanning-tree vlan <vlan-list> priority ! <0-61440>",
        Effect::Run(of_vlans),
    ),
    rule(
        "spanning-tree vlan <vlan-list> hello-time ! <1-10>",
        Effect::Run(of_vlans),
    ),
    rule(
        "spanning-tree vlan <vlan-list> forward-time ! <4-30>",
        Effect::Run(of_vlans),
    ),
    rule(
        "spanning-tree vlan <vlan-list> max-age ! <6-40>",
        Effect::Run(of_vlans),
    ),
];

/// What VLANs have without a line, by the word of the setting.
const DEFAULTS: [(&str, &str); 4] = [
    ("priority", "32768"),
    ("hello-time", "2"),
    ("forward-time", "15"),
    ("max-age", "20"),
];

/// `spanning-tree vlan LIST SETTING VALUE`. VLANs with one value have one line, sorted; the default of the
/// setting has none.
fn of_vlans(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let setting = command.word(3);
    if setting == "priority" && command.is_set() && !is_priority(command.word(4)) {
        return Reply::Text(WRONG_PRIORITY.to_owned());
    }
    let Some(vlans) = VlanList::parse(command.word(2)) else {
        return Reply::Invalid(2);
    };
    let mut lines: Vec<(String, VlanList)> = Vec::new();
    let root = &mut session.device.edit().root;
    root.retain(|entry| {
        let words: Vec<&str> = entry.text.split(' ').collect();
        let ["spanning-tree", "vlan", list, word, value] = words[..] else {
            return true;
        };
        if word != setting {
            return true;
        }
        let list = VlanList::parse(list).map(|list| list.without(&vlans));
        lines.extend(list.map(|list| (value.to_owned(), list)));
        false
    });
    let value = command.word(4).to_owned();
    if command.is_set() && !DEFAULTS.contains(&(setting, value.as_str())) {
        match lines.iter_mut().find(|(other, _)| *other == value) {
            Some((_, list)) => *list = list.union(&vlans),
            None => lines.push((value, vlans)),
        }
    }
    for (value, list) in lines.iter().filter(|(_, list)| !list.is_empty()) {
        let identity = format!("spanning-tree vlan {list} {setting}");
        let text = format!("{identity} {value}");
        root.set(Entry::line(command.rule, identity, text));
    }
    Reply::Silent
}

const WRONG_PRIORITY: &str = "% Bridge Priority must be in increments of 4096.\n% Allowed values are:\n  0     4096  8192  12288 16384 20480 24576 28672\n  32768 36864 40960 45056 49152 53248 57344 61440";

/// Priorities are multiples of 4096.
fn is_priority(word: &str) -> bool {
    let priority = word.parse::<u32>();
    priority.is_ok_and(|priority| priority.is_multiple_of(4096))
}

/// The priority of an instance of MST.
fn priority(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    if !command.words.last().is_some_and(|word| is_priority(word)) {
        return Reply::Text(WRONG_PRIORITY.to_owned());
    }
    session.set(command.entry(command.text()))
}

/// Images with types of ports print `edge` in the lines of PortFast.
pub(crate) fn portfast(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    if session.device.profile.has_port_types()
        && !["edge", "network", "disable"].contains(&command.word(2))
    {
        words.insert(2, "edge".to_owned());
    }
    let identity = match command.identity {
        2 => command.identity_text(),
        _ => words.join(" "),
    };
    if command.is_set() {
        let entry = Entry::line(command.rule, identity, words.join(" "));
        session.block().set(entry);
    } else {
        session.block().remove(&identity);
    }
    Reply::Silent
}

/// `spanning-tree mst configuration`, the block of the MST region.
fn region(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return session.remove(command);
    }
    if session.device.configuration.root.find(&identity).is_none() {
        session.set(Entry {
            block: Some(Block::default()),
            ..command.entry(command.text())
        });
    }
    session.position.mode = Mode::Region;
    Reply::Silent
}
