//! Effects of `switchport` lines.

use super::{store, this, view};
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::vlan_list::VlanList;

/// Changing between routed and switched port removes the lines of the other mode.
pub(super) fn switchport(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let block = session.block();
    if command.sign == LinePrefix::No {
        block.retain(|line| !line.identity.starts_with("switchport"));
        block.set(command.entry("no switchport"));
    } else if block.remove("switchport").is_some() {
        block.retain(|line| {
            !line.identity.starts_with("ip ") && !line.identity.starts_with("ipv6 ")
        });
    }
    Reply::Silent
}

fn create_missing_vlan(session: &mut ConfigSession<'_>, kind: &str, number: &str) -> Reply {
    match number.parse() {
        Ok(number) if session.device.configuration.vlans.get(number).is_none() => {
            session.device.edit().vlans.create(number);
            Reply::Text(format!(
                "% {kind} VLAN does not exist. Creating vlan {number}"
            ))
        }
        _ => Reply::Silent,
    }
}

pub(super) fn access_vlan(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return store(session, command);
    }
    let number = command.word(3);
    if number == "1" {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    if let "1002" | "1003" | "1004" | "1005" = number {
        return Reply::Text(format!(
            "Command rejected: VLAN {number} is reserved and not usable by an access port."
        ));
    }
    store(session, command);
    create_missing_vlan(session, "Access", number)
}

pub(super) fn voice_vlan(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.word(3) == "none" {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command);
    if command.is_set() {
        create_missing_vlan(session, "Voice", command.word(3))
    } else {
        Reply::Silent
    }
}

pub(super) fn encapsulation(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let to_default = !command.is_set() || command.word(3) == "negotiate";
    if to_default && view(session).mode == "trunk" {
        return Reply::Text(AUTO_TRUNK.to_owned());
    }
    if to_default {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command)
}

const AUTO_TRUNK: &str = "Command rejected: An interface whose trunk encapsulation is \"Auto\" can not be configured to \"trunk\" mode.";

pub(super) fn mode(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let port = view(session);
    let desired = if command.is_set() {
        command.words[2..].join(" ")
    } else {
        "dynamic auto".to_owned()
    };
    if desired == "trunk" && port.encapsulation == "negotiate" {
        return Reply::Text(AUTO_TRUNK.to_owned());
    }
    if desired.starts_with("dynamic") && port.nonegotiate {
        return conflict(session);
    }
    if desired == "dynamic auto" {
        session.block().remove("switchport mode");
        return Reply::Silent;
    }
    store(session, command)
}

fn conflict(session: &ConfigSession<'_>) -> Reply {
    let name = this(session).map(|name| name.short()).unwrap_or_default();
    Reply::Text(format!(
        "Command rejected: Conflict between 'nonegotiate' and 'dynamic' status on this interface: {name}"
    ))
}

pub(super) fn nonegotiate(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && view(session).is_dynamic() {
        return conflict(session);
    }
    store(session, command)
}

/// The stored list is absolute, also after `add`, `remove` and `except`.
pub(super) fn vlan_list(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return store(session, command);
    }
    let port = view(session);
    let current = if identity.contains("allowed") {
        port.allowed
    } else {
        port.pruning
    };
    let current = current.unwrap_or_else(VlanList::all);
    let typed = |index: usize| VlanList::parse(command.word(index)).unwrap_or_default();
    let desired = match command.word(4) {
        "all" => VlanList::all(),
        "none" => VlanList::default(),
        "add" => current.union(&typed(5)),
        "remove" => current.without(&typed(5)),
        "except" => VlanList::all().without(&typed(5)),
        _ => typed(4),
    };
    let block = session.block();
    if desired == VlanList::all() {
        block.remove(&identity);
    } else if desired.is_empty() {
        block.set(command.entry(format!("{identity} none")));
    } else {
        block.set(command.entry(format!("{identity} {desired}")));
    }
    Reply::Silent
}
