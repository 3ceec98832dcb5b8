//! Lines about SNMP.

use crate::cli_switch::configure::{Command, ConfigSession};
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
