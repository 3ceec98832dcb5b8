//! Reads secrets of the key-value engines of HashiCorp Vault and OpenBao, versions 1 and 2.
//!
//! As `vault kv get` does, it asks the server which engine has a path. Errors are in words of this module: the
//! answer of a server can have a secret.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value as Json, json};
use switchtender_devices::http::header::HeaderValue;
use switchtender_devices::http::{
    Authorities, ClientSettings, ClientSettingsError, HttpClient, HttpError, Method, Trust, Url,
};
use switchtender_devices::regular_file;
use tokio::sync::Mutex;

use super::vault_settings::VaultSettings;

/// Limit for a request with its answer.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// Maximum size of an answer in bytes.
const ANSWER_LIMIT: usize = 4 << 20;

/// Characters of a path that are not escaped.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Why a secret cannot be read. No text is that of the server.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum VaultError {
    #[error("cannot read {path}")]
    CaFile {
        path: String,
        #[source]
        source: Arc<io::Error>,
    },
    #[error(transparent)]
    Client(Arc<ClientSettingsError>),
    #[error("cannot connect to {address}")]
    Send {
        address: String,
        #[source]
        source: Arc<HttpError>,
    },
    #[error("the token has a character that no header can have")]
    Token,
    #[error("the login with AppRole is refused (status {0})")]
    Login(u16),
    #[error("the token may not read it (status 403)")]
    Denied,
    #[error("there is no such secret")]
    NoSecret,
    #[error("the path names an engine, not a secret")]
    NoName,
    #[error("the engine is no key-value engine")]
    Engine,
    #[error("the server is sealed, or is not active (status 503)")]
    Sealed,
    #[error("the server answers with status {0}")]
    Status(u16),
    #[error("the answer is not understood")]
    Answer,
    #[error("the secret has no field `{field}`")]
    Field { field: String, known: Vec<String> },
    #[error("the field `{0}` is not a text")]
    NotText(String),
}

impl VaultError {
    /// What to do next.
    pub(super) fn help(&self, path: &str) -> Option<String> {
        match self {
            VaultError::Denied => Some(format!(
                "grant the capability `read` on `{path}`; engines of version 2 need `data/` after their name"
            )),
            VaultError::NoSecret => Some(format!(
                "`vault kv get {path}` shows whether it exists and is not deleted"
            )),
            VaultError::NoName => Some(format!("write the name after it: \"{path}/{{name}}\"")),
            VaultError::Login(_) => {
                Some("check `role_id` and `secret_id`; a secret ID expires".to_owned())
            }
            VaultError::Sealed => Some("unseal the server, or name the active one".to_owned()),
            VaultError::Field { known, .. } => Some(format!("its fields: {}", known.join(", "))),
            VaultError::Send { source, .. } if source.tls().is_some() => {
                Some("name the CA of the server with `ca_file` in [vault]".to_owned())
            }
            _ => None,
        }
    }
}

/// What a login needs.
pub(super) enum VaultCredentials {
    Token(SecretString),
    AppRole {
        mount: String,
        role_id: SecretString,
        secret_id: SecretString,
    },
}

/// A client of one server.
pub(super) struct VaultClient {
    settings: VaultSettings,
    client: HttpClient,
    /// The token of a login with AppRole.
    token: Mutex<Option<SecretString>>,
    /// The engines that are known, by their path, with a slash at its end.
    engines: Mutex<BTreeMap<String, EngineVersion>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EngineVersion {
    One,
    Two,
}

impl VaultClient {
    pub(super) fn new(settings: &VaultSettings) -> Result<Self, VaultError> {
        let is_plain = Url::parse(&settings.address).is_ok_and(|url| url.scheme() == "http");
        let trust = match &settings.ca_file {
            Some(path) => {
                let pem = regular_file::read_text(path, regular_file::LARGEST);
                let pem = pem.map_err(|error| VaultError::CaFile {
                    path: path.display().to_string(),
                    source: Arc::new(error),
                })?;
                let authorities = Authorities::of_pem(&pem);
                Trust::Authorities(authorities.map_err(|error| VaultError::Client(error.into()))?)
            }
            // Without TLS there are no certificates.
            None if is_plain => Trust::Any,
            None => Trust::System,
        };
        let client = ClientSettings {
            trust,
            timeout: Some(REQUEST_LIMIT),
            ..ClientSettings::default()
        };
        Ok(Self {
            settings: settings.clone(),
            client: client
                .client()
                .map_err(|error| VaultError::Client(error.into()))?,
            token: Mutex::default(),
            engines: Mutex::default(),
        })
    }

    /// The fields of a secret as a JSON object.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(super) async fn document(
        &self,
        path: &str,
        credentials: &VaultCredentials,
    ) -> Result<SecretString, VaultError> {
        match (self.read(path, credentials).await, credentials) {
            // The token of the login can have expired.
            (Err(VaultError::Denied), VaultCredentials::AppRole { .. }) => {
                *self.token.lock().await = None;
                self.read(path, credentials).await
            }
            (read, _) => read,
        }
    }

    async fn read(
        &self,
        path: &str,
        credentials: &VaultCredentials,
    ) -> Result<SecretString, VaultError> {
        let token = self.token(credentials).await?;
        let (engine, version) = self.engine(path, &token).await?;
        let name = path.strip_prefix(&engine).unwrap_or_default();
        if name.is_empty() {
            return Err(VaultError::NoName);
        }
        let read_path = match version {
            EngineVersion::One => path.to_owned(),
            EngineVersion::Two => format!("{engine}data/{name}"),
        };
        let mut answer = self.get(&read_path, &token).await?;
        let data = match version {
            EngineVersion::One => answer["data"].take(),
            EngineVersion::Two => answer["data"]["data"].take(),
        };
        match data {
            Json::Object(_) => Ok(SecretString::from(data.to_string())),
            _ => Err(VaultError::Answer),
        }
    }

    /// The path and the version of the engine that has a secret.
    async fn engine(
        &self,
        path: &str,
        token: &SecretString,
    ) -> Result<(String, EngineVersion), VaultError> {
        let mut engines = self.engines.lock().await;
        let mut known = engines.iter();
        if let Some((engine, version)) = known.find(|(engine, _)| path.starts_with(*engine)) {
            return Ok((engine.clone(), *version));
        }
        let answered = self
            .get(&format!("sys/internal/ui/mounts/{path}"), token)
            .await;
        let answer = match answered {
            Ok(answer) => answer,
            // Servers without this question have version 1 only.
            Err(VaultError::NoSecret) => {
                let engine = path.split_once('/').map_or(path, |(engine, _)| engine);
                return Ok((format!("{engine}/"), EngineVersion::One));
            }
            Err(error) => return Err(error),
        };
        let engine = answer["data"]["path"].as_str().ok_or(VaultError::Answer)?;
        if !matches!(
            answer["data"]["type"].as_str(),
            Some("kv" | "generic" | "cubbyhole")
        ) {
            return Err(VaultError::Engine);
        }
        let version = match answer["data"]["options"]["version"].as_str() {
            Some("2") => EngineVersion::Two,
            _ => EngineVersion::One,
        };
        engines.insert(engine.to_owned(), version);
        Ok((engine.to_owned(), version))
    }

    async fn token(&self, credentials: &VaultCredentials) -> Result<SecretString, VaultError> {
        let (mount, role_id, secret_id) = match credentials {
            VaultCredentials::Token(token) => return Ok(token.clone()),
            VaultCredentials::AppRole {
                mount,
                role_id,
                secret_id,
            } => (mount, role_id, secret_id),
        };
        // All devices wait for one login.
        let mut token = self.token.lock().await;
        if let Some(token) = token.as_ref() {
            return Ok(token.clone());
        }
        let body = json!({
            "role_id": role_id.expose_secret(),
            "secret_id": secret_id.expose_secret(),
        });
        let path = format!("auth/{mount}/login");
        let (status, answer) = self.request(Method::POST, &path, None, Some(&body)).await?;
        if !(200..300).contains(&status) {
            return Err(VaultError::Login(status));
        }
        let found = answer["auth"]["client_token"].as_str();
        let found = SecretString::from(found.ok_or(VaultError::Answer)?.to_owned());
        Ok(token.insert(found).clone())
    }

    async fn get(&self, path: &str, token: &SecretString) -> Result<Json, VaultError> {
        let (status, answer) = self.request(Method::GET, path, Some(token), None).await?;
        match status {
            200..300 => Ok(answer),
            403 => Err(VaultError::Denied),
            404 => Err(VaultError::NoSecret),
            503 => Err(VaultError::Sealed),
            _ => Err(VaultError::Status(status)),
        }
    }

    /// The status and the body of an answer; a body that is not JSON is null.
    async fn request(
        &self,
        method: Method,
        path: &str,
        token: Option<&SecretString>,
        body: Option<&Json>,
    ) -> Result<(u16, Json), VaultError> {
        let segments = path.split('/');
        let segments = segments.map(|segment| utf8_percent_encode(segment, PATH).to_string());
        let path = Vec::from_iter(segments).join("/");
        let url = format!("{}/v1/{path}", self.settings.address);
        // The server refuses requests of browsers that lack this header.
        let mut request = self
            .client
            .request(method, &url)
            .header("X-Vault-Request", "true");
        if let Some(namespace) = &self.settings.namespace {
            request = request.header("X-Vault-Namespace", namespace);
        }
        if let Some(token) = token {
            let token = HeaderValue::from_str(token.expose_secret());
            let mut token = token.map_err(|_| VaultError::Token)?;
            token.set_sensitive(true);
            request = request.header("X-Vault-Token", token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let failed = |error: HttpError| VaultError::Send {
            address: self.settings.address.clone(),
            source: Arc::new(error.without_url()),
        };
        let mut answer = self.client.send(request).await.map_err(failed)?;
        let bytes = answer.receive(ANSWER_LIMIT).await.map_err(failed)?;
        Ok((
            answer.status,
            serde_json::from_slice(&bytes).unwrap_or_default(),
        ))
    }
}

/// A field of a secret.
pub(super) fn field(document: &SecretString, field: &str) -> Result<SecretString, VaultError> {
    let fields: Map<String, Json> =
        serde_json::from_str(document.expose_secret()).map_err(|_| VaultError::Answer)?;
    match fields.get(field) {
        Some(Json::String(text)) => Ok(SecretString::from(text.as_str())),
        Some(number @ Json::Number(_)) => Ok(SecretString::from(number.to_string())),
        Some(_) => Err(VaultError::NotText(field.to_owned())),
        None => Err(VaultError::Field {
            field: field.to_owned(),
            known: fields.keys().cloned().collect(),
        }),
    }
}

#[cfg(test)]
mod tests;
