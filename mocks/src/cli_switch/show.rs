//! Output of the `show` commands.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::device::Device;
use super::effect::Show;
use super::grammar::access_list;
use super::interface_name::InterfaceName;
use super::running_config;
use super::switchport::Switchport;
use super::tree::Block;
use super::vlan_list::VlanList;

/// Width of the column of ports in `show vlan`.
const PORTS_WIDTH: usize = 31;

/// The output; `None` if an argument has no object. `arguments` are the words of the command.
pub(super) fn show(
    device: &Device,
    what: Show,
    arguments: &[String],
    privileged: bool,
) -> Option<String> {
    let interface = arguments.iter().find_map(|word| InterfaceName::parse(word));
    Some(match what {
        Show::Version => device
            .profile
            .show_version(&device.hostname, &device.serials),
        Show::RunningConfig => running_config::show(device),
        Show::RunningConfigInterface => {
            running_config::show_interface(device, &format!("interface {}", interface?))?
        }
        Show::StartupConfig => match &device.startup {
            Some((hostname, saved)) => {
                let stored = Device {
                    hostname: hostname.clone(),
                    configuration: saved.clone(),
                    ..device.clone()
                };
                let text = running_config::lines(&stored).join("\n");
                format!("Using {} out of 2097152 bytes\n!\n{text}\n\n", text.len())
            }
            None => "startup-config is not present\n".to_owned(),
        },
        Show::Archive => device.show_archive(),
        Show::RollbackTimer => device.show_rollback_timer(),
        Show::Reload => device.show_reload(),
        Show::Privilege => format!(
            "Current privilege level is {}\n",
            if privileged { 15 } else { 1 }
        ),
        Show::VlanBrief => vlan_brief(device),
        Show::VtpStatus => {
            let vlans = device.configuration.vlans.rows().count();
            device.configuration.vtp.status(vlans)
        }
        Show::Switchport => switchports(device, interface.as_ref())?,
        Show::InterfaceStatus => statuses(device, interface.as_ref())?,
        Show::AccessLists => access_lists(device, arguments),
        Show::SnmpUser => snmp_users(device),
        Show::SpanningTreeSummary => spanning_tree(device),
        Show::Vrf => vrfs(device),
        Show::Clock => "*00:00:00.000 UTC Mon Jan 1 2024\n".to_owned(),
        Show::IpInterfaceBrief => ip_brief(device),
        Show::EtherchannelSummary => etherchannels(device),
    })
}

fn ports(device: &Device) -> impl Iterator<Item = (InterfaceName, &Block, Switchport)> {
    device
        .interfaces()
        .filter(|(name, _)| device.profile.has_switching && name.is_switchable())
        .map(|(name, block)| (name, block, Switchport::of(block, device.profile)))
}

fn vlan_brief(device: &Device) -> String {
    let mut text = String::from(
        "\nVLAN Name                             Status    Ports\n\
         ---- -------------------------------- --------- -------------------------------\n",
    );
    let mut access_ports: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for (name, block, port) in ports(device) {
        let bundled = block.find("channel-group").is_some();
        if port.enabled && port.mode != "trunk" && !bundled {
            access_ports
                .entry(port.access)
                .or_default()
                .push(name.short());
        }
    }
    for (number, vlan) in device.configuration.vlans.rows() {
        let members = access_ports.remove(&number).unwrap_or_default();
        let status = match (number, vlan.shutdown) {
            (1002..=1005, _) => "act/unsup",
            (_, true) => "act/lshut",
            _ => "active",
        };
        let mut lines = wrapped(&members).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "{number:<4} {:<32} {status:<9} {first}", vlan.name);
        for line in lines {
            let _ = writeln!(text, "{:48}{line}", "");
        }
    }
    text
}

fn wrapped(members: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for member in members {
        match lines.last_mut() {
            Some(line) if line.len() + member.len() + 2 <= PORTS_WIDTH => {
                line.push_str(", ");
                line.push_str(member);
            }
            _ => lines.push(member.clone()),
        }
    }
    lines
}

fn named(device: &Device, number: u16) -> String {
    match device.configuration.vlans.get(number) {
        Some(vlan) => format!("{number} ({})", vlan.name),
        None => format!("{number} (Inactive)"),
    }
}

fn list(list: Option<&VlanList>, default: &str) -> String {
    match list {
        None => default.to_owned(),
        Some(list) if list.is_empty() => "NONE".to_owned(),
        Some(list) => list.to_string(),
    }
}

fn switchports(device: &Device, only: Option<&InterfaceName>) -> Option<String> {
    if let Some(name) = only {
        device.interface(name)?;
        if !name.is_switchable() {
            return Some(format!("{name} is not a switchable port\n"));
        }
    }
    let mut text = String::new();
    for (name, block, port) in
        ports(device).filter(|(name, ..)| only.is_none_or(|only| only == name))
    {
        let _ = writeln!(text, "Name: {}", name.short());
        if !port.enabled {
            text.push_str("Switchport: Disabled\n\n");
            continue;
        }
        let administrative = match port.mode.as_str() {
            "access" => "static access",
            other => other,
        };
        let down = block.find("shutdown").is_some();
        let operational = match administrative {
            _ if down => "down",
            "trunk" => "trunk",
            _ => "static access",
        };
        let voice = match port.voice.as_deref() {
            None => "none".to_owned(),
            Some(value) => value
                .parse()
                .map_or_else(|_| value.to_owned(), |number| named(device, number)),
        };
        let negotiation = if port.nonegotiate || port.mode == "access" {
            "Off"
        } else {
            "On"
        };
        let _ = write!(
            text,
            "Switchport: Enabled\n\
             Administrative Mode: {administrative}\n\
             Operational Mode: {operational}\n\
             Administrative Trunking Encapsulation: {}\n\
             Operational Trunking Encapsulation: {}\n\
             Negotiation of Trunking: {negotiation}\n\
             Access Mode VLAN: {}\n\
             Trunking Native Mode VLAN: {}\n\
             Administrative Native VLAN tagging: enabled\n\
             Voice VLAN: {voice}\n\
             Administrative private-vlan host-association: none\n\
             Administrative private-vlan mapping: none\n\
             Administrative private-vlan trunk native VLAN: none\n\
             Administrative private-vlan trunk Native VLAN tagging: enabled\n\
             Administrative private-vlan trunk encapsulation: dot1q\n\
             Administrative private-vlan trunk normal VLANs: none\n\
             Administrative private-vlan trunk associations: none\n\
             Administrative private-vlan trunk mappings: none\n\
             Operational private-vlan: none\n\
             Trunking VLANs Enabled: {}\n\
             Pruning VLANs Enabled: {}\n\
             Capture Mode Disabled\n\
             Capture VLANs Allowed: ALL\n\n\
             Protected: {}\n\
             Unknown unicast blocked: disabled\n\
             Unknown multicast blocked: disabled\n\
             Appliance trust: none\n\n",
            port.encapsulation,
            if operational == "trunk" {
                "dot1q"
            } else {
                "native"
            },
            named(device, port.access),
            named(device, port.native),
            list(port.allowed.as_ref(), "ALL"),
            list(port.pruning.as_ref(), "2-1001"),
            block.find("switchport protected").is_some(),
        );
    }
    Some(text)
}

fn statuses(device: &Device, only: Option<&InterfaceName>) -> Option<String> {
    if let Some(name) = only {
        device.interface(name)?;
    }
    let mut text = String::from(
        "\nPort         Name               Status       Vlan       Duplex  Speed Type\n",
    );
    for (name, block, port) in
        ports(device).filter(|(name, ..)| only.is_none_or(|only| only == name))
    {
        let description: String = block
            .value("description")
            .unwrap_or_default()
            .chars()
            .take(18)
            .collect();
        let fixed = |identity| block.value(identity).map(str::to_owned);
        // Ports with an even number are connected.
        let linked = name.number().is_multiple_of(2);
        let status = match (block.find("shutdown").is_some(), linked) {
            (true, _) => "disabled",
            (false, true) => "connected",
            (false, false) => "notconnect",
        };
        let vlan = match (port.enabled, port.mode.as_str()) {
            (false, _) => "routed".to_owned(),
            (true, "trunk") => "trunk".to_owned(),
            _ => port.access.to_string(),
        };
        let up = status == "connected";
        let duplex = fixed("duplex").unwrap_or_else(|| {
            if up {
                "a-full".to_owned()
            } else {
                "auto".to_owned()
            }
        });
        let native = match name.type_name() {
            "FastEthernet" => "100",
            "GigabitEthernet" | "Port-channel" => "1000",
            _ => "10G",
        };
        let fixed_speed = fixed("speed").filter(|speed| speed != "nonegotiate");
        let fixed_speed = fixed_speed.map(|speed| match speed.strip_suffix("000") {
            Some(gigabits) if gigabits.len() > 1 => format!("{gigabits}G"),
            _ => speed,
        });
        let speed = fixed_speed.unwrap_or_else(|| {
            if up {
                format!("a-{native}")
            } else {
                "auto".to_owned()
            }
        });
        let kind = match name.type_name() {
            "FastEthernet" => "10/100BaseTX",
            "GigabitEthernet" => "10/100/1000BaseTX",
            "Port-channel" => "N/A",
            _ => "SFP-10GBase-SR",
        };
        let _ = writeln!(
            text,
            "{:<12} {description:<18} {status:<12} {vlan:<10} {duplex:>6} {speed:>6} {kind}",
            name.short()
        );
    }
    Some(text)
}

fn access_lists(device: &Device, arguments: &[String]) -> String {
    let only = arguments
        .iter()
        .skip_while(|word| !word.ends_with("access-lists"))
        .nth(1);
    device
        .access_lists()
        .filter(|(_, name, _)| only.is_none_or(|only| only == name))
        .map(|(extended, name, list)| access_list::show(extended, name, list))
        .collect()
}

/// As recorded: an empty line before each user, and none without users.
fn snmp_users(device: &Device) -> String {
    let users = device.configuration.snmp_users.iter();
    let texts = users.map(|(name, user)| {
        let access = match user.access.as_slice() {
            [] => String::new(),
            [family, list] => format!(" access-list: {family} {list}"),
            words => format!(" access-list: {}", words.join(" ")),
        };
        format!(
            "\nUser name: {name}\nEngine ID: 800000090300020000000001\n\
             storage-type: nonvolatile        active{access}\nAuthentication Protocol: {}\n\
             Privacy Protocol: {}\nGroup-name: {}\n",
            user.authentication, user.privacy, user.group
        )
    });
    texts.collect()
}

fn spanning_tree(device: &Device) -> String {
    let root = &device.configuration.root;
    let mode = root.value("spanning-tree mode").unwrap_or("pvst");
    let on = |identity: &str| {
        let edge = identity.replace("portfast ", "portfast edge ");
        if root.find(identity).or_else(|| root.find(&edge)).is_some() {
            "enabled"
        } else {
            "disabled"
        }
    };
    format!(
        "Switch is in {mode} mode\nRoot bridge for: none\n\
         Extended system ID                      is enabled\n\
         Portfast Default                        is {}\n\
         PortFast BPDU Guard Default             is {}\n\
         Portfast BPDU Filter Default            is {}\n\
         Loopguard Default                       is {}\n\
         Bridge Assurance                        is enabled\n\
         EtherChannel misconfig guard            is enabled\n\
         Configured Pathcost method used is short\n",
        on("spanning-tree portfast default"),
        on("spanning-tree portfast bpduguard default"),
        on("spanning-tree portfast bpdufilter default"),
        on("spanning-tree loopguard default"),
    )
}

fn vrfs(device: &Device) -> String {
    let mut text = String::from(
        "  Name                             Default RD            Protocols   Interfaces\n",
    );
    for entry in device.configuration.root.entries() {
        let name = entry
            .identity
            .strip_prefix("ip vrf ")
            .or_else(|| entry.identity.strip_prefix("vrf definition "));
        let Some(name) = name else { continue };
        let rd = entry
            .block
            .as_ref()
            .and_then(|block| block.value("rd"))
            .unwrap_or("<not set>");
        let mut members = device.interfaces().filter(|(_, block)| {
            [
                block.value("ip vrf forwarding"),
                block.value("vrf forwarding"),
            ]
            .contains(&Some(name))
        });
        let first = members
            .next()
            .map(|(name, _)| name.short())
            .unwrap_or_default();
        let _ = writeln!(text, "  {name:<32} {rd:<21} {:<11} {first}", "ipv4");
        for (name, _) in members {
            let _ = writeln!(text, "{:69}{}", "", name.short());
        }
    }
    text
}

fn ip_brief(device: &Device) -> String {
    let mut text = String::from(
        "Interface              IP-Address      OK? Method Status                Protocol\n",
    );
    for (name, block) in device.interfaces() {
        let address = block
            .value("ip address")
            .and_then(|value| value.split(' ').next())
            .unwrap_or("unassigned");
        let method = if address == "unassigned" {
            "unset"
        } else {
            "manual"
        };
        let (status, protocol) = if block.find("shutdown").is_some() {
            ("administratively down", "down")
        } else {
            ("up", "up")
        };
        let _ = writeln!(
            text,
            "{:<22} {address:<15} YES {method:<6} {status:<21} {protocol}",
            name.to_string()
        );
    }
    text
}

fn etherchannels(device: &Device) -> String {
    let mut text = String::from(
        "Flags:  D - down        P - bundled in port-channel\n\n\
         Group  Port-channel  Protocol    Ports\n\
         ------+-------------+-----------+-----------------------------------------------\n",
    );
    for (name, _) in device
        .interfaces()
        .filter(|(name, _)| name.is_port_channel())
    {
        let number = name.number().to_string();
        let members: Vec<(String, String)> = device
            .interfaces()
            .filter_map(|(member, block)| {
                let mut words = block.value("channel-group")?.split(' ');
                let mode = words.clone().next_back().unwrap_or_default().to_owned();
                (words.next() == Some(&number)).then(|| (format!("{}(P)", member.short()), mode))
            })
            .collect();
        let protocol = match members.first().map(|(_, mode)| mode.as_str()) {
            Some("active" | "passive") => "LACP",
            Some("auto" | "desirable") => "PAgP",
            _ => "-",
        };
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(
            text,
            "{number:<6} {:<13} {protocol:<11} {}",
            format!("Po{number}(SU)"),
            names.join(" ")
        );
    }
    text
}
