//! Absolute limits of sessions, as data. They also end the wait for a device that sends without end.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::document::keys;

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

keys! {
    /// Limits of a session; a device may set other durations.
    pub(crate) struct LimitKeys {
        /// Seconds for connection and login.
        login: Option<NonZeroU32>,
        /// Seconds for one command or request.
        command: Option<NonZeroU32>,
        /// Seconds for the run of a device.
        run: Option<NonZeroU32>,
        /// Questions of one command.
        questions: Option<NonZeroU32>,
        /// Pages of one answer.
        pages: Option<NonZeroU32>,
        /// Bytes without the end of a line.
        line_bytes: Option<NonZeroU32>,
    }
}

impl From<Option<LimitKeys>> for SessionLimits {
    fn from(keys: Option<LimitKeys>) -> Self {
        let default = Self::default();
        let Some(keys) = keys else {
            return default;
        };
        let seconds = |number: Option<NonZeroU32>, default| {
            number.map_or(default, |number| Duration::from_secs(number.get().into()))
        };
        let count = |number: Option<NonZeroU32>, default| {
            number.map_or(default, |number| number.get() as usize)
        };
        Self {
            login: seconds(keys.login, default.login),
            command: seconds(keys.command, default.command),
            run: seconds(keys.run, default.run),
            questions: count(keys.questions, default.questions),
            pages: count(keys.pages, default.pages),
            line_bytes: count(keys.line_bytes, default.line_bytes),
        }
    }
}
