//! Loads the settings again when a file changes, or after SIGHUP. Invalid files change nothing.

use std::path::Path;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::fleet::{LoadContext, LoadFleetError, ServeFleet};
use super::service::Service;
use super::settings::ServeSettings;
use super::watched_files::WatchedFiles;
use crate::clock;
use crate::diagnostic::limit;
use crate::diagnostic::terminal::{self, RenderOptions};

/// Findings of one code in the message about rejected settings.
const MAX_FINDINGS: usize = 20;

impl Service {
    /// Loads the settings at every change until the process stops. `files` were read at the start.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn reload_on_changes(
        &self,
        path: &Path,
        context: &LoadContext,
        mut files: WatchedFiles,
    ) {
        // Without the signal, files are still watched.
        let mut hangup = signal(SignalKind::hangup()).ok();
        loop {
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = files.changed() => {}
                () = next_signal(hangup.as_mut()) => {}
                () = context.inputs.changed() => {}
            }
            files = self.reload(path, context, &files).await;
        }
    }

    /// Loads the settings once. If they are invalid, the earlier ones stay. Returns the files to watch.
    pub(super) async fn reload(
        &self,
        path: &Path,
        context: &LoadContext,
        earlier: &WatchedFiles,
    ) -> WatchedFiles {
        let before = earlier.read_again();
        let mut files = WatchedFiles::default();
        files.add(path);
        let loaded = match ServeSettings::load(path) {
            Ok(settings) => context.inputs.load(settings, context, &mut files).await,
            Err(findings) => Err(LoadFleetError::Findings(findings)),
        };
        let result = match loaded {
            Ok(fleet) => {
                log_warnings(&fleet);
                let used = self.use_fleet(fleet).await;
                used.map_err(|error| error.to_string())
            }
            Err(error) => Err(render(&error)),
        };
        if result.is_err() {
            files.add_missing(before);
        }
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
        self.inner.reloads.send_replace(());
        files
    }
}

/// Logs the findings that do not prevent the work.
pub(crate) fn log_warnings(fleet: &ServeFleet) {
    let findings = limit(fleet.warnings.clone(), MAX_FINDINGS);
    let text = terminal::render(&findings, RenderOptions { colors: false });
    for line in text.as_str().lines() {
        tracing::warn!("{line}");
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
