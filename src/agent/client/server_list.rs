//! Which server of `server_list` a run talks to: the first that says it is up.

use super::endpoint::Endpoint;
use crate::agent::http::{Client, RequestError};
use crate::agent::puppet_conf::{Server, Settings};
use crate::agent::run_log::RunLog;

/// No server of the list is up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not select a functional puppet server from server_list: '{0}'")]
pub struct NoServer(pub String);

/// The server of a run. Without a list it is `server`, and nothing is asked.
pub async fn select(
    settings: &Settings,
    client: &Client,
    certname: &str,
    log: &mut dyn RunLog,
) -> Result<Server, NoServer> {
    if settings.server_list.is_empty() {
        return Ok(settings.server.clone());
    }
    let mut left = settings.server_list.len();
    for server in &settings.server_list {
        left -= 1;
        let endpoint = Endpoint {
            client,
            server,
            certname,
            transaction_uuid: "",
        };
        match endpoint.status().await {
            Ok(()) => {
                log.debug(format!(
                    "Selected puppet server from the `server_list` setting: {server}"
                ));
                return Ok(server.clone());
            }
            Err(error) => {
                let mut text = told(server, &error);
                if left > 0 {
                    text.push_str(" Trying with next server from server_list.");
                }
                log.warning(text);
            }
        }
    }
    let all: Vec<String> = settings.server_list.iter().map(Server::to_string).collect();
    Err(NoServer(all.join(",")))
}

fn told(server: &Server, error: &RequestError) -> String {
    match error.status() {
        Some(status) => format!("Puppet server {server} is unavailable: {status}"),
        None => format!("Unable to connect to server from server_list setting: {error}"),
    }
}
