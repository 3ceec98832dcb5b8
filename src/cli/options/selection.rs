//! The devices of a command, by name, pattern and label.

use crate::cli::exit::CommandError;
use crate::inventory::{DeviceSelection, LabelSelector};

/// The selected devices of the inventory.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Selection {
    /// Select this device, or all devices that match this pattern (repeatable)
    #[arg(short, long, value_name = "NAME|GLOB")]
    pub(crate) target: Vec<String>,

    /// Select devices with this label (repeatable; all must match)
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,
}

impl Selection {
    /// Whether all devices are selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.target.is_empty() && self.label.is_empty()
    }

    /// Parses the selection.
    pub(crate) fn parse(&self) -> Result<DeviceSelection, CommandError> {
        let labels = self
            .label
            .iter()
            .map(|label| label.parse::<LabelSelector>());
        Ok(DeviceSelection {
            targets: self.target.clone(),
            labels: labels
                .collect::<Result<_, _>>()
                .map_err(|error| CommandError::new(error.to_string()))?,
        })
    }
}
