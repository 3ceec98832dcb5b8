//! The log of the host: a datagram per message to `/dev/log`, which the journal and all syslog daemons read.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use switchtender_devices::printable::escape;

/// The socket of the journal, or of another syslog daemon.
pub(crate) const SOCKET: &str = "/dev/log";

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facility {
    Daemon = 3,
    /// Logins and actions of users.
    AuthPriv = 10,
}

/// An open log.
pub(crate) struct Syslog(UnixDatagram);

impl Syslog {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        // A blocked log daemon delays nothing.
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Sends a message with a severity of syslog, 0 to 7.
    pub(crate) fn send(&self, facility: Facility, severity: u8, text: &str) -> io::Result<()> {
        let priority = facility as u8 * 8 + severity;
        let process = std::process::id();
        let line = format!("<{priority}>switchtender[{process}]: {text}");
        self.0.send(escape(&line).as_bytes()).map(drop)
    }
}
