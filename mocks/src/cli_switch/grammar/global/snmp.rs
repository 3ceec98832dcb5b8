//! Lines about management by SNMP.

use crate::cli_switch::configure::{Command, Configuring};
use crate::cli_switch::effect::Reply;

pub fn no_snmp(configuring: &mut Configuring<'_>, _: &Command) -> Reply {
    configuring
        .device
        .edit()
        .root
        .retain(|entry| !entry.identity.starts_with("snmp-server"));
    Reply::Silent
}

pub fn snmp_community(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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
