//! Options of the HTTP client: timeouts, a proxy, a tunnel.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Proxy, redirect};

use crate::error_chain::chain;
use crate::session::connect_params::ConnectParams;

/// Options of one device's HTTP client.
pub(super) struct HttpOptions {
    pub(crate) connect_timeout: Duration,
    pub(crate) command_timeout: Duration,
    proxy: Option<Proxy>,
    /// Local socket of the tunnel through the jump host.
    socket: Option<PathBuf>,
}

impl HttpOptions {
    /// # Errors
    /// The reason why the settings cannot be used.
    pub(crate) fn new(target: &ConnectParams, socket: Option<PathBuf>) -> Result<Self, String> {
        if target.rest.proxy.is_some() && socket.is_some() {
            return Err("a proxy and a jump host exclude each other".to_owned());
        }
        let proxy = target.rest.proxy.as_ref();
        let proxy = proxy.map(|url| Proxy::all(url.expose())).transpose();
        let proxy = proxy.map_err(|error| format!("cannot use the proxy: {}", chain(&error)))?;
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
