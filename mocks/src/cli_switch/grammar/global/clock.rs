//! Time zone of the clock.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;

/// A day of a month by its week, and the month.
macro_rules! week_day {
    () => {
        "(<1-4> | first | last) (Fri | Mon | Sat | Sun | Thu | Tue | Wed) (Apr | Aug | Dec | Feb | Jan | Jul | Jun | Mar | May | Nov | Oct | Sep)"
    };
}
pub(super) use week_day;

/// The device prints the minutes always.
pub(super) fn timezone(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let minutes = if command.word(4).is_empty() { " 0" } else { "" };
    session.set(command.entry(format!("{}{minutes}", command.text())))
}
