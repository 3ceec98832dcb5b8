//! What the user can do about an error of a session.

use super::{CA_CERTIFICATE, SessionErrorKind, TOKEN};
use crate::session::connect_params::Algorithms;

impl SessionErrorKind {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreachable { .. } => {
                "check address, port and the route to the device".to_owned()
            }
            Self::ConnectTimeout { .. } => {
                "check the route to the device, or raise `connect_timeout`".to_owned()
            }
            Self::JumpHost { kind, .. } => return kind.hint(),
            Self::NotSsh { .. } => "check the port of the device".to_owned(),
            Self::KeyExchange { .. } => {
                "check the SSH server of the device, or set other `algorithms`".to_owned()
            }
            Self::NoSubsystem { .. } => {
                "enable NETCONF over SSH on the device, or check its port".to_owned()
            }
            Self::LoginClosed { .. } => {
                "check the log of the device; the login is tried once only, to avoid a locked \
                 account"
                    .to_owned()
            }
            Self::NoCommonAlgorithm { allowed_by, .. } => match allowed_by {
                Some(Algorithms::Compatible) => {
                    "set `algorithms = \"compatible\"` for this device".to_owned()
                }
                Some(_) => "set `algorithms = \"legacy\"` for this device".to_owned(),
                None => "update the software of the device: no algorithm set has these algorithms"
                    .to_owned(),
            },
            Self::HostKeyUnknown { host, fingerprint } => format!(
                "compare the fingerprint with the device's own, then add the key to known_hosts \
                 (`{}`), or set `fingerprint = \"{fingerprint}\"`, with --device: --fingerprint",
                keyscan_command(host)
            ),
            Self::HostKeyChanged { .. } => {
                "remove the old line if the device or its key was replaced; \
                 otherwise suspect an attack on the connection"
                    .to_owned()
            }
            Self::HostKeyRevoked { .. } => {
                "do not connect until the device has a new key".to_owned()
            }
            Self::HostKeyFingerprint { .. } | Self::CertificateFingerprint { .. } => {
                "change the fingerprint if the device or its key was replaced; \
                 otherwise suspect an attack on the connection"
                    .to_owned()
            }
            Self::LoginRefused { .. } | Self::HttpStatus { status: 401, .. } => {
                "check user and password; the login is tried once only, to avoid a locked account"
                    .to_owned()
            }
            Self::NoCredentials { methods } if *methods == [TOKEN] => {
                "set `token` for this device".to_owned()
            }
            Self::NoCredentials { .. } => {
                "set `password`, `private_key` or `agent = true` for this device, or pass --ask-password"
                    .to_owned()
            }
            Self::EnableRefused { .. } => {
                "check the enable password; it is tried once only".to_owned()
            }
            Self::NoEnablePassword => {
                "set `enable_password` for this device, or pass --ask-enable-password".to_owned()
            }
            Self::PrivilegeTooLow { .. } => "log in as a user with privilege level 15".to_owned(),
            Self::UnexpectedQuestion { .. } => {
                "the question was declined; to accept it, add it to [confirm] in the definition \
                 of the platform"
                    .to_owned()
            }
            Self::CommandTimeout { .. } => {
                "raise `command_timeout` if the device is slow; if the last output is a prompt, \
                 set `prompt` of the device or its platform in the inventory to a pattern of the \
                 host name in it, or add the prompt to the definition of the platform"
                    .to_owned()
            }
            Self::CommandLimit { .. } => {
                "check what the device prints; raise `command_limit` if it is slow".to_owned()
            }
            Self::LoginLimit { .. } => {
                "check the `platform` of the device: its prompt was not recognized; if the last \
                 output is its prompt, set `prompt` of the device or its platform in the inventory \
                 to a pattern of the host name in it; raise `connect_timeout` and `login_limit` if \
                 the device is slow"
                    .to_owned()
            }
            Self::UnexpectedAnswer { .. } => {
                "send the command manually; if its output is correct, change [read] in the \
                 definition of the platform"
                    .to_owned()
            }
            Self::NotSaved { read, .. } => {
                format!("save the output as `{read}` in a file with answers, DEVICE.json")
            }
            Self::SessionsRemain { .. } => {
                "end them on the device, or give the user the right to list and end sessions".to_owned()
            }
            Self::ConfigurationLocked { .. } => "run again when the lock is released".to_owned(),
            Self::UnsavedConfiguration { .. } => "save the configuration first".to_owned(),
            Self::CertificateUntrusted { reason, .. } if reason == CA_CERTIFICATE => {
                "install a server certificate on the device (CA:FALSE); or compare the fingerprint \
                 with the device's own and set `fingerprint` instead of `ca_file`"
                    .to_owned()
            }
            Self::CertificateUntrusted { .. } => {
                "set `ca_file` to the CA certificate; or compare the fingerprint with the device's \
                 own and set `fingerprint`; or set `tls = \"trust_on_first_use\"`"
                    .to_owned()
            }
            Self::Disconnected { .. } => {
                "check the log of the device, its limits for sessions, and the network; then run again"
                    .to_owned()
            }
            Self::HttpStatus { status: 403, .. } => "give the user the required role".to_owned(),
            _ => return None,
        };
        Some(hint)
    }
}

/// The command that prints the host key of `host` or, in known_hosts notation, `[host]:port`.
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
    fn hint_for_an_unknown_host_key_has_a_valid_keyscan_command() {
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
