//! Loads the settings again when a file changes, or after SIGHUP. Invalid files change nothing.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::fleet::{LoadContext, LoadFleetError, ServeFleet};
use super::service::Service;
use super::settings::ServeSettings;
use crate::clock;
use crate::diagnostic::limit;
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::store::blocking_io;

/// Interval between two checks of the files. It works on every file system, and costs nothing.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Findings of one code in the message about rejected settings.
const MAX_FINDINGS: usize = 20;

/// Inode, size and time of change of a file. `None`: it cannot be read.
type FileState = Option<(u64, u64, i64, i64)>;

/// The state of the files of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingsFiles {
    paths: Vec<PathBuf>,
    states: Vec<FileState>,
}

impl SettingsFiles {
    pub(super) fn read(paths: Vec<PathBuf>) -> Self {
        let states = paths.iter().map(|path| {
            let data = std::fs::metadata(path).ok()?;
            Some((data.ino(), data.size(), data.mtime(), data.mtime_nsec()))
        });
        Self {
            states: states.collect(),
            paths,
        }
    }

    /// Waits until a file changed and does not change any more.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    async fn changed(&self) {
        let mut last = self.clone();
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            let paths = self.paths.clone();
            let now = blocking_io::run(move || Self::read(paths)).await;
            if now != *self && now == last {
                return;
            }
            last = now;
        }
    }
}

impl Service {
    /// Loads the settings at every change until the process stops.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn reload_on_changes(&self, path: &Path, context: &LoadContext) {
        // Without the signal, files are still watched.
        let mut hangup = signal(SignalKind::hangup()).ok();
        loop {
            let files = self.settings_files(path);
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = files.changed() => {}
                () = next_signal(hangup.as_mut()) => {}
            }
            self.reload(path, context).await;
        }
    }

    fn settings_files(&self, path: &Path) -> SettingsFiles {
        let fleet = self.inner.fleet();
        let settings = &fleet.settings;
        let mut files = vec![path.to_owned(), settings.inventory.clone()];
        if let Some(server) = &settings.puppet_server {
            files.extend(server.config.clone());
            files.extend(server.deviceconfig.clone());
        }
        SettingsFiles::read(files)
    }

    /// Loads the settings once. If they are invalid, the earlier ones stay.
    pub(super) async fn reload(&self, path: &Path, context: &LoadContext) {
        let loaded = match ServeSettings::load(path) {
            Ok(settings) => ServeFleet::load(settings, context).await,
            Err(findings) => Err(LoadFleetError::Findings(findings)),
        };
        let result = match loaded {
            Ok(fleet) => self
                .use_fleet(fleet)
                .await
                .map_err(|error| error.to_string()),
            Err(error) => Err(render(&error)),
        };
        let mut condition = self.inner.condition();
        match result {
            Ok(()) => {
                condition.rejected_settings = None;
                condition.loaded = Some(clock::timestamp());
                drop(condition);
                tracing::warn!("the settings are loaded again");
                self.inner.wake.notify_one();
            }
            Err(text) => {
                condition.rejected_settings = Some(text.clone());
                drop(condition);
                for line in text.lines() {
                    tracing::error!("settings rejected, the earlier ones stay: {line}");
                }
            }
        }
    }
}

async fn next_signal(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// The error with its findings and their positions.
pub(crate) fn render(error: &LoadFleetError) -> String {
    match error {
        LoadFleetError::Findings(findings) => {
            let options = RenderOptions { colors: false };
            let findings = limit(findings.clone(), MAX_FINDINGS);
            let text = terminal::render(&findings, options);
            text.as_str().trim_end().to_owned()
        }
        other => other.to_string(),
    }
}
