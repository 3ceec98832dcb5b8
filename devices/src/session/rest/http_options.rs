//! Options of the HTTP client: timeouts, a proxy, a tunnel.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Proxy, redirect};

use crate::session::connect_params::ConnectParams;

/// Settings that no client can have.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpOptionsError {
    #[error("a proxy and a jump host cannot be combined")]
    ProxyAndJumpHost,
    #[error("`socket` cannot be combined with a proxy or a jump host")]
    SocketAndRoute,
    #[error("cannot use the proxy")]
    Proxy(#[from] reqwest::Error),
}

/// Options of one device's HTTP client.
pub(super) struct HttpOptions {
    pub(crate) connect_timeout: Duration,
    pub(crate) command_timeout: Duration,
    proxy: Option<Proxy>,
    /// The socket of the interface, or that of the tunnel through the jump host.
    socket: Option<PathBuf>,
}

impl HttpOptions {
    /// # Errors
    /// The settings cannot be used.
    pub(crate) fn new(
        target: &ConnectParams,
        socket: Option<PathBuf>,
    ) -> Result<Self, HttpOptionsError> {
        if target.rest.proxy.is_some() && socket.is_some() {
            return Err(HttpOptionsError::ProxyAndJumpHost);
        }
        let own = target.rest.socket.clone();
        if own.is_some() && (target.rest.proxy.is_some() || socket.is_some()) {
            return Err(HttpOptionsError::SocketAndRoute);
        }
        let socket = socket.or(own);
        let proxy = target.rest.proxy.as_ref();
        let proxy = proxy.map(|url| Proxy::all(url.expose())).transpose()?;
        Ok(Self {
            connect_timeout: target.connect_timeout,
            command_timeout: target.command_timeout,
            proxy,
            socket,
        })
    }

    /// A client with these options, without certificate verification settings.
    pub(crate) fn builder(&self) -> ClientBuilder {
        let builder = Client::builder()
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.command_timeout)
            .tcp_nodelay(true)
            // The certificate identifies the device.
            .tls_info(true)
            // A redirect would send the credentials to another host.
            .redirect(redirect::Policy::none())
            .no_proxy();
        match (&self.proxy, &self.socket) {
            (Some(proxy), _) => builder.proxy(proxy.clone()),
            (None, Some(socket)) => builder.unix_socket(socket.as_path()),
            (None, None) => builder,
        }
    }
}
