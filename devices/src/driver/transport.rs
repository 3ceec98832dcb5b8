//! The transport to devices of a platform.

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
