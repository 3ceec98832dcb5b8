//! SSH authentication: each secret is sent once.

use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse, Prompt};
use russh::keys::agent::AgentIdentity;
use russh::keys::{PrivateKeyWithHashAlg, decode_secret_key};
use russh::{MethodKind, MethodSet};
use secrecy::ExposeSecret;

use super::agent::{AgentSigner, SigningError};
use super::handler::ClientHandler;
use crate::session::connect_params::ConnectParams;
use crate::session::error::SessionErrorKind;

/// Why a login failed.
pub(super) enum LoginFailure {
    Kind(SessionErrorKind),
    Ssh(russh::Error),
}

impl From<russh::Error> for LoginFailure {
    fn from(error: russh::Error) -> Self {
        LoginFailure::Ssh(error)
    }
}

impl From<SessionErrorKind> for LoginFailure {
    fn from(kind: SessionErrorKind) -> Self {
        LoginFailure::Kind(kind)
    }
}

/// Authentication methods that were attempted.
#[derive(Default)]
struct AttemptedMethods {
    key: bool,
    agent: bool,
    password: bool,
}

/// Logs in with the configured credentials, in the order of the server's methods. A password is
/// sent once, by one method, because failed logins lock accounts.
pub(super) async fn log_in(
    handle: &mut Handle<ClientHandler>,
    target: &ConnectParams,
) -> Result<(), LoginFailure> {
    let mut attempted = AttemptedMethods::default();
    // Method `none` returns the server's methods and does not count as an attempt.
    let mut methods = match handle.authenticate_none(&target.user).await? {
        AuthResult::Success => return Ok(()),
        AuthResult::Failure { .. } if handle.is_closed() => {
            return Err(russh::Error::Disconnect.into());
        }
        AuthResult::Failure {
            remaining_methods, ..
        } => remaining_methods,
    };
    loop {
        let next = methods.iter().copied().find(|method| match method {
            MethodKind::PublicKey => {
                target.ssh.private_key.is_some() && !attempted.key
                    || target.ssh.agent.is_some() && !attempted.agent
            }
            MethodKind::Password | MethodKind::KeyboardInteractive => {
                target.password.is_some() && !attempted.password
            }
            _ => false,
        });
        let result = match next {
            Some(MethodKind::PublicKey) if target.ssh.private_key.is_some() && !attempted.key => {
                attempted.key = true;
                by_key(handle, target).await?
            }
            Some(MethodKind::PublicKey) => {
                attempted.agent = true;
                by_agent(handle, target, methods.clone()).await?
            }
            Some(MethodKind::Password) => {
                attempted.password = true;
                let password = password(target);
                handle.authenticate_password(&target.user, password).await?
            }
            Some(MethodKind::KeyboardInteractive) => {
                attempted.password = true;
                by_keyboard_interactive(handle, target).await?
            }
            _ => {
                let methods = names(&methods);
                return Err(LoginFailure::Kind(if attempted.any() {
                    SessionErrorKind::LoginRefused {
                        user: target.user.clone(),
                        methods,
                    }
                } else {
                    SessionErrorKind::NoCredentials { methods }
                }));
            }
        };
        match result {
            AuthResult::Success => return Ok(()),
            // The library reports a closed connection as a refusal.
            AuthResult::Failure { .. } if handle.is_closed() => {
                return Err(russh::Error::Disconnect.into());
            }
            AuthResult::Failure {
                remaining_methods, ..
            } => methods = remaining_methods,
        }
    }
}

impl AttemptedMethods {
    fn any(&self) -> bool {
        self.key || self.agent || self.password
    }
}

fn names(methods: &MethodSet) -> Vec<String> {
    methods.iter().map(String::from).collect()
}

fn password(target: &ConnectParams) -> String {
    let password = target.password.as_ref();
    password.map_or_else(String::new, |text| text.expose_secret().to_owned())
}

async fn by_key(
    handle: &mut Handle<ClientHandler>,
    target: &ConnectParams,
) -> Result<AuthResult, LoginFailure> {
    let path = target
        .ssh
        .private_key
        .as_ref()
        .expect("only called with a key");
    let failed = |reason: String| SessionErrorKind::File {
        action: "cannot use the private key",
        path: path.clone(),
        reason,
    };
    let text = tokio::fs::read_to_string(path)
        .await
        .map_err(|error| failed(error.to_string()))?;
    let passphrase = target.ssh.passphrase.as_ref();
    let key = decode_secret_key(&text, passphrase.map(|text| text.expose_secret()))
        .map_err(|error| failed(error.to_string().to_lowercase()))?;
    // Only RSA keys need this; old servers delay their answer by a second.
    let hash = if key.algorithm().is_rsa() {
        handle.best_supported_rsa_hash().await?.flatten()
    } else {
        None
    };
    let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
    Ok(handle.authenticate_publickey(&target.user, key).await?)
}

/// Offers the keys of the agent, one after another.
async fn by_agent(
    handle: &mut Handle<ClientHandler>,
    target: &ConnectParams,
    methods: MethodSet,
) -> Result<AuthResult, LoginFailure> {
    let agent_error = |reason: String| SessionErrorKind::Agent { reason };
    let socket = target.ssh.agent.as_ref();
    let socket = socket.filter(|path| !path.as_os_str().is_empty());
    let socket = socket.ok_or_else(|| agent_error("SSH_AUTH_SOCK is not set".to_owned()))?;
    let limit = target.connect_timeout / 2;
    let mut signer = AgentSigner::connect(socket, limit)
        .await
        .map_err(agent_error)?;
    let identities = signer.identities().await.map_err(agent_error)?;
    let mut hash = None;
    let mut result = AuthResult::Failure {
        remaining_methods: methods,
        partial_success: false,
    };
    for identity in identities {
        let AgentIdentity::PublicKey { key, .. } = identity else {
            continue;
        };
        let hash = if key.algorithm().is_rsa() {
            if hash.is_none() {
                hash = Some(handle.best_supported_rsa_hash().await?.flatten());
            }
            hash.flatten()
        } else {
            None
        };
        result = handle
            .authenticate_publickey_with(&target.user, key, hash, &mut signer)
            .await
            .map_err(|error| match error {
                SigningError::Closed => LoginFailure::Ssh(russh::Error::Disconnect),
                SigningError::Agent(reason) => LoginFailure::Kind(agent_error(reason)),
            })?;
        match &result {
            AuthResult::Success => break,
            AuthResult::Failure {
                remaining_methods,
                partial_success,
            } => {
                if *partial_success || !remaining_methods.contains(&MethodKind::PublicKey) {
                    break;
                }
            }
        }
    }
    Ok(result)
}

/// Answers prompts without echo with the password, once.
async fn by_keyboard_interactive(
    handle: &mut Handle<ClientHandler>,
    target: &ConnectParams,
) -> Result<AuthResult, LoginFailure> {
    let mut answered = false;
    let mut response = handle
        .authenticate_keyboard_interactive_start(&target.user, None)
        .await?;
    loop {
        match response {
            KeyboardInteractiveAuthResponse::Success => return Ok(AuthResult::Success),
            KeyboardInteractiveAuthResponse::Failure {
                remaining_methods,
                partial_success,
            } => {
                return Ok(AuthResult::Failure {
                    remaining_methods,
                    partial_success,
                });
            }
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => {
                let hidden = prompts.iter().any(|prompt| !prompt.echo);
                if hidden && answered {
                    // A second prompt means that the password was refused.
                    return Ok(AuthResult::Failure {
                        remaining_methods: MethodSet::empty(),
                        partial_success: false,
                    });
                }
                answered |= hidden;
                let answers = prompts
                    .iter()
                    .map(|prompt| answer(prompt, target))
                    .collect();
                response = handle
                    .authenticate_keyboard_interactive_respond(answers)
                    .await?;
            }
        }
    }
}

/// The user for a prompt with echo, else the password.
fn answer(prompt: &Prompt, target: &ConnectParams) -> String {
    if prompt.echo {
        target.user.clone()
    } else {
        password(target)
    }
}
