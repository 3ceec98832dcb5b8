//! Keys, and their obfuscation when stored.

use super::ntp::hidden_ntp_key;
use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;
use crate::cli_switch::type7;

/// Identities of the lines whose key has several formats.
const WITH_FORM: [&str; 3] = ["radius-server key", "tacacs-server key", "key"];

pub(crate) fn password_encryption(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let root = &mut session.device.edit().root;
    if !command.is_set() {
        root.remove("service password-encryption");
        return Reply::Silent;
    }
    root.set(command.entry(command.text()));
    // Existing keys are obfuscated too. Disabling it does not restore them.
    for entry in root.entries_mut() {
        if entry.identity.starts_with("ntp authentication-key") {
            entry.text = hidden_ntp_key(&entry.text);
        }
        hide(entry);
        for line in entry.block.iter_mut().flat_map(|block| block.entries_mut()) {
            hide(line);
        }
    }
    Reply::Silent
}

fn hide(entry: &mut Entry) {
    if !WITH_FORM.contains(&entry.identity.as_str()) {
        return;
    }
    let stored = entry.text[entry.identity.len()..].trim_start();
    if !stored.starts_with("6 ") && !stored.starts_with("7 ") {
        entry.text = format!("{} 7 {}", entry.identity, type7::encode(stored));
    }
}

/// A key in one of several formats: clear text (`0`, or no word), AES (`6`), obfuscated (`7`). Clear text is
/// printed without its number.
pub(crate) fn key(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let (form, secret) = match &command.words[command.identity..] {
        [form, secret] => (form.as_str(), secret),
        [secret] => ("0", secret),
        _ => return Reply::Incomplete,
    };
    let stored = match form {
        "7" if type7::decode(secret).is_none() => {
            return Reply::Text("% Invalid encrypted password".to_owned());
        }
        "6" | "7" => format!("{form} {secret}"),
        _ if session.device.hides_keys() => format!("7 {}", type7::encode(secret)),
        _ => secret.clone(),
    };
    session
        .block()
        .set(command.entry(format!("{identity} {stored}")));
    Reply::Silent
}
