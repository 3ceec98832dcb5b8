//! Errors of a session, with their hints.

mod hint;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use self::text::{
    after_colon, after_command, render_answer, render_awaited, render_fingerprint,
    render_last_output, render_sessions, render_start, to_command,
};
use super::connect_params::Algorithms;
use super::deadline::StopCause;
use super::ledger::ListedSession;
use crate::duration;
use crate::operation::Method;

/// The authentication method of a REST interface without a login.
pub(crate) const TOKEN: &str = "a token";

/// Why the certificate of a server that is its own CA is not trusted.
pub(crate) const CA_CERTIFICATE: &str = "it is a CA certificate, not a server certificate";

/// Why a session could not be opened, or ended.
///
/// Messages name the device and the command, never a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{device}: {kind}")]
pub struct SessionError {
    /// Name of the device.
    pub(crate) device: String,
    /// What went wrong.
    pub kind: SessionErrorKind,
}

impl SessionError {
    /// An error of the session with `device`.
    pub(crate) fn new(device: impl Into<String>, kind: SessionErrorKind) -> Self {
        Self {
            device: device.into(),
            kind,
        }
    }

    /// One command or request failed; the session continues.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self.kind,
            SessionErrorKind::CommandRefused { .. }
                | SessionErrorKind::UnexpectedQuestion { .. }
                | SessionErrorKind::UnexpectedAnswer { .. }
                | SessionErrorKind::NotSaved { .. }
                | SessionErrorKind::UnsavedConfiguration { .. }
                | SessionErrorKind::SessionsRemain { .. }
                | SessionErrorKind::SessionNotRecorded { .. }
                | SessionErrorKind::ConfigurationLocked { .. }
                | SessionErrorKind::HttpStatus { .. }
        )
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

/// What went wrong with a session. Secrets in commands are masked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionErrorKind {
    /// No connection to the device.
    #[error("cannot connect to {address}: {reason}")]
    Unreachable {
        /// Host and port.
        address: String,
        /// Cause reported by the system or the peer.
        reason: String,
    },
    /// TCP, handshake and login together took too long.
    #[error("cannot connect to {address}: no session within {}", duration::render(*.limit))]
    ConnectTimeout {
        /// Host and port.
        address: String,
        /// The setting `connect_timeout`.
        limit: Duration,
    },
    /// The connection to a jump host failed.
    #[error("jump host {host}: {kind}")]
    JumpHost {
        /// Host of the jump host.
        host: String,
        /// What went wrong with it.
        kind: Box<SessionErrorKind>,
    },
    /// The server speaks another protocol.
    #[error("{address} is not an SSH server: it answered {answer}")]
    NotSsh {
        /// Host and port.
        address: String,
        /// The start of its answer, escaped.
        answer: String,
    },
    /// The connection failed between identification and login.
    #[error("cannot exchange SSH keys with {address}: {reason}")]
    KeyExchange {
        /// Host and port.
        address: String,
        /// Cause reported by the device or the SSH library.
        reason: String,
    },
    /// The SSH algorithm sets of both sides do not overlap.
    #[error("cannot agree on a {algorithm_kind}: the device offers only {}", offered.join(", "))]
    NoCommonAlgorithm {
        /// Such as `key exchange` or `cipher`.
        algorithm_kind: String,
        /// The algorithms of the device.
        offered: Vec<String>,
        /// The smallest set that has one of them.
        allowed_by: Option<Algorithms>,
    },
    /// No known_hosts file has a key of the host.
    #[error("the host key of {host} is not in known_hosts: {fingerprint}")]
    HostKeyUnknown {
        /// The host as known_hosts names it.
        host: String,
        /// SHA-256 fingerprint of the presented key.
        fingerprint: String,
    },
    /// A known_hosts file has another key of the host.
    #[error(
        "the host key of {host} has changed: its fingerprint is {fingerprint}, and {}:{line} has \
         another key",
        file.display()
    )]
    HostKeyChanged {
        /// The host as known_hosts names it.
        host: String,
        /// SHA-256 fingerprint of the presented key.
        fingerprint: String,
        /// The known_hosts file with the other key.
        file: PathBuf,
        /// Line of that file.
        line: usize,
    },
    /// A known_hosts file marks the presented key as revoked.
    #[error("the host key of {host} is revoked in {}:{line}", file.display())]
    HostKeyRevoked {
        /// The host as known_hosts names it.
        host: String,
        /// The known_hosts file.
        file: PathBuf,
        /// Line of that file.
        line: usize,
    },
    /// The presented key is not the configured one.
    #[error("the host key of {host} has the fingerprint {found}, expected {desired}")]
    HostKeyFingerprint {
        /// The host as known_hosts names it.
        host: String,
        /// The setting `fingerprint`.
        desired: String,
        /// SHA-256 fingerprint of the presented key.
        found: String,
    },
    /// Wrong user, password or key.
    #[error("the device refused the login of {user}")]
    LoginRefused {
        /// The user that was sent.
        user: String,
        /// Authentication methods that the device still accepts.
        methods: Vec<String>,
    },
    /// The connection closed before the device accepted or refused the login.
    #[error("the connection closed during the login of {user}: {reason}")]
    LoginClosed {
        /// The user that was sent.
        user: String,
        /// Cause reported by the system or the device.
        reason: String,
    },
    /// The device requires an authentication method that is not configured.
    #[error("cannot log in: the device accepts only {}", methods.join(" or "))]
    NoCredentials {
        /// Authentication methods of the device.
        methods: Vec<String>,
    },
    /// No terminal or shell on the SSH connection.
    #[error("cannot open a terminal: {reason}")]
    NoTerminal {
        /// Cause reported by the device.
        reason: String,
    },
    /// No subsystem on the SSH connection.
    #[error("cannot open the subsystem `{name}`: {reason}")]
    NoSubsystem {
        /// Its name.
        name: &'static str,
        /// Cause reported by the device.
        reason: String,
    },
    /// A local file: a key, CA certificates, a transcript.
    #[error("{action} {}: {reason}", path.display())]
    File {
        /// Such as `cannot use the private key`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause reported by the system.
        reason: String,
    },
    /// The local SSH agent.
    #[error("cannot use the SSH agent: {reason}")]
    Agent {
        /// Cause reported by the system or the agent.
        reason: String,
    },
    /// Wrong enable password.
    #[error("the device refused the enable password{}", render_answer(output))]
    EnableRefused {
        /// Output of the device.
        output: String,
    },
    /// The device requests an enable password.
    #[error("the device requires an enable password, and none is configured")]
    NoEnablePassword,
    /// The user is not allowed to configure the device.
    #[error("the privilege level is too low: {output}")]
    PrivilegeTooLow {
        /// Output of the device.
        output: String,
    },
    /// The device printed a question that the platform's definition does not list.
    #[error("`{command}` caused an unexpected question: {question}")]
    UnexpectedQuestion {
        /// The command.
        command: String,
        /// The question, which was declined.
        question: String,
    },
    /// No prompt, or no response, within the limit.
    #[error(
        "no {} within {}{}",
        render_awaited(command),
        duration::render(*limit),
        render_last_output(last_output)
    )]
    CommandTimeout {
        /// The command; empty before the first prompt.
        command: String,
        /// The setting `command_timeout`.
        limit: Duration,
        /// End of what was received, for a prompt that was not recognized.
        last_output: String,
    },
    /// Output without an end: the limit of one command.
    #[error(
        "the answer to `{command}` did not end within {}{}",
        duration::render(*limit),
        render_last_output(last_output)
    )]
    CommandLimit {
        /// The command.
        command: String,
        /// The setting `command_limit`.
        limit: Duration,
        /// End of what was received.
        last_output: String,
    },
    /// The limit of connection and login together.
    #[error(
        "the login did not end within {}{}",
        duration::render(*limit),
        render_last_output(last_output)
    )]
    LoginLimit {
        /// The shorter of the settings `connect_timeout` and `login_limit`.
        limit: Duration,
        /// End of what was received.
        last_output: String,
    },
    /// The run ended during a wait.
    #[error("no {}: {cause}", render_awaited(command))]
    Stopped {
        /// The command without an answer; empty before the first prompt.
        command: String,
        /// Why the run ended.
        cause: StopCause,
    },
    /// The device answered a command with an error.
    #[error("the device refused `{command}`: {output}")]
    CommandRefused {
        /// The command.
        command: String,
        /// Output of the device.
        output: String,
    },
    /// Sessions of a process that no longer runs, or lost the device.
    #[error(
        "cannot write while earlier sessions can: {}: {reason}",
        render_sessions(sessions)
    )]
    SessionsRemain {
        /// The sessions.
        sessions: Vec<ListedSession>,
        /// Why they were not ended.
        reason: String,
    },
    /// A session that is not recorded cannot be ended after a crash.
    #[error("cannot record the session: {reason}")]
    SessionNotRecorded {
        /// The cause.
        reason: String,
    },
    /// Somebody else has the lock of the configuration.
    #[error("the configuration is locked by {holder}")]
    ConfigurationLocked {
        /// Who has it, in the words of the device.
        holder: String,
    },
    /// The connection closed.
    #[error("the connection ended{}: {reason}", after_command(command))]
    Disconnected {
        /// The command without an answer; empty if there is none.
        command: String,
        /// Cause reported by the system or the device.
        reason: String,
    },
    /// The device sent something that its protocol does not allow.
    #[error("invalid answer{}: {reason}", to_command(command))]
    InvalidAnswer {
        /// The command; empty if there is none.
        command: String,
        /// What is invalid.
        reason: String,
    },
    /// The answer to a read is not one that the definition of the platform declares as valid.
    #[error("unexpected answer to `{command}`: {reason}{}", render_start(output))]
    UnexpectedAnswer {
        /// The command.
        command: String,
        /// What the answer lacks.
        reason: String,
        /// Its first line.
        output: String,
    },
    /// The saved answers of a device lack this one.
    #[error("the output of `{command}` is not saved")]
    NotSaved {
        /// The command.
        command: String,
        /// The name of the read in the definition of the platform.
        read: String,
    },
    /// A reload would restore another configuration than the running one.
    #[error("`{command}`: the running configuration is not saved: a reload would not restore it")]
    UnsavedConfiguration {
        /// The command that schedules the reload.
        command: String,
    },
    /// The certificate has no trusted issuer, or is not valid for the host or for a server.
    #[error(
        "the certificate of {address} is not trusted: {reason}{}",
        render_fingerprint(found)
    )]
    CertificateUntrusted {
        /// Host and port.
        address: String,
        /// Cause reported by the TLS library.
        reason: String,
        /// SHA-256 fingerprint of the presented certificate.
        found: Option<String>,
    },
    /// The presented certificate is not the configured or stored one.
    #[error("the certificate of {address} has the fingerprint {found}, expected {desired}")]
    CertificateFingerprint {
        /// Host and port.
        address: String,
        /// The configured or stored fingerprint.
        desired: String,
        /// SHA-256 fingerprint of the presented certificate.
        found: String,
    },
    /// An HTTP status that is not success.
    #[error("{method} {path} failed with status {status}{}", after_colon(message))]
    HttpStatus {
        /// Method of the request.
        method: Method,
        /// Path of the request.
        path: String,
        /// The status.
        status: u16,
        /// The device's message.
        message: String,
    },
    /// The fence refused a write: another process may change the device.
    #[error("cannot send `{command}`: {reason}")]
    Fenced {
        /// The command, which was not sent.
        command: String,
        /// Why this process may no longer change the device.
        reason: String,
    },
    /// A read-only session never sends commands that change the device.
    #[error("the session is read-only: `{command}` was not sent")]
    ReadOnly {
        /// The command.
        command: String,
    },
}

impl SessionErrorKind {
    /// The text for a command whose outcome is unknown because of this error. It always names
    /// a command: the one of the error, or else `command`.
    pub(super) fn render_for(&self, command: &str) -> String {
        if self.names_command() {
            self.to_string()
        } else {
            format!("`{command}`: {self}")
        }
    }

    fn names_command(&self) -> bool {
        match self {
            Self::UnexpectedQuestion { command, .. }
            | Self::CommandTimeout { command, .. }
            | Self::CommandLimit { command, .. }
            | Self::Stopped { command, .. }
            | Self::CommandRefused { command, .. }
            | Self::Disconnected { command, .. }
            | Self::InvalidAnswer { command, .. }
            | Self::UnexpectedAnswer { command, .. }
            | Self::NotSaved { command, .. }
            | Self::UnsavedConfiguration { command }
            | Self::Fenced { command, .. }
            | Self::ReadOnly { command } => !command.is_empty(),
            Self::HttpStatus { .. } => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_an_unknown_outcome_names_a_command() {
        let disconnected = |command: &str| SessionErrorKind::Disconnected {
            command: command.to_owned(),
            reason: "timeout".to_owned(),
        };
        assert_eq!(
            disconnected("").render_for("shutdown"),
            "`shutdown`: the connection ended: timeout"
        );
        assert_eq!(
            disconnected("mtu 1500").render_for("shutdown"),
            "the connection ended after `mtu 1500`: timeout"
        );
    }
}
