//! Lines about IP on an interface: VRF, addresses, access lists, HSRP.

use super::{MANAGEMENT, store, this, view};
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;
use crate::cli_switch::type7;

/// "Configuring IP Routing over IEEE 802.1Q" in the Cisco IOS LAN Switching Configuration Guide.
const NO_VLAN: &str = "% Configuring IP routing on a LAN subinterface is only allowed if that\nsubinterface is already configured as part of an IEEE 802.10, IEEE 802.1Q, or ISL vLAN.";

pub(super) fn vrf_forwarding(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let name = command.words.last().cloned().unwrap_or_default();
    let form = command.identity_text().replace("vrf forwarding", "vrf");
    let defined = if form == "vrf" {
        format!("vrf definition {name}")
    } else {
        format!("ip vrf {name}")
    };
    let root = &session.device.configuration.root;
    if command.is_set() && root.find(&defined).is_none() {
        return Reply::Text(format!("% VRF {name} not configured."));
    }
    let identity = command.identity_text();
    let block = session.block();
    let same = block
        .find(&identity)
        .is_some_and(|line| line.text == command.text());
    if same && command.is_set() {
        return Reply::Silent;
    }
    let is_address =
        |line: &Entry| line.identity.starts_with("ip address") || line.identity == "ip unnumbered";
    let addresses = block.entries().iter().any(is_address);
    block.retain(|line| !is_address(line));
    if command.is_set() {
        // An interface is in one VRF, whatever the form of its line.
        block.retain(|line| {
            !["vrf forwarding", "ip vrf forwarding"].contains(&line.identity.as_str())
        });
    }
    store(session, command);
    if !addresses {
        return Reply::Silent;
    }
    let interface = this(session)
        .map(|name| name.to_string())
        .unwrap_or_default();
    let verb = if command.is_set() {
        "enabling"
    } else {
        "disabling"
    };
    Reply::Text(format!(
        "% Interface {interface} IPv4 disabled and address(es) removed due to {verb} VRF {name}"
    ))
}

/// The device prints the word with a capital letter.
pub(super) fn encapsulation_dot1q(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() {
        let text = command.text().replacen("dot1q", "dot1Q", 1);
        session.block().set(command.entry(text));
        return Reply::Silent;
    }
    session
        .block()
        .retain(|line| !line.identity.starts_with("ip address"));
    store(session, command)
}

/// The address of another interface replaces those of this one.
pub(super) fn ip_unnumbered(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() {
        session
            .block()
            .retain(|line| !line.identity.starts_with("ip address"));
    }
    store(session, command)
}

pub(super) fn ip_address(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Some(name) = this(session) else {
        return Reply::Invalid(0);
    };
    let port = view(session);
    let profile = session.device.profile;
    let is_switched =
        name.is_switchable() && profile.has_switching && name.to_string() != MANAGEMENT;
    if is_switched && (port.enabled || !profile.has_routing) {
        return Reply::Text("% IP addresses may not be configured on L2 links.".to_owned());
    }
    let mut entry = command.entry(command.text());
    if command.word(4) == "secondary" {
        entry.identity = command.text();
        entry.sort = vec![1];
    }
    match command.sign {
        LinePrefix::Set => {
            let mine = session.position.mode.block_identity();
            let taken = session.device.interfaces().find(|(other, block)| {
                mine.as_deref() != Some(&format!("interface {other}"))
                    && command.word(2) != "dhcp"
                    && block.entries().iter().any(|line| {
                        line.text.split(' ').nth(2) == Some(command.word(2))
                            && line.identity.starts_with("ip address")
                    })
            });
            if let Some((other, _)) = taken {
                return Reply::Text(format!("% {} overlaps with {other}", command.word(2)));
            }
            let lacks_vlan = session.block().find("encapsulation dot1q").is_none();
            if name.is_lan_subinterface() && lacks_vlan {
                return Reply::Text(NO_VLAN.to_owned());
            }
            session.block().remove("ip unnumbered");
            session.block().set(entry);
        }
        _ if command.words.len() == command.identity => {
            session
                .block()
                .retain(|line| !line.identity.starts_with("ip address"));
        }
        _ => {
            session.block().remove(&entry.identity);
        }
    }
    Reply::Silent
}

/// Each direction has one list. `no` needs no name of a list.
pub(super) fn access_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let direction = command.words.last().map_or("", String::as_str);
    let identity = format!("ip access-group {direction}");
    if command.is_set() {
        let entry = Entry {
            identity,
            ..command.entry(command.text())
        };
        session.block().set(entry);
    } else {
        session.block().remove(&identity);
    }
    Reply::Silent
}

/// `no standby 10` removes all lines of the group.
pub(super) fn standby_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let group = format!("{} ", command.identity_text());
    session
        .block()
        .retain(|line| !line.text.starts_with(&group));
    Reply::Silent
}

/// The default, 100, is not printed.
pub(super) fn standby_priority(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.words.last().is_some_and(|word| word == "100") {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command)
}

/// A key is stored like other keys, a text without the word `text`.
pub(super) fn standby_authentication(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let stored = match &command.words[command.identity..] {
        [md5, key_string, form, key] if form == "7" || !session.device.hides_keys() => {
            let form = if form == "7" { "7 " } else { "" };
            format!("{md5} {key_string} {form}{key}")
        }
        [md5, key_string, .., key] if md5 == "md5" => {
            if session.device.hides_keys() {
                format!("{md5} {key_string} 7 {}", type7::encode(key))
            } else {
                format!("{md5} {key_string} {key}")
            }
        }
        words => words.last().cloned().unwrap_or_default(),
    };
    session
        .block()
        .set(command.entry(format!("{identity} {stored}")));
    Reply::Silent
}

/// An interface has one mode of PIM.
pub(super) fn pim_mode(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let is_mode = |line: &Entry| line.rule == command.rule;
    session.block().retain(|line| !is_mode(line));
    if command.is_set() {
        session.block().set(command.entry(command.text()));
    }
    Reply::Silent
}

/// Each level has one metric.
pub(super) fn isis_metric(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut entry = command.entry(command.text());
    entry.identity = format!("isis metric {}", command.word(3));
    if command.is_set() {
        session.block().set(entry);
    } else {
        session.block().remove(&entry.identity);
    }
    Reply::Silent
}
