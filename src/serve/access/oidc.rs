//! Logins at a provider of OpenID Connect: authorization code with PKCE.
//!
//! The provider is asked when somebody logs in, not before: the process starts, and local users work, while it is away.
//! A login belongs to the browser that began it, by a cookie with its state.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreIdToken, CoreJwsSigningAlgorithm, CoreProviderMetadata,
};
use openidconnect::{
    AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, HttpRequest,
    HttpResponse, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, SignatureVerificationError, TokenResponse as _,
};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchtender_devices::http::{
    Authorities, ClientRoute, ClientSettings, ClientSettingsError, HttpClient, HttpError, Trust,
    Url,
};
use switchtender_devices::regular_file;
use tokio::time::Instant;

use super::device_roles::DeviceRoles;
use super::oidc_settings::OidcSettings;
use super::once_secrets::{OnceSecrets, Purpose};
use super::token::TokenText;
use crate::error_chain::chain;
use crate::history::HistoryError;
use crate::inventory::Secrets;

/// The path of the provider's answer, after the address of the pages.
pub(crate) const CALLBACK: &str = "/login/oidc/callback";

/// Limit for a request to the provider: a browser waits for it.
const LIMIT: Duration = Duration::from_secs(5);

/// Longest answer in bytes.
const LONGEST_ANSWER: usize = 1 << 20;

/// A login ends after this time.
pub(crate) const LOGIN_LIMIT: Duration = Duration::from_secs(10 * 60);

/// The states of logins that a browser has begun. The answer of the provider can reach another process.
const STARTED_LOGIN: Purpose = Purpose {
    name: "login at the provider",
    valid: SignedDuration::from_mins(10),
    count: 1_000,
};

/// The keys of the provider are read again after this time, and when a key is unknown.
const METADATA_LIMIT: Duration = Duration::from_secs(10 * 60);

/// The algorithms of signatures. Those with the secret of the client as a key are not accepted.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Why there is no login at the provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OidcError {
    #[error("the provider of the login cannot be used: {0}")]
    Unavailable(String),
    #[error("the login was not begun by this browser, or has expired")]
    Unknown,
    #[error("the store cannot be used: {0}")]
    NoStore(String),
    #[error("the provider refused the login: {0}")]
    Refused(String),
    #[error("the token of the provider is invalid: {0}")]
    Token(String),
    #[error("the token of the provider has no claim `{0}`")]
    NoName(String),
    #[error("`{0}` has no role: no value of the claim is in `[oidc.role]`")]
    NoRole(String),
}

impl From<HistoryError> for OidcError {
    fn from(error: HistoryError) -> Self {
        Self::NoStore(chain(&error))
    }
}

/// A provider that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OidcSetupError {
    #[error("cannot read {path}")]
    CaFile {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Client(#[from] ClientSettingsError),
    #[error("`{0}` is no address of the pages")]
    Redirect(String),
}

/// A user whom the provider identified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProviderUser {
    pub(crate) name: String,
    /// What the provider never gives to another user. Names can change.
    pub(crate) subject: String,
    pub(crate) roles: DeviceRoles,
}

/// A login that has started.
#[derive(Serialize, Deserialize)]
struct StartedLogin {
    nonce: Nonce,
    verifier: PkceCodeVerifier,
    /// The page after the login.
    next: String,
}

/// The logins that browsers have begun, and the time.
#[derive(Clone, Copy)]
pub(crate) struct LoginContext<'a> {
    pub(crate) once: &'a OnceSecrets,
    pub(crate) now: Instant,
    pub(crate) time: Timestamp,
}

/// The provider of the settings.
pub(crate) struct OidcProvider {
    settings: OidcSettings,
    redirect: RedirectUrl,
    client: HttpClient,
    metadata: Mutex<Option<(Instant, CoreProviderMetadata)>>,
}

impl OidcProvider {
    /// `pages`: the address of the pages for browsers.
    pub(crate) fn new(settings: OidcSettings, pages: &str) -> Result<Self, OidcSetupError> {
        let redirect = format!("{}{CALLBACK}", pages.trim_end_matches('/'));
        let redirect =
            RedirectUrl::new(redirect).map_err(|_| OidcSetupError::Redirect(pages.to_owned()))?;
        let client = ClientSettings {
            trust: trust(&settings)?,
            route: ClientRoute::ProxyOfEnvironment,
            user_agent: Some(concat!("switchtender/", env!("CARGO_PKG_VERSION"))),
            timeout: Some(LIMIT),
            ..ClientSettings::default()
        };
        Ok(Self {
            client: client.client()?,
            settings,
            redirect,
            metadata: Mutex::default(),
        })
    }

    /// The host of the provider, for the link on the page.
    pub(crate) fn host(&self) -> String {
        let issuer = self.settings.issuer.parse::<Url>().ok();
        let host = issuer.and_then(|issuer| Some(issuer.host_str()?.to_owned()));
        host.unwrap_or_default()
    }

    /// Begins a login. Returns the page of the provider, and the state for the cookie of the browser.
    pub(crate) async fn begin(
        &self,
        next: &str,
        context: LoginContext<'_>,
    ) -> Result<(Url, String), OidcError> {
        let metadata = self.metadata(context.now, false).await?;
        let client = CoreClient::from_provider_metadata(
            metadata,
            ClientId::new(self.settings.client_id.clone()),
            None,
        )
        .set_redirect_uri(self.redirect.clone());
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let scopes = self.settings.scopes.iter().cloned().map(Scope::new);
        let (url, state, nonce) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                CsrfToken::new_random,
                Nonce::new_random,
            )
            .add_scopes(scopes)
            .set_pkce_challenge(challenge)
            .url();
        let state = state.secret().clone();
        let login = StartedLogin {
            nonce,
            verifier,
            next: next.to_owned(),
        };
        let body = serde_json::to_string(&login).expect("a login is JSON");
        let secret = TokenText::received(&state);
        let added = context.once.add(STARTED_LOGIN, &secret, body, context.time);
        added.await?;
        Ok((url, state))
    }

    /// Ends a login with the answer of the provider: the user, and the page after the login. A state is valid once.
    /// `secrets` has that of the client. It is read for each login, so that a new one applies at once.
    pub(crate) async fn finish(
        &self,
        answer: &ProviderAnswer<'_>,
        secrets: &Secrets,
        context: LoginContext<'_>,
    ) -> Result<(ProviderUser, String), OidcError> {
        let now = context.now;
        if answer.cookie != Some(answer.state) {
            return Err(OidcError::Unknown);
        }
        let state = TokenText::received(answer.state);
        let login = context.once.take(STARTED_LOGIN, &state, context.time);
        let login = login.await?.ok_or(OidcError::Unknown)?;
        // A later program can store other logins.
        let login: StartedLogin = serde_json::from_str(&login).map_err(|_| OidcError::Unknown)?;
        let code = match (answer.code, answer.error) {
            (Some(code), None) => code,
            (_, error) => {
                let text = printable(error.unwrap_or("it has no code"));
                return Err(OidcError::Refused(text));
            }
        };
        let secret = self.secret(secrets).await?;
        let token = self.token(code, secret, login.verifier, now).await?;
        let claims = self.verified(&token, &login.nonce, now).await?;
        Ok((self.user(&claims)?, login.next))
    }

    /// Exchanges the code for a token.
    async fn token(
        &self,
        code: &str,
        secret: Option<ClientSecret>,
        verifier: PkceCodeVerifier,
        now: Instant,
    ) -> Result<CoreIdToken, OidcError> {
        let metadata = self.metadata(now, false).await?;
        let client = CoreClient::from_provider_metadata(
            metadata,
            ClientId::new(self.settings.client_id.clone()),
            secret,
        )
        .set_redirect_uri(self.redirect.clone());
        let request = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|error| OidcError::Unavailable(chain(&error)))?
            .set_pkce_verifier(verifier);
        let http = self.http();
        let answer = request.request_async(&http).await;
        let answer = answer.map_err(|error| {
            let text = printable(&chain(&error));
            match error {
                RequestTokenError::ServerResponse(_) => OidcError::Refused(text),
                RequestTokenError::Request(_) => OidcError::Unavailable(text),
                _ => OidcError::Token(text),
            }
        })?;
        let token = answer.id_token().cloned();
        token.ok_or_else(|| OidcError::Token("it is missing".to_owned()))
    }

    /// The claims of a token, after its signature, issuer, audience, time and nonce are verified.
    async fn verified(
        &self,
        token: &CoreIdToken,
        nonce: &Nonce,
        now: Instant,
    ) -> Result<Map<String, Value>, OidcError> {
        let mut found = self.verify(token, nonce, self.metadata(now, false).await?);
        if matches!(
            found,
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey
            ))
        ) {
            // The provider can have a new key.
            found = self.verify(token, nonce, self.metadata(now, true).await?);
        }
        found.map_err(|error| OidcError::Token(printable(&chain(&error))))?;
        payload(&token.to_string())
            .ok_or_else(|| OidcError::Token("its claims are no object".to_owned()))
    }

    fn verify(
        &self,
        token: &CoreIdToken,
        nonce: &Nonce,
        metadata: CoreProviderMetadata,
    ) -> Result<(), ClaimsVerificationError> {
        let client_id = ClientId::new(self.settings.client_id.clone());
        let client = CoreClient::from_provider_metadata(metadata, client_id, None);
        let verifier = client.id_token_verifier().set_allowed_algs(ALGORITHMS);
        token.claims(&verifier, nonce).map(|_| ())
    }

    fn user(&self, claims: &Map<String, Value>) -> Result<ProviderUser, OidcError> {
        let name = self.settings.name_of(claims);
        let name = name.filter(|name| !name.is_empty() && name.len() <= 128);
        let name = name.ok_or_else(|| OidcError::NoName(self.settings.user_claim.clone()))?;
        let name = printable(name);
        let subject = claims.get("sub").and_then(Value::as_str);
        let subject = subject.ok_or_else(|| OidcError::NoName("sub".to_owned()))?;
        let roles = self.settings.roles_of(claims);
        Ok(ProviderUser {
            roles: roles.ok_or_else(|| OidcError::NoRole(name.clone()))?,
            subject: subject.to_owned(),
            name,
        })
    }

    async fn secret(&self, secrets: &Secrets) -> Result<Option<ClientSecret>, OidcError> {
        let Some(source) = &self.settings.client_secret else {
            return Ok(None);
        };
        let secret = secrets.of_source(source).await;
        let secret = secret.map_err(|error| {
            tracing::error!("cannot read the secret of the client: {}", chain(&error));
            OidcError::Unavailable("the log of the process has the reason".to_owned())
        })?;
        Ok(Some(ClientSecret::new(secret.expose_secret().to_owned())))
    }

    /// What the provider says about itself, with its keys. `is_new`: it is read again.
    async fn metadata(
        &self,
        now: Instant,
        is_new: bool,
    ) -> Result<CoreProviderMetadata, OidcError> {
        let known = self
            .metadata
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((read, metadata)) = known
            && !is_new
            && now.saturating_duration_since(read) <= METADATA_LIMIT
        {
            return Ok(metadata);
        }
        let issuer = IssuerUrl::new(self.settings.issuer.clone());
        let issuer = issuer.map_err(|error| OidcError::Unavailable(chain(&error)))?;
        let http = self.http();
        let found = CoreProviderMetadata::discover_async(issuer, &http).await;
        let found = found.map_err(|error| {
            let text = printable(&chain(&error));
            tracing::warn!("cannot reach the provider of logins: {text}");
            OidcError::Unavailable(text)
        })?;
        let mut known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((now, found.clone()));
        Ok(found)
    }

    /// Our HTTP client as the library calls it.
    fn http(&self) -> impl Fn(HttpRequest) -> HttpFuture {
        let client = self.client.clone();
        move |request| {
            let client = client.clone();
            Box::pin(async move { send(&client, request).await })
        }
    }
}

type HttpFuture = std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send>>;

async fn send(client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let (parts, body) = request.into_parts();
    let mut builder = client.request(parts.method, &parts.uri.to_string());
    for (name, value) in &parts.headers {
        builder = builder.header(name, value);
    }
    let mut received = client.send(builder.body(body)).await?;
    let mut answer = HttpResponse::new(received.receive(LONGEST_ANSWER).await?);
    if let Ok(status) = openidconnect::http::StatusCode::from_u16(received.status) {
        *answer.status_mut() = status;
    }
    *answer.headers_mut() = received.headers;
    Ok(answer)
}

/// The answer of the provider in the query of a request, and the state in the cookie of the browser.
pub(crate) struct ProviderAnswer<'a> {
    pub(crate) state: &'a str,
    pub(crate) code: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
    pub(crate) cookie: Option<&'a str>,
}

fn trust(settings: &OidcSettings) -> Result<Trust, OidcSetupError> {
    let Some(path) = &settings.ca_file else {
        let is_plain = settings.issuer.starts_with("http:");
        return Ok(if is_plain {
            Trust::Any
        } else {
            Trust::default()
        });
    };
    let pem = regular_file::read_text(path, regular_file::LARGEST);
    let pem = pem.map_err(|source| OidcSetupError::CaFile {
        path: path.display().to_string(),
        source,
    })?;
    Ok(Trust::Authorities(Authorities::of_pem(&pem)?))
}

/// The claims in a token.
fn payload(token: &str) -> Option<Map<String, Value>> {
    let payload = token.split('.').nth(1)?;
    let bytes = URL_SAFE_NO_PAD.decode(payload).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn printable(text: &str) -> String {
    const LONGEST: usize = 300;
    let text: String = text.chars().take(LONGEST).collect();
    switchtender_devices::printable::escape(&text).into_owned()
}
