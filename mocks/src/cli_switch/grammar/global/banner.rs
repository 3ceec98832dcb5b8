//! Banners: texts of several lines between two delimiters.

use crate::cli_switch::configure::{Command, ConfigSession, global_rule_index};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, rule};
use crate::cli_switch::tree::Entry;

/// The banners.
pub(super) const RULES: &[Rule] = &[
    rule("banner exec ! <raw>", Effect::Run(banner)),
    rule("banner incoming ! <raw>", Effect::Run(banner)),
    rule("banner login ! <raw>", Effect::Run(banner)),
    rule("banner motd ! <raw>", Effect::Run(banner)),
    rule("banner prompt-timeout ! <raw>", Effect::Run(banner)),
    rule("banner slip-ppp ! <raw>", Effect::Run(banner)),
];

fn banner(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return session.remove(command);
    }
    let typed = command.word(2);
    let Some(delimiter) = typed.chars().next() else {
        return Reply::Incomplete;
    };
    Reply::Collect {
        identity,
        started: typed[delimiter.len_utf8()..].to_owned(),
        delimiter: delimiter.to_string(),
    }
}

/// Stores a complete banner. The device prints the delimiter as two characters.
pub(crate) fn set_banner(session: &mut ConfigSession<'_>, identity: &str, text: &str) {
    let Some(rule) = global_rule_index(identity) else {
        return;
    };
    let root = &mut session.device.edit().root;
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
