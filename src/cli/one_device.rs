//! Arguments of the commands that read one device.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::saved::SavedAnswers;

use super::exit::{CommandError, eprint_notice};
use super::mock_options::MockOptions;
use super::run::state_root;
use crate::error_chain::chain;
use crate::fleet::connector::{Connector, DeviceConnector};
use crate::fleet::mock_fleet::platforms_with_mock;
use crate::fleet::saved_files;
use crate::inventory::{Inventory, InventoryOptions, Secrets};
use crate::store::Store;

/// One device of the inventory, or its saved configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct OneDevice {
    /// Name of the device; left out with --config
    #[arg(value_name = "DEVICE", required_unless_present = "config")]
    pub(crate) device: Option<String>,

    /// Read this saved configuration instead of a device. A file *.json has answers by name of the
    /// read
    #[arg(long, value_name = "FILE", requires = "platform")]
    config: Option<PathBuf>,

    /// Platform of the saved configuration
    #[arg(long, requires = "config")]
    platform: Option<String>,

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

/// The saved answers of a device.
pub(crate) struct SavedDevice {
    pub(crate) registry: Registry,
    pub(crate) connector: DeviceConnector,
    /// The file of the answers.
    pub(crate) file: String,
}

impl OneDevice {
    /// The saved configuration of `--config`. Nothing connects.
    pub(crate) fn saved(&self) -> Result<Option<SavedDevice>, CommandError> {
        let (Some(file), Some(platform)) = (&self.config, &self.platform) else {
            return Ok(None);
        };
        if self.mock.is_enabled() {
            let error = CommandError::new("--config and --mock exclude each other");
            return Err(error.hint("name one of them"));
        }
        let registry = super::definitions::load(self.definitions.as_deref())?;
        let Some(platform) = registry.platform_by_alias(platform).cloned() else {
            return Err(super::unknown_name::unknown_platform(&registry, platform));
        };
        let reads =
            saved_files::read_file(file).map_err(|error| CommandError::new(chain(&error)))?;
        let file = file.display().to_string();
        let answers = SavedAnswers {
            device: file.clone(),
            reads,
        };
        let connector = DeviceConnector::saved(answers, platform, []);
        Ok(Some(SavedDevice {
            registry,
            connector,
            file,
        }))
    }

    /// The connector of the inventory and the name of the device.
    pub(crate) async fn connector(&self) -> Result<(Connector, DeviceName), CommandError> {
        let registry = super::definitions::load(self.definitions.as_deref())?;
        let name = self.device.as_deref().unwrap_or_default();
        let inventory = Inventory::load(&self.inventory, &InventoryOptions::default());
        let inventory = inventory.map_err(CommandError::findings)?;
        let device = super::state::device(&inventory, name)?;
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
            running: None,
            transcripts: None,
        };
        Ok((connector, name))
    }
}
