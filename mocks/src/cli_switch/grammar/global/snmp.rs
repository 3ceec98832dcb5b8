//! Lines about SNMP.

use super::{is_classic_ios, is_ios_xe};
use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::device::SnmpUser;
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, on, rule};
use crate::cli_switch::tree::Entry;

/// Communities, users, receivers of traps.
pub(super) const RULES: &[Rule] = &[
    // SNMP: SNMP Command Reference IOS XE 3SE, "snmp-server manager"; Command Reference Catalyst 3650, "snmp-server host".
    rule("snmp-server ! <never>", Effect::Run(no_snmp)),
    on(
        is_ios_xe,
        "snmp-server community <word> ! [view <word>] (RO | RW) [ipv6 <word>] [<word>]",
        Effect::Run(snmp_community),
    ),
    on(
        is_classic_ios,
        "snmp-server community <word> ! [view <word>] [RO | RW] [ipv6 <word>] [<word>]",
        Effect::Run(snmp_community),
    ),
    // IPv6 Command Reference, "snmp-server user"; recorded output of `show snmp user`.
    rule(
        "snmp-server user <word> <word> (v1 | v2c) ! [access <word>]",
        Effect::Store,
    ),
    rule(
        "snmp-server user <word> <word> v3 ! [encrypted] [auth (md5 | sha) <word> [priv (aes (128 | 192 | 256) | des | 3des) <word>]] [access [ipv6 <word>] [<word>]]",
        Effect::Run(snmp_user),
    ),
    rule("snmp-server trap-source ! <interface>", Effect::Store),
    rule("snmp-server location ! <line>", Effect::Store),
    rule("snmp-server contact ! <line>", Effect::Store),
    rule("snmp-server system-shutdown", Effect::Store),
    rule("snmp-server enable traps [<line>]", Effect::Run(snmp_traps)),
    rule(
        "snmp-server host <host> [vrf <word>] [traps | informs] [version (1 | 2c | 3 (auth | noauth | priv))] <word> [udp-port <1-65535>] [<line>]",
        Effect::Run(snmp_host),
    ),
    rule("snmp-server manager", Effect::Store),
    rule(
        "snmp-server manager session-timeout ! <10-2147483>",
        Effect::Unless("snmp-server manager session-timeout 600"),
    ),
    rule("snmp ifmib ifindex persist", Effect::Store),
];

fn no_snmp(session: &mut ConfigSession<'_>, _: &Command) -> Reply {
    session
        .device
        .edit()
        .root
        .retain(|entry| !entry.identity.starts_with("snmp-server"));
    Reply::Silent
}

fn snmp_community(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
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

/// Kinds of notifications that are enabled one by one, in the order in which the device prints them
/// (`docs/reference/devices/cisco_ios.md`, section 8).
const NOTIFICATIONS: [(&str, &[&str]); 8] = [
    (
        "snmp",
        &[
            "authentication",
            "linkdown",
            "linkup",
            "coldstart",
            "warmstart",
        ],
    ),
    (
        "envmon",
        &["fan", "shutdown", "supply", "temperature", "status"],
    ),
    (
        "stpx",
        &["inconsistency", "root-inconsistency", "loop-inconsistency"],
    ),
    ("bridge", &["newroot", "topologychange"]),
    ("flash", &["insertion", "removal"]),
    (
        "cef",
        &[
            "resource-failure",
            "peer-state-change",
            "peer-fib-state-change",
            "inconsistency",
        ],
    ),
    ("cpu", &["threshold"]),
    ("transceiver", &["all"]),
];

/// The word of a kind enables or disables all of its notifications; one line has those that are enabled.
fn snmp_traps(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let text = command.text();
    let words: Vec<&str> = text.split_whitespace().skip(3).collect();
    let root = &mut session.device.edit().root;
    let kind = words.first().copied().unwrap_or_default();
    let Some((_, all)) = NOTIFICATIONS.iter().find(|(name, _)| *name == kind) else {
        if command.is_set() {
            root.set(Entry::line(command.rule, text.clone(), text));
        } else {
            root.retain(|entry| {
                let rest = entry.text.strip_prefix(&text);
                !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            });
        }
        return Reply::Silent;
    };
    let named = &words[1..];
    if named.iter().any(|word| !all.contains(word)) {
        return Reply::Invalid(4);
    }
    let identity = format!("snmp-server enable traps {kind}");
    let before = root.value(&identity).unwrap_or_default().to_owned();
    let was_enabled = |word: &str| before.split_whitespace().any(|other| other == word);
    let is_named = |word: &str| named.is_empty() || named.contains(&word);
    let enabled = all.iter().filter(|word| {
        if command.is_set() {
            was_enabled(word) || is_named(word)
        } else {
            was_enabled(word) && !is_named(word)
        }
    });
    let enabled: Vec<&str> = enabled.copied().collect();
    if enabled.is_empty() {
        root.remove(&identity);
    } else {
        let text = format!("{identity} {}", enabled.join(" "));
        root.set(Entry::line(command.rule, identity, text));
    }
    Reply::Silent
}

/// A user of SNMPv3 is no line of the configuration. It is in one group (RFC 3415, vacmSecurityToGroupTable).
fn snmp_user(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
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
            access: after("access").map(<[String]>::to_vec).unwrap_or_default(),
        },
    );
    Reply::Silent
}

/// Host, VRF, user and port identify a receiver. Notifications, the default, are not printed.
fn snmp_host(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
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
