//! Lines about logging destinations.

use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix, global_rule_index};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;

/// The default level is not printed. A line without a level sets the default.
pub(super) fn logging_trap(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    match (command.sign, command.word(2)) {
        (LinePrefix::No, "") => root.set(command.entry("no logging trap")),
        (LinePrefix::Set, level) if !level.is_empty() && level != "informational" => {
            root.set(command.entry(command.text()))
        }
        _ => {
            root.remove("logging trap");
        }
    }
    Reply::Silent
}

/// `logging X` and `logging host X` are one line; the default transport is not printed.
pub(super) fn logging_host(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    let mut identity = command.identity;
    if words[1] != "host" {
        words.insert(1, "host".to_owned());
        identity += 1;
    }
    let key = words[..identity].join(" ");
    if words.get(3).is_some_and(|word| word == "vrf")
        && command.is_set()
        && !session.device.has_vrf(&words[4])
    {
        return Reply::Text(format!("% VRF {} not configured.", words[4]));
    }
    let default = ["transport udp port 514", "transport udp", ""]
        .contains(&words[identity..].join(" ").as_str());
    if default {
        words.truncate(identity);
    } else if words[identity..].join(" ") == "transport tcp" {
        words.extend(["port".to_owned(), "601".to_owned()]);
    }
    let mut text = words.join(" ");
    if session.device.profile.is_release_12() && words.len() == 3 {
        text = format!("logging {}", words[2]);
    }
    let root = &mut session.device.edit().root;
    if command.is_set() {
        let rule = global_rule_index("logging host").unwrap_or(command.rule);
        root.set(Entry::line(rule, key, text));
    } else {
        root.remove(&key);
    }
    Reply::Silent
}
