//! Lines about static routes and prefix lists.

use crate::cli_switch::configure::{Command, ConfigSession, LinePrefix};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::grammar::block_kind::BlockKind;

/// The default distance is not printed.
pub(super) fn route(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    if command.word(2) == "vrf" && !session.device.has_vrf(command.word(3)) {
        return Reply::Text(format!("% VRF {} not configured.", command.word(3)));
    }
    let mut words = command.words.clone();
    if words.get(command.identity).is_some_and(|word| word == "1") {
        words.remove(command.identity);
    }
    session.set(command.entry(words.join(" ")))
}

/// A number is taken until its entry is removed.
pub(super) fn prefix_list_entry(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let root = &session.device.configuration.root;
    let other = root.find(&command.identity_text());
    if other.is_some_and(|other| other.text != command.text()) {
        return Reply::Text("%Insertion failed - seq # exists".to_owned());
    }
    session.set(command.entry(command.text()))
}

/// Ports whose broadcasts a device forwards by default ("ip forward-protocol" in the Cisco IOS IP Application Services
/// Command Reference).
const FORWARDED: [&str; 6] = [
    "domain",
    "netbios-dgm",
    "netbios-ns",
    "tacacs",
    "tftp",
    "time",
];

/// The ports that are forwarded by default are printed if they are not.
pub(super) fn forwarded_port(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let is_default = FORWARDED.contains(&command.word(3));
    let text = match (command.sign, is_default) {
        (LinePrefix::Set, false) => command.text(),
        (LinePrefix::No, true) => format!("no {}", command.text()),
        _ => return session.remove(command),
    };
    session.set(command.entry(text))
}

/// A process without a name is printed without one.
pub(super) fn isis(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut command = command.clone();
    command.identity = command.words.len();
    if !command.is_set() {
        return session.remove(&command);
    }
    session.enter(BlockKind::Isis, &command);
    Reply::Silent
}

/// The protocol is printed.
pub(super) fn targeted(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    session.set(command.entry(format!("{} ldp", command.identity_text())))
}
