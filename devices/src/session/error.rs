//! What can go wrong with a session, and what to do about it.

use std::path::PathBuf;
use std::time::Duration;

use super::connect_params::Algorithms;
use crate::operation::Method;

/// Why a session could not be opened, or ended.
///
/// Messages carry device and command, never a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{device}: {kind}")]
pub struct SessionError {
    pub device: String,
    pub kind: SessionErrorKind,
}

impl SessionError {
    pub fn new(device: impl Into<String>, kind: SessionErrorKind) -> Self {
        Self {
            device: device.into(),
            kind,
        }
    }

    /// The device did not take a command or a request; the session goes on.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self.kind,
            SessionErrorKind::CommandRefused { .. } | SessionErrorKind::HttpStatus { .. }
        )
    }

    /// What to do, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

/// What went wrong with a session. Commands in it are masked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionErrorKind {
    #[error("cannot reach {address}: {why}")]
    Unreachable { address: String, why: String },
    #[error("no session with {address} within {limit:?}")]
    ConnectTimeout { address: String, limit: Duration },
    /// The jump host's own trouble.
    #[error("jump host {host}: {kind}")]
    JumpHost {
        host: String,
        kind: Box<SessionErrorKind>,
    },
    #[error("no common {algorithm_kind}: the device offers {}", offered.join(", "))]
    NoCommonAlgorithm {
        algorithm_kind: String,
        offered: Vec<String>,
        /// The narrowest set that would do.
        allowed_by: Option<Algorithms>,
    },
    #[error("the host key of {host} is not known: {fingerprint}")]
    HostKeyUnknown { host: String, fingerprint: String },
    #[error(
        "the host key of {host} has changed to {fingerprint}; {}:{line} has another one",
        file.display()
    )]
    HostKeyChanged {
        host: String,
        fingerprint: String,
        file: PathBuf,
        line: usize,
    },
    #[error("the host key of {host} is revoked in {}:{line}", file.display())]
    HostKeyRevoked {
        host: String,
        file: PathBuf,
        line: usize,
    },
    #[error("the host key of {host} has the fingerprint {found}, not {wanted}")]
    HostKeyFingerprint {
        host: String,
        wanted: String,
        found: String,
    },
    #[error("the device refused the login of {user}")]
    LoginRefused {
        user: String,
        /// The methods that it would take.
        methods: Vec<String>,
    },
    #[error("there is nothing to log in with that the device takes: it wants {}", methods.join(" or "))]
    NoCredentials { methods: Vec<String> },
    #[error("the device refused to open a terminal: {why}")]
    NoTerminal { why: String },
    /// A key, trust anchors, a transcript: something of ours.
    #[error("{what} {}: {why}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        why: String,
    },
    #[error("the SSH agent cannot be used: {why}")]
    Agent { why: String },
    #[error("the device refused the enable password")]
    EnableRefused { said: String },
    #[error("the device asks for an enable password and there is none")]
    NoEnablePassword,
    #[error("the privilege level is too low: {said}")]
    PrivilegeTooLow { said: String },
    #[error("`{command}` was answered by a question that nobody expected: {question}")]
    UnexpectedQuestion { command: String, question: String },
    #[error("no answer to `{command}` within {limit:?}{}", last_output(tail))]
    CommandTimeout {
        command: String,
        limit: Duration,
        tail: String,
    },
    #[error("the device refused `{command}`: {said}")]
    CommandRefused { command: String, said: String },
    #[error("the connection ended{}: {why}", after_command(command))]
    Disconnected { command: String, why: String },
    #[error(
        "what the device sends makes no sense{}: {why}",
        after_command(command)
    )]
    InvalidAnswer { command: String, why: String },
    #[error(
        "the certificate of {address} is not trusted: {why}{}",
        fingerprint(found)
    )]
    CertificateUntrusted {
        address: String,
        why: String,
        /// The SHA-256 fingerprint of what was shown.
        found: Option<String>,
    },
    #[error("the certificate of {address} has the fingerprint {found}, not {wanted}")]
    CertificateFingerprint {
        address: String,
        wanted: String,
        found: String,
    },
    #[error("{method} {path} was answered by {status}{}", after_colon(said))]
    HttpStatus {
        method: Method,
        path: String,
        status: u16,
        said: String,
    },
    #[error("this session may only read; `{command}` was not sent")]
    ReadOnly { command: String },
}

fn after_command(command: &str) -> String {
    if command.is_empty() {
        String::new()
    } else {
        format!(" after `{command}`")
    }
}

fn last_output(tail: &str) -> String {
    if tail.is_empty() {
        String::new()
    } else {
        format!("; the last output was {tail:?}")
    }
}

fn fingerprint(found: &Option<String>) -> String {
    found
        .as_ref()
        .map_or_else(String::new, |found| format!("; its fingerprint is {found}"))
}

fn after_colon(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    }
}

impl SessionErrorKind {
    /// What to do, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreachable { .. } => {
                "check the device's host and port, and the way there".to_owned()
            }
            Self::ConnectTimeout { .. } => {
                "check the way there, or raise `connect_timeout`".to_owned()
            }
            Self::JumpHost { kind, .. } => return kind.hint(),
            Self::NoCommonAlgorithm { allowed_by, .. } => match allowed_by {
                Some(Algorithms::Compatible) => {
                    "set `algorithms = \"compatible\"` for this device".to_owned()
                }
                Some(_) => "set `algorithms = \"legacy\"` for this device".to_owned(),
                None => "no set of algorithms allows these; the device needs newer ones".to_owned(),
            },
            Self::HostKeyUnknown { host, fingerprint } => format!(
                "compare the fingerprint with the device's, then add the key to known_hosts \
                 (`{}`), or pin it by `fingerprint = \"{fingerprint}\"`",
                keyscan_command(host)
            ),
            Self::HostKeyChanged { .. } => {
                "if the device was replaced or its key made anew, remove the old line; \
                 otherwise somebody may be listening"
                    .to_owned()
            }
            Self::HostKeyRevoked { .. } => {
                "do not connect until the device has a new key".to_owned()
            }
            Self::HostKeyFingerprint { .. } | Self::CertificateFingerprint { .. } => {
                "if the device was replaced, change the fingerprint; \
                 otherwise somebody may be listening"
                    .to_owned()
            }
            Self::LoginRefused { .. } => {
                "check user and password; it was tried once only, because accounts lock".to_owned()
            }
            Self::NoCredentials { .. } => "give the device a password or a private key".to_owned(),
            Self::EnableRefused { .. } => {
                "check the enable password; it was tried once only".to_owned()
            }
            Self::NoEnablePassword => "set `enable_password` for this device".to_owned(),
            Self::PrivilegeTooLow { .. } => "log in as a user with level 15".to_owned(),
            Self::UnexpectedQuestion { .. } => {
                "it was declined; if it is to be agreed to, add it to [confirm] in the \
                 platform's file"
                    .to_owned()
            }
            Self::CommandTimeout { .. } => {
                "raise `command_timeout` if the device is slow; if the last output is a prompt, \
                 the platform's file does not know it"
                    .to_owned()
            }
            Self::CertificateUntrusted { .. } => {
                "name its authority by `ca_file`; or compare the fingerprint with the device's own \
                 and pin it by `fingerprint`; or let the first contact decide by \
                 `tls = \"trust_on_first_use\"`"
                    .to_owned()
            }
            Self::HttpStatus { status: 401, .. } => {
                "check user and password; it was tried once only, because accounts lock".to_owned()
            }
            Self::HttpStatus { status: 403, .. } => "the user's role is too small".to_owned(),
            _ => return None,
        };
        Some(hint)
    }
}
/// The command that prints the host key of `host` or, as known_hosts files have it, `[host]:port`.
fn keyscan_command(host: &str) -> String {
    match host
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
    {
        Some((host, port)) => format!("ssh-keyscan -p {port} {host}"),
        None => format!("ssh-keyscan {host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_for_an_unknown_host_key_is_a_command_that_runs() {
        let hint = |host: &str| {
            let kind = SessionErrorKind::HostKeyUnknown {
                host: host.to_owned(),
                fingerprint: "SHA256:x".to_owned(),
            };
            kind.hint().unwrap()
        };
        assert!(hint("sw1.lab.test").contains("(`ssh-keyscan sw1.lab.test`)"));
        assert!(hint("[2001:db8::1]:2222").contains("(`ssh-keyscan -p 2222 2001:db8::1`)"));
    }
}
