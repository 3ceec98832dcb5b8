//! Lines about logging destinations.

use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix, global_rule_index};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, rule};
use crate::cli_switch::tree::Entry;

/// Where messages go on the device.
pub(super) const DESTINATIONS: &[Rule] = &[
    rule("logging on", Effect::OnByDefault),
    rule(
        "logging buffered ! [discriminator <word>] [<4096-2147483647>] [<severity>]",
        Effect::Run(logging_destination),
    ),
    rule(
        "logging console ! [discriminator <word>] [<severity>]",
        Effect::Run(logging_destination),
    ),
    rule(
        "logging monitor ! [discriminator <word>] [<severity>]",
        Effect::Run(logging_destination),
    ),
];

/// Servers of logs.
pub(super) const HOSTS: &[Rule] = &[
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
        "logging host (ipv6 (<ipv6> | <hostname>) | <ipv4> | <hostname>) [vrf <word>] ! [transport (udp | tcp) [port <1-65535>]] [sequence-num-session] [discriminator <word>]",
        Effect::Run(logging_host),
    ),
    rule("logging <host>", Effect::Run(logging_host)),
];

/// The default level is not printed. A line without a level sets the default.
fn logging_trap(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
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

/// The buffer, the console and terminals: on by default at level `debugging`, the buffer with 4096 bytes. Defaults are not
/// printed.
fn logging_destination(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let root = &mut session.device.edit().root;
    match command.sign {
        LinePrefix::No => root.set(command.entry(format!("no {identity}"))),
        LinePrefix::Default => {
            root.remove(&identity);
        }
        LinePrefix::Set => {
            let words = command.words[command.identity..].iter();
            let printed: Vec<&str> = words
                .map(String::as_str)
                .filter(|word| !["debugging", "4096"].contains(word))
                .collect();
            if printed.is_empty() {
                root.remove(&identity);
            } else {
                root.set(command.entry(format!("{identity} {}", printed.join(" "))));
            }
        }
    }
    Reply::Silent
}

/// `logging X` and `logging host X` are one line; the default transport is not printed.
fn logging_host(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    let mut identity = command.identity;
    if words[1] != "host" {
        words.insert(1, "host".to_owned());
        identity += 1;
    }
    // A name of one label needs a name server, and the switch has none that answers.
    let is_ipv6 = words.get(2).is_some_and(|word| word == "ipv6");
    let name = words
        .get(if is_ipv6 { 3 } else { 2 })
        .map_or("", String::as_str);
    if command.is_set() && !name.contains(['.', ':']) {
        return Reply::Invalid(command.identity - 1);
    }
    let key = words[..identity].join(" ");
    let vrf = words[..identity].iter().position(|word| word == "vrf");
    if let Some(vrf) = vrf.and_then(|at| words.get(at + 1))
        && command.is_set()
        && !session.device.has_vrf(vrf)
    {
        return Reply::Text(format!("% VRF {vrf} not configured."));
    }
    let options = words.split_off(identity);
    let (transport, port, rest): (&str, Option<&str>, &[String]) = match &options[..] {
        [word, transport, next, port, rest @ ..] if word == "transport" && next == "port" => {
            (transport, Some(port), rest)
        }
        [word, transport, rest @ ..] if word == "transport" => (transport, None, rest),
        rest => ("udp", None, rest),
    };
    match (transport, port) {
        ("udp", None | Some("514")) => {}
        ("tcp", None) => words.extend(["transport", "tcp", "port", "601"].map(str::to_owned)),
        (transport, port) => {
            let port = port.unwrap_or_default();
            words.extend(["transport", transport, "port", port].map(str::to_owned));
        }
    }
    words.extend_from_slice(rest);
    let mut text = words.join(" ");
    if session.device.profile.is_release_12() && words.len() == 3 && identity == 3 {
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
