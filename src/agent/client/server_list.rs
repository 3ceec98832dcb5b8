//! Selects the server of a run: the first of `server_list` that reports to be up.

use super::endpoint;
use crate::agent::http::{Client, RequestError};
use crate::agent::puppet_conf::{Server, Settings};
use crate::agent::run_log::RunLog;

/// No server of the list responds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not select a functional puppet server from server_list: '{0}'")]
pub struct ServerSelectionError(pub(crate) String);

/// The server of a run. Without a list it is `server`, without a status request.
pub(crate) async fn select(
    settings: &Settings,
    client: &Client,
    log: &mut dyn RunLog,
) -> Result<Server, ServerSelectionError> {
    if settings.server_list.is_empty() {
        return Ok(settings.server.clone());
    }
    let mut left = settings.server_list.len();
    for server in &settings.server_list {
        left -= 1;
        match endpoint::status(client, server).await {
            Ok(()) => {
                log.debug(format!(
                    "Selected puppet server from the `server_list` setting: {server}"
                ));
                return Ok(server.clone());
            }
            Err(error) => {
                let mut text = render_unavailable(server, &error);
                if left > 0 {
                    text.push_str(" Trying with next server from server_list.");
                }
                log.warning(text);
            }
        }
    }
    let all: Vec<String> = settings.server_list.iter().map(Server::to_string).collect();
    Err(ServerSelectionError(all.join(",")))
}

fn render_unavailable(server: &Server, error: &RequestError) -> String {
    match error.status() {
        Some(status) => format!("Puppet server {server} is unavailable: {status}"),
        None => format!("Unable to connect to server from server_list setting: {error}"),
    }
}
