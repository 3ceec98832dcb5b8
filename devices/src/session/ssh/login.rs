//! SSH authentication: each secret is sent once.

use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse, Prompt};
use russh::keys::agent::AgentIdentity;
use russh::keys::{PrivateKeyWithHashAlg, decode_secret_key};
use russh::{MethodKind, MethodSet};
use secrecy::ExposeSecret;

use super::agent::{AgentError, AgentSigner, SigningError};
use super::handler::{ClientHandler, ConnectionState};
use crate::regular_file;
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
    /// The agent provided no key, so nothing was sent.
    is_agent_empty: bool,
    password: bool,
}

/// Logs in with the configured credentials, in the order of the server's methods. A password is
/// sent once, by one method, because failed logins lock accounts.
pub(super) async fn log_in(
    handle: &mut Handle<ClientHandler>,
    state: &ConnectionState,
    target: &ConnectParams,
) -> Result<(), LoginFailure> {
    let mut attempted = AttemptedMethods::default();
    // Method `none` returns the server's methods and does not count as an attempt.
    let result = handle.authenticate_none(&target.user).await?;
    let Some(mut methods) = remaining_methods(result, handle, state).await? else {
        return Ok(());
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
                match by_agent(handle, target).await? {
                    Some(result) => result,
                    None => {
                        attempted.is_agent_empty = true;
                        continue;
                    }
                }
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
                } else if attempted.is_agent_empty {
                    SessionErrorKind::Agent {
                        reason: "it provides no key".to_owned(),
                    }
                } else {
                    SessionErrorKind::NoCredentials { methods }
                }));
            }
        };
        match remaining_methods(result, handle, state).await? {
            Some(remaining) => methods = remaining,
            None => return Ok(()),
        }
    }
}

/// The methods that the server still accepts after a refusal; `None` after a success.
async fn remaining_methods(
    result: AuthResult,
    handle: &mut Handle<ClientHandler>,
    state: &ConnectionState,
) -> Result<Option<MethodSet>, LoginFailure> {
    let AuthResult::Failure {
        remaining_methods, ..
    } = result
    else {
        return Ok(None);
    };
    // The library closes the connection after a refusal without further methods, and reports a closed
    // connection as such a refusal. The handler gets the cause before the task of the connection ends.
    if remaining_methods.is_empty() && handle.is_closed() {
        let _ = handle.await;
        if !state.is_login_refused() {
            return Err(russh::Error::Disconnect.into());
        }
    }
    Ok(Some(remaining_methods))
}

impl AttemptedMethods {
    fn any(&self) -> bool {
        self.key || self.agent && !self.is_agent_empty || self.password
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
    let text = regular_file::read_text(path, regular_file::LARGEST)
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

/// Offers the keys of the agent, one after another; `None` if it provides none.
async fn by_agent(
    handle: &mut Handle<ClientHandler>,
    target: &ConnectParams,
) -> Result<Option<AuthResult>, LoginFailure> {
    let agent_error = |error: AgentError| SessionErrorKind::Agent {
        reason: error.to_string(),
    };
    let socket = target.ssh.agent.as_ref();
    let socket = socket.filter(|path| !path.as_os_str().is_empty());
    let socket = socket.ok_or_else(|| agent_error(AgentError::NoSocket))?;
    let limit = target.connect_timeout / 2;
    let mut signer = AgentSigner::connect(socket, limit)
        .await
        .map_err(agent_error)?;
    let identities = signer.identities().await.map_err(agent_error)?;
    let mut hash = None;
    let mut last = None;
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
        let result = handle
            .authenticate_publickey_with(&target.user, key, hash, &mut signer)
            .await
            .map_err(|error| match error {
                SigningError::Closed => LoginFailure::Ssh(russh::Error::Disconnect),
                SigningError::Agent(error) => LoginFailure::Kind(agent_error(error)),
            })?;
        let is_last = match &result {
            AuthResult::Success => true,
            AuthResult::Failure {
                remaining_methods,
                partial_success,
            } => *partial_success || !remaining_methods.contains(&MethodKind::PublicKey),
        };
        last = Some(result);
        if is_last {
            break;
        }
    }
    Ok(last)
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
