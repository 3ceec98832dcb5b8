//! The delivery of one message.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use secrecy::SecretString;
use switchtender_devices::http::{
    ClientRoute, ClientSettings, ClientSettingsError, HttpClient, HttpError, Method, Url,
};

use super::signature::signature;

/// Limit for one attempt.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(10);

/// Pause after the first failed attempt. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// A message.
#[derive(Clone, Debug)]
pub(super) struct WebhookMessage {
    /// Is the same for each attempt, so that a receiver can ignore repetitions.
    pub(crate) id: String,
    /// JSON without secrets.
    pub(crate) body: String,
}

/// Sends messages to one URL.
pub(super) struct WebhookSender {
    client: HttpClient,
    url: Url,
    secret: SecretString,
}

/// The URL can contain a secret.
impl fmt::Debug for WebhookSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSender").finish_non_exhaustive()
    }
}

/// Why a message is not delivered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookError {
    #[error("cannot use the URL of the webhook")]
    Url(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot send the message")]
    Send(#[source] HttpError),
    #[error(transparent)]
    Settings(#[from] ClientSettingsError),
    #[error("the receiver answered with status {0}")]
    Status(u16),
}

impl WebhookSender {
    pub(crate) fn new(url: &str, secret: SecretString) -> Result<Self, WebhookError> {
        let url: Url = url
            .parse()
            .map_err(|error| WebhookError::Url(Box::new(error)))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(WebhookError::Url("the scheme is not http or https".into()));
        }
        let settings = ClientSettings {
            route: ClientRoute::ProxyOfEnvironment,
            user_agent: Some(concat!("switchtender/", env!("CARGO_PKG_VERSION"))),
            timeout: Some(ATTEMPT_LIMIT),
            ..ClientSettings::default()
        };
        Ok(Self {
            client: settings.client()?,
            url,
            secret,
        })
    }

    /// Sends a message once.
    ///
    /// # Cancellation
    /// May be dropped at any time; the message may have been delivered.
    pub(crate) async fn send(
        &self,
        message: &WebhookMessage,
        time: Timestamp,
    ) -> Result<(), WebhookError> {
        let seconds = time.as_second();
        let signature = signature(&self.secret, &message.id, seconds, &message.body);
        let request = self
            .client
            .request(Method::POST, self.url.as_str())
            .header("content-type", "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", signature)
            .body(message.body.clone());
        let response = self.client.send(request).await;
        let response = response.map_err(|error| WebhookError::Send(error.without_url()))?;
        if response.is_success() {
            Ok(())
        } else {
            Err(WebhookError::Status(response.status))
        }
    }
}

/// The pause after a number of failed attempts, from 1.
pub(super) fn pause(failures: u32) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(20));
    doubled.min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_pauses_double_up_to_five_minutes() {
        let seconds: Vec<u64> = [1, 2, 3, 9, 10, 1000]
            .map(|count| pause(count).as_secs())
            .to_vec();
        assert_eq!(seconds, [1, 2, 4, 256, 300, 300]);
    }

    #[test]
    fn webhook_urls_are_http() {
        for url in ["file:///etc/passwd", "no url", "ftp://one.test"] {
            let failed = WebhookSender::new(url, String::new().into());
            assert!(matches!(failed, Err(WebhookError::Url(_))), "{url}");
        }
        let sender = WebhookSender::new("https://one.test/s3cret", String::new().into()).unwrap();
        assert!(!format!("{sender:?}").contains("s3cret"));
    }
}
