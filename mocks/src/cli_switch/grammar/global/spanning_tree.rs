//! Lines about the spanning tree.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::device::Mode;
use crate::cli_switch::effect::Reply;
use crate::cli_switch::tree::{Block, Entry};

/// Priorities are multiples of 4096.
pub(super) fn priority(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let priority = command
        .words
        .last()
        .and_then(|word| word.parse::<u32>().ok());
    if priority.is_none_or(|priority| !priority.is_multiple_of(4096)) {
        return Reply::Text(
            "% Bridge Priority must be in increments of 4096.\n% Allowed values are:\n  0     4096  8192  12288 16384 20480 24576 28672\n  32768 36864 40960 45056 49152 53248 57344 61440"
                .to_owned(),
        );
    }
    session.set(command.entry(command.text()))
}

/// Images with types of ports print `edge` in the lines of PortFast.
pub(crate) fn portfast(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mut words = command.words.clone();
    if session.device.profile.has_port_types()
        && !["edge", "network", "disable"].contains(&command.word(2))
    {
        words.insert(2, "edge".to_owned());
    }
    let identity = match command.identity {
        2 => command.identity_text(),
        _ => words.join(" "),
    };
    if command.is_set() {
        let entry = Entry::line(command.rule, identity, words.join(" "));
        session.block().set(entry);
    } else {
        session.block().remove(&identity);
    }
    Reply::Silent
}

/// `spanning-tree mst configuration`, the block of the MST region.
pub(super) fn region(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return session.remove(command);
    }
    if session.device.configuration.root.find(&identity).is_none() {
        session.set(Entry {
            block: Some(Block::default()),
            ..command.entry(command.text())
        });
    }
    session.position.mode = Mode::Region;
    Reply::Silent
}
