//! Lines about the host name and name resolution.

use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix, global_rule_index};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, rule};
use crate::cli_switch::tree::Entry;

/// Servers of names.
pub(super) const SERVERS: &[Rule] = &[
    rule(
        "ip name-server ! vrf <word> <host>",
        Effect::Run(name_server),
    ),
    rule(
        "ip name-server ! <host> [<host>] [<host>] [<host>] [<host>] [<host>]",
        Effect::Run(name_server),
    ),
];

/// Domains of names.
pub(super) const DOMAINS: &[Rule] = &[
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
];

pub(super) fn hostname(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        "Switch".clone_into(&mut session.device.hostname);
        return Reply::Silent;
    }
    let name = command.word(1);
    let clean = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte == b'.');
    if !clean || name.len() > 63 || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Reply::Text("% Hostname contains one or more illegal characters.".to_owned());
    }
    name.clone_into(&mut session.device.hostname);
    Reply::Silent
}

/// Newer images print all servers in one line, older ones in one line each.
fn name_server(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let one_line = session.device.profile.is_ios_xe && command.word(2) != "vrf";
    let servers = command.words[2..].to_vec();
    let root = &mut session.device.edit().root;
    let mut remaining: Vec<String> = root
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
            .filter(|server| !remaining.contains(server))
            .collect();
        if remaining.len() + fresh.len() > 6 {
            return Reply::Text("% Name-server table is full; limit is 6".to_owned());
        }
        remaining.extend(fresh);
    } else {
        remaining.retain(|server| !servers.is_empty() && !servers.contains(server));
    }
    root.retain(|entry| entry.rule != command.rule);
    if one_line && !remaining.is_empty() {
        root.set(Entry::line(
            command.rule,
            "ip name-server",
            format!("ip name-server {}", remaining.join(" ")),
        ));
    } else {
        for server in remaining {
            let text = format!("ip name-server {server}");
            root.set(Entry::line(command.rule, text.clone(), text));
        }
    }
    Reply::Silent
}

/// Both spellings are accepted; the image prints its own.
fn domain(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let (what, value) = match command.word(1).strip_prefix("domain-") {
        Some(what) => (what, command.word(2)),
        None => (command.word(2), command.word(3)),
    };
    let spelled = if session.device.profile.is_ios_xe {
        format!("ip domain {what}")
    } else {
        format!("ip domain-{what}")
    };
    let root = &mut session.device.edit().root;
    // Both spellings have the order of one rule. Lookup is on by default, lists have many lines, the name has one.
    let rule = global_rule_index(&format!("ip domain {what}")).unwrap_or(command.rule);
    match (what, command.sign) {
        ("lookup", LinePrefix::No) => root.set(Entry::line(
            rule,
            "ip domain lookup",
            format!("no {spelled}"),
        )),
        ("lookup", _) => {
            root.remove("ip domain lookup");
        }
        ("list", LinePrefix::Set) => {
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
        (_, LinePrefix::Set) => root.set(Entry::line(
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
