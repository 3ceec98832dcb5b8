//! Lines about a physical port or a bundle: security, spanning tree, MTU, speed, bundles.

use super::{MANAGEMENT, store, this, view};
use crate::cli_switch::configure::{Command, ConfigSession, interface_rule_index};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::Reply;
use crate::cli_switch::interface_name::InterfaceName;

/// A dynamic port has no secure addresses.
pub(super) fn port_security(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let port = view(session);
    if command.is_set() && port.mode.starts_with("dynamic") {
        let name = this(session)
            .map(|name| name.to_string())
            .unwrap_or_default();
        return Reply::Text(format!("Command rejected: {name} is a dynamic port."));
    }
    store(session, command)
}

/// Priorities of ports are multiples of 16.
pub(super) fn port_priority(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let priority: u32 = command.word(2).parse().unwrap_or_default();
    if command.is_set() && !priority.is_multiple_of(16) {
        return Reply::Text("% Port Priority in increments of 16 is required".to_owned());
    }
    if command.is_set() && priority == 128 {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command)
}

/// The default is not printed: the MTU of the switch, or 1500 where no frames are
/// switched.
pub(super) fn mtu(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let switched = match &session.position.mode {
        Mode::Interface(name) => name.is_switchable() && name.to_string() != MANAGEMENT,
        _ => false,
    };
    let root = &session.device.configuration.root;
    let system = root.find("system mtu").filter(|_| switched);
    let by_itself = system.map_or("mtu 1500", |entry| entry.text.trim_start_matches("system "));
    if command.is_set() && command.text() == by_itself {
        session.block().remove(&command.identity_text());
        return Reply::Silent;
    }
    store(session, command)
}

pub(super) fn speed(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.word(1) != "auto" {
        return store(session, command);
    }
    session.block().remove("speed");
    Reply::Silent
}

/// Older images require a fixed speed before a fixed duplex.
pub(super) fn duplex(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() || command.word(1) == "auto" {
        session.block().remove("duplex");
        return Reply::Silent;
    }
    if !session.device.profile.is_ios_xe && session.block().find("speed").is_none() {
        return Reply::Text("% Cannot set duplex while speed is set to auto.".to_owned());
    }
    store(session, command)
}

pub(super) fn channel_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return store(session, command);
    }
    let (Some(name), Ok(number)) = (this(session), command.word(1).parse::<u32>()) else {
        return Reply::Invalid(1);
    };
    let port_channel =
        InterfaceName::parse(&format!("Port-channel{number}")).expect("a well-formed name");
    let family = |text: &str| match text.split(' ').nth(3) {
        Some("active" | "passive") => "lacp",
        Some("auto" | "desirable") => "pagp",
        _ => "on",
    };
    let text = command.text();
    let refused = session.device.interfaces().any(|(other, block)| {
        block.find("channel-group").is_some_and(|line| {
            let same_bundle = line.text.split(' ').nth(1) == Some(command.word(1));
            if other == name {
                line.text != text
            } else {
                same_bundle && family(&line.text) != family(&text)
            }
        })
    });
    if refused {
        return Reply::Text(format!(
            "Command rejected ({port_channel}, {}): the mode does not fit the channel group's",
            name.short()
        ));
    }
    let created = session.device.interface(&port_channel).is_none();
    session
        .device
        .add_interface(interface_rule_index(), &port_channel);
    store(session, command);
    if created {
        Reply::Text(format!(
            "Creating a port-channel interface Port-channel {number}\n"
        ))
    } else {
        Reply::Silent
    }
}

/// `auto` is the default. The other lines about power remain.
pub(super) fn power(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.text() != "power inline auto" {
        session.block().set(command.entry(command.text()));
    } else {
        session.block().remove("power inline");
    }
    Reply::Silent
}
