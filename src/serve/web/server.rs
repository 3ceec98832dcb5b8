//! The web server: opens its files, binds its address, serves until the process stops.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::guard::Guard;
use super::router::router;
use super::state::WebState;
use super::tls::ServerCertificate;
use super::{listener, web_settings::WebSettings};
use crate::serve::access::{
    AccessControl, AccessError, AccessFile, AccessOptions, AccessPaths, AccessSources, AuditLog,
    OidcProvider, OidcSettings, OidcSetupError, Role, TokenText,
};
use crate::serve::service::Service;
use crate::serve::tls_files::TlsFilesError;
use crate::store;

/// Why the web server cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    #[error("cannot listen on {address}")]
    Bind {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("cannot listen: {0}")]
    Unsafe(String),
    #[error("cannot write {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: store::StoreError,
    },
    #[error("cannot create {path}")]
    Directory {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use the users and tokens")]
    Access(#[from] AccessError),
    #[error("cannot use the provider of logins")]
    Oidc(#[from] OidcSetupError),
    #[error("cannot use the certificate of the server")]
    Certificate(#[from] TlsFilesError),
}

impl ServerError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Bind { .. } => Some("choose another address with `listen`".to_owned()),
            Self::Unsafe(_) => Some(
                "set `certificate` and `key` in `[web]`, remove `anonymous`, or listen on \
                 127.0.0.1 behind a proxy"
                    .to_owned(),
            ),
            Self::Access(error) => error.hint(),
            Self::Certificate(error) => error.hint(),
            _ => None,
        }
    }
}

/// A server that is bound to its address. It accepts connections after [`WebServer::serve`] has begun.
pub(crate) struct WebServer {
    listener: TcpListener,
    certificate: Option<Arc<ServerCertificate>>,
    access: AccessSources,
    oidc: Option<OidcProvider>,
    settings: WebSettings,
    /// The file with the place of the store, for programs of the same user on this host.
    store: PathBuf,
    address: SocketAddr,
}

impl WebServer {
    /// Opens the files and binds the address. Writes the token for programs of the same user on this host.
    pub(crate) async fn bind(
        address: SocketAddr,
        settings: &WebSettings,
        paths: &AccessPaths,
    ) -> Result<Self, ServerError> {
        if let Some(problem) = settings.problem_with(address) {
            return Err(ServerError::Unsafe(problem));
        }
        if let Some(role) = settings.anonymous.filter(|role| *role > Role::View) {
            tracing::warn!(
                "`anonymous` has the role {}: every local user and program has it",
                role.word()
            );
        }
        store::create_dir(paths.directory()).map_err(|source| ServerError::Directory {
            path: paths.directory().to_owned(),
            source,
        })?;
        let certificate = match &settings.tls {
            Some(tls) => Some(Arc::new(ServerCertificate::open(tls.clone())?)),
            None => None,
        };
        let local = TokenText::random();
        let mut options = AccessOptions {
            anonymous: settings.anonymous,
            provider: settings.oidc.as_ref().map(OidcSettings::digest),
            ..AccessOptions::default()
        };
        if let Some(requests) = settings.requests_per_minute {
            options.requests_per_minute = requests;
        }
        let file = AccessFile::open(paths.access_file())?;
        let listener = TcpListener::bind(address).await;
        let bind = |source| ServerError::Bind { address, source };
        let listener = listener.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        // Another process that has the address does not lose its token.
        let mut urls = url(address, certificate.is_some());
        if let Some(pages) = &settings.url {
            urls = format!("{urls}\n{}", pages.trim_end_matches('/'));
        }
        for (path, text) in [
            (paths.local_token(), local.expose()),
            (paths.url(), urls.as_str()),
        ] {
            let durability = store::file::Durability::Process;
            store::file::replace(&path, text.as_bytes(), durability)
                .map_err(|source| ServerError::Write { path, source })?;
        }
        let pages = settings.url.clone();
        let pages = pages.unwrap_or_else(|| url(address, certificate.is_some()));
        let oidc = settings.oidc.clone();
        let oidc = oidc
            .map(|oidc| OidcProvider::new(oidc, &pages))
            .transpose()?;
        let access = AccessSources {
            file,
            audit: AuditLog::at(paths.audit_log()),
            local_token: Some(local),
            options,
        };
        Ok(Self {
            listener,
            certificate,
            access,
            oidc,
            settings: settings.clone(),
            store: paths.store(),
            address,
        })
    }

    /// The address of the pages on this host.
    pub(crate) fn url(&self) -> String {
        url(self.address, self.certificate.is_some())
    }

    /// Serves until the process stops. The certificate is read again with the settings.
    pub(crate) async fn serve(self, service: Service, stop: CancellationToken) {
        let mut reloads = service.reloads();
        let history = service.history();
        let position = history.location().absolute();
        let durability = store::file::Durability::Process;
        if let Err(error) = store::file::replace(&self.store, position.as_bytes(), durability) {
            tracing::warn!("{}", crate::error_chain::chain(&error));
        }
        let access = AccessControl::new(self.access, history);
        let guard = Arc::new(Guard::new(access, &self.settings, self.oidc));
        let router = router(WebState::new(guard, service, stop.clone()));
        let certificate = self.certificate.clone();
        let reload = async {
            while reloads.changed().await.is_ok() {
                if let Some(certificate) = &certificate {
                    certificate.reload();
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            () = listener::serve(self.listener, self.certificate, router, stop) => {}
            () = reload => {}
        }
    }
}

fn url(mut address: SocketAddr, has_tls: bool) -> String {
    let scheme = if has_tls { "https" } else { "http" };
    // Programs on this host cannot connect to all addresses at once.
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!("{scheme}://{address}")
}
