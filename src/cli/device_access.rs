//! Arguments of the commands that read devices without a catalog.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::names::DeviceName;

use super::exit::{CommandError, eprint_notice};
use super::mock_options::MockOptions;
use super::run::state_root;
use crate::fleet::connector::Connector;
use crate::fleet::mock_fleet::platforms_with_mock;
use crate::inventory::{Device, DeviceSelection, Inventory, InventoryOptions, Secrets};
use crate::store::Store;

/// The inventory and the access to its devices.
#[derive(Debug, clap::Args)]
pub(crate) struct DeviceAccess {
    /// Inventory of the devices
    #[arg(short, long, value_name = "FILE", default_value = "inventory.toml")]
    inventory: PathBuf,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(super) definitions: Option<PathBuf>,

    #[command(flatten)]
    pub(super) mock: MockOptions,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl DeviceAccess {
    /// The connector of the inventory and the name of one device.
    pub(crate) async fn one(&self, name: &str) -> Result<(Connector, DeviceName), CommandError> {
        let inventory = self.load()?;
        let device = super::state::device(&inventory, name)?.name.clone();
        let connector = self.connector(inventory, std::slice::from_ref(&device));
        Ok((connector.await?, device))
    }

    /// The connector of the inventory and the names of the selected devices.
    pub(crate) async fn select(
        &self,
        selection: &DeviceSelection,
    ) -> Result<(Arc<Connector>, Vec<DeviceName>), CommandError> {
        let inventory = self.load()?;
        let devices = inventory.select(selection);
        let devices = devices.map_err(CommandError::findings)?;
        let names: Vec<DeviceName> = devices.iter().map(|device| device.name.clone()).collect();
        let connector = self.connector(inventory, &names).await?;
        Ok((Arc::new(connector), names))
    }

    fn load(&self) -> Result<Inventory, CommandError> {
        let inventory = Inventory::load(&self.inventory, &InventoryOptions::default());
        inventory.map_err(CommandError::findings)
    }

    async fn connector(
        &self,
        inventory: Inventory,
        names: &[DeviceName],
    ) -> Result<Connector, CommandError> {
        let registry = super::definitions::load(self.definitions.as_deref())?;
        let devices = names.iter().map(|name| &inventory.devices[name]);
        let devices: Vec<&Device> = devices.collect();
        let mocks = self.mock.start(&devices, &registry).await?;
        for device in &devices {
            let Some(started) = &mocks else { break };
            if started.target(&device.name).is_none() {
                let platform = &device.platform;
                let with_mock = platforms_with_mock(&registry).join(", ");
                let error = CommandError::new(format!("there is no mock of platform {platform}"));
                return Err(error.hint(format!("platforms with a mock: {with_mock}")));
            }
            for note in started.take_notes(&device.name) {
                eprint_notice(&format!("warning: {}: {note}", device.name));
            }
        }
        let root = match &self.state_dir {
            Some(dir) => dir.clone(),
            None => state_root()?,
        };
        Ok(Connector {
            secrets: Secrets::new(inventory.allow_readable),
            inventory,
            registry: Arc::new(registry),
            store: Store::at(root),
            mocks,
            running: None,
            transcripts: None,
        })
    }
}
