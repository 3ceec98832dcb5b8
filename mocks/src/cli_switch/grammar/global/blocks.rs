//! Lines that open a mode of their own.

use crate::cli_switch::configure::{Command, Configuring, Sign};
use crate::cli_switch::device::{Mode, interface_identity};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::interface_name::InterfaceName;
use crate::cli_switch::tree::{Block, Entry};
use crate::cli_switch::vlan::{PendingVlans, RESERVED};
use crate::cli_switch::vlan_list::VlanList;

pub fn vrf(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let name = command.word(2).to_owned();
    if command.is_set() {
        let root = &mut configuring.device.edit().root;
        if root.find(&identity).is_none() {
            root.set(Entry {
                block: Some(Block::default()),
                ..command.entry(command.text())
            });
        }
        configuring.position.mode = Mode::Vrf(identity);
        return Reply::Silent;
    }
    if configuring.device.edit().root.remove(&identity).is_none() {
        return Reply::Say(format!("% VRF {name} not configured."));
    }
    let forwarding = [
        format!("ip vrf forwarding {name}"),
        format!("vrf forwarding {name}"),
    ];
    for entry in configuring.device.edit().root.entries_mut() {
        let Some(block) = &mut entry.block else {
            continue;
        };
        if block
            .entries()
            .iter()
            .any(|line| forwarding.contains(&line.text))
        {
            block.retain(|line| {
                !forwarding.contains(&line.text) && !line.identity.starts_with("ip address")
            });
        }
    }
    Reply::Say(format!(
        "% IPv4 addresses from all interfaces in VRF {name} have been removed"
    ))
}

pub fn vlan(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let Some(list) = VlanList::parse(command.word(1)) else {
        return Reply::Invalid(1);
    };
    if configuring.device.configuration.root.value("vtp mode") == Some("client") {
        return Reply::Say(
            "VTP VLAN configuration not allowed when device is in CLIENT mode.".to_owned(),
        );
    }
    if command.is_set() {
        configuring.device.commit(configuring.position);
        configuring.position.pending = Some(PendingVlans {
            list,
            name: None,
            shutdown: None,
        });
        configuring.position.mode = Mode::Vlan;
        return Reply::Silent;
    }
    if let Some(number) = RESERVED.into_iter().find(|number| list.contains(*number)) {
        return Reply::Say(format!("Default VLAN {number} may not be deleted."));
    }
    configuring.device.edit().vlans.remove(&list);
    Reply::Silent
}

pub fn interface(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let Some(name) = InterfaceName::parse(command.word(1)) else {
        return Reply::Invalid(1);
    };
    let exists = configuring.device.interface(&name).is_some();
    match command.sign {
        Sign::Set => {
            let highest = if name.is_vlan() { 4094 } else { 4096 };
            if !exists && (!name.is_virtual() || name.number() > highest) {
                return Reply::Invalid(1);
            }
            configuring.device.add_interface(command.rule, &name);
            configuring.position.mode = Mode::Interface(name);
            Reply::Silent
        }
        Sign::No if !name.is_virtual() => {
            Reply::Say("% Removal of physical interfaces is not permitted.".to_owned())
        }
        Sign::No if name.is_vlan() && name.number() == 1 => {
            Reply::Say("% Interface Vlan1 cannot be deleted.".to_owned())
        }
        Sign::No => {
            configuring
                .device
                .edit()
                .root
                .remove(&interface_identity(&name));
            if name.is_port_channel() {
                let bundle = format!("channel-group {} ", name.number());
                for entry in configuring.device.edit().root.entries_mut() {
                    if let Some(block) = &mut entry.block {
                        block.retain(|line| !line.text.starts_with(&bundle));
                    }
                }
            }
            Reply::Silent
        }
        Sign::Default if !exists => Reply::Invalid(1),
        Sign::Default => {
            let identity = interface_identity(&name);
            if let Some(entry) = configuring.device.edit().root.find_mut(&identity) {
                entry.block = Some(Block::default());
            }
            Reply::Say(format!("Interface {name} set to default configuration"))
        }
    }
}

pub fn line(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    if words[1] == "console" {
        "con".clone_into(&mut words[1]);
    }
    let identity = words.join(" ");
    if !command.is_set() {
        configuring.device.edit().root.remove(&identity);
        return Reply::Silent;
    }
    let root = &mut configuring.device.edit().root;
    if root.find(&identity).is_none() {
        root.set(Entry {
            block: Some(Block::default()),
            ..Entry::line(command.rule, identity.clone(), identity.clone())
        });
    }
    configuring.position.mode = Mode::Line(identity);
    Reply::Silent
}

pub fn tacacs_server(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    server(configuring, command, Mode::TacacsServer)
}

pub fn radius_server(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    server(configuring, command, Mode::RadiusServer)
}

/// Groups exist only in the new model.
pub fn tacacs_group(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let root = &configuring.device.configuration.root;
    if root.find("aaa new-model").is_none() {
        return Reply::Invalid(1);
    }
    server(configuring, command, Mode::TacacsGroup)
}

/// Opens the sub-mode of a server or a group, which is there from then on; or takes it out.
fn server(configuring: &mut Configuring<'_>, command: &Command, mode: fn(String) -> Mode) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return configuring.remove(command);
    }
    if configuring
        .device
        .configuration
        .root
        .find(&identity)
        .is_none()
    {
        configuring.set(Entry {
            block: Some(Block::default()),
            ..command.entry(command.text())
        });
    }
    configuring.position.mode = mode(identity);
    Reply::Silent
}
