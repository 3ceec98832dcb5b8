//! What comes before a device is contacted: its lock, its catalog, every check that needs no
//! device, types, and what earlier runs remembered.

use std::sync::Arc;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Platform;
use switchtender_devices::session::Access;
use switchtender_devices::value::Value;

use super::admission::{Refused, admit, insists};
use super::device_run::{Fleet, NotRun, Purpose};
use super::state_files::Kept;
use super::typed;
use crate::catalog::types::Types;
use crate::catalog::{self, Catalog, LoadError, Loading, Resources};
use crate::inventory::Device;
use crate::store::{DeviceLock, DeviceStore};
use crate::validate::{self, Canonical};

/// A device that may be contacted, and what is wanted of it.
pub(super) struct Prepared {
    /// Held until the run is over.
    pub _lock: DeviceLock,
    pub store: DeviceStore,
    pub platform: Arc<Platform>,
    pub resources: Resources,
    pub environment: Option<String>,
    /// What the session may do.
    pub access: Access,
    /// Findings about the catalog that do not stand in the way.
    pub findings: Vec<Diagnostic>,
    pub kept: Kept,
}

impl Fleet {
    /// Prepares the run of a device. Files are read, and a processor is busy with the catalog.
    pub(super) fn prepare(&self, name: &str) -> Result<Prepared, NotRun> {
        let device = &self.reach.inventory.devices[name];
        let store = self.reach.store.device(name);
        let lock = store.lock()?;
        let platform = self.reach.platform(device)?;
        let catalog = self.catalog(device)?;
        let (findings, known) = self.check(&catalog, device)?;
        let access = self.access(&catalog);
        let environment = catalog.environment.clone();
        let types = Types::new(|name: &str| self.reach.registry.model(name).cloned());
        let resources =
            typed::resources(catalog, &platform, &types, self.settings.deviations, known)
                .map_err(refused)?;
        Ok(Prepared {
            platform,
            resources,
            environment,
            access,
            findings,
            kept: Kept::load(&store)?,
            store,
            _lock: lock,
        })
    }

    fn catalog(&self, device: &Device) -> Result<Catalog, NotRun> {
        let source = self.catalogs.read(device)?;
        let loaded = catalog::load(&source, &Loading::default());
        let mut catalog = loaded.map_err(|error| NotRun::Refused {
            findings: validate::for_partial(error, device, &self.reach.registry, &self.policy),
        })?;
        if self.purpose == Purpose::Plan {
            // A plan shows what an apply would do; a resource cannot opt out of being harmless.
            for declared in &mut catalog.resources {
                declared
                    .parameters
                    .retain(|name, value| name != "noop" || *value != Value::Bool(false));
            }
        }
        Ok(catalog)
    }

    /// Checks all that can be known without the device; what does not stand in the way is kept,
    /// and so is what the resources were found to want.
    fn check(
        &self,
        catalog: &Catalog,
        device: &Device,
    ) -> Result<(Vec<Diagnostic>, Canonical), NotRun> {
        let registry = &self.reach.registry;
        let (findings, known) = validate::for_device(catalog, device, registry, &self.policy);
        let admitted = admit(findings).map_err(|Refused(findings)| NotRun::Refused { findings });
        Ok((admitted?, known))
    }

    /// What the session may do. A noop run can only write where the catalog insists; a plan never.
    fn access(&self, catalog: &Catalog) -> Access {
        match self.purpose {
            Purpose::Plan => Access::ReadOnly,
            Purpose::Apply if !self.settings.noop => Access::ReadWrite,
            Purpose::Apply if insists(catalog) => Access::ReadWrite,
            Purpose::Apply => Access::ReadOnly,
        }
    }
}

fn refused(error: LoadError) -> NotRun {
    NotRun::Refused {
        findings: error.diagnostics,
    }
}
