//! Lines of the global configuration mode, in the order in which the running configuration prints them.

use super::{Rule, Scope};
use crate::cli_switch::configure::{Command, Configuring, Sign, end, exit};
use crate::cli_switch::device::{Mode, access_list_identity, interface_identity};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::interface_name::InterfaceName;
use crate::cli_switch::tree::{Block, Entry};
use crate::cli_switch::type7;
use crate::cli_switch::vlan::{PendingVlans, RESERVED};
use crate::cli_switch::vlan_list::VlanList;

use super::access_list;

const fn rule(pattern: &'static str, effect: Effect) -> Rule {
    Rule {
        pattern,
        effect,
        when: always,
    }
}

const fn on(when: fn(&Scope<'_>) -> bool, pattern: &'static str, effect: Effect) -> Rule {
    Rule {
        pattern,
        effect,
        when,
    }
}

fn always(_: &Scope<'_>) -> bool {
    true
}

fn routing(scope: &Scope<'_>) -> bool {
    scope.hardware.routing
}

fn xe(scope: &Scope<'_>) -> bool {
    scope.hardware.xe
}

fn classic(scope: &Scope<'_>) -> bool {
    !scope.hardware.xe
}

/// All of them.
pub const RULES: &[Rule] = &[
    rule("version <word>", Effect::Run(nothing)),
    rule(
        "service timestamps debug ! [uptime | datetime (localtime | msec | show-timezone | year)*]",
        Effect::Store,
    ),
    rule(
        "service timestamps log ! [uptime | datetime (localtime | msec | show-timezone | year)*]",
        Effect::Store,
    ),
    rule(
        "service password-encryption",
        Effect::Run(password_encryption),
    ),
    rule("service pad", Effect::OnByDefault),
    rule(
        "service (call-home | compress-config | sequence-numbers | tcp-keepalives-in | tcp-keepalives-out)",
        Effect::Store,
    ),
    rule("hostname ! <word>", Effect::Run(hostname)),
    rule("vrf definition <word>", Effect::Run(vrf)),
    rule("logging on", Effect::OnByDefault),
    rule(
        "logging buffered ! [<4096-2147483647>] [<severity>]",
        Effect::OnByDefault,
    ),
    rule("logging console ! [<severity>]", Effect::OnByDefault),
    rule("logging monitor ! [<severity>]", Effect::OnByDefault),
    rule(
        "enable secret ! [0 | 5 | 8 | 9] <line>",
        Effect::Run(enable_secret),
    ),
    rule(
        "enable password ! [0 | 7] <line>",
        Effect::Run(enable_secret),
    ),
    rule(
        "username <word> ! (nopassword | privilege <0-15>)* [(secret | password) [0 | 5 | 7 | 8 | 9] <line>]",
        Effect::Run(username),
    ),
    rule("aaa new-model", Effect::Run(aaa_new_model)),
    rule(
        "aaa authentication login <word> ! (group <word> | local | local-case | enable | line | none)*",
        Effect::Run(needs_aaa),
    ),
    rule(
        "aaa authorization exec <word> ! (group <word> | local | if-authenticated | none)*",
        Effect::Run(needs_aaa),
    ),
    rule(
        "aaa session-id ! (common | unique)",
        Effect::Unless("aaa session-id common"),
    ),
    rule("clock timezone ! <word> <0-23> [<0-59>]", Effect::Store),
    on(routing, "ip vrf <word>", Effect::Run(vrf)),
    rule(
        "system mtu ! <1500-9198>",
        Effect::Unless("system mtu 1500"),
    ),
    rule("ip routing", Effect::Store),
    rule(
        "ip name-server ! vrf <word> <host>",
        Effect::Run(name_server),
    ),
    rule(
        "ip name-server ! <host> [<host>] [<host>] [<host>] [<host>] [<host>]",
        Effect::Run(name_server),
    ),
    rule("ip domain lookup", Effect::Run(domain)),
    rule(
        "ip domain lookup source-interface ! <interface>",
        Effect::Store,
    ),
    rule("ip domain list ! <word>", Effect::Run(domain)),
    rule("ip domain name ! <word>", Effect::Run(domain)),
    rule("ip domain-lookup", Effect::Run(domain)),
    rule("ip domain-list ! <word>", Effect::Run(domain)),
    rule("ip domain-name ! <word>", Effect::Run(domain)),
    rule(
        "vtp mode ! (server | client | transparent | off)",
        Effect::Unless("vtp mode server"),
    ),
    rule("vtp domain ! <word>", Effect::Store),
    rule(
        "spanning-tree mode ! (pvst | rapid-pvst | mst)",
        Effect::Unless("spanning-tree mode pvst"),
    ),
    rule("spanning-tree extend system-id", Effect::OnByDefault),
    rule("spanning-tree loopguard default", Effect::Store),
    rule(
        "spanning-tree portfast (default | bpduguard default | bpdufilter default)",
        Effect::Store,
    ),
    rule("vlan <vlan-list>", Effect::Run(vlan)),
    rule("interface <interface>", Effect::Run(interface)),
    rule("ip default-gateway ! <ipv4>", Effect::Store),
    rule("ip forward-protocol nd", Effect::Store),
    rule("ip http server", Effect::OnByDefault),
    rule("ip http secure-server", Effect::OnByDefault),
    rule("ip ssh version ! (1 | 2)", Effect::Store),
    rule(
        "ip ssh time-out ! <1-120>",
        Effect::Unless("ip ssh time-out 120"),
    ),
    rule(
        "ip route <ipv4> <mask> (<ipv4> | <interface> [<ipv4>]) ! [<1-255>] [name <word>]",
        Effect::Store,
    ),
    rule(
        "ip access-list standard <word>",
        Effect::Run(access_list::block),
    ),
    rule(
        "ip access-list extended <word>",
        Effect::Run(access_list::block),
    ),
    rule(
        "access-list <1-2699> ! (permit | deny | remark) <line>",
        Effect::Run(access_list::numbered),
    ),
    rule(
        "logging source-interface ! <interface> [vrf <word>]",
        Effect::Store,
    ),
    rule(
        "logging facility ! (auth | cron | daemon | kern | local0 | local1 | local2 | local3 | local4 | local5 | local6 | local7 | lpr | mail | news | sys9 | sys10 | sys11 | sys12 | sys13 | sys14 | syslog | user | uucp)",
        Effect::Unless("logging facility local7"),
    ),
    rule("logging trap ! [<severity>]", Effect::Run(logging_trap)),
    rule(
        "logging origin-id ! (hostname | ip | ipv6 | string <line>)",
        Effect::Store,
    ),
    rule(
        "logging host <host> [vrf <word>] ! [transport (udp | tcp) [port <1-65535>]]",
        Effect::Run(logging_host),
    ),
    rule("logging <host>", Effect::Run(logging_host)),
    rule("snmp-server ! <never>", Effect::Run(no_snmp)),
    on(
        xe,
        "snmp-server community <word> ! [view <word>] (RO | RW) [ipv6 <word>] [<word>]",
        Effect::Run(snmp_community),
    ),
    on(
        classic,
        "snmp-server community <word> ! [view <word>] [RO | RW] [<word>]",
        Effect::Run(snmp_community),
    ),
    rule("snmp-server trap-source ! <interface>", Effect::Store),
    rule("snmp-server location ! <line>", Effect::Store),
    rule("snmp-server contact ! <line>", Effect::Store),
    rule("snmp-server system-shutdown", Effect::Store),
    rule("snmp-server enable traps [<line>]", Effect::Store),
    rule(
        "snmp-server host <host> [vrf <word>] [traps | informs] [version (1 | 2c | 3 (auth | noauth | priv))] <word> [udp-port <1-65535>]",
        Effect::Store,
    ),
    rule("snmp-server manager", Effect::Store),
    rule("snmp ifmib ifindex persist", Effect::Store),
    rule("banner exec ! <raw>", Effect::Run(banner)),
    rule("banner incoming ! <raw>", Effect::Run(banner)),
    rule("banner login ! <raw>", Effect::Run(banner)),
    rule("banner motd ! <raw>", Effect::Run(banner)),
    rule("line (con | console) <0-0>", Effect::Run(line)),
    rule("line vty <0-97> [<1-97>]", Effect::Run(line)),
    rule("ntp logging", Effect::Store),
    rule(
        "ntp authentication-key <1-4294967295> ! (md5 | hmac-sha1 | hmac-sha2-256 | sha1 | sha256) <word> [0 | 7]",
        Effect::Run(ntp_key),
    ),
    rule("ntp authenticate", Effect::Store),
    rule("ntp trusted-key <1-4294967295>", Effect::Store),
    rule("ntp source ! <interface>", Effect::Store),
    rule(
        "ntp access-group (peer | query-only | serve | serve-only) ! <word>",
        Effect::Store,
    ),
    rule("ntp update-calendar", Effect::Store),
    rule(
        "ntp server [vrf <word>] <host> ! (key <1-4294967295> | maxpoll <4-17> | minpoll <4-17> | prefer | source <interface> | version <1-4>)*",
        Effect::Run(ntp_server),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

fn nothing(_: &mut Configuring<'_>, _: &Command) -> Reply {
    Reply::Silent
}

fn hostname(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        "Switch".clone_into(&mut configuring.device.hostname);
        return Reply::Silent;
    }
    let name = command.word(1);
    let clean = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte == b'.');
    if !clean || name.len() > 63 || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Reply::Say("% Hostname contains one or more illegal characters.".to_owned());
    }
    name.clone_into(&mut configuring.device.hostname);
    Reply::Silent
}

fn password_encryption(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let root = &mut configuring.device.edit().root;
    if !command.is_set() {
        root.remove("service password-encryption");
        return Reply::Silent;
    }
    root.set(command.entry(command.text()));
    // Keys that are there already are hidden too; switching it off leaves them hidden.
    for entry in root.entries_mut() {
        if entry.identity.starts_with("ntp authentication-key") {
            entry.text = hidden_ntp_key(&entry.text);
        }
    }
    Reply::Silent
}

fn hidden_ntp_key(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        [ntp, key, number, kind, secret] => {
            format!("{ntp} {key} {number} {kind} {} 7", type7::encode(secret))
        }
        _ => text.to_owned(),
    }
}

fn ntp_key(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        configuring
            .device
            .edit()
            .root
            .remove(&command.identity_text());
        return Reply::Silent;
    }
    let head = command.words[..5].join(" ");
    let text = match command.word(5) {
        "7" if type7::decode(command.word(4)).is_none() => {
            return Reply::Say("% Invalid encrypted password".to_owned());
        }
        "7" => command.text(),
        _ if configuring.device.hides_keys() => hidden_ntp_key(&head),
        _ => head,
    };
    configuring.device.edit().root.set(command.entry(text));
    Reply::Silent
}

/// Options are printed in the order of their names, whatever the order in which they were typed.
fn ntp_server(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        configuring.device.edit().root.remove(&identity);
        return Reply::Silent;
    }
    if command.word(2) == "vrf" && !configuring.device.has_vrf(command.word(3)) {
        return Reply::Say(format!("% VRF {} not configured.", command.word(3)));
    }
    let mut options: Vec<Vec<String>> = Vec::new();
    let mut words = command.words[command.identity..].iter();
    while let Some(word) = words.next() {
        let mut option = vec![word.clone()];
        if word != "prefer" {
            option.extend(words.next().cloned());
        }
        options.retain(|other| other[0] != option[0]);
        options.push(option);
    }
    options.sort();
    let mut all = vec![identity];
    all.extend(options.into_iter().flatten());
    configuring
        .device
        .edit()
        .root
        .set(command.entry(all.join(" ")));
    Reply::Silent
}

/// One-way forms cannot be made here, so a fixed mark of the right kind stands for every plain secret.
fn stored_secret(words: &[String]) -> String {
    match words {
        [kind, form, secret] if form != "0" => format!("{kind} {form} {secret}"),
        [kind, .., secret] if kind == "secret" => {
            let mark: u32 = secret.bytes().fold(0x811c_9dc5, |hash, byte| {
                (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
            });
            format!("secret 9 $9${mark:08x}${mark:08x}mock")
        }
        [kind, .., secret] => format!("{kind} 0 {secret}"),
        _ => words.join(" "),
    }
}

fn enable_secret(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let root = &mut configuring.device.edit().root;
    if command.is_set() {
        root.set(command.entry(format!("enable {}", stored_secret(&command.words[1..]))));
    } else {
        root.remove(&command.identity_text());
    }
    Reply::Silent
}

fn username(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        if !command.confirmed {
            return Reply::Ask(
                "This operation will remove all username related configurations with same name.Do you want to continue? [confirm]"
                    .to_owned(),
            );
        }
        configuring.device.edit().root.remove(&identity);
        return Reply::Silent;
    }
    let rest = &command.words[command.identity..];
    if rest.is_empty() {
        return Reply::Incomplete;
    }
    let secret = rest
        .iter()
        .position(|word| word == "secret" || word == "password")
        .unwrap_or(rest.len());
    let mut words = vec![identity];
    words.extend(rest[..secret].iter().cloned());
    if secret < rest.len() {
        words.push(stored_secret(&rest[secret..]));
    }
    configuring
        .device
        .edit()
        .root
        .set(command.entry(words.join(" ")));
    Reply::Silent
}

fn aaa_new_model(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let there = configuring
        .device
        .configuration
        .root
        .find("aaa new-model")
        .is_some();
    if there == command.is_set() {
        return Reply::Silent;
    }
    if !command.confirmed {
        return Reply::Ask(
            "This changes how sessions are authenticated. Continue? [confirm]".to_owned(),
        );
    }
    let root = &mut configuring.device.edit().root;
    if command.is_set() {
        root.set(command.entry(command.text()));
    } else {
        root.retain(|entry| !entry.identity.starts_with("aaa "));
    }
    Reply::Silent
}

/// The lists exist only in the new model.
fn needs_aaa(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    if configuring
        .device
        .configuration
        .root
        .find("aaa new-model")
        .is_none()
    {
        return Reply::Invalid(1);
    }
    if command.is_set() {
        if command.words.len() == command.identity {
            return Reply::Incomplete;
        }
        configuring
            .device
            .edit()
            .root
            .set(command.entry(command.text()));
    } else {
        configuring
            .device
            .edit()
            .root
            .remove(&command.identity_text());
    }
    Reply::Silent
}

fn vrf(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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

/// Newer images keep all servers in one line, older ones a line for each.
fn name_server(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let one_line = configuring.device.hardware.xe && command.word(2) != "vrf";
    let servers = command.words[2..].to_vec();
    let root = &mut configuring.device.edit().root;
    let mut kept: Vec<String> = root
        .entries()
        .iter()
        .filter(|entry| entry.rule == command.rule)
        .flat_map(|entry| {
            entry
                .text
                .split(' ')
                .skip(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    if command.word(2) == "vrf" {
        let text = command.text();
        if command.is_set() {
            root.set(Entry::line(command.rule, text.clone(), text));
        } else {
            root.remove(&text);
        }
        return Reply::Silent;
    }
    if command.is_set() {
        let fresh: Vec<String> = servers
            .into_iter()
            .filter(|server| !kept.contains(server))
            .collect();
        if kept.len() + fresh.len() > 6 {
            return Reply::Say("% Name-server table is full; limit is 6".to_owned());
        }
        kept.extend(fresh);
    } else {
        kept.retain(|server| !servers.is_empty() && !servers.contains(server));
    }
    root.retain(|entry| entry.rule != command.rule);
    if one_line && !kept.is_empty() {
        root.set(Entry::line(
            command.rule,
            "ip name-server",
            format!("ip name-server {}", kept.join(" ")),
        ));
    } else {
        for server in kept {
            let text = format!("ip name-server {server}");
            root.set(Entry::line(command.rule, text.clone(), text));
        }
    }
    Reply::Silent
}

/// Both spellings are understood; the image prints its own.
fn domain(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let (what, value) = match command.word(1).strip_prefix("domain-") {
        Some(what) => (what, command.word(2)),
        None => (command.word(2), command.word(3)),
    };
    let spelled = if configuring.device.hardware.xe {
        format!("ip domain {what}")
    } else {
        format!("ip domain-{what}")
    };
    let root = &mut configuring.device.edit().root;
    // One rule's place for both spellings, and a text for each: lookup is on by default, lists are many, the name is one.
    let rule = RULES
        .iter()
        .position(|rule| rule.pattern.starts_with(&format!("ip domain {what}")))
        .unwrap_or(command.rule);
    match (what, command.sign) {
        ("lookup", Sign::No) => root.set(Entry::line(
            rule,
            "ip domain lookup",
            format!("no {spelled}"),
        )),
        ("lookup", _) => {
            root.remove("ip domain lookup");
        }
        ("list", Sign::Set) => {
            root.set(Entry::line(
                rule,
                format!("ip domain list {value}"),
                format!("{spelled} {value}"),
            ));
        }
        ("list", _) if value.is_empty() => {
            root.retain(|entry| !entry.identity.starts_with("ip domain list"))
        }
        ("list", _) => {
            root.remove(&format!("ip domain list {value}"));
        }
        (_, Sign::Set) => root.set(Entry::line(
            rule,
            "ip domain name",
            format!("{spelled} {value}"),
        )),
        _ => {
            root.remove("ip domain name");
        }
    }
    Reply::Silent
}

fn vlan(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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

fn interface(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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

/// The default level is not printed, and the bare word means the default.
fn logging_trap(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let root = &mut configuring.device.edit().root;
    match (command.sign, command.word(2)) {
        (Sign::No, "") => root.set(command.entry("no logging trap")),
        (Sign::Set, level) if !level.is_empty() && level != "informational" => {
            root.set(command.entry(command.text()))
        }
        _ => {
            root.remove("logging trap");
        }
    }
    Reply::Silent
}

/// `logging X` and `logging host X` are one line; the default transport is not printed.
fn logging_host(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    let mut identity = command.identity;
    if words[1] != "host" {
        words.insert(1, "host".to_owned());
        identity += 1;
    }
    let key = words[..identity].join(" ");
    if words.get(3).is_some_and(|word| word == "vrf")
        && command.is_set()
        && !configuring.device.has_vrf(&words[4])
    {
        return Reply::Say(format!("% VRF {} not configured.", words[4]));
    }
    let default = ["transport udp port 514", "transport udp", ""]
        .contains(&words[identity..].join(" ").as_str());
    if default {
        words.truncate(identity);
    } else if words[identity..].join(" ") == "transport tcp" {
        words.extend(["port".to_owned(), "601".to_owned()]);
    }
    let mut text = words.join(" ");
    if configuring.device.hardware.is_release_12() && words.len() == 3 {
        text = format!("logging {}", words[2]);
    }
    let root = &mut configuring.device.edit().root;
    if command.is_set() {
        let rule = RULES
            .iter()
            .position(|rule| rule.pattern.starts_with("logging host"))
            .unwrap_or(command.rule);
        root.set(Entry::line(rule, key, text));
    } else {
        root.remove(&key);
    }
    Reply::Silent
}

fn no_snmp(configuring: &mut Configuring<'_>, _: &Command) -> Reply {
    configuring
        .device
        .edit()
        .root
        .retain(|entry| !entry.identity.starts_with("snmp-server"));
    Reply::Silent
}

fn snmp_community(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let root = &mut configuring.device.edit().root;
    if !command.is_set() {
        root.remove(&command.identity_text());
        return Reply::Silent;
    }
    let mut words = command.words.clone();
    if !words[command.identity..]
        .iter()
        .any(|word| word == "RO" || word == "RW")
    {
        let place = if words.get(3).is_some_and(|word| word == "view") {
            5
        } else {
            3
        };
        words.insert(place, "RO".to_owned());
    }
    root.set(command.entry(words.join(" ")));
    Reply::Silent
}

fn banner(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        configuring.device.edit().root.remove(&identity);
        return Reply::Silent;
    }
    let typed = command.word(2);
    let Some(delimiter) = typed.chars().next() else {
        return Reply::Incomplete;
    };
    Reply::Collect {
        identity,
        begun: typed[delimiter.len_utf8()..].to_owned(),
        delimiter: delimiter.to_string(),
    }
}

/// Stores a banner whose text is complete; the device prints the delimiter as two characters.
pub fn set_banner(configuring: &mut Configuring<'_>, identity: &str, text: &str) {
    let Some(rule) = RULES
        .iter()
        .position(|rule| rule.pattern.starts_with(identity))
    else {
        return;
    };
    let root = &mut configuring.device.edit().root;
    if text.is_empty() {
        root.remove(identity);
    } else {
        root.set(Entry::line(
            rule,
            identity,
            format!("{identity} ^C{text}^C"),
        ));
    }
}

fn line(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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

/// The line that opens an access list, as an entry.
pub fn access_list_entry(extended: bool, name: &str) -> Entry {
    let kind = if extended { "extended" } else { "standard" };
    let prefix = format!("ip access-list {kind}");
    let rule = RULES
        .iter()
        .position(|rule| rule.pattern.starts_with(&prefix))
        .unwrap_or_default();
    Entry {
        block: Some(Block::default()),
        ..Entry::line(rule, access_list_identity(name), format!("{prefix} {name}"))
    }
}

/// Place of interfaces in the order.
pub fn interface_rule() -> usize {
    RULES
        .iter()
        .position(|rule| rule.pattern.starts_with("interface "))
        .unwrap_or_default()
}
