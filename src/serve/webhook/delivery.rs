//! The delivery of all messages of a webhook, in the order of the ends of the runs.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::sender::{WebhookError, WebhookMessage, WebhookSender, pause};
use crate::clock;
use crate::error_chain::chain;
use crate::history::HistoryError;
use crate::history::leases::FleetTask;
use crate::history::runs::RunEntry;
use crate::history::webhooks::UnsentRun;
use crate::inventory::private_file::{self, PrivateFileError};
use crate::serve::live::LiveEventKind;
use crate::serve::service::Service;
use crate::serve::web::{RunEventKind, WebhookSettings};

/// Runs that are read at once.
const BATCH: u32 = 100;

/// Runs of other processes are found after this time.
const INTERVAL: Duration = Duration::from_secs(60);
/// In a fleet, runs of other nodes are found after this time.
const FLEET_INTERVAL: Duration = Duration::from_secs(5);

/// Maximum size of a secret, in bytes.
const MAX_SECRET: u64 = 4096;

/// Why a webhook cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookSetupError {
    #[error(transparent)]
    Secret(#[from] PrivateFileError),
    #[error("{path} is empty")]
    Empty { path: PathBuf },
    #[error("webhook {name}")]
    Url {
        name: String,
        #[source]
        source: WebhookError,
    },
}

/// A webhook with its secret.
pub(crate) struct Webhook {
    name: String,
    events: Vec<RunEventKind>,
    /// The address of the pages.
    base: Option<String>,
    sender: WebhookSender,
}

/// The body of a message.
#[derive(Serialize)]
struct MessageBody<'a> {
    /// Why the message is sent, most important first.
    events: &'a [RunEventKind],
    run: &'a RunEntry,
    /// The page of the run.
    url: Option<String>,
}

impl Webhook {
    /// Reads the secret.
    pub(crate) fn open(
        settings: &WebhookSettings,
        base: Option<&str>,
    ) -> Result<Self, WebhookSetupError> {
        let secret = read_secret(&settings.secret_file)?;
        let sender = WebhookSender::new(&settings.url, secret);
        let sender = sender.map_err(|source| WebhookSetupError::Url {
            name: settings.name.clone(),
            source,
        })?;
        Ok(Self {
            name: settings.name.clone(),
            events: settings.events.clone(),
            base: base.map(|base| base.trim_end_matches('/').to_owned()),
            sender,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Delivers messages until the process stops.
    ///
    /// # Cancellation
    /// May be dropped at any time; a message that is not confirmed is sent again by the next process.
    pub(crate) async fn run(&self, service: &Service, stop: &CancellationToken) {
        let mut events = service.live().subscribe();
        let interval = if service.leases().is_some() {
            FLEET_INTERVAL
        } else {
            INTERVAL
        };
        loop {
            match self.deliver_all(service, stop).await {
                Ok(()) => {}
                Err(error) => {
                    tracing::error!(webhook = self.name, "{}", chain(&error));
                }
            }
            let wait = async {
                loop {
                    match events.recv().await {
                        Ok(event) if matches!(event.event, LiveEventKind::Ended { .. }) => break,
                        Ok(_) => {}
                        Err(RecvError::Lagged(_)) => break,
                        Err(RecvError::Closed) => std::future::pending().await,
                    }
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = wait => {}
                () = tokio::time::sleep(interval) => {}
            }
            if stop.is_cancelled() {
                return;
            }
        }
    }

    /// Delivers what the store has now.
    async fn deliver_all(
        &self,
        service: &Service,
        stop: &CancellationToken,
    ) -> Result<(), HistoryError> {
        let history = service.history();
        while service.task_right(FleetTask::Webhooks).is_some() {
            let name = self.name.clone();
            let ended = history
                .query(move |reader| reader.ended_runs(&name, BATCH))
                .await?;
            let Some(ended) = ended else {
                return self.begin_again(service).await;
            };
            let Some(last) = ended.last().map(|ended| ended.sequence) else {
                return Ok(());
            };
            for one in &ended {
                if let Some(message) = self.message(one) {
                    if !self.deliver(service, &message, stop).await {
                        return Ok(());
                    }
                    self.advance(service, one.sequence).await?;
                }
            }
            self.advance(service, last).await?;
        }
        Ok(())
    }

    /// The store has forgotten what was sent.
    async fn begin_again(&self, service: &Service) -> Result<(), HistoryError> {
        tracing::error!(
            webhook = self.name,
            "the store does not know which messages were sent; the next one is about the next run that ends"
        );
        let name = self.name.clone();
        let history = service.history();
        history.write(move |writer| writer.add_webhook(&name)).await
    }

    async fn advance(&self, service: &Service, sequence: i64) -> Result<(), HistoryError> {
        let name = self.name.clone();
        let history = service.history();
        history
            .write(move |writer| writer.advance_webhook(&name, sequence))
            .await
    }

    /// Sends a message until it is delivered. Returns false if the process stops before, or another one delivers.
    async fn deliver(
        &self,
        service: &Service,
        message: &WebhookMessage,
        stop: &CancellationToken,
    ) -> bool {
        let mut failures = 0;
        loop {
            let sent = tokio::select! {
                () = stop.cancelled() => return false,
                sent = self.sender.send(message, clock::timestamp()) => sent,
            };
            let Err(error) = sent else { return true };
            if service.task_right(FleetTask::Webhooks).is_none() {
                return false;
            }
            failures += 1;
            let pause = pause(failures);
            tracing::warn!(
                webhook = self.name,
                message = message.id,
                "{}; retry in {} s",
                chain(&error),
                pause.as_secs()
            );
            tokio::select! {
                () = stop.cancelled() => return false,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// The message about a run. `None`: it has no event of this webhook.
    fn message(&self, ended: &UnsentRun) -> Option<WebhookMessage> {
        let run = &ended.run;
        let has = |kind: &RunEventKind| match kind {
            RunEventKind::Failed => run.status.is_failure(),
            RunEventKind::Drifted => ended.is_drifted,
            RunEventKind::Changed => run.is_change(),
        };
        let events = RunEventKind::ALL.into_iter().filter(has);
        let events: Vec<RunEventKind> = events.filter(|kind| self.events.contains(kind)).collect();
        if events.is_empty() {
            return None;
        }
        let body = MessageBody {
            events: &events,
            run,
            url: self
                .base
                .as_ref()
                .map(|base| format!("{base}/runs/{}", run.id)),
        };
        Some(WebhookMessage {
            id: format!("run_{}", run.id),
            body: serde_json::to_string(&body).expect("a run is JSON"),
        })
    }
}

fn read_secret(path: &Path) -> Result<SecretString, WebhookSetupError> {
    let mut text = String::new();
    private_file::open(path)?
        .take(MAX_SECRET)
        .read_to_string(&mut text)
        .map_err(|source| PrivateFileError::read(path, source))?;
    match text.trim() {
        "" => Err(WebhookSetupError::Empty {
            path: path.to_owned(),
        }),
        secret => Ok(SecretString::from(secret)),
    }
}
