//! The graph of a device's catalog, for pages.

use super::{ServeFleet, ServedCatalog, catalogs};
use crate::error_chain::chain;
use crate::fleet::{catalog_graph, offline_catalog, state_files};

impl ServeFleet {
    /// The graph of a device's catalog as an SVG image.
    ///
    /// # Errors
    /// Why it is not drawn.
    pub(crate) fn graph(&self, name: &str) -> Result<String, String> {
        let none = || "the device is not in the inventory any more".to_owned();
        let served = self.devices.get(name).ok_or_else(none)?;
        let path = match &served.source {
            ServedCatalog::Path(path) => path,
            ServedCatalog::Server(_) => {
                return Err("the Puppet Server compiles the catalog for each run".to_owned());
            }
        };
        let connector = self.connector.as_ref().ok_or_else(none)?;
        let device = connector
            .inventory
            .devices
            .get(&served.name)
            .ok_or_else(none)?;
        let store = connector.store.device(&served.name).read_copies(true);
        let facts = state_files::last_facts(&store).map_err(|error| chain(&error))?;
        let catalogs = catalogs(path, &connector.inventory);
        let registry = &connector.registry;
        let source = offline_catalog::read(&catalogs, device, registry, facts.as_ref());
        let source = source.map_err(|error| chain(&error))?;
        catalog_graph::complete_svg(&source, registry)
    }
}
