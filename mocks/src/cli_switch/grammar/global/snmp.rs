//! Lines about SNMP.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;

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
