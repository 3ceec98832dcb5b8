//! The transport to devices of a platform.

use crate::document::word_values;

/// The transport to devices of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Command lines over SSH.
    SshCli,
    /// JSON over HTTPS.
    Rest,
    /// XML over SSH: NETCONF.
    Netconf,
}

word_values!(Transport {
    "ssh-cli" => Transport::SshCli,
    "rest" => Transport::Rest,
    "netconf" => Transport::Netconf,
});
