//! What the devices of a run share: inventory, catalogs, state directory and outputs. No device is contacted.

use std::path::Path;
use std::sync::Arc;

use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;
use tempfile::TempDir;

use super::{PreparedRun, RunCommand};
use crate::cli::commands::run_recorder::RunRecorder;
use crate::cli::commands::undo;
use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::options::output_format::RunOutput;
use crate::cli::options::state_root::state_root;
use crate::cli::options::{definitions, desired_state, device_state, mock_options, settings_file};
use crate::fleet::catalog_files::InventoryCatalogs;
use crate::fleet::connector::{self, Connector};
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::limits::Membership;
use crate::fleet::mock_fleet::MockFleet;
use crate::inventory::{Device, Inventory, Secrets};
use crate::store::{self, Store};

impl RunCommand<'_> {
    /// Prepares everything that the devices share.
    ///
    /// # Errors
    /// An argument or a file of the run is invalid.
    pub(crate) async fn prepare(&self) -> Result<PreparedRun, CommandError> {
        self.check_combination()?;
        let settings = settings_file::load(self.targets.settings.as_deref())?;
        let registry = definitions::load(self.targets.definitions.as_deref())?;
        let registry = registry.with_host_types(settings.host_types);
        let inventory = self.targets.source.load(&registry, self.is_simulated())?;
        let recorder = RunRecorder::open(&self.arguments.store, !self.is_simulated())?;
        let (store, scratch) = self.state_directory(&recorder)?;
        let (devices, catalogs) = self.catalogs(&inventory, &registry, &store)?;
        let names: Vec<DeviceName> = devices.iter().map(|device| device.name.clone()).collect();
        let members = devices
            .iter()
            .map(|device| (device.name.clone(), Membership::of(device)))
            .collect();
        let mocks = self.start_mocks(&devices, &registry).await?;
        let recordings = self.arguments.record.prepare(&names)?;
        self.prepare_outputs(&names)?;
        let recorder = recorder.with_devices(devices.iter().copied());
        let connector = Connector {
            secrets: Secrets::of_inventory(&inventory).with_state_commands(settings.state_commands),
            inventory,
            registry: Arc::new(registry),
            store,
            mocks: mocks.map(Arc::new),
            running: self.running.map(Path::to_owned),
            transcripts: self.arguments.transcripts.clone(),
            recordings,
        };
        let fleet = InventoryFleet {
            connector: Arc::new(connector),
            catalogs,
            graphs: self.arguments.graph.clone(),
        };
        Ok(PreparedRun {
            recorder,
            fleet: Arc::new(fleet),
            names,
            members,
            scratch,
            confirms: settings.confirms && !self.is_simulated(),
        })
    }

    /// Whether mocks or saved configurations replace the devices.
    fn is_simulated(&self) -> bool {
        self.arguments.mock.is_enabled() || self.running.is_some()
    }

    fn check_combination(&self) -> Result<(), CommandError> {
        let arguments = self.arguments;
        let has_running = self.running.is_some();
        for (other, is_set) in [
            ("--mock", arguments.mock.is_enabled()),
            ("--record", arguments.record.dir.is_some()),
        ] {
            if has_running && is_set {
                let text = format!("--running and {other} cannot be combined");
                return Err(CommandError::new(text).hint("use only one of them"));
            }
        }
        if arguments.view.output_dir.is_some() && arguments.output == RunOutput::Html {
            let error = CommandError::new("--output html writes one page for all devices");
            return Err(error.hint("leave out --output-dir, and redirect the page to a file"));
        }
        Ok(())
    }

    /// The state directory, and the one that ends with the run.
    fn state_directory(
        &self,
        recorder: &RunRecorder,
    ) -> Result<(Store, Option<TempDir>), CommandError> {
        let (root, scratch) = match &self.arguments.state_dir {
            Some(dir) => (dir.clone(), None),
            None if self.is_simulated() => {
                // State of mocks and saved configurations must not be used for the real devices.
                let scratch = tempfile::tempdir().map_err(|error| {
                    CommandError::new("cannot create a state directory").with_source(error)
                })?;
                (scratch.path().to_owned(), Some(scratch))
            }
            None => (state_root()?, None),
        };
        if let Some(warning) = store::writable_by_others(&root) {
            tracing::warn!("{warning}");
        }
        // The state of simulated devices is never that of the devices.
        let history = recorder.history().filter(|_| !self.is_simulated());
        let store = device_state::with_database(Store::at(&root), history, &root)?;
        Ok((store, scratch))
    }

    /// The selected devices that have a desired state, or a run to undo.
    fn catalogs<'d>(
        &self,
        inventory: &'d Inventory,
        registry: &Registry,
        store: &Store,
    ) -> Result<(Vec<&'d Device>, InventoryCatalogs), CommandError> {
        let selection = self.targets.selection.parse()?;
        let selected = inventory.select(&selection);
        let mut devices = selected.map_err(CommandError::findings)?;
        if let Some(choice) = self.undo {
            let names: Vec<DeviceName> = devices.iter().map(|device| device.name.clone()).collect();
            let undo = undo::load(store, &names, choice)?;
            devices.retain(|device| undo.records.contains_key(&device.name));
            return Ok((devices, InventoryCatalogs::Undo(undo)));
        }
        let catalogs = self.targets.catalogs(inventory, registry, devices.len())?;
        if let InventoryCatalogs::State(directory) = &catalogs {
            let managed = desired_state::managed(directory, devices, &selection);
            let (managed, unmanaged) = managed.map_err(desired_state::unmanaged_error)?;
            devices = managed;
            if let Some(unmanaged) = unmanaged {
                eprint_notice(&unmanaged.message);
            }
        }
        Ok((devices, catalogs))
    }

    async fn start_mocks(
        &self,
        devices: &[&Device],
        registry: &Registry,
    ) -> Result<Option<MockFleet>, CommandError> {
        let mocks = self.arguments.mock.start(devices, registry).await?;
        if let Some(mocks) = &mocks
            && !self.arguments.view.filter.is_quiet()
        {
            mock_options::announce(mocks, devices);
        }
        Ok(mocks)
    }

    /// Creates the directories of the run: an error is reported before a device is changed.
    fn prepare_outputs(&self, names: &[DeviceName]) -> Result<(), CommandError> {
        if let Some(dir) = &self.arguments.transcripts {
            let names = names.iter().map(DeviceName::as_str);
            let prepared = connector::prepare_session_files(dir, connector::TRANSCRIPT, names);
            prepared.map_err(|error| {
                let text = format!("cannot write transcripts to {}", dir.display());
                CommandError::new(text).with_source(error)
            })?;
        }
        for (what, dir) in [
            ("reports", &self.arguments.report),
            ("output", &self.arguments.view.output_dir),
        ] {
            let Some(dir) = dir else { continue };
            let tried = store::create_dir(dir).and_then(|()| tempfile::tempfile_in(dir));
            tried.map_err(|error| {
                let text = format!("cannot write {what} to {}", dir.display());
                CommandError::new(text).with_source(error)
            })?;
        }
        Ok(())
    }
}
