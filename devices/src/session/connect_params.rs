//! Address and credentials of a device: the parameters of a session.
//!
//! Made from the inventory, with resolved secrets.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::deadline::{Deadline, StopCause};
use super::fence::Fence;
use super::ledger::{LockWait, SessionLedger};
use super::recorder::RecordingFile;
use crate::clock;
use crate::dialogue::{HostnamePattern, LineTransport};
use crate::secret_mask::SecretMask;
use crate::secret_url::SecretUrl;

/// Parameters for a session with one device.
#[derive(Clone, Debug)]
pub struct ConnectParams {
    /// Name of the device, for messages.
    pub device: String,
    /// Host name or address.
    pub host: String,
    /// `None`: the platform's default port.
    pub port: Option<u16>,
    /// User to log in as.
    pub user: String,
    /// Its password.
    pub password: Option<SecretString>,
    /// Sent only when the device requests it.
    pub enable_password: Option<SecretString>,
    /// The host name in prompts; `None`: as the platform recognizes it.
    pub prompt: Option<HostnamePattern>,
    /// How the lines of a command line travel.
    pub transport: LineTransport,
    /// Options of SSH.
    pub ssh: SshOptions,
    /// Options of REST.
    pub rest: RestOptions,
    /// For TCP, handshake and authentication together.
    pub connect_timeout: Duration,
    /// For one command or request, counted from the last byte received.
    pub command_timeout: Duration,
    /// Absolute limits that differ from those of the platform.
    pub limits: LimitSettings,
    /// The end of the run.
    pub deadline: Deadline,
    /// Asked before each write.
    pub fence: Arc<dyn Fence>,
    /// Records the sessions that write.
    pub ledger: Arc<dyn SessionLedger>,
    /// How long a session waits for a lock of the device.
    pub lock_wait: LockWait,
    /// File for the masked transcript.
    pub transcript: Option<PathBuf>,
    /// File for the masked recording.
    pub recording: Option<RecordingFile>,
    /// Secrets that are masked in transcripts and messages; those of this connection are added.
    pub mask: SecretMask,
}

/// Absolute limits of a device. `None`: the limit of its platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitSettings {
    /// For connection and login together, with all jump hosts.
    pub login: Option<Duration>,
    /// For one command or request.
    pub command: Option<Duration>,
    /// For the run, from the connection.
    pub run: Option<Duration>,
}

/// Duration of the read after a run was stopped during a change.
const FINAL_READ_LIMIT: Duration = Duration::from_secs(10);
/// Timeouts of that read.
const FINAL_READ_TIMEOUT: Duration = Duration::from_secs(5);

impl ConnectParams {
    /// The parameters of the read after the run was stopped: it has a short limit of its own, from
    /// now.
    #[must_use]
    pub fn for_final_read(&self) -> Self {
        let deadline = Deadline::default();
        deadline.end_at(clock::instant() + FINAL_READ_LIMIT, StopCause::Requested);
        let jump = self.ssh.jump.as_ref();
        let jump = jump.map(|jump| Box::new(jump.for_final_read()));
        Self {
            ssh: SshOptions {
                jump,
                ..self.ssh.clone()
            },
            connect_timeout: self.connect_timeout.min(FINAL_READ_TIMEOUT),
            command_timeout: self.command_timeout.min(FINAL_READ_TIMEOUT),
            deadline,
            ..self.clone()
        }
    }

    /// The limit of connection and login together, with all jump hosts.
    pub(crate) fn connect_limit(&self) -> Duration {
        let jump = self.ssh.jump.as_ref();
        let jumps = jump.map(|jump| jump.connect_limit()).unwrap_or_default();
        self.connect_timeout.saturating_add(jumps)
    }

    /// All secrets, to mask them in output.
    pub fn secrets(&self) -> Vec<SecretString> {
        let own = [
            &self.password,
            &self.enable_password,
            &self.ssh.passphrase,
            &self.rest.token,
        ];
        let proxy = self.rest.proxy.iter().flat_map(SecretUrl::secrets);
        let jump = self.ssh.jump.iter().flat_map(|jump| jump.secrets());
        own.into_iter()
            .flatten()
            .cloned()
            .chain(proxy)
            .chain(jump)
            .collect()
    }
}

/// Options of SSH sessions.
#[derive(Clone, Debug)]
pub struct SshOptions {
    /// File of the private key.
    pub private_key: Option<PathBuf>,
    /// Passphrase of the private key.
    pub passphrase: Option<SecretString>,
    /// Socket of the SSH agent, as in `SSH_AUTH_SOCK`.
    pub agent: Option<PathBuf>,
    /// Verification of the host key.
    pub host_key: HostKeyPolicy,
    /// The algorithms to offer.
    pub algorithms: Algorithms,
    /// The jump host.
    pub jump: Option<Box<ConnectParams>>,
}

impl Default for SshOptions {
    /// Password login, and no known hosts.
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

/// Verification of a host key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostKeyPolicy {
    /// The key must be in one of these files; a changed or revoked key is refused.
    KnownHosts(Vec<PathBuf>),
    /// As above, but the key of an unknown host is added to the last file.
    TrustOnFirstUse(Vec<PathBuf>),
    /// The key must have this fingerprint, `SHA256:…`.
    Fingerprint(String),
    /// No verification, with a warning in every run.
    Ignore,
}

/// Named sets of SSH algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Algorithms {
    /// No SHA-1, no CBC.
    #[default]
    Modern,
    /// Adds NIST curves, group14-sha1 and CBC ciphers.
    Compatible,
    /// Adds group1, 3DES and SHA-1 everywhere.
    Legacy,
}

/// Options of REST sessions.
#[derive(Clone, Debug, Default)]
pub struct RestOptions {
    /// An existing token, which replaces the login.
    pub token: Option<SecretString>,
    /// How to log in.
    pub login: RestLogin,
    /// Authentication provider, if not the platform's default.
    pub login_provider: Option<String>,
    /// Verification of the server certificate.
    pub tls: TlsPolicy,
    /// Proxy URL.
    pub proxy: Option<SecretUrl>,
    /// Unix socket of the interface, instead of address and port. Requests are plain HTTP.
    pub socket: Option<PathBuf>,
}

/// How requests are authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RestLogin {
    /// By a token, or by user and password if the device has no tokens.
    #[default]
    Auto,
    /// By a token.
    Token,
    /// By user and password in each request.
    Basic,
}

/// Verification of a server certificate.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TlsPolicy {
    /// With the CA certificates of the system.
    #[default]
    System,
    /// With the CA certificates of this PEM file only.
    CaFile(PathBuf),
    /// The certificate must have this SHA-256 fingerprint, hex with or without colons.
    Fingerprint(String),
    /// The fingerprint of the first connection is stored in this file and required afterwards.
    TrustOnFirstUse(PathBuf),
    /// No verification, with a warning in every run.
    Ignore,
    /// Plain HTTP, with a warning in every run.
    Disabled,
}
