//! Begin and end of the client: tunnel, login, logout.

use std::sync::Arc;
use std::time::Duration;

use super::RestClient;
use crate::dialogue::RestRules;
use crate::duration;
use crate::session::Access;
use crate::session::connect_params::ConnectParams;
use crate::session::deadline::LoginEnd;
use crate::session::error::SessionErrorKind;
use crate::session::ssh::tunnel::Tunnel;

/// Time limit of the logout.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The same after the run was stopped.
const CLOSE_TIMEOUT_AFTER_STOP: Duration = Duration::from_secs(3);

impl RestClient {
    /// A client that is logged in, through a tunnel if the device has a jump host.
    ///
    /// # Cancellation
    /// May be dropped; a new token expires by itself.
    pub(crate) async fn open(
        target: &ConnectParams,
        rules: &Arc<RestRules>,
        access: Access,
    ) -> Result<Self, SessionErrorKind> {
        let login_end = LoginEnd::after(target.limits.login.unwrap_or(rules.limits.login));
        let logging_in = async {
            let tunnel = match &target.ssh.jump {
                Some(jump) => {
                    let port = target.port.unwrap_or(rules.port);
                    Some(Tunnel::open(jump, &target.host, port).await?)
                }
                None => None,
            };
            let client = Self::new(target, rules, access, tunnel)?;
            client.log_in().await?;
            Ok(client)
        };
        let client = target.deadline.within(login_end.at, logging_in).await;
        client.map_err(|end| login_end.error(end, String::new()))?
    }

    /// Logs off within a time; the notes say why that failed.
    pub(crate) async fn end(&self, limit: Duration) -> Vec<String> {
        match tokio::time::timeout(limit, self.log_off()).await {
            Ok(Ok(())) => Vec::new(),
            Ok(Err(kind)) => vec![format!("cannot log out: {kind}")],
            Err(_) => vec![format!(
                "cannot log out: no answer within {}",
                duration::render(limit)
            )],
        }
    }

    /// Time limit of the logout.
    pub(crate) fn close_limit(&self) -> Duration {
        if self.is_stopped() {
            CLOSE_TIMEOUT_AFTER_STOP
        } else {
            CLOSE_TIMEOUT
        }
    }
}
