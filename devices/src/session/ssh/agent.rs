//! The local SSH agent: each of its answers has a limit.

use std::io;
use std::path::Path;
use std::time::Duration;

use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{self, HashAlg};
use russh::{SendError, Signer};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::duration;

/// Signs with the keys of the agent.
pub(super) struct AgentSigner {
    client: AgentClient<UnixStream>,
    limit: Duration,
}

/// Why a login with a key of the agent has no result.
#[derive(Debug)]
pub(super) enum SigningError {
    /// The connection to the device closed.
    Closed,
    /// The agent failed.
    Agent(AgentError),
}

/// Why the agent cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum AgentError {
    #[error("SSH_AUTH_SOCK is not set")]
    NoSocket,
    #[error("no answer within {}", duration::render(*.0))]
    NoAnswer(Duration),
    /// The text of the agent's error, in lower case.
    #[error("{0}")]
    Failed(String),
}

impl From<SendError> for SigningError {
    fn from(_: SendError) -> Self {
        SigningError::Closed
    }
}

impl AgentSigner {
    /// Connects to the socket of the agent. Each answer may take `limit`, which includes the time in
    /// which the user confirms the use of a key.
    pub(super) async fn connect(socket: &Path, limit: Duration) -> Result<Self, AgentError> {
        let client = limited(limit, AgentClient::connect_uds(socket)).await?;
        Ok(Self { client, limit })
    }

    /// The keys of the agent.
    pub(super) async fn identities(&mut self) -> Result<Vec<AgentIdentity>, AgentError> {
        limited(self.limit, self.client.request_identities()).await
    }
}

impl Signer for AgentSigner {
    type Error = SigningError;

    async fn auth_sign(
        &mut self,
        key: &AgentIdentity,
        hash: Option<HashAlg>,
        data: Vec<u8>,
    ) -> Result<Vec<u8>, SigningError> {
        let signing = self.client.sign_request(key, hash, data);
        limited(self.limit, signing)
            .await
            .map_err(SigningError::Agent)
    }
}

async fn limited<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, keys::Error>>,
) -> Result<T, AgentError> {
    let render = |error: keys::Error| match &error {
        keys::Error::IO(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the agent closed the connection".to_owned()
        }
        error => error.to_string().to_lowercase(),
    };
    match timeout(limit, work).await {
        Ok(result) => result.map_err(|error| AgentError::Failed(render(error))),
        Err(_) => Err(AgentError::NoAnswer(limit)),
    }
}
