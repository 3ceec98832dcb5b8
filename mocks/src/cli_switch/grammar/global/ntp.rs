//! Lines about NTP and its keys.

use super::{is_classic_ios, is_ios_xe};
use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, on, rule};
use crate::cli_switch::tree::Entry;
use crate::cli_switch::type7;

/// Keys, servers and access.
pub(super) const RULES: &[Rule] = &[
    // NTP: ME 3800X Software Configuration Guide OL-23400-01, p. 5-4; "Cisco IOS in a Nutshell", "ntp access-group".
    rule("ntp logging", Effect::Store),
    on(
        is_ios_xe,
        "ntp authentication-key <1-4294967295> ! (cmac-aes-128 | hmac-sha1 | hmac-sha2-256 | md5) <word> [0 | 7]",
        Effect::Run(ntp_key),
    ),
    on(
        is_classic_ios,
        "ntp authentication-key <1-4294967295> ! md5 <word> [0 | 7]",
        Effect::Run(ntp_key),
    ),
    rule("ntp authenticate", Effect::Store),
    rule("ntp trusted-key <1-4294967295>", Effect::Store),
    rule("ntp source ! <interface>", Effect::Store),
    rule(
        "ntp access-group [ipv4] (peer | query-only | serve | serve-only) ! <word>",
        Effect::Run(access_group),
    ),
    rule(
        "ntp access-group ipv6 (peer | query-only | serve | serve-only) ! <word>",
        Effect::Run(access_group),
    ),
    rule("ntp update-calendar", Effect::Store),
    rule(
        "ntp server [vrf <word>] (ip <hostname> | ipv6 <hostname> | <host>) ! (burst | iburst | key <1-4294967295> | maxpoll <4-17> | minpoll <4-17> | normal-sync | prefer | source <interface> | version <1-4>)*",
        Effect::Run(ntp_server),
    ),
];

/// A line with its key obfuscated.
pub(super) fn hidden_ntp_key(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        [ntp, key, number, kind, secret] => {
            format!("{ntp} {key} {number} {kind} {} 7", type7::encode(secret))
        }
        _ => text.to_owned(),
    }
}

fn ntp_key(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let head = command.words[..5].join(" ");
    let text = match command.word(5) {
        "7" if type7::decode(command.word(4)).is_none() => {
            return Reply::Text("% Invalid encrypted password".to_owned());
        }
        "7" => command.text(),
        _ if session.device.hides_keys() => hidden_ntp_key(&head),
        _ => head,
    };
    session.set(command.entry(text))
}

/// A kind of access has one list. `no` names the list or none.
fn access_group(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    let identity = command.identity_text().replace("group ipv4 ", "group ");
    let text = command.text().replace("group ipv4 ", "group ");
    if command.is_set() {
        root.set(Entry::line(command.rule, identity, text));
    } else if command.words.len() == command.identity
        || root.find(&identity).is_some_and(|line| line.text == text)
    {
        root.remove(&identity);
    }
    Reply::Silent
}

/// Options are printed in alphabetical order.
fn ntp_server(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return session.remove(command);
    }
    if command.word(2) == "vrf" && !session.device.has_vrf(command.word(3)) {
        return Reply::Text(format!("% VRF {} not configured.", command.word(3)));
    }
    let mut options: Vec<Vec<String>> = Vec::new();
    let mut words = command.words[command.identity..].iter();
    while let Some(word) = words.next() {
        let mut option = vec![word.clone()];
        if !["burst", "iburst", "normal-sync", "prefer"].contains(&word.as_str()) {
            option.extend(words.next().cloned());
        }
        options.retain(|other| other[0] != option[0]);
        options.push(option);
    }
    options.sort();
    let mut all = vec![identity];
    all.extend(options.into_iter().flatten());
    session.set(command.entry(all.join(" ")))
}
