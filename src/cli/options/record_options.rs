//! The option `--record`.

use std::path::PathBuf;

use switchtender_devices::names::DeviceName;

use crate::cli::exit::CommandError;
use crate::fleet::connector::{self, RECORDING};

/// The directory of recordings.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Record the requests to each device and its answers in DIR/<device>.recording, secrets masked
    #[arg(long = "record", value_name = "DIR", id = "record")]
    pub(crate) dir: Option<PathBuf>,
}

impl RecordArgs {
    /// Creates the directory, if there is one, and removes old recordings of these devices.
    pub(crate) fn prepare(&self, devices: &[DeviceName]) -> Result<Option<PathBuf>, CommandError> {
        let Some(dir) = &self.dir else {
            return Ok(None);
        };
        let names = devices.iter().map(DeviceName::as_str);
        let prepared = connector::prepare_session_files(dir, RECORDING, names);
        prepared.map_err(|error| {
            let text = format!("cannot write recordings to {}", dir.display());
            CommandError::new(text).with_source(error)
        })?;
        Ok(Some(dir.clone()))
    }
}
