//! Lines about authentication.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;

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

pub(super) fn enable_secret(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    if command.is_set() {
        root.set(command.entry(format!("enable {}", stored_secret(&command.words[1..]))));
    } else {
        root.remove(&command.identity_text());
    }
    Reply::Silent
}

pub(super) fn username(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
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
    let secret = rest
        .iter()
        .position(|word| word == "secret" || word == "password")
        .unwrap_or(rest.len());
    let mut words = vec![identity];
    words.extend(rest[..secret].iter().cloned());
    if secret < rest.len() {
        words.push(stored_secret(&rest[secret..]));
    }
    session.set(command.entry(words.join(" ")))
}

pub(super) fn aaa_new_model(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let is_set = session
        .device
        .configuration
        .root
        .find("aaa new-model")
        .is_some();
    if is_set == command.is_set() {
        return Reply::Silent;
    }
    if !command.confirmed {
        return Reply::Ask(
            "This changes how sessions are authenticated. Continue? [confirm]".to_owned(),
        );
    }
    let root = &mut session.device.edit().root;
    if command.is_set() {
        root.set(command.entry(command.text()));
    } else {
        root.retain(|entry| !entry.identity.starts_with("aaa "));
    }
    Reply::Silent
}

/// A line that requires `aaa new-model`.
pub(super) fn aaa_line(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &session.device.configuration.root;
    if root.find("aaa new-model").is_none() {
        return Reply::Invalid(1);
    }
    if command.is_set() {
        session.set(command.entry(command.text()))
    } else {
        session.remove(command)
    }
}

/// A list of at least one method.
pub(super) fn aaa_methods(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && command.words.len() == command.identity {
        return Reply::Incomplete;
    }
    aaa_line(session, command)
}

pub(super) fn aaa_identity(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if command.is_set() && !command.confirmed {
        return Reply::Ask(
            "This operation will permanently convert all relevant authentication commands to their CPL control-policy equivalents. Do you wish to continue? [yes]:"
                .to_owned(),
        );
    }
    aaa_line(session, command)
}

/// The default is not printed.
pub(super) fn aaa_session_id(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let reply = aaa_line(session, command);
    if command.word(2) == "common" && reply == Reply::Silent {
        return session.remove(command);
    }
    reply
}
