//! The devices of the process, and their runs.

mod graph;
mod inventory_devices;
mod load;
mod read_backup;
mod server_devices;
mod states;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;
use tokio_util::sync::CancellationToken;

use super::accept_drift::DriftRequest;
use super::dispatcher::ScheduledDevice;
use super::queue::QueueLimits;
use super::schedule::DeviceSchedule;
use super::settings::{CatalogPath, ServeSettings};
use crate::desired_state::StateDirectory;
use crate::device_conf::DeviceSection;
use crate::diagnostic::Diagnostic;
use crate::fleet::catalog_files::{CatalogFiles, InventoryCatalogs};
use crate::fleet::connector::Connector;
use crate::fleet::device_run::{DeviceRun, Observer};
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::mock_fleet::MockFleet;
use crate::fleet::run_request::RunRequest;
use crate::history::device_state::KnownDevice;
use crate::history::releases::ReleaseNumber;
use crate::inventory::{Inventory, Secrets};
use crate::run_kind::RunKind;
use crate::store::{Store, StoreError};
pub(crate) use load::{LoadContext, LoadFleetError};
pub(crate) use read_backup::ReadBackup;
use server_devices::ServerDevices;

/// The devices and what their runs need.
pub(crate) struct ServeFleet {
    pub(crate) settings: Arc<ServeSettings>,
    connector: Option<Arc<Connector>>,
    server: Option<ServerDevices>,
    devices: BTreeMap<Arc<str>, ServedDevice>,
    /// Findings that do not prevent the work.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The release that the devices come from. `None`: files of the process.
    pub(crate) release: Option<ReleaseNumber>,
    /// Why the newest release is not used. Then runs only plan.
    pub(crate) rejected_release: Option<String>,
    stop: CancellationToken,
    abort: CancellationToken,
}

struct ServedDevice {
    name: DeviceName,
    scheduled: ScheduledDevice,
    known: KnownDevice,
    source: ServedCatalog,
}

enum ServedCatalog {
    Path(CatalogPath),
    Server(Arc<DeviceSection>),
}

impl ServeFleet {
    /// Moves what the files of this host have to the store of several hosts, if there is one.
    pub(crate) fn synchronize_states(&self) -> Result<(), StoreError> {
        let server = self.server.as_ref().map(|server| &server.fleet.store);
        let inventory = self.connector.as_ref().map(|connector| &connector.store);
        let mut stores = server.into_iter().chain(inventory);
        stores.try_for_each(Store::synchronize)
    }

    /// The inventory, if there is one.
    pub(crate) fn inventory(&self) -> Option<&Inventory> {
        Some(&self.connector.as_ref()?.inventory)
    }

    /// The directories of catalogs with the names of their devices.
    pub(crate) fn catalogs(&self) -> Vec<(CatalogPath, Vec<String>)> {
        let mut catalogs: BTreeMap<&CatalogPath, Vec<String>> = BTreeMap::new();
        for device in self.devices.values() {
            if let ServedCatalog::Path(path) = &device.source {
                catalogs
                    .entry(path)
                    .or_default()
                    .push(device.name.to_string());
            }
        }
        let catalogs = catalogs.into_iter();
        catalogs
            .map(|(path, devices)| (path.clone(), devices))
            .collect()
    }

    /// The secrets of `serve.toml`. Those in Vault are on the server of the inventory.
    pub(crate) fn secrets_of_settings(&self) -> Secrets {
        match &self.connector {
            Some(connector) => Secrets::of_inventory(&connector.inventory),
            None => Secrets::new(false),
        }
    }

    /// Runs a device.
    ///
    /// # Cancellation
    /// As [`crate::fleet::device_run::run`].
    pub(crate) async fn run(
        &self,
        device: &str,
        request: RunRequest,
        observer: &Observer,
    ) -> Option<DeviceRun> {
        let device = self.devices.get(device)?;
        match &device.source {
            ServedCatalog::Path(path) => {
                let connector = self.connector.as_ref()?;
                let fleet = InventoryFleet {
                    connector: Arc::clone(connector),
                    // The files are read again for each run.
                    catalogs: catalogs(path, &connector.inventory),
                    graphs: None,
                };
                Some(fleet.run(&device.name, &request, None, observer).await)
            }
            ServedCatalog::Server(section) => {
                let server = self.server.as_ref()?;
                Some(server.run(section, request, observer).await)
            }
        }
    }

    /// What is needed to accept the drift of a device. `None`: it has no desired state in YAML files.
    pub(super) fn drift_request(&self, device: &str) -> Option<DriftRequest> {
        let device = self.devices.get(device)?;
        let ServedCatalog::Path(CatalogPath::State(directory)) = &device.source else {
            return None;
        };
        Some(DriftRequest {
            connector: Arc::clone(self.connector.as_ref()?),
            device: device.name.clone(),
            directory: directory.clone(),
        })
    }

    /// The name of a device in PuppetDB, if this process reports to it.
    pub(super) fn puppetdb_name(&self, device: &str) -> Option<String> {
        self.settings.puppetdb.as_ref()?;
        self.certname(device)
    }

    /// The certificate name of a device.
    pub(super) fn certname(&self, device: &str) -> Option<String> {
        let device = self.devices.get(device)?;
        Some(match &device.source {
            ServedCatalog::Server(section) => section.certname.to_string(),
            ServedCatalog::Path(_) => {
                let inventory = &self.connector.as_ref()?.inventory;
                inventory.devices.get(&device.name)?.certname.to_string()
            }
        })
    }

    /// The devices for the dispatcher.
    pub(crate) fn scheduled(&self) -> Vec<ScheduledDevice> {
        let devices = self.devices.values();
        devices.map(|device| device.scheduled.clone()).collect()
    }

    /// The site of a device.
    pub(crate) fn site(&self, name: &str) -> Option<&str> {
        self.devices.get(name)?.scheduled.member.site.as_deref()
    }

    /// The sites of all devices, once for each device.
    pub(super) fn sites(&self) -> impl Iterator<Item = Option<&str>> {
        let devices = self.devices.values();
        devices.map(|device| device.scheduled.member.site.as_deref())
    }

    /// The schedule of a device.
    pub(crate) fn schedule(&self, name: &str) -> Option<&Arc<DeviceSchedule>> {
        Some(&self.devices.get(name)?.scheduled.schedule)
    }

    /// The devices for the history.
    pub(crate) fn known(&self) -> Vec<KnownDevice> {
        let devices = self.devices.values();
        devices.map(|device| device.known.clone()).collect()
    }

    /// What is known of a device.
    pub(crate) fn known_device(&self, name: &str) -> Option<&KnownDevice> {
        Some(&self.devices.get(name)?.known)
    }

    pub(crate) fn limits(&self) -> QueueLimits {
        let limits = self.connector.as_ref().map(|one| one.inventory.limits);
        let limits = limits.unwrap_or_default();
        let all = self.settings.concurrency;
        QueueLimits {
            all: limits.concurrency.map_or(all, |limit| limit.min(all)),
            per_site: limits.per_site,
            per_jump_host: limits.per_jump,
        }
    }

    /// The definitions and the mocks, if there are some.
    pub(super) fn mocks(&self) -> Option<(Arc<Registry>, Arc<MockFleet>)> {
        let connector = self.connector.as_ref()?;
        Some((Arc::clone(&connector.registry), connector.mocks.clone()?))
    }

    /// A run of this process.
    pub(super) fn request(&self, kind: RunKind) -> RunRequest {
        RunRequest {
            kind,
            stop: self.stop.clone(),
            abort: self.abort.clone(),
            ..RunRequest::default()
        }
    }
}

fn catalogs(path: &CatalogPath, inventory: &Inventory) -> InventoryCatalogs {
    match path {
        CatalogPath::Catalogs(path) => {
            InventoryCatalogs::Files(CatalogFiles { path: path.clone() })
        }
        CatalogPath::State(path) => {
            InventoryCatalogs::State(Arc::new(StateDirectory::new(path, inventory)))
        }
    }
}
