//! The transport to devices of a platform.

/// The transport to devices of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Command lines over SSH.
    SshCli,
    /// JSON over HTTPS.
    Rest,
}

impl Transport {
    /// URL scheme of such a device in `device.conf`.
    pub fn url_scheme(self) -> &'static str {
        match self {
            Transport::SshCli => "ssh",
            Transport::Rest => "https",
        }
    }
}
