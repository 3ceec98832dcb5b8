//! Sends the commands for PuppetDB, in order, until they are accepted.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use switchtender_devices::http::{
    Authorities, ClientSettings, ClientSettingsError, HttpClient, HttpError, Identity, Method,
    Trust,
};
use switchtender_devices::regular_file;

use crate::error_chain::chain;
use crate::history::HistoryError;
use crate::history::leases::FleetTask;
use crate::history::puppetdb_commands::WaitingCommand;
use crate::serve::service::Service;
use crate::serve::settings::PuppetDbSettings;

/// Limit for one command.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);
/// Longest answer in bytes.
const LONGEST_ANSWER: usize = 1 << 20;
/// Characters of an answer in the log.
const MAX_ANSWER: usize = 300;
/// Commands that are read at once.
const BATCH: u32 = 20;

/// Why a command is not accepted.
#[derive(Debug, thiserror::Error)]
enum PuppetDbError {
    #[error("cannot read {path}: {source}")]
    File {
        path: String,
        source: std::io::Error,
    },
    #[error("cannot read the key: {0}")]
    Key(rustls::pki_types::pem::Error),
    #[error("`ca_file` is missing: an https URL needs it")]
    NoCa,
    #[error(transparent)]
    Settings(#[from] ClientSettingsError),
    #[error(transparent)]
    Send(#[from] HttpError),
    #[error("PuppetDB answered with status {0}")]
    Status(u16),
    /// The command is at fault: a repetition has the same answer.
    #[error("PuppetDB rejected the command with status {status}: {answer}")]
    Rejected { status: u16, answer: String },
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl Service {
    /// Sends the commands that wait. A rejected one is removed, so that the others follow.
    async fn send_waiting(&self, settings: &PuppetDbSettings) -> Result<(), PuppetDbError> {
        let history = self.history();
        let read = || history.query(|reader| reader.puppetdb_commands(BATCH));
        let mut waiting = read().await?;
        if waiting.is_empty() {
            return Ok(());
        }
        let client = client(settings)?;
        while !waiting.is_empty() {
            for command in &waiting {
                let id = command.id;
                match send(&client, settings, command).await {
                    Ok(()) => {
                        self.inner.loses_commands.store(false, Ordering::Relaxed);
                        history
                            .write(move |writer| writer.remove_puppetdb_command(id))
                            .await?;
                    }
                    Err(error @ PuppetDbError::Rejected { .. }) => {
                        let (certname, name) = (&command.certname, &command.command);
                        let error = chain(&error);
                        tracing::error!("{certname}: cannot send {name} to PuppetDB: {error}");
                        history
                            .write(move |writer| writer.reject_puppetdb_command(id))
                            .await?;
                    }
                    Err(error) => return Err(error),
                }
            }
            waiting = read().await?;
        }
        Ok(())
    }

    /// Sends commands until the process stops. Without PuppetDB in the settings, it only waits.
    ///
    /// # Cancellation
    /// May be dropped at any time; a command can be sent twice then.
    pub(crate) async fn deliver_to_puppetdb(&self) {
        let mut pause = FIRST_PAUSE;
        let mut is_failing = false;
        loop {
            let settings = self.inner.fleet().settings.puppetdb.clone();
            let right = self.task_right(FleetTask::PuppetDb);
            let sent = match settings.as_ref().filter(|_| right.is_some()) {
                Some(settings) => self.send_waiting(settings).await,
                None => Ok(()),
            };
            match sent {
                Ok(()) => {
                    if std::mem::take(&mut is_failing) {
                        tracing::warn!("PuppetDB accepts facts and reports again");
                    }
                    pause = FIRST_PAUSE;
                }
                Err(error) => {
                    // Once: the reports wait in the store.
                    if !std::mem::replace(&mut is_failing, true) {
                        let error = chain(&error);
                        tracing::error!("cannot send to PuppetDB, retrying: {error}");
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

fn client(settings: &PuppetDbSettings) -> Result<HttpClient, PuppetDbError> {
    let trust = match &settings.ca_file {
        Some(path) => Trust::Authorities(Authorities::of_pem(&read(path)?)?),
        None if settings.url.starts_with("https:") => return Err(PuppetDbError::NoCa),
        None => Trust::Any,
    };
    let identity = match (&settings.certificate, &settings.key) {
        (Some(certificate), Some(key)) => Some(Identity {
            certificate: read(certificate)?,
            key: PrivateKeyDer::from_pem_slice(read(key)?.as_bytes())
                .map_err(PuppetDbError::Key)?,
        }),
        _ => None,
    };
    let client = ClientSettings {
        trust,
        identity,
        timeout: Some(ATTEMPT_LIMIT),
        ..ClientSettings::default()
    };
    Ok(client.client()?)
}

async fn send(
    client: &HttpClient,
    settings: &PuppetDbSettings,
    command: &WaitingCommand,
) -> Result<(), PuppetDbError> {
    let url = format!("{}/pdb/cmd/v1", settings.url.trim_end_matches('/'));
    let version = command.version.to_string();
    let query = [
        ("command", command.command.as_str()),
        ("version", version.as_str()),
        ("certname", command.certname.as_str()),
        ("producer-timestamp", command.produced.as_str()),
    ];
    let query = query.map(|(name, value)| {
        let value =
            percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC);
        format!("{name}={value}")
    });
    let request = client
        .request(Method::POST, &format!("{url}?{}", query.join("&")))
        .header("content-type", "application/json")
        .header("accept", "application/json")
        .body(command.body.clone());
    let mut answer = client.send(request).await?;
    if answer.is_success() {
        return Ok(());
    }
    let status = answer.status;
    if concerns_command(status) {
        let text = answer.receive(LONGEST_ANSWER).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let text: String = text.trim().chars().take(MAX_ANSWER).collect();
        let answer = switchtender_devices::printable::escape(&text).into_owned();
        Err(PuppetDbError::Rejected { status, answer })
    } else {
        Err(PuppetDbError::Status(status))
    }
}

/// Whether a status is about the content of a command. The others are about the sender, the URL or the
/// time: all commands have them, and they end with the cause.
fn concerns_command(status: u16) -> bool {
    (400..500).contains(&status) && ![401, 403, 404, 407, 408, 429].contains(&status)
}

fn read(path: &Path) -> Result<String, PuppetDbError> {
    regular_file::read_text(path, regular_file::LARGEST).map_err(|source| PuppetDbError::File {
        path: path.display().to_string(),
        source,
    })
}
