//! What begins and ends the sessions of a platform: what a mock must accept.

use switchtender_outline::RestSession;

use crate::dialogue::Dialect;
use crate::driver::platform::Platform;

/// The sessions of a platform.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionOutline {
    /// A command line.
    CommandLine,
    /// REST.
    Rest(Box<RestSession>),
    /// NETCONF.
    Netconf,
}

impl Platform {
    /// What begins and ends the sessions.
    pub fn session_outline(&self) -> SessionOutline {
        match &self.protocol.dialect {
            Dialect::Cli(_) => SessionOutline::CommandLine,
            Dialect::Rest(rules) => SessionOutline::Rest(Box::new(rules.outline())),
            Dialect::Netconf(_) => SessionOutline::Netconf,
        }
    }
}
