//! How the client of a device connects.

use std::path::PathBuf;

use crate::http::ClientRoute;
use crate::session::connect_params::ConnectParams;

/// Settings that cannot be combined.
#[derive(Debug, thiserror::Error)]
pub(super) enum RouteError {
    #[error("a proxy and a jump host cannot be combined")]
    ProxyAndJumpHost,
    #[error("`socket` cannot be combined with a proxy or a jump host")]
    SocketAndRoute,
}

/// The route to a device; `tunnel` is the socket of the tunnel through its jump host.
///
/// # Errors
/// There are two routes.
pub(super) fn route(
    target: &ConnectParams,
    tunnel: Option<PathBuf>,
) -> Result<ClientRoute, RouteError> {
    match (&target.rest.proxy, tunnel, &target.rest.socket) {
        (Some(_), Some(_), _) => Err(RouteError::ProxyAndJumpHost),
        (Some(_), None, Some(_)) | (None, Some(_), Some(_)) => Err(RouteError::SocketAndRoute),
        (Some(proxy), None, None) => Ok(ClientRoute::Proxy(proxy.clone())),
        (None, Some(socket), None) => Ok(ClientRoute::Socket(socket)),
        (None, None, Some(socket)) => Ok(ClientRoute::Socket(socket.clone())),
        (None, None, None) => Ok(ClientRoute::Direct),
    }
}
