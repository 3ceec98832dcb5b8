//! The devices of a command, by name, pattern and label.

use crate::cli::exit::CommandError;
use crate::inventory::{DeviceSelection, TargetSyntaxError};

/// The selected devices of the inventory.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Selection {
    /// Select devices: names, patterns, labels, and exclusions such as `!sw1` (repeatable)
    #[arg(short, long, value_name = "EXPRESSION")]
    pub(crate) target: Vec<String>,

    /// Select devices with this label, `role=access` or `role in (access, core)` (repeatable; all must match)
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,
}

impl Selection {
    /// One device.
    pub(crate) fn of_device(name: &str) -> Self {
        Self {
            target: vec![name.to_owned()],
            label: Vec::new(),
        }
    }

    /// Whether all devices are selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.target.is_empty() && self.label.is_empty()
    }

    /// Parses the selection.
    pub(crate) fn parse(&self) -> Result<DeviceSelection, CommandError> {
        let mut selection = targets(&self.target)?;
        for label in &self.label {
            let labels = DeviceSelection::parse_labels(label);
            selection.extend(labels.map_err(|error| refused(&error, "--label"))?);
        }
        Ok(selection)
    }
}

/// The devices of arguments, as with `--target`.
pub(crate) fn targets(texts: &[String]) -> Result<DeviceSelection, CommandError> {
    DeviceSelection::parse_all(texts).map_err(|error| refused(&error, "--target"))
}

fn refused(error: &TargetSyntaxError, option: &str) -> CommandError {
    CommandError::findings(vec![error.finding(option)])
}
