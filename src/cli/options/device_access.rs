//! Arguments of the commands that read devices without a catalog.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;

use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::options::inventory_source::InventorySource;
use crate::cli::options::mock_options::MockOptions;
use crate::cli::options::record_options::RecordArgs;
use crate::cli::options::state_root::state_root;
use crate::fleet::connector::Connector;
use crate::fleet::mock_fleet::WITHOUT_MOCK;
use crate::inventory::{Device, DeviceSelection, Inventory, Secrets};
use crate::store::Store;

/// The inventory and the access to its devices.
#[derive(Debug, clap::Args)]
pub(crate) struct DeviceAccess {
    #[command(flatten)]
    pub(crate) source: InventorySource,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) definitions: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) mock: MockOptions,

    #[command(flatten)]
    record: RecordArgs,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl DeviceAccess {
    /// The connector of the inventory and the name of one device; without a name, of the only one. `hint`: what to
    /// do about several devices.
    pub(crate) async fn one(
        &self,
        name: Option<&str>,
        hint: &str,
    ) -> Result<(Connector, DeviceName), CommandError> {
        let (registry, inventory) = self.load()?;
        let names = Vec::from_iter(name.map(str::to_owned));
        let device = crate::cli::options::one_device::device(&inventory, &names, hint)?
            .name
            .clone();
        let connector = self.connector(registry, inventory, std::slice::from_ref(&device));
        Ok((connector.await?, device))
    }

    /// The connector of the inventory and the names of the selected devices.
    pub(crate) async fn select(
        &self,
        selection: &DeviceSelection,
    ) -> Result<(Arc<Connector>, Vec<DeviceName>), CommandError> {
        let (registry, inventory) = self.load()?;
        let devices = inventory.select(selection);
        let devices = devices.map_err(CommandError::findings)?;
        let names: Vec<DeviceName> = devices.iter().map(|device| device.name.clone()).collect();
        let connector = self.connector(registry, inventory, &names).await?;
        Ok((Arc::new(connector), names))
    }

    /// The state directory.
    pub(crate) fn store(&self) -> Result<Store, CommandError> {
        Ok(Store::at(match &self.state_dir {
            Some(dir) => dir.clone(),
            None => state_root()?,
        }))
    }

    fn load(&self) -> Result<(Registry, Inventory), CommandError> {
        let registry = crate::cli::options::definitions::load(self.definitions.as_deref())?;
        let inventory = self.source.load(&registry, self.mock.is_enabled())?;
        Ok((registry, inventory))
    }

    async fn connector(
        &self,
        registry: Registry,
        inventory: Inventory,
        names: &[DeviceName],
    ) -> Result<Connector, CommandError> {
        let devices = names.iter().map(|name| &inventory.devices[name]);
        let devices: Vec<&Device> = devices.collect();
        let mocks = self.mock.start(&devices, &registry).await?;
        for device in &devices {
            let Some(started) = &mocks else { break };
            if started.target(&device.name).is_none() {
                let platform = &device.platform;
                let error = CommandError::new(format!("there is no mock of platform {platform}"));
                return Err(error.hint(WITHOUT_MOCK));
            }
            for note in started.take_notes(&device.name) {
                eprint_notice(&format!("warning: {}: {note}", device.name));
            }
        }
        Ok(Connector {
            secrets: Secrets::of_inventory(&inventory),
            inventory,
            registry: Arc::new(registry),
            store: self.store()?,
            mocks: mocks.map(Arc::new),
            running: None,
            transcripts: None,
            recordings: self.record.prepare(names)?,
        })
    }
}
