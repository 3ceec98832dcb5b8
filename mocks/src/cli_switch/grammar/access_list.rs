//! Access lists: their entries, in submodes and as numbered one-line forms.

use std::fmt::Write;
use std::net::Ipv4Addr;

use super::{Rule, rule};
use crate::cli_switch::configure::{
    Command, ConfigSession, LinePrefix, end, exit, global_rule_index,
};
use crate::cli_switch::device::{Mode, access_list_identity};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::ports;
use crate::cli_switch::tree::{Block, Entry};

/// `(config)#`
pub(crate) const GLOBAL: &[Rule] = &[
    rule("ip access-list standard <word>", Effect::Run(block)),
    rule("ip access-list extended <word>", Effect::Run(block)),
    rule(
        "access-list <1-2699> ! (permit | deny | remark) <line>",
        Effect::Run(numbered),
    ),
];

macro_rules! address {
    () => {
        "(any | host <ipv4> | object-group <word> | <ipv4> <ipv4>)"
    };
}

macro_rules! port {
    () => {
        "[eq <port> (<port>)* | neq <port> (<port>)* | gt <port> | lt <port> | range <port> <port>]"
    };
}

macro_rules! options {
    () => {
        "(ack | dscp <dscp> | established | fin | fragments | log [<word>] | log-input [<word>] | match-all <flag> (<flag>)* \
         | match-any <flag> (<flag>)* | option <word> | precedence <word> | psh | reflect <word> [timeout <1-2147483>] \
         | rst | syn | time-range <word> | tos <word> | ttl ((eq | gt | lt | neq) <0-255> | range <0-255> <0-255>) | urg)*"
    };
}

/// `(config-std-nacl)#`
pub(crate) const STANDARD: &[Rule] = &[
    rule(
        "[<1-2147483647>] (permit | deny) (any | host <ipv4> | <ipv4> [<ipv4>]) [log [<word>]]",
        Effect::Run(entry),
    ),
    rule("[<1-2147483647>] remark <line>", Effect::Run(entry)),
    rule("<1-2147483647> ! <never>", Effect::Run(entry)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-ext-nacl)#`
pub(crate) const EXTENDED: &[Rule] = &[
    rule(
        concat!(
            "[<1-2147483647>] [dynamic <word>] (permit | deny) (tcp | udp | sctp) ",
            address!(),
            port!(),
            address!(),
            port!(),
            options!()
        ),
        Effect::Run(entry),
    ),
    rule(
        concat!(
            "[<1-2147483647>] [dynamic <word>] (permit | deny) icmp ",
            address!(),
            address!(),
            "[administratively-prohibited | echo | echo-reply | host-unreachable | net-unreachable | packet-too-big \
             | parameter-problem | port-unreachable | redirect | source-quench | time-exceeded | traceroute | ttl-exceeded \
             | unreachable | <0-255> [<0-255>]]",
            options!()
        ),
        Effect::Run(entry),
    ),
    rule(
        concat!(
            "[<1-2147483647>] [dynamic <word>] (permit | deny) igmp ",
            address!(),
            address!(),
            "[dvmrp | host-query | host-report | pim | trace | <0-15>]",
            options!()
        ),
        Effect::Run(entry),
    ),
    rule(
        concat!(
            "[<1-2147483647>] [dynamic <word>] (permit | deny) (ahp | eigrp | esp | gre | ip | ipinip | nos | ospf | pcp | pim | <0-255>) ",
            address!(),
            address!(),
            options!()
        ),
        Effect::Run(entry),
    ),
    rule(
        concat!(
            "[<1-2147483647>] [dynamic <word>] (permit | deny) object-group <word> ",
            address!(),
            address!(),
            options!()
        ),
        Effect::Run(entry),
    ),
    rule("[<1-2147483647>] evaluate <word>", Effect::Run(entry)),
    rule("[<1-2147483647>] remark <line>", Effect::Run(entry)),
    rule("<1-2147483647> ! <never>", Effect::Run(entry)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// The line that opens an access list.
fn access_list_entry(extended: bool, name: &str) -> Entry {
    let kind = if extended { "extended" } else { "standard" };
    let prefix = format!("ip access-list {kind}");
    let rule = global_rule_index(&prefix).unwrap_or_default();
    Entry {
        block: Some(Block::default()),
        ..Entry::line(rule, access_list_identity(name), format!("{prefix} {name}"))
    }
}

/// The list that a line begins: whether it is extended, its name, its entries.
pub(crate) fn of_entry(entry: &Entry) -> Option<(bool, &str, &Block)> {
    let name = entry.identity.strip_prefix("ip access-list ")?;
    let extended = entry.text.starts_with("ip access-list extended ");
    let is_list = extended || entry.text.starts_with("ip access-list standard ");
    Some((extended, name, entry.block.as_ref().filter(|_| is_list)?))
}

/// Whether a numbered list is extended; `None` for a name.
fn numbered_kind(name: &str) -> Option<bool> {
    match name.parse::<u32>().ok()? {
        1..=99 | 1300..=1999 => Some(false),
        _ => Some(true),
    }
}

/// `[no] ip access-list standard|extended X`
fn block(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let extended = command.word(2) == "extended";
    let name = command.word(3).to_owned();
    let identity = access_list_identity(&name);
    let number_is_fine = match name.parse::<u32>() {
        Ok(number) => number_ranges(number) == Some(extended),
        Err(_) => true,
    };
    if !number_is_fine {
        return Reply::Text("% Invalid access list name.".to_owned());
    }
    let desired = access_list_entry(extended, &name);
    let existing = session.device.configuration.root.find(&identity).cloned();
    let conflict = existing
        .as_ref()
        .is_some_and(|found| found.text != desired.text && !is_vacant(found));
    if conflict {
        return Reply::Text("% Access-list type conflicts with prior definition".to_owned());
    }
    let root = &mut session.device.edit().root;
    if !command.is_set() {
        root.remove(&identity);
        return Reply::Silent;
    }
    if existing.is_none_or(|found| found.text != desired.text) {
        root.remove(&identity);
        root.set(desired);
    }
    session.position.mode = Mode::AccessList { extended, name };
    Reply::Silent
}

fn is_vacant(entry: &Entry) -> bool {
    entry.block.as_ref().is_none_or(Block::is_empty)
}

fn number_ranges(number: u32) -> Option<bool> {
    match number {
        1..=99 | 1300..=1999 => Some(false),
        100..=199 | 2000..=2699 => Some(true),
        _ => None,
    }
}

/// `[no] access-list N …`: the one-line form. `no` removes the list and ignores the rest.
fn numbered(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let name = command.word(1).to_owned();
    let Some(extended) = name.parse().ok().and_then(number_ranges) else {
        return Reply::Invalid(1);
    };
    if command.sign != LinePrefix::Set {
        session
            .device
            .edit()
            .root
            .remove(&access_list_identity(&name));
        return Reply::Silent;
    }
    let root = &mut session.device.edit().root;
    if root.find(&access_list_identity(&name)).is_none() {
        root.set(access_list_entry(extended, &name));
    }
    let before = session.position.mode.clone();
    session.position.mode = Mode::AccessList { extended, name };
    let reply = session.line(&command.words[2..].join(" "), false);
    session.position.mode = before;
    reply.unwrap_or(Reply::Invalid(3))
}

/// An entry with or without its number, or the removal of one.
fn entry(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let (number, body) = match command.word(0).parse::<u32>() {
        Ok(number) => (Some(number), &command.words[1..]),
        Err(_) => (None, &command.words[..]),
    };
    let newer = session.device.profile.is_ios_xe;
    let extended = matches!(
        session.position.mode,
        Mode::AccessList { extended: true, .. }
    );
    let text = match printed(body, extended, newer) {
        Ok(text) => text,
        Err(index) => return Reply::Invalid(index + usize::from(number.is_some())),
    };
    let list = session.block();
    let same = list
        .entries()
        .iter()
        .find(|entry| entry.text == text)
        .map(|entry| entry.identity.clone());
    if !command.is_set() {
        let identity = match number {
            Some(number) => number.to_string(),
            None => same.unwrap_or_default(),
        };
        list.remove(&identity);
        return Reply::Silent;
    }
    if body.first().is_none_or(String::is_empty) {
        return Reply::Incomplete;
    }
    let other = same.clone();
    match number {
        Some(number) if list.find(&number.to_string()).is_some() => {
            return Reply::Text("% Duplicate sequence number".to_owned());
        }
        Some(number) if newer && body[0] != "remark" && other.is_some() => {
            let other: u32 = other
                .and_then(|other| other.parse().ok())
                .unwrap_or_default();
            let direction = if number > other { "higher" } else { "lower" };
            return Reply::Text(format!(
                "% Access rule can't be configured at {direction} sequence num as it is part of the existing rule at sequence num {other}"
            ));
        }
        // A duplicate rule in a list is dropped silently.
        _ if same.is_some() && body[0] != "remark" => return Reply::Silent,
        _ => {}
    }
    let last = list
        .entries()
        .iter()
        .filter_map(|entry| entry.sort.first().copied())
        .max()
        .unwrap_or(0);
    let number = number.unwrap_or(last + 10);
    list.set(Entry {
        sort: vec![number],
        ..Entry::line(0, number.to_string(), text)
    });
    Reply::Silent
}

/// The body as the device prints it, or the index of an invalid word.
fn printed(words: &[String], extended: bool, newer: bool) -> Result<String, usize> {
    if words.iter().any(|word| word == "log") && words.iter().any(|word| word == "log-input") {
        return Err(words.len() - 1);
    }
    let mut out: Vec<String> = Vec::new();
    let mut index = 0;
    let protocol = if words.first().is_some_and(|word| word == "dynamic") {
        words.get(3)
    } else {
        words.get(1)
    };
    let tcp = protocol.is_some_and(|word| word == "tcp");
    let with_ports =
        extended && protocol.is_some_and(|word| ["tcp", "udp"].contains(&word.as_str()));
    let mut after_port_word = false;
    while let Some(word) = words.get(index) {
        let next = words.get(index + 1);
        let first_address = index >= 1;
        if word == "remark" {
            return Ok(words[index..].join(" "));
        }
        if word == "host" && !extended {
            index += 1;
            continue;
        }
        if let (Ok(address), true) = (word.parse::<Ipv4Addr>(), first_address) {
            let is_host = index > 0 && words[index - 1] == "host";
            match next
                .and_then(|next| next.parse::<Ipv4Addr>().ok())
                .filter(|_| !is_host)
            {
                Some(wildcard) => {
                    out.extend(masked(address, wildcard, extended));
                    index += 1;
                }
                None => out.push(address.to_string()),
            }
            after_port_word = false;
        } else if with_ports && after_port_word && is_port(word) {
            out.push(ports::printed(word, tcp, newer).ok_or(index)?);
        } else {
            let is_time_to_live = index > 0 && words[index - 1] == "ttl";
            after_port_word =
                ["eq", "neq", "gt", "lt", "range"].contains(&word.as_str()) && !is_time_to_live;
            out.push(if index == protocol_index(words) && extended {
                protocol_name(word)
            } else {
                word.clone()
            });
        }
        index += 1;
    }
    Ok(out.join(" "))
}

fn protocol_index(words: &[String]) -> usize {
    if words.first().is_some_and(|word| word == "dynamic") {
        3
    } else {
        1
    }
}

fn is_port(word: &str) -> bool {
    word.parse::<u16>().is_ok() || ports::is_name(word)
}

fn protocol_name(word: &str) -> String {
    let names = [
        ("1", "icmp"),
        ("2", "igmp"),
        ("4", "ipinip"),
        ("6", "tcp"),
        ("17", "udp"),
        ("47", "gre"),
        ("50", "esp"),
        ("51", "ahp"),
        ("88", "eigrp"),
        ("89", "ospf"),
        ("94", "nos"),
        ("103", "pim"),
        ("108", "pcp"),
    ];
    names
        .iter()
        .find(|(number, _)| *number == word)
        .map_or(word, |(_, name)| name)
        .to_owned()
}

/// The address without wildcard bits.
fn masked(address: Ipv4Addr, wildcard: Ipv4Addr, extended: bool) -> Vec<String> {
    let address = Ipv4Addr::from(u32::from(address) & !u32::from(wildcard));
    match u32::from(wildcard) {
        u32::MAX => vec!["any".to_owned()],
        0 if extended => vec!["host".to_owned(), address.to_string()],
        0 => vec![address.to_string()],
        _ => vec![address.to_string(), wildcard.to_string()],
    }
}

/// Lines of `show ip access-lists`.
pub(crate) fn show(extended: bool, name: &str, list: &Block) -> String {
    let kind = if extended { "Extended" } else { "Standard" };
    let mut text = format!("{kind} IP access list {name}\n");
    for entry in list
        .entries()
        .iter()
        .filter(|entry| !entry.text.starts_with("remark"))
    {
        if entry.rule == usize::MAX {
            // A line of a loaded configuration that is kept as text.
            let _ = writeln!(text, "    {}", entry.text);
            continue;
        }
        let mut body = entry.text.clone();
        if !extended {
            let mut words: Vec<String> = body.split(' ').map(str::to_owned).collect();
            if words
                .get(2)
                .is_some_and(|word| word.parse::<Ipv4Addr>().is_ok())
            {
                words[1].push(',');
                words.insert(2, "wildcard bits".to_owned());
            }
            body = words.join(" ").replacen("deny ", "deny   ", 1);
        }
        let body = with_tag(&body);
        text.push_str(&format!("    {} {body}\n", entry.identity));
    }
    text
}

/// The cookie of a log as `show` prints it: `log (tag = SSH)`.
fn with_tag(body: &str) -> String {
    let words: Vec<&str> = body.split(' ').collect();
    let log = words.iter().position(|word| word.starts_with("log"));
    let cookie = log.and_then(|log| Some((log + 1, *words.get(log + 1)?)));
    let Some((index, cookie)) = cookie.filter(|(_, word)| !OPTIONS.contains(word)) else {
        return body.to_owned();
    };
    let tag = format!("(tag = {cookie})");
    let mut words = words;
    words[index] = &tag;
    words.join(" ")
}

/// First words of the options after the destination.
const OPTIONS: &[&str] = &[
    "ack",
    "dscp",
    "established",
    "fin",
    "fragments",
    "match-all",
    "match-any",
    "option",
    "precedence",
    "psh",
    "reflect",
    "rst",
    "syn",
    "time-range",
    "tos",
    "ttl",
    "urg",
];

/// Lines of one list in the configuration.
pub(crate) fn configuration_lines(
    extended: bool,
    name: &str,
    list: &Block,
    numbers: bool,
) -> Vec<String> {
    let padded = |text: &str| {
        if numbers {
            text.to_owned()
        } else {
            text.replacen("deny ", "deny   ", 1)
        }
    };
    if !numbers && numbered_kind(name).is_some() {
        // Without numbers of lines, numbered lists are printed in their one-line form.
        return list
            .entries()
            .iter()
            .map(|entry| format!("access-list {name} {}", padded(&entry.text)))
            .collect();
    }
    let kind = if extended { "extended" } else { "standard" };
    let mut lines = vec![format!("ip access-list {kind} {name}")];
    lines.extend(list.entries().iter().map(|entry| {
        let number = if numbers && entry.rule != usize::MAX {
            format!("{} ", entry.identity)
        } else {
            String::new()
        };
        format!(" {number}{}", padded(&entry.text))
    }));
    lines
}
