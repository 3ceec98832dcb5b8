//! The webhooks of the settings.

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::delivery::{Webhook, WebhookSetupError};
use crate::error_chain::chain;
use crate::history::HistoryError;
use crate::serve::service::Service;
use crate::serve::watched_files::WatchedFiles;
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
    /// The settings of the webhooks.
    settings: WebSettings,
    /// The files of the secrets.
    secrets: WatchedFiles,
}

impl Webhooks {
    /// Reads the secrets. A webhook that is new begins with the next run that ends.
    pub(crate) async fn open(
        settings: &WebSettings,
        service: &Service,
    ) -> Result<Self, WebhooksError> {
        let base = settings.url.as_deref();
        let mut secrets = WatchedFiles::default();
        for webhook in &settings.webhooks {
            secrets.add(&webhook.secret_file);
        }
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
        Ok(Self {
            all,
            settings: settings.clone(),
            secrets,
        })
    }

    /// Delivers messages until the process stops, also for webhooks of later settings.
    ///
    /// # Cancellation
    /// As [`Webhook::run`].
    pub(crate) async fn deliver(mut self, service: &Service, stop: &CancellationToken) {
        let mut reloads = service.reloads();
        loop {
            let delivery = join_all(self.all.iter().map(|webhook| webhook.run(service, stop)));
            tokio::select! {
                _ = delivery, if !self.all.is_empty() => {}
                () = stop.cancelled() => {}
                settings = self.changed_settings(service, &mut reloads) => {
                    match Self::open(&settings, service).await {
                        Ok(webhooks) => self = webhooks,
                        Err(error) => {
                            let error = chain(&error);
                            tracing::error!("cannot use the webhooks, the earlier ones stay: {error}");
                            // Not again until something changes.
                            self.settings = settings;
                            self.secrets = self.secrets.read_again();
                        }
                    }
                    continue;
                }
            }
            return;
        }
    }

    /// Waits for settings with other webhooks or secrets.
    async fn changed_settings(
        &self,
        service: &Service,
        reloads: &mut watch::Receiver<()>,
    ) -> WebSettings {
        while reloads.changed().await.is_ok() {
            let settings = service.fleet().settings.web.clone();
            let (new, old) = (&settings, &self.settings);
            let are_equal = new.webhooks == old.webhooks && new.url == old.url;
            if !are_equal || self.secrets.read_again() != self.secrets {
                return settings;
            }
        }
        std::future::pending().await
    }
}
