//! Lines about where messages go.

use super::place_of;
use crate::cli_switch::configure::{Command, Configuring, Sign};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;

/// The default level is not printed, and the bare word means the default.
pub fn logging_trap(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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
pub fn logging_host(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
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
        let rule = place_of("logging host").unwrap_or(command.rule);
        root.set(Entry::line(rule, key, text));
    } else {
        root.remove(&key);
    }
    Reply::Silent
}
