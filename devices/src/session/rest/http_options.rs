//! How a REST interface is reached: time limits, a proxy, a jump host.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Proxy, redirect};

use crate::session::connect_params::ConnectParams;

/// The whole of a request may take so many times the limit between two bytes.
const TOTAL_TIMEOUT_FACTOR: u32 = 5;

pub(super) struct HttpOptions {
    pub connect_timeout: Duration,
    pub command_timeout: Duration,
    proxy: Option<Proxy>,
    /// Where the way through a jump host begins.
    socket: Option<PathBuf>,
}

impl HttpOptions {
    /// # Errors
    /// In words: the settings cannot be used.
    pub fn new(target: &ConnectParams, socket: Option<PathBuf>) -> Result<Self, String> {
        if target.rest.proxy.is_some() && socket.is_some() {
            return Err("it has a proxy and a jump host, and only one can be the way".to_owned());
        }
        let proxy = target.rest.proxy.as_ref().map(Proxy::all).transpose();
        let proxy = proxy.map_err(|error| {
            format!(
                "the proxy cannot be used: {}",
                super::request_error::chain(&error)
            )
        })?;
        Ok(Self {
            connect_timeout: target.connect_timeout,
            command_timeout: target.command_timeout,
            proxy,
            socket,
        })
    }

    /// A client that goes this way, before it knows whom to trust.
    pub fn builder(&self) -> ClientBuilder {
        let builder = Client::builder()
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.command_timeout)
            .timeout(self.command_timeout * TOTAL_TIMEOUT_FACTOR)
            .tcp_nodelay(true)
            // A redirection would carry the credentials to where nobody looked.
            .redirect(redirect::Policy::none())
            .no_proxy();
        match (&self.proxy, &self.socket) {
            (Some(proxy), _) => builder.proxy(proxy.clone()),
            (None, Some(socket)) => builder.unix_socket(socket.as_path()),
            (None, None) => builder,
        }
    }
}
