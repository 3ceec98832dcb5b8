//! Banners: texts of several lines between two delimiters.

use super::place_of;
use crate::cli_switch::configure::{Command, Configuring};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::Entry;

pub fn banner(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return configuring.remove(command);
    }
    let typed = command.word(2);
    let Some(delimiter) = typed.chars().next() else {
        return Reply::Incomplete;
    };
    Reply::Collect {
        identity,
        begun: typed[delimiter.len_utf8()..].to_owned(),
        delimiter: delimiter.to_string(),
    }
}

/// Stores a banner whose text is complete; the device prints the delimiter as two characters.
pub fn set_banner(configuring: &mut Configuring<'_>, identity: &str, text: &str) {
    let Some(rule) = place_of(identity) else {
        return;
    };
    let root = &mut configuring.device.edit().root;
    if text.is_empty() {
        root.remove(identity);
    } else {
        root.set(Entry::line(
            rule,
            identity,
            format!("{identity} ^C{text}^C"),
        ));
    }
}
