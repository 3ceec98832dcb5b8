//! Loads the settings again when a file changes, or after SIGHUP. Invalid files change nothing.

use std::path::Path;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::fleet::{LoadContext, LoadFleetError, ServeFleet};
use super::service::Service;
use super::settings::ServeSettings;
use super::watched_files::WatchedFiles;
use crate::clock;
use crate::counted::counted;
use crate::diagnostic::limit;
use crate::diagnostic::terminal::{self, RenderOptions};

/// Pause before settings are loaded again that the store did not take.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
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
        let mut is_used = true;
        loop {
            tokio::select! {
                () = tokio::time::sleep(RETRY_PAUSE), if !is_used => {}
                () = self.inner.stop.cancelled() => return,
                () = files.changed() => {}
                () = next_signal(hangup.as_mut()) => {}
                () = context.inputs.changed() => {}
            }
            (files, is_used) = self.reload(path, context, &files).await;
        }
    }

    /// Loads the settings once. If they are invalid, the earlier ones stay. Returns the files to watch, and whether the
    /// store took what was loaded.
    pub(super) async fn reload(
        &self,
        path: &Path,
        context: &LoadContext,
        earlier: &WatchedFiles,
    ) -> (WatchedFiles, bool) {
        let before = earlier.read_again();
        let rejected_before = self.inner.condition().rejected_release.clone();
        let mut files = WatchedFiles::default();
        files.add(path);
        let loaded = match ServeSettings::load(path) {
            Ok(settings) => context.inputs.load(settings, context, &mut files).await,
            Err(findings) => Err(LoadFleetError::Findings(findings)),
        };
        let (mut loaded_release, mut unused_release) = (None, None);
        let (result, is_used) = match loaded {
            Ok(fleet) => {
                log_warnings(&fleet);
                let release = fleet.release;
                loaded_release = release.map(|release| (release, fleet.scheduled().len()));
                let used = self
                    .use_fleet(fleet)
                    .await
                    .map_err(|error| error.to_string());
                if let (Some(release), Err(error)) = (release, &used) {
                    unused_release = Some(format!("release {release}: {error}"));
                }
                let is_used = used.is_ok();
                (used, is_used)
            }
            Err(error) => (Err(render(&error)), true),
        };
        if result.is_err() {
            files.add_missing(before);
        }
        let mut condition = self.inner.condition();
        if unused_release.is_some() {
            // Until the store takes it, the one before is for plans only.
            condition.rejected_release = unused_release;
        }
        match result {
            Ok(()) => {
                condition.rejected_settings = None;
                condition.loaded = Some(clock::timestamp());
                let rejected = condition.rejected_release.clone();
                drop(condition);
                match (rejected, loaded_release) {
                    (None, None) => tracing::warn!("the settings are loaded again"),
                    (None, Some((release, devices))) => {
                        let devices = counted(devices, "device");
                        tracing::warn!("release {release} is loaded: it has {devices}");
                    }
                    // It is tried again and again.
                    (reason, _) if reason == rejected_before => {}
                    (Some(reason), _) => {
                        tracing::error!("the newest release is not used: {reason}")
                    }
                }
                self.inner.wake.notify_one();
                if let Some(leases) = self.leases() {
                    // Other nodes see what this one can do now.
                    leases.wake.notify_one();
                }
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
        (files, is_used)
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
