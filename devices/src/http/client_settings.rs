//! The settings of a client.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Proxy, redirect};

use super::exchange::HttpClient;
use super::tls::{self, Identity, Trust};
use super::verifier::PresentedCertificate;
use crate::secret_url::SecretUrl;

/// The settings of a client. Without a limit, each request needs its own.
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// The accepted certificates.
    pub trust: Trust,
    /// The certificate of the client.
    pub identity: Option<Identity>,
    /// How the client connects.
    pub route: ClientRoute,
    /// The header `User-Agent`.
    pub user_agent: Option<&'static str>,
    /// Limit for a connection.
    pub connect_timeout: Option<Duration>,
    /// Limit for bytes that the kernel repeats because nobody acknowledges them.
    pub unacknowledged_limit: Option<Duration>,
    /// Limit between two parts of an answer.
    pub read_timeout: Option<Duration>,
    /// Limit for a request with its complete answer.
    pub timeout: Option<Duration>,
    /// Time after which an unused connection is closed.
    pub idle_timeout: Option<Duration>,
}

/// How a client connects.
#[derive(Clone, Debug, Default)]
pub enum ClientRoute {
    /// To the host of the URL.
    #[default]
    Direct,
    /// Through this HTTP proxy.
    Proxy(SecretUrl),
    /// Through the proxy that the environment names, if any.
    ProxyOfEnvironment,
    /// To this Unix socket.
    Socket(PathBuf),
}

/// Settings that no client can have.
#[derive(Debug, thiserror::Error)]
pub enum ClientSettingsError {
    /// The CA bundle contains no certificate that can be a trust anchor.
    #[error("the CA bundle has no usable certificate")]
    NoAnchors,
    /// A file contains invalid PEM.
    #[error("cannot read the {file} as PEM")]
    Pem {
        /// Description of the file for the message, such as `CA bundle`.
        file: &'static str,
        /// Error of the PEM parser.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// The certificate verifier rejected the CRLs.
    #[error("cannot use the CRL bundle")]
    Crl(#[source] rustls::server::VerifierBuilderError),
    /// The certificate and the key cannot be used for client authentication.
    #[error("cannot use the device's certificate and key")]
    Identity(#[source] rustls::Error),
    /// The system has no usable CA certificates.
    #[error("cannot use the CA certificates of the system")]
    System(#[source] rustls::Error),
    /// The URL of the proxy is invalid.
    #[error("cannot use the proxy")]
    Proxy(#[source] reqwest::Error),
    /// The library rejected another setting.
    #[error("cannot set up the HTTP client")]
    Client(#[source] reqwest::Error),
}

/// Sets a limit of a client.
type SetLimit = fn(ClientBuilder, Duration) -> ClientBuilder;

impl ClientSettings {
    /// A client with these settings.
    ///
    /// # Errors
    /// The settings cannot be used.
    pub fn client(&self) -> Result<HttpClient, ClientSettingsError> {
        let presented = PresentedCertificate::default();
        let tls = tls::config(&self.trust, self.identity.as_ref(), presented.clone())?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(redirect::Policy::none());
        builder = match &self.route {
            ClientRoute::Direct => builder.no_proxy(),
            ClientRoute::Proxy(url) => {
                let proxy = Proxy::all(url.expose()).map_err(ClientSettingsError::Proxy)?;
                builder.no_proxy().proxy(proxy)
            }
            ClientRoute::ProxyOfEnvironment => builder,
            ClientRoute::Socket(path) => builder.no_proxy().unix_socket(path.as_path()),
        };
        let limits: [(Option<Duration>, SetLimit); 5] = [
            (self.connect_timeout, ClientBuilder::connect_timeout),
            (
                self.unacknowledged_limit,
                ClientBuilder::tcp_user_timeout::<Duration>,
            ),
            (self.read_timeout, ClientBuilder::read_timeout),
            (self.timeout, ClientBuilder::timeout),
            (self.idle_timeout, ClientBuilder::pool_idle_timeout),
        ];
        for (limit, set) in limits {
            if let Some(limit) = limit {
                builder = set(builder, limit);
            }
        }
        if let Some(name) = self.user_agent {
            builder = builder.user_agent(name);
        }
        let inner = builder.build().map_err(ClientSettingsError::Client)?;
        Ok(HttpClient { inner, presented })
    }
}
