//! Absolute limits of sessions, as data. They also end the wait for a device that sends without end.

use std::time::Duration;

use crate::document::Table;

/// Absolute limits of a platform's sessions. A device may set other durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionLimits {
    /// Connection and login, up to the mode for reads or the token.
    pub(crate) login: Duration,
    /// One command or request, from the answer before it to its own.
    pub(crate) command: Duration,
    /// The run of a device, from its connection.
    pub(crate) run: Duration,
    /// Questions and requests for a secret that one command may cause.
    pub(crate) questions: usize,
    /// Keys for the next page that one command may need.
    pub(crate) pages: usize,
    /// Bytes without a line end.
    pub(crate) line_bytes: usize,
}

impl Default for SessionLimits {
    /// The limits of a platform that sets none.
    fn default() -> Self {
        Self {
            login: Duration::from_mins(2),
            command: Duration::from_mins(10),
            run: Duration::from_hours(1),
            questions: 20,
            pages: 10_000,
            line_bytes: 1 << 20,
        }
    }
}

impl SessionLimits {
    /// Reads `limits` from the table `[connection]`. Mistakes become findings of the table.
    pub(super) fn read(connection: &Table<'_>) -> Self {
        let default = Self::default();
        let Some(table) = connection.table("limits") else {
            return default;
        };
        let number = |key: &str| {
            let item = table.get(key)?;
            let number = item.integer()?;
            let number = u32::try_from(number).ok().filter(|number| *number > 0);
            if number.is_none() {
                item.error("bad-number", format!("`{key}` must be 1 or more"));
            }
            number
        };
        let seconds = |key: &str, default: Duration| {
            number(key).map_or(default, |seconds| Duration::from_secs(seconds.into()))
        };
        let count = |key: &str, default: usize| number(key).map_or(default, |count| count as usize);
        let limits = Self {
            login: seconds("login", default.login),
            command: seconds("command", default.command),
            run: seconds("run", default.run),
            questions: count("questions", default.questions),
            pages: count("pages", default.pages),
            line_bytes: count("line_bytes", default.line_bytes),
        };
        table.finish();
        limits
    }
}
