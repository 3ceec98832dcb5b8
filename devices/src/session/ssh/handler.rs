//! The client handler: callbacks of the SSH library during a connection.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use russh::client::{DisconnectReason, Handler, Session};
use russh::keys::{HashAlg, PublicKeyOrCertificate};
use russh::{AlgorithmKind, Disconnect, Error, Names};

use super::algorithms;
use super::identification::Identification;
use super::known_hosts::HostKeyVerifier;
use crate::session::error::SessionErrorKind;
use crate::session::transport::CloseReason;

/// State that the callbacks share with the session.
#[derive(Default)]
pub(super) struct ConnectionState {
    /// Why the connection closed. Reads of the channel do not report it.
    pub(crate) close_reason: CloseReason,
    /// Why the host key was refused.
    host_key_error: OnceLock<SessionErrorKind>,
    /// The fingerprint of the accepted host key.
    pub(crate) host_key: OnceLock<String>,
    /// The server refused the login and accepts no other method.
    is_login_refused: AtomicBool,
    negotiated: Mutex<Option<Vec<(&'static str, String)>>>,
    notes: Mutex<Vec<String>>,
}

impl ConnectionState {
    /// Converts an error before the login to a session error.
    pub(crate) fn handshake_error(
        &self,
        address: &str,
        identification: &Identification,
        error: &Error,
    ) -> SessionErrorKind {
        if let Some(refused) = self.host_key_error.get() {
            return refused.clone();
        }
        let address = address.to_owned();
        match error {
            // Some servers with only ssh-dss keys fail here.
            Error::NoCommonAlgo { kind, theirs, .. } => SessionErrorKind::NoCommonAlgorithm {
                algorithm_kind: algorithm_kind(kind).to_owned(),
                offered: theirs.clone(),
                allowed_by: algorithms::narrowest(kind, theirs),
            },
            error if identification.is_ssh() => SessionErrorKind::KeyExchange {
                address,
                reason: self.close_reason(error),
            },
            error => match identification.other_answer() {
                Some(answer) => SessionErrorKind::NotSsh { address, answer },
                None => SessionErrorKind::Unreachable {
                    address,
                    reason: self.close_reason(error),
                },
            },
        }
    }

    /// Why the connection closed: the reason of the device, else the error of the library.
    pub(crate) fn close_reason(&self, error: &Error) -> String {
        let reason = self.close_reason.get().cloned();
        reason.unwrap_or_else(|| render_error(error))
    }

    /// Whether the connection ended because the server refused the login and accepts no other method.
    pub(crate) fn is_login_refused(&self) -> bool {
        self.is_login_refused.load(Ordering::Acquire)
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().expect("never held over a panic").clone()
    }

    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let negotiated = self.negotiated.lock().expect("never held over a panic");
        negotiated.clone().unwrap_or_default()
    }
}

fn algorithm_kind(kind: &AlgorithmKind) -> &'static str {
    match kind {
        AlgorithmKind::Kex => "key exchange",
        AlgorithmKind::Key => "host key algorithm",
        AlgorithmKind::Cipher => "cipher",
        AlgorithmKind::Compression => "compression",
        AlgorithmKind::Mac => "MAC",
    }
}

/// The library's error as a message fragment.
pub(super) fn render_error(error: &Error) -> String {
    match error {
        Error::HUP | Error::Disconnect | Error::SendError | Error::RecvError => {
            "the device closed the connection".to_owned()
        }
        Error::IO(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the device closed the connection".to_owned()
        }
        Error::KeepaliveTimeout => "the device stopped answering".to_owned(),
        Error::ChannelOpenFailure(reason) => reason.description().to_lowercase(),
        Error::Version => "the server does not speak SSH".to_owned(),
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let first = letters.next().map(|letter| letter.to_ascii_lowercase());
            first.into_iter().chain(letters).collect()
        }
    }
}

/// The handler of one connection.
pub(super) struct ClientHandler {
    verifier: HostKeyVerifier,
    state: Arc<ConnectionState>,
}

impl ClientHandler {
    pub(crate) fn new(judge: HostKeyVerifier, shared: Arc<ConnectionState>) -> Self {
        Self {
            verifier: judge,
            state: shared,
        }
    }
}

impl Handler for ClientHandler {
    type Error = Error;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, Error> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = key else {
            // The client does not offer certificate algorithms.
            return Ok(false);
        };
        match self.verifier.verify(key) {
            Ok(note) => {
                // A later key exchange presents the same key.
                let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
                let _ = self.state.host_key.set(fingerprint);
                let mut notes = self.state.notes.lock().expect("never held over a panic");
                notes.extend(note);
                Ok(true)
            }
            Err(kind) => {
                // There is no second check after a refusal.
                let _ = self.state.host_key_error.set(kind);
                Ok(false)
            }
        }
    }

    async fn kex_done(
        &mut self,
        _secret: Option<&[u8]>,
        names: &Names,
        _session: &mut Session,
    ) -> Result<(), Error> {
        let facts = vec![
            ("ssh_kex", names.kex.as_ref().to_owned()),
            ("ssh_host_key", names.key.as_str().to_owned()),
            ("ssh_cipher", names.cipher.as_ref().to_owned()),
            ("ssh_mac", names.server_mac.as_ref().to_owned()),
        ];
        *self
            .state
            .negotiated
            .lock()
            .expect("never held over a panic") = Some(facts);
        Ok(())
    }

    async fn disconnected(&mut self, reason: DisconnectReason<Error>) -> Result<(), Error> {
        let (reason, result) = match reason {
            DisconnectReason::ReceivedDisconnect(info) if info.message.is_empty() => {
                (disconnect_text(info.reason_code).to_owned(), Ok(()))
            }
            DisconnectReason::ReceivedDisconnect(info) => (info.message, Ok(())),
            DisconnectReason::Error(error) => {
                let is_refusal = matches!(error, Error::NoAuthMethod);
                self.state
                    .is_login_refused
                    .store(is_refusal, Ordering::Release);
                (render_error(&error), Err(error))
            }
        };
        // Later reasons are consequences of the first.
        let _ = self.state.close_reason.set(reason);
        result
    }
}

/// The meaning of a code of a disconnection (RFC 4253, section 11.1).
fn disconnect_text(code: Disconnect) -> &'static str {
    match code {
        Disconnect::HostNotAllowedToConnect => "host not allowed to connect",
        Disconnect::ProtocolError => "protocol error",
        Disconnect::KeyExchangeFailed => "key exchange failed",
        Disconnect::MACError => "MAC error",
        Disconnect::CompressionError => "compression error",
        Disconnect::ServiceNotAvailable => "service not available",
        Disconnect::ProtocolVersionNotSupported => "protocol version not supported",
        Disconnect::HostKeyNotVerifiable => "host key not verifiable",
        Disconnect::ConnectionLost => "connection lost",
        Disconnect::ByApplication => "closed by the device",
        Disconnect::TooManyConnections => "too many connections",
        Disconnect::AuthCancelledByUser => "authentication canceled by the user",
        Disconnect::NoMoreAuthMethodsAvailable => "no more authentication methods available",
        Disconnect::IllegalUserName => "illegal user name",
        Disconnect::Reserved => "reserved code",
    }
}
