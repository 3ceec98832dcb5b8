//! Lines about static routes and prefix lists.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;

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
