//! Lines about SNMP.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::device::SnmpUser;
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;

pub(super) fn no_snmp(session: &mut ConfigSession<'_>, _: &Command) -> Reply {
    session
        .device
        .edit()
        .root
        .retain(|entry| !entry.identity.starts_with("snmp-server"));
    Reply::Silent
}

pub(super) fn snmp_community(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    if !command.is_set() {
        root.remove(&command.identity_text());
        return Reply::Silent;
    }
    let mut words = command.words.clone();
    if !words[command.identity..]
        .iter()
        .any(|word| word == "RO" || word == "RW")
    {
        let index = if words.get(3).is_some_and(|word| word == "view") {
            5
        } else {
            3
        };
        words.insert(index, "RO".to_owned());
    }
    root.set(command.entry(words.join(" ")));
    Reply::Silent
}

/// A user of SNMPv3 is no line of the configuration. It is in one group (RFC 3415, vacmSecurityToGroupTable).
pub(super) fn snmp_user(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let (name, group) = (command.word(2).to_owned(), command.word(3).to_owned());
    let users = &mut session.device.edit().snmp_users;
    if !command.is_set() {
        users.retain(|user, of| *user != name || of.group != group);
        return Reply::Silent;
    }
    let after = |word: &str| {
        let at = command.words.iter().position(|other| other == word)?;
        command.words.get(at + 1..)
    };
    let first = |words: &[String]| words.first().map(|word| word.to_ascii_uppercase());
    let authentication = after("auth").and_then(first);
    let privacy = after("priv").and_then(|words| match words {
        [aes, bits, ..] if aes == "aes" => Some(format!("AES{bits}")),
        words => first(words),
    });
    let none = || "None".to_owned();
    users.insert(
        name,
        SnmpUser {
            group,
            authentication: authentication.unwrap_or_else(none),
            privacy: privacy.unwrap_or_else(none),
        },
    );
    Reply::Silent
}

/// Host, VRF, user and port identify a receiver. Notifications, the default, are not printed.
pub(super) fn snmp_host(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    words.retain(|word| word != "traps");
    let after = |word: &str| {
        let at = words.iter().position(|other| other == word)?;
        words.get(at + 1).cloned()
    };
    let vrf = after("vrf");
    let port = after("udp-port");
    let options = ["vrf", "version", "informs"];
    let mut user = 3;
    while let Some(word) = words
        .get(user)
        .filter(|word| options.contains(&word.as_str()))
    {
        user += match (word.as_str(), words.get(user + 1).map(String::as_str)) {
            ("informs", _) => 1,
            ("version", Some("3")) => 3,
            _ => 2,
        };
    }
    let user = words.get(user).cloned();
    let identity = format!("snmp-server host {} {vrf:?} {user:?} {port:?}", words[2]);
    if let Some(vrf) = vrf.filter(|vrf| command.is_set() && !session.device.has_vrf(vrf)) {
        return Reply::Text(format!("% VRF {vrf} not configured."));
    }
    let root = &mut session.device.edit().root;
    if command.is_set() {
        root.set(Entry::line(command.rule, identity, words.join(" ")));
    } else {
        root.remove(&identity);
    }
    Reply::Silent
}
