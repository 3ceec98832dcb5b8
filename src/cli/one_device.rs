//! Arguments of the commands that read one device.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::names::DeviceName;

use super::exit::{CommandError, eprint_notice};
use super::mock_options::MockOptions;
use super::run::state_root;
use crate::fleet::connector::Connector;
use crate::fleet::mock_fleet::platforms_with_mock;
use crate::inventory::{DeviceSelection, Inventory, InventoryOptions, Secrets};
use crate::store::Store;

/// One device of the inventory.
#[derive(Debug, clap::Args)]
pub(crate) struct OneDevice {
    /// Name of the device
    #[arg(value_name = "DEVICE")]
    pub(crate) device: String,

    /// Inventory of the devices
    #[arg(short, long, value_name = "FILE", default_value = "inventory.toml")]
    inventory: PathBuf,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    #[command(flatten)]
    mock: MockOptions,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl OneDevice {
    /// The connector of the inventory and the name of the device.
    pub(crate) async fn connector(&self) -> Result<(Connector, DeviceName), CommandError> {
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
            return Err(CommandError::new(text).hint("select one device"));
        };
        let mocks = self.mock.start(&[device], &registry).await?;
        if let Some(started) = &mocks {
            if started.target(&device.name).is_none() {
                let platform = &device.platform;
                let with_mock = platforms_with_mock(&registry).join(", ");
                return Err(
                    CommandError::new(format!("there is no mock of platform {platform}"))
                        .hint(format!("platforms with a mock: {with_mock}")),
                );
            }
            for note in started.take_notes(&device.name) {
                eprint_notice(&format!("warning: {}: {note}", device.name));
            }
        }
        let name = device.name.clone();
        let root = match &self.state_dir {
            Some(dir) => dir.clone(),
            None => state_root()?,
        };
        let connector = Connector {
            secrets: Secrets::new(inventory.allow_readable),
            inventory,
            registry: Arc::new(registry),
            store: Store::at(root),
            mocks,
            transcripts: None,
        };
        Ok((connector, name))
    }
}
