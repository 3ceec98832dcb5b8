//! Where a device is and how to log in: what a session needs, as plain data.
//!
//! Made from the inventory; the secrets in it are resolved.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// A device as a session sees it.
#[derive(Clone, Debug)]
pub struct ConnectParams {
    /// Name of the device, for messages.
    pub device: String,
    pub host: String,
    /// `None`: the platform's default port.
    pub port: Option<u16>,
    pub user: String,
    pub password: Option<SecretString>,
    /// Sent only when the device asks for it.
    pub enable_password: Option<SecretString>,
    pub ssh: SshOptions,
    pub rest: RestOptions,
    /// For TCP, handshake and authentication together.
    pub connect_timeout: Duration,
    /// For one command or request, counted from the last byte received.
    pub command_timeout: Duration,
    /// Where the masked dialogue is written, if anywhere.
    pub transcript: Option<PathBuf>,
}

impl ConnectParams {
    /// Every secret in it, for whoever must mask them.
    pub fn secrets(&self) -> Vec<&SecretString> {
        let own = [
            &self.password,
            &self.enable_password,
            &self.ssh.passphrase,
            &self.rest.token,
        ];
        let jump = self.ssh.jump.iter().flat_map(|jump| jump.secrets());
        own.into_iter().flatten().chain(jump).collect()
    }
}

/// What only SSH needs.
#[derive(Clone, Debug)]
pub struct SshOptions {
    pub private_key: Option<PathBuf>,
    pub passphrase: Option<SecretString>,
    /// The socket of the agent to ask for keys, as `SSH_AUTH_SOCK` names it.
    pub agent: Option<PathBuf>,
    pub host_key: HostKeyPolicy,
    pub algorithms: Algorithms,
    /// The host through which the device is reached.
    pub jump: Option<Box<ConnectParams>>,
}

impl Default for SshOptions {
    /// A password, where there is one; and no host is known yet.
    fn default() -> Self {
        Self {
            private_key: None,
            passphrase: None,
            agent: None,
            host_key: HostKeyPolicy::KnownHosts(Vec::new()),
            algorithms: Algorithms::default(),
            jump: None,
        }
    }
}

/// How a host key is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostKeyPolicy {
    /// It must be in one of these files; a changed or revoked key refuses.
    KnownHosts(Vec<PathBuf>),
    /// As above, but a host that is in none of the files is added to the last one.
    TrustOnFirstUse(Vec<PathBuf>),
    /// It must have this fingerprint, `SHA256:…`.
    Fingerprint(String),
    /// Not checked, with a warning in every run.
    Ignore,
}

/// Named sets of SSH algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Algorithms {
    #[default]
    Modern,
    /// With NIST curves, group14-sha1 and CBC ciphers.
    Compatible,
    /// With group1, 3DES and SHA-1 everywhere.
    Legacy,
}

/// What only REST needs.
#[derive(Clone, Debug, Default)]
pub struct RestOptions {
    /// A token that is already at hand; no login is made then.
    pub token: Option<SecretString>,
    pub login: RestLogin,
    pub login_provider: Option<String>,
    pub tls: TlsPolicy,
    /// Proxy URL; none is used unless given.
    pub proxy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RestLogin {
    /// Token, or basic where the device knows no tokens.
    #[default]
    Auto,
    Token,
    Basic,
}

/// How a server certificate is judged.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TlsPolicy {
    /// Against the system's trust anchors.
    #[default]
    System,
    /// Against the anchors in this PEM file only.
    CaFile(PathBuf),
    /// It must have this SHA-256 fingerprint, hex with or without colons.
    Fingerprint(String),
    /// The fingerprint of the first contact is stored in this file and required from then on.
    TrustOnFirstUse(PathBuf),
    /// Not checked, with a warning in every run.
    Ignore,
}
