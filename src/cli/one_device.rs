//! What commands that look at one device share.

use std::path::PathBuf;

use super::exit::{CommandError, tell};
use super::run::state_root;
use crate::fleet::device_run::NotRun;
use crate::fleet::reach::Reach;
use crate::fleet::stand_in::{self, StandIns};
use crate::inventory::{DeviceSelection, Inventory, InventoryOptions, Secrets};
use crate::store::Store;

/// One device of the inventory.
#[derive(Debug, clap::Args)]
pub struct OneDevice {
    /// Name of the device
    #[arg(value_name = "DEVICE")]
    pub device: String,

    /// The devices and how to reach them
    #[arg(short, long, value_name = "FILE", default_value = "inventory.toml")]
    inventory: PathBuf,

    /// Search this directory for models and drivers before the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// Look at a mock of its platform instead
    #[arg(long)]
    mock: bool,

    /// What the mock begins with: DIR/<device>.cfg, the running configuration of a switch, for a
    /// load balancer JSON as of `mock load-balancer --config`
    #[arg(long, value_name = "DIR", requires = "mock")]
    mock_config: Option<PathBuf>,

    /// Where state is kept between runs; unless given $SWITCHTENDER_STATE, for root
    /// /var/lib/switchtender, for others ~/.local/state/switchtender
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl OneDevice {
    /// The way to the device, and its name in the inventory.
    pub async fn reach(&self) -> Result<(Reach, String), CommandError> {
        let registry = super::definitions::load(self.definitions.as_deref())?;
        let inventory = Inventory::load(&self.inventory, &InventoryOptions::default());
        let inventory = inventory.map_err(CommandError::findings)?;
        let selection = DeviceSelection {
            targets: vec![self.device.clone()],
            labels: Vec::new(),
        };
        let devices = inventory
            .select(&selection)
            .map_err(CommandError::findings)?;
        let [device] = devices[..] else {
            let text = format!("`{}` names {} devices", self.device, devices.len());
            return Err(CommandError::new(text).hint("name one"));
        };
        let stand_ins = if self.mock {
            let started = StandIns::start(&[device], self.mock_config.as_deref()).await;
            let started =
                started.map_err(|error| CommandError::new("cannot start a mock").because(error))?;
            if started.target(&device.name).is_none() {
                return Err(
                    CommandError::new(NotRun::NoMock(device.platform.clone()).to_string()).hint(
                        format!(
                            "platforms that have one: {}",
                            stand_in::PLATFORMS.join(", ")
                        ),
                    ),
                );
            }
            for note in started.take_notes(&device.name) {
                tell(&format!("warning: {}: {note}", device.name));
            }
            Some(started)
        } else {
            None
        };
        let name = device.name.clone();
        let root = match &self.state_dir {
            Some(dir) => dir.clone(),
            None => state_root()?,
        };
        let reach = Reach {
            secrets: Secrets::new(inventory.allow_readable),
            inventory,
            registry,
            store: Store::at(root),
            stand_ins,
            transcripts: None,
        };
        Ok((reach, name))
    }
}
