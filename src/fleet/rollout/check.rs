//! The command of a user between two batches.

use std::io::{self, Write as _};
use std::time::Duration;

use switchtender_devices::names::DeviceName;
use tokio::process::Command;

use super::Batch;
use crate::bounded_command::{self, BoundedCommandError, CommandLimits};

/// Maximum length of its output in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// A shell command that decides whether the next batch starts.
#[derive(Clone, Debug)]
pub(crate) struct RolloutCheck {
    pub(crate) command: String,
    pub(crate) time_limit: Duration,
}

/// Why the next batch must not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error("cannot write the list of devices")]
    DeviceList(#[source] io::Error),
    #[error("cannot run the command")]
    Command(#[from] BoundedCommandError),
}

/// The end of the command after a batch.
#[derive(Clone, Debug)]
pub(crate) struct CheckEnd {
    /// The number of the batch, counted from 1.
    pub(crate) batch: usize,
    pub(crate) is_success: bool,
    pub(crate) status: String,
    /// Standard output, then standard error.
    pub(crate) output: String,
}

impl CheckEnd {
    /// The status, with the last line that the command printed.
    pub(super) fn summary(&self) -> String {
        let mut lines = self.output.lines().rev();
        let line = lines.find(|line| !line.trim().is_empty());
        let line = line.map(|line| format!(": {line}")).unwrap_or_default();
        format!("{}{line}", self.status)
    }
}

impl RolloutCheck {
    /// Runs the command after a batch. `SWITCHTENDER_BATCH` and `SWITCHTENDER_BATCHES` are the numbers of the
    /// batch and of all batches, `SWITCHTENDER_DEVICES` is a file with the devices of the batch, one per line.
    ///
    /// # Errors
    /// The command cannot run, or does not end in time.
    ///
    /// # Cancellation
    /// May be dropped at any time; the command is then killed.
    pub(super) async fn run(&self, batch: &Batch) -> Result<CheckEnd, CheckError> {
        let devices = device_list(&batch.devices).map_err(CheckError::DeviceList)?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &self.command])
            .env("SWITCHTENDER_BATCH", batch.number.to_string())
            .env("SWITCHTENDER_BATCHES", batch.count.to_string())
            .env("SWITCHTENDER_DEVICES", devices.path());
        let limits = CommandLimits {
            time: self.time_limit,
            output: MAX_OUTPUT,
        };
        let output = bounded_command::run(&mut command, limits).await?;
        let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        Ok(CheckEnd {
            batch: batch.number,
            is_success: output.status.success(),
            status: output.status.to_string(),
            output: texts.concat(),
        })
    }
}

fn device_list(devices: &[DeviceName]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    let names: Vec<&str> = devices.iter().map(DeviceName::as_str).collect();
    writeln!(file, "{}", names.join("\n"))?;
    Ok(file)
}
