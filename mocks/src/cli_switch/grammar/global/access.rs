//! Lines about authentication.

use super::{blocks, is_ios_xe};
use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix, global_rule_index};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, on, rule};
use crate::cli_switch::tree::Entry;

/// Users, and AAA.
pub(super) const RULES: &[Rule] = &[
    rule(
        "enable secret ! [0 | 5 | 8 | 9] <line>",
        Effect::Run(enable_secret),
    ),
    rule(
        "enable password ! [0 | 7] <line>",
        Effect::Run(enable_secret),
    ),
    rule(
        "username <word> ! (nopassword | privilege <0-15>)* [(secret | password) [0 | 5 | 7 | 8 | 9] <line>]",
        Effect::Run(username),
    ),
    // AAA: recordings i0760 (on, with lists) and i0737 (off); Cisco IOS Security Command Reference, "aaa ...".
    rule("aaa new-model", Effect::Run(aaa_new_model)),
    rule(
        "aaa group server tacacs+ <word>",
        Effect::Run(blocks::tacacs_group),
    ),
    rule(
        "aaa group server radius <word>",
        Effect::Run(blocks::radius_group),
    ),
    on(
        is_ios_xe,
        "aaa authentication suppress null-username",
        Effect::Run(aaa_line),
    ),
    rule(
        "aaa authentication (arap | dot1x | enable | eou | login | onep | ppp | sgbp) <word> ! (cache <word> | group <word> | local | local-case | enable | line | none | switch-auth)*",
        Effect::Run(aaa_methods),
    ),
    rule(
        "aaa authorization (auth-proxy | configuration | exec | network | reverse-access) <word> ! (group <word> | local | if-authenticated | none)*",
        Effect::Run(aaa_methods),
    ),
    rule(
        "aaa authorization commands <0-15> <word> ! (group <word> | local | if-authenticated | none)*",
        Effect::Run(aaa_methods),
    ),
    rule(
        "aaa accounting update ! (newinfo [periodic <1-2147483647>] | periodic <1-2147483647>)",
        Effect::Run(aaa_line),
    ),
    rule(
        "aaa accounting identity <word> ! (none | (start-stop | stop-only) [broadcast] (group <word>)*)",
        Effect::Run(aaa_identity),
    ),
    rule(
        "aaa accounting (auth-proxy | connection | dot1x | exec | network | onep | resource | system) <word> ! (none | (start-stop | stop-only) [broadcast] (group <word>)*)",
        Effect::Run(aaa_line),
    ),
    rule(
        "aaa accounting commands <0-15> <word> ! (none | (start-stop | stop-only) [broadcast] (group <word>)*)",
        Effect::Run(aaa_line),
    ),
    rule(
        "aaa session-id ! (common | unique)",
        Effect::Run(aaa_session_id),
    ),
];

/// Attempts to log in.
pub(super) const LOGIN: &[Rule] = &[
    // Cisco IOS Security Command Reference, "login block-for", "login on-failure".
    rule(
        "login block-for ! <1-65535> attempts <1-65535> within <1-65535>",
        Effect::Store,
    ),
    rule("login delay ! <1-10>", Effect::Store),
    rule("login quiet-mode access-class ! <word>", Effect::Store),
    rule(
        "login (on-failure | on-success) (log | trap) ! [every <1-65535>]",
        Effect::Store,
    ),
];

/// The mock does not hash. A fixed value in hash format replaces each secret in clear text.
fn stored_secret(words: &[String]) -> String {
    match words {
        [kind, form, secret] if form != "0" => format!("{kind} {form} {secret}"),
        [kind, .., secret] if kind == "secret" => {
            let mark: u32 = secret.bytes().fold(0x811c_9dc5, |hash, byte| {
                (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
            });
            format!("secret 9 $9${mark:08x}${mark:08x}mock")
        }
        [kind, .., secret] => format!("{kind} 0 {secret}"),
        _ => words.join(" "),
    }
}

fn enable_secret(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    if command.is_set() {
        root.set(command.entry(format!("enable {}", stored_secret(&command.words[1..]))));
    } else {
        root.remove(&command.identity_text());
    }
    Reply::Silent
}

/// The words about the user, and those from `secret` or `password` on.
fn split_secret(words: &[String]) -> (&[String], &[String]) {
    let secret = words
        .iter()
        .position(|word| word == "secret" || word == "password");
    words.split_at(secret.unwrap_or(words.len()))
}

/// Cisco IOS Security Command Reference, "username"; recording i0760, with a hash.
fn username(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        if !command.confirmed {
            return Reply::Ask(
                "This operation will remove all username related configurations with same name.Do you want to continue? [confirm]"
                    .to_owned(),
            );
        }
        return session.remove(command);
    }
    let rest = &command.words[command.identity..];
    if rest.is_empty() {
        return Reply::Incomplete;
    }
    // A further line adds to the user. The default level is not printed.
    let root = &session.device.configuration.root;
    let before = root.value(&identity).unwrap_or_default();
    let before: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
    let (old_options, old_secret) = split_secret(&before);
    let (options, secret) = split_secret(rest);
    let mut words = vec![identity];
    let options = if options.is_empty() {
        old_options
    } else {
        options
    };
    if options.join(" ") != "privilege 1" {
        words.extend(options.iter().cloned());
    }
    match (secret, old_secret) {
        ([kind, ..], [old, ..]) if kind != old => {
            return Reply::Text(
                "ERROR: Can not have both a user password and a user secret.\nPlease choose one or the other."
                    .to_owned(),
            );
        }
        ([], old) => words.extend(old.iter().cloned()),
        (secret, _) => words.push(stored_secret(secret)),
    }
    session.set(command.entry(words.join(" ")))
}

/// Whether `aaa new-model` is set. A device prints its `no` form, too.
pub(super) fn has_aaa(session: &ConfigSession<'_>) -> bool {
    let root = &session.device.configuration.root;
    root.find("aaa new-model")
        .is_some_and(|entry| entry.text == entry.identity)
}

/// The type of session identifiers is printed from now on. Back to `no aaa new-model` after a confirmation.
fn aaa_new_model(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let before = has_aaa(session);
    if command.is_set() {
        if !before {
            session.set(Entry::line(
                global_rule_index("aaa session-id").unwrap_or_default(),
                "aaa session-id",
                "aaa session-id common",
            ));
        }
        return session.set(command.entry(command.text()));
    }
    if before && !command.confirmed {
        return Reply::Ask(
            "Changing configuration back to no aaa new-model is not supported.\nContinue?[confirm]"
                .to_owned(),
        );
    }
    let root = &mut session.device.edit().root;
    root.retain(|entry| !entry.identity.starts_with("aaa "));
    session.set(command.entry(format!("no {}", command.identity_text())))
}

/// A line that requires `aaa new-model`.
fn aaa_line(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !has_aaa(session) {
        return Reply::Invalid(1);
    }
    if command.is_set() {
        session.set(command.entry(command.text()))
    } else {
        session.remove(command)
    }
}

/// A list of at least one method.
fn aaa_methods(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.words.len() == command.identity {
        return Reply::Incomplete;
    }
    aaa_line(session, command)
}

fn aaa_identity(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && !command.confirmed {
        return Reply::Ask(
            "This operation will permanently convert all relevant authentication commands to their CPL control-policy equivalents. Do you wish to continue? [yes]:"
                .to_owned(),
        );
    }
    aaa_line(session, command)
}

/// The default is printed.
fn aaa_session_id(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !has_aaa(session) {
        return Reply::Invalid(1);
    }
    let identity = command.identity_text();
    let kind = match command.sign {
        LinePrefix::Set => command.word(2),
        LinePrefix::No | LinePrefix::Default => "common",
    };
    session.set(command.entry(format!("{identity} {kind}")))
}
