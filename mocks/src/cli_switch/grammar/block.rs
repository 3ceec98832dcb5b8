//! Lines of the small submodes: `vlan`, `ip vrf`, `line`.

use super::block_kind::BlockKind;
use super::line_options::change_options;
use super::{Rule, rule};
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix, end, exit};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::tree::{Block, Entry};
use crate::cli_switch::vlan::RESERVED;
use crate::cli_switch::vlan_list::VlanList;

/// `(config-vlan)#`
pub(crate) const VLAN: &[Rule] = &[
    rule("name ! <vlan-name>", Effect::Run(vlan_name)),
    rule("shutdown", Effect::Run(vlan_shutdown)),
    rule("state ! (active | suspend)", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-vrf)#`
pub(crate) const VRF: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("vpn id ! <word>", Effect::Store),
    rule("rd ! <rd>", Effect::Run(route_distinguisher)),
    rule("import map ! <word>", Effect::Store),
    rule("export map ! <word>", Effect::Store),
    rule(
        "route-target (export | import | both) <rd>",
        Effect::Run(route_target),
    ),
    rule(
        "maximum routes ! <1-4294967295> [<1-100> | warning-only]",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-vrf)#` of a VRF for several address families.
pub(crate) const VRF_DEFINITION: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("vpn id ! <word>", Effect::Store),
    rule("rd ! <rd>", Effect::Run(route_distinguisher)),
    rule(
        "route-target (export | import | both) <rd>",
        Effect::Run(route_target),
    ),
    rule("address-family (ipv4 | ipv6)", Effect::Run(address_family)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-vrf-af)#`
pub(crate) const VRF_FAMILY: &[Rule] = &[
    rule("import map ! <word>", Effect::Store),
    rule("export map ! <word>", Effect::Store),
    rule(
        "route-target (export | import | both) <rd>",
        Effect::Run(route_target),
    ),
    rule(
        "maximum routes ! <1-4294967295> [<1-100> | warning-only]",
        Effect::Store,
    ),
    rule("exit-address-family", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-line)#`
pub(crate) const LINE: &[Rule] = &[
    rule(
        "access-class ! <word> (in | out) [vrf-also]",
        Effect::Run(access_class),
    ),
    rule(
        "exec-timeout ! <0-35791> [<0-2147483>]",
        Effect::Unless("exec-timeout 10 0"),
    ),
    rule(
        "privilege level ! <0-15>",
        Effect::Unless("privilege level 1"),
    ),
    rule("password ! [0 | 7] <word>", Effect::Store),
    rule("logging synchronous", Effect::Store),
    rule("login ! [local | authentication <word>]", Effect::Store),
    rule("length ! <0-512>", Effect::Unless("length 24")),
    rule("width ! <0-512>", Effect::Unless("width 80")),
    rule(
        "transport input ! (all | none | ssh | telnet | ssh telnet | telnet ssh)",
        Effect::Store,
    ),
    rule(
        "transport output ! (all | none | ssh | telnet | ssh telnet | telnet ssh)",
        Effect::Store,
    ),
    rule("transport preferred ! (none | ssh | telnet)", Effect::Store),
    rule("stopbits ! (1 | 1.5 | 2)", Effect::Store),
    // Cisco IOS Terminal Services Command Reference.
    rule("session-timeout ! <0-35791> [output]", Effect::Store),
    rule("absolute-timeout ! <0-10000>", Effect::Store),
    rule("session-limit ! <1-4294967295>", Effect::Store),
    rule("rotary ! <1-127>", Effect::Store),
    rule("history size ! <0-256>", Effect::Store),
    rule("escape-character ! <word>", Effect::Store),
    rule("speed ! <300-4294967295>", Effect::Unless("speed 9600")),
    rule("databits ! <5-8>", Effect::Unless("databits 8")),
    rule(
        "parity ! (even | mark | none | odd | space)",
        Effect::Unless("parity none"),
    ),
    rule(
        "modem ! (Callin | Callout | Dialin | Host | InOut)",
        Effect::Store,
    ),
    rule("autocommand ! <line>", Effect::Store),
    rule("(exec-banner | motd-banner)", Effect::OnByDefault),
    rule("(monitor | vacant-message)", Effect::Store),
    rule("exec prompt timestamp", Effect::Store),
    rule("ipv6 access-class <word> (in | out)", Effect::Store),
    rule(
        "(accounting | authorization) commands <0-15> ! <word>",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

macro_rules! redistribution {
    () => {
        "(match (external | internal | nssa-external)* | metric <0-16777214> | metric-type (1 | 2) | nssa-only | route-map <word> | subnets | tag <0-4294967295>)*"
    };
}

/// `(config-router)#`
pub(crate) const OSPF: &[Rule] = &[
    rule("router-id ! <ipv4>", Effect::Store),
    rule(
        "auto-cost reference-bandwidth ! <1-4294967>",
        Effect::Unless("auto-cost reference-bandwidth 100"),
    ),
    rule(
        "area <area> authentication ! [message-digest]",
        Effect::Run(change_options),
    ),
    rule(
        "area <area> stub ! [no-summary]",
        Effect::Run(change_options),
    ),
    rule(
        "area <area> nssa ! (default-information-originate | no-redistribution | no-summary)*",
        Effect::Run(change_options),
    ),
    rule("area <area> default-cost ! <0-16777215>", Effect::Store),
    rule(
        "area <area> range <ipv4> <mask> ! (advertise | cost <0-16777215> | not-advertise)*",
        Effect::Run(change_options),
    ),
    rule(
        concat!(
            "redistribute (connected | rip | static) !",
            redistribution!()
        ),
        Effect::Run(change_options),
    ),
    rule(
        concat!(
            "redistribute (bgp | eigrp | ospf) <1-4294967295> !",
            redistribution!()
        ),
        Effect::Run(change_options),
    ),
    rule("max-metric router-lsa ! [<line>]", Effect::Store),
    rule("nsr", Effect::Store),
    rule("nsf ! (cisco | ietf)", Effect::Store),
    rule("prefix-suppression", Effect::Store),
    rule("capability vrf-lite", Effect::Store),
    rule(
        "timers throttle (lsa | spf) ! <0-600000> <1-600000> <1-600000>",
        Effect::Store,
    ),
    rule(
        "timers lsa arrival ! <0-600000>",
        Effect::Unless("timers lsa arrival 1000"),
    ),
    rule(
        "summary-address <ipv4> <mask> ! [not-advertise | tag <0-4294967295>]",
        Effect::Store,
    ),
    rule(
        "neighbor <ipv4> ! (cost <1-65535> | priority <0-255>)*",
        Effect::Store,
    ),
    rule("default-metric ! <1-16777214>", Effect::Store),
    rule("mpls ldp sync", Effect::Store),
    rule("mpls ldp autoconfig ! [area <area>]", Effect::Store),
    rule("mpls traffic-eng router-id ! <interface>", Effect::Store),
    rule("mpls traffic-eng area <area>", Effect::Store),
    rule("passive-interface default", Effect::Store),
    rule("passive-interface <interface>", Effect::Run(passive)),
    rule("network <ipv4> <ipv4> area <area>", Effect::Run(network)),
    rule("default-information originate ! [always]", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// What differs from the default of the process is printed.
pub(super) fn passive(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let block = session.block();
    let default = block.find("passive-interface default").is_some();
    let (identity, text) = (command.identity_text(), command.text());
    let desired = match command.sign {
        LinePrefix::Set => true,
        LinePrefix::No => false,
        LinePrefix::Default => default,
    };
    match (desired == default, desired) {
        (true, _) => {
            block.remove(&identity);
        }
        (false, true) => block.set(command.entry(text)),
        (false, false) => block.set(command.entry(format!("no {text}"))),
    }
    Reply::Silent
}

/// A network is in one area.
fn network(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let range = command.words[..3].join(" ");
    let block = session.block();
    if !command.is_set() {
        block.remove(&command.identity_text());
        return Reply::Silent;
    }
    let other = block.entries().iter().find(|line| {
        line.text != command.text() && line.text.starts_with(&format!("{range} area "))
    });
    if let Some(other) = other {
        let area = other.text.rsplit(' ').next().unwrap_or_default();
        return Reply::Text(format!(
            "% OSPF: \"network {}\" is ignored. It is already in area {area}.",
            command.words[1..].join(" ")
        ));
    }
    block.set(command.entry(command.text()));
    Reply::Silent
}

/// `(config-mst)#`
pub(crate) const REGION: &[Rule] = &[
    rule("name ! <word>", Effect::Store),
    rule("revision ! <0-65535>", Effect::Unless("revision 0")),
    rule(
        "instance <1-4094> ! vlan <line>",
        Effect::Run(region_instance),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-archive)#`
pub(crate) const ARCHIVE: &[Rule] = &[
    // Cisco IOS Configuration Fundamentals Command Reference, "log config".
    rule("log config", Effect::Enter(BlockKind::ArchiveLog)),
    rule("path ! <word>", Effect::Store),
    rule("maximum ! <1-14>", Effect::Unless("maximum 10")),
    rule("write-memory", Effect::Store),
    rule("time-period ! <1-525600>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-archive-log-cfg)#`
pub(crate) const ARCHIVE_LOG: &[Rule] = &[
    rule("logging enable", Effect::Store),
    rule(
        "logging size ! <1-1000>",
        Effect::Unless("logging size 100"),
    ),
    rule(
        "notify syslog ! [contenttype (plaintext | xml)]",
        Effect::Store,
    ),
    rule("hidekeys", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-device-tracking)#`: Catalyst 9300 Command Reference, "device-tracking policy".
pub(crate) const DEVICE_TRACKING: &[Rule] = &[
    rule("trusted-port", Effect::Store),
    rule(
        "security-level ! (glean | guard | inspect)",
        Effect::Unless("security-level guard"),
    ),
    rule(
        "device-role ! (node | switch)",
        Effect::Unless("device-role node"),
    ),
    rule("limit address-count ! <1-32000>", Effect::Store),
    rule(
        "protocol (arp | dhcp4 | dhcp6 | ndp | udp)",
        Effect::OnByDefault,
    ),
    rule(
        "tracking ! (enable [reachable-lifetime (<1-86400> | infinite)] | disable [stale-lifetime (<1-86400> | infinite)])",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(dhcp-config)#`: Cisco IOS IP Addressing Services Command Reference, "ip dhcp pool".
pub(crate) const DHCP_POOL: &[Rule] = &[
    rule("vrf ! <word>", Effect::Store),
    rule("import all", Effect::Store),
    rule("network ! <ipv4> [<mask>]", Effect::Store),
    rule("bootfile ! <word>", Effect::Store),
    rule("next-server ! <ipv4> (<ipv4>)*", Effect::Store),
    rule("default-router ! <ipv4> (<ipv4>)*", Effect::Store),
    rule("dns-server ! <ipv4> (<ipv4>)*", Effect::Store),
    rule("domain-name ! <word>", Effect::Store),
    rule("netbios-name-server ! <ipv4> (<ipv4>)*", Effect::Store),
    rule(
        "netbios-node-type ! (b-node | h-node | m-node | p-node)",
        Effect::Store,
    ),
    rule(
        "option <0-254> ! (ascii <line> | hex <word> | ip <ipv4> (<ipv4>)*)",
        Effect::Store,
    ),
    rule(
        "lease ! (infinite | <0-365> [<0-23> [<0-59>]])",
        Effect::Unless("lease 1"),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(ca-trustpoint)#`: Cisco IOS Security Command Reference, "crypto pki trustpoint".
pub(crate) const TRUSTPOINT: &[Rule] = &[
    rule("enrollment selfsigned", Effect::Store),
    rule("enrollment url ! <word>", Effect::Store),
    rule("subject-name ! <line>", Effect::Store),
    rule("revocation-check ! (crl | none | ocsp)", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// VLANs are added to those of the instance, and printed with a blank behind each comma.
fn region_instance(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let before = session.block().value(&identity).unwrap_or_default();
    let before = before.trim_start_matches("vlan ").replace(' ', "");
    let more = command.words[3..].concat().replace(' ', "");
    let all = [before, more].into_iter().filter(|list| !list.is_empty());
    let all = all.collect::<Vec<_>>().join(",");
    let Some(list) = VlanList::parse(&all) else {
        return Reply::Text("% Invalid vlan list.".to_owned());
    };
    let text = format!("{identity} vlan {}", list.to_string().replace(',', ", "));
    session.block().set(command.entry(text));
    Reply::Silent
}

/// Each direction has one list.
fn access_class(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = format!("access-class {}", command.word(2));
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

fn reserved(session: &ConfigSession<'_>) -> Option<u16> {
    let pending = session.position.pending.as_ref()?;
    RESERVED
        .into_iter()
        .find(|number| pending.list.contains(*number))
}

fn vlan_name(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if let Some(number) = reserved(session) {
        return Reply::Text(format!(
            "Default VLAN {number} may not have its name changed."
        ));
    }
    let Some(pending) = &mut session.position.pending else {
        return Reply::Invalid(0);
    };
    if command.is_set() && pending.list.iter().count() > 1 {
        return Reply::Text("% A name can be set for a single VLAN only.".to_owned());
    }
    pending.name = Some(command.is_set().then(|| command.word(1).to_owned()));
    Reply::Silent
}

fn vlan_shutdown(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if let Some(number) = reserved(session) {
        return Reply::Text(format!("Default VLAN {number} may not be shut down."));
    }
    let transparent = session.device.configuration.vtp.is_local();
    let Some(pending) = &mut session.position.pending else {
        return Reply::Invalid(0);
    };
    if !transparent && pending.list.iter().any(|number| number > 1005) && command.is_set() {
        return Reply::Text("Command is only allowed on VLAN 2..1001.".to_owned());
    }
    pending.shutdown = Some(command.is_set());
    Reply::Silent
}

fn route_distinguisher(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let block = session.block();
    match (command.sign, block.value("rd").map(str::to_owned)) {
        (LinePrefix::Set, Some(old)) if old != command.word(1) => Reply::Text(
            "% Cannot overwrite the RD; remove the old one with \"no rd\" first.".to_owned(),
        ),
        (LinePrefix::Set, _) => {
            block.set(command.entry(command.text()));
            Reply::Silent
        }
        (_, Some(old)) if command.words.len() > 1 && old != command.word(1) => {
            Reply::Text("% RD does not match the configured one.".to_owned())
        }
        _ => {
            block.remove("rd");
            Reply::Silent
        }
    }
}

/// Enters an address family of a VRF, or removes it with its lines.
fn address_family(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Mode::Vrf(vrf) = session.position.mode.clone() else {
        return Reply::Invalid(0);
    };
    let identity = command.identity_text();
    let block = session.block();
    if !command.is_set() {
        block.remove(&identity);
        return Reply::Silent;
    }
    if block.find(&identity).is_none() {
        block.set(Entry {
            block: Some(Block::default()),
            ..command.entry(command.text())
        });
    }
    session.position.mode = Mode::VrfFamily(vrf, identity);
    Reply::Silent
}

/// `both` is stored as its two halves.
fn route_target(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let directions: &[&str] = match command.word(1) {
        "both" => &["export", "import"],
        "export" => &["export"],
        _ => &["import"],
    };
    for direction in directions {
        let text = format!("route-target {direction} {}", command.word(2));
        if command.is_set() {
            let mut entry = command.entry(text.clone());
            entry.identity = text;
            entry.sort = vec![u32::from(*direction == "import")];
            session.block().set(entry);
        } else {
            session.block().remove(&text);
        }
    }
    Reply::Silent
}
