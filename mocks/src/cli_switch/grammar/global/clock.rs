//! Time zone of the clock.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::{Rule, rule};

/// A day of a month by its week, and the month.
macro_rules! week_day {
    () => {
        "(<1-4> | first | last) (Fri | Mon | Sat | Sun | Thu | Tue | Wed) (Apr | Aug | Dec | Feb | Jan | Jul | Jun | Mar | May | Nov | Oct | Sep)"
    };
}

/// The clock.
pub(super) const RULES: &[Rule] = &[
    // Cisco IOS Basic System Management Command Reference, "clock ...".
    rule(
        "clock timezone ! <word> <hours> [<0-59>]",
        Effect::Run(timezone),
    ),
    rule(
        concat!(
            "clock summer-time ! <word> (recurring [",
            week_day!(),
            " <word> ",
            week_day!(),
            " <word> [<1-1440>]] | date <1-31> <word> <1993-2035> <word> <1-31> <word> <1993-2035> <word> [<1-1440>])"
        ),
        Effect::Store,
    ),
    rule("clock calendar-valid", Effect::Store),
];

/// The device prints the minutes always.
fn timezone(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let minutes = if command.word(4).is_empty() { " 0" } else { "" };
    session.set(command.entry(format!("{}{minutes}", command.text())))
}
