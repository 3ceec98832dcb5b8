//! The client of the API: `switchtender run`.

use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value as Json;
use switchtender_devices::http::{
    Authorities, ClientSettings, ClientSettingsError, HttpClient, HttpError, HttpResponse, Method,
    RequestBuilder, Trust, Url, sends_in_clear,
};

use crate::history::RunId;
use crate::inventory::private_file::{self, PrivateFileError};

use super::request::RequestedKind;

/// Limit for a request that is answered at once.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// Maximum size of an answer in bytes. The record of a run is the largest.
const ANSWER_LIMIT: usize = 256 << 20;
/// Limit for the wait for a run. The process limits runs, too.
const WAIT_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error(transparent)]
    Token(#[from] PrivateFileError),
    /// The token would be readable on the way.
    #[error("{url} has no encryption and is not on this host")]
    PlainHttp { url: String },
    #[error(transparent)]
    Settings(#[from] ClientSettingsError),
    #[error("cannot connect to the process")]
    Send(#[source] HttpError),
    /// The message of the process.
    #[error("{error}")]
    Refused { error: String, hint: Option<String> },
    #[error("an https URL requires the certificate of the process: use --ca-file")]
    NoTrust,
    #[error("the answer is not understood: {0}")]
    Answer(String),
}

/// The certificates that a client accepts.
pub(crate) enum ServerTrust {
    /// The URL is an `http` URL.
    None,
    /// PEM of CAs.
    Issuers(String),
    /// PEM of the certificate of the process, under any name: clients on its host use its address.
    Certificate(String),
}

/// A client of a running process.
pub(crate) struct ApiClient {
    client: HttpClient,
    /// Without a slash at its end.
    url: String,
    token: SecretString,
}

/// Checks that a token can be sent to a URL that the user has named.
///
/// # Errors
/// The URL has no encryption and is not on this host.
pub(crate) fn check_target(url: &str) -> Result<(), ClientError> {
    // The request says what is wrong with a text that is no URL.
    if Url::parse(url).is_ok_and(|url| sends_in_clear(&url)) {
        let url = url.to_owned();
        return Err(ClientError::PlainHttp { url });
    }
    Ok(())
}

/// A URL without encryption.
fn plain(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (url.scheme() == "http").then_some(url)
}

/// The token of a file that only its owner can read.
fn read_token(path: &Path) -> Result<SecretString, ClientError> {
    let text = private_file::read_text(path)?;
    Ok(text.trim().to_owned().into())
}

impl ApiClient {
    /// # Errors
    /// The token cannot be read, or the certificates are unusable.
    pub(crate) fn new(
        url: &str,
        token_file: &Path,
        trust: ServerTrust,
    ) -> Result<Self, ClientError> {
        let token = read_token(token_file)?;
        let trust = match trust {
            ServerTrust::Issuers(ca) => Trust::Authorities(Authorities::of_pem(&ca)?),
            ServerTrust::Certificate(pem) => Trust::certificate_of_pem(&pem)?,
            ServerTrust::None if plain(url).is_some() => Trust::Any,
            ServerTrust::None => return Err(ClientError::NoTrust),
        };
        let settings = ClientSettings {
            trust,
            ..ClientSettings::default()
        };
        Ok(Self {
            client: settings.client()?,
            url: url.trim_end_matches('/').to_owned(),
            token,
        })
    }

    /// Requests a run.
    ///
    /// # Errors
    /// The process cannot be connected, or refuses.
    pub(crate) async fn request_run(
        &self,
        device: &str,
        kind: RequestedKind,
    ) -> Result<RunId, ClientError> {
        let device =
            percent_encoding::utf8_percent_encode(device, percent_encoding::NON_ALPHANUMERIC);
        let path = format!("devices/{device}/runs");
        let request = self
            .request(Method::POST, &path)
            .json(&serde_json::json!({ "kind": kind }));
        let answer = self.json(request).await?;
        let run = answer["run"].as_i64();
        run.map(RunId)
            .ok_or_else(|| ClientError::Answer(answer.to_string()))
    }

    /// Waits for the end of a run, and returns the run.
    ///
    /// # Errors
    /// The process cannot be connected, or stops before.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn wait(&self, run: RunId) -> Result<Json, ClientError> {
        // The stream ends when the run has ended.
        let events = self
            .request(Method::GET, &format!("runs/{run}/events"))
            .timeout(WAIT_LIMIT);
        let mut stream = self.send(events).await?;
        stream.wait_for_end().await.map_err(ClientError::Send)?;
        self.json(self.request(Method::GET, &format!("runs/{run}")))
            .await
    }

    /// The address of the page of a run.
    pub(crate) fn page_of(&self, run: RunId) -> String {
        format!("{}/runs/{run}", self.url)
    }

    /// A request of the API that is answered at once.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, &format!("{}/api/v1/{path}", self.url))
            .timeout(REQUEST_LIMIT)
    }

    async fn json(&self, request: RequestBuilder) -> Result<Json, ClientError> {
        let mut answer = self.send(request).await?;
        let body = answer.receive(ANSWER_LIMIT).await;
        serde_json::from_slice(&body.map_err(ClientError::Send)?)
            .map_err(|error| ClientError::Answer(error.to_string()))
    }

    async fn send(&self, request: RequestBuilder) -> Result<HttpResponse, ClientError> {
        let request = request.bearer_auth(self.token.expose_secret());
        let sent = self.client.send(request).await;
        let mut answer = sent.map_err(ClientError::Send)?;
        if answer.is_success() {
            return Ok(answer);
        }
        let body = answer.receive(ANSWER_LIMIT).await.unwrap_or_default();
        let body: Json = serde_json::from_slice(&body).unwrap_or_default();
        let message = body["error"].as_str().map(str::to_owned);
        Err(ClientError::Refused {
            error: message
                .unwrap_or_else(|| format!("the process answered with status {}", answer.status)),
            hint: body["hint"].as_str().map(str::to_owned),
        })
    }
}
