//! Stages of a connection before its first command.

use std::fmt;

use super::{FaultKind, MockKind};

/// A stage of a connection, written `<connect>`, `<login>` or `<shell>` in the argument of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStage {
    /// The TCP connection is accepted, and neither side has sent anything.
    Connect,
    /// A switch has received a password or a key. The login of a load balancer is a request.
    Login,
    /// A switch prints its banner and first prompt.
    Shell,
}

impl ConnectionStage {
    const ALL: [ConnectionStage; 3] = [Self::Connect, Self::Login, Self::Shell];

    /// The stage of a text, without any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|stage| stage.to_string() == text)
    }

    /// Whether a fault can occur at this stage of a mock.
    pub(super) fn supports(self, kind: FaultKind, mock: MockKind) -> bool {
        let ends = matches!(kind, FaultKind::DropAfter | FaultKind::StallAfter);
        let prints = matches!(
            kind,
            FaultKind::GarbageAfter
                | FaultKind::DripBytes
                | FaultKind::DripLines
                | FaultKind::Flood
        );
        match (self, mock) {
            (Self::Connect, _) | (Self::Shell, MockKind::Switch) => ends || prints,
            (Self::Login, MockKind::Switch) => ends,
            _ => false,
        }
    }
}

impl fmt::Display for ConnectionStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Connect => "<connect>",
            Self::Login => "<login>",
            Self::Shell => "<shell>",
        })
    }
}
