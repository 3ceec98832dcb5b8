//! The terminal lines of a device: who is logged in, and who configures.

/// A session on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TerminalLine {
    /// The number of the line, from 0.
    pub(crate) number: u64,
    /// The connection in the log; `None`: the session of somebody whose connection is not shown.
    connection: Option<u64>,
    pub(crate) user: String,
    /// It is in the configuration mode.
    configures: bool,
}

/// The lines that are in use.
#[derive(Debug, Default)]
pub(crate) struct TerminalLines {
    lines: Vec<TerminalLine>,
    /// The lines of connections that were lost stay in use, as on a device whose peer has vanished.
    pub(crate) keeps_lost: bool,
}

impl TerminalLines {
    /// Takes the first free line. Returns its number.
    pub(crate) fn occupy(&mut self, connection: Option<u64>, user: &str) -> u64 {
        let is_free = |number: &u64| self.lines.iter().all(|line| line.number != *number);
        let number = (0..).find(is_free).unwrap_or(0);
        self.lines.push(TerminalLine {
            number,
            connection,
            user: user.to_owned(),
            configures: false,
        });
        self.lines.sort_by_key(|line| line.number);
        number
    }

    /// The end of a connection, lost or after a logout.
    pub(crate) fn release(&mut self, connection: u64, in_order: bool) {
        if in_order || !self.keeps_lost {
            self.lines
                .retain(|line| line.connection != Some(connection));
        }
    }

    /// Ends the session on a line.
    pub(crate) fn clear(&mut self, number: u64) -> bool {
        let count = self.lines.len();
        self.lines.retain(|line| line.number != number);
        self.lines.len() < count
    }

    /// The line of a connection; `None`: somebody has ended its session.
    pub(crate) fn line(&self, connection: u64) -> Option<&TerminalLine> {
        let mut lines = self.lines.iter();
        lines.find(|line| line.connection == Some(connection))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TerminalLine> {
        self.lines.iter()
    }

    pub(crate) fn set_configures(&mut self, connection: u64, configures: bool) {
        let mut lines = self.lines.iter_mut();
        if let Some(line) = lines.find(|line| line.connection == Some(connection)) {
            line.configures = configures;
        }
    }

    /// Another session in the configuration mode.
    pub(crate) fn other_in_configuration(&self, connection: u64) -> Option<&TerminalLine> {
        let mut lines = self.lines.iter();
        lines.find(|line| line.configures && line.connection != Some(connection))
    }
}
