//! The webhooks of the settings.

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::delivery::{Webhook, WebhookSetupError};
use crate::history::HistoryError;
use crate::serve::service::Service;
use crate::serve::web::WebSettings;

/// Why the webhooks cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhooksError {
    #[error(transparent)]
    Setup(#[from] WebhookSetupError),
    #[error(transparent)]
    Store(#[from] HistoryError),
}

/// All webhooks.
pub(crate) struct Webhooks {
    all: Vec<Webhook>,
}

impl Webhooks {
    /// Reads the secrets. A webhook that is new begins with the next run that ends.
    pub(crate) async fn open(
        settings: &WebSettings,
        service: &Service,
    ) -> Result<Self, WebhooksError> {
        let base = settings.url.as_deref();
        let all = settings
            .webhooks
            .iter()
            .map(|webhook| Webhook::open(webhook, base));
        let all = all.collect::<Result<Vec<Webhook>, _>>()?;
        let names: Vec<String> = all
            .iter()
            .map(|webhook| webhook.name().to_owned())
            .collect();
        let history = service.history();
        history
            .write(move |writer| writer.set_webhooks(&names))
            .await?;
        Ok(Self { all })
    }

    /// Delivers messages until the process stops.
    ///
    /// # Cancellation
    /// As [`Webhook::run`].
    pub(crate) async fn deliver(&self, service: &Service, stop: &CancellationToken) {
        join_all(self.all.iter().map(|webhook| webhook.run(service, stop))).await;
    }
}
