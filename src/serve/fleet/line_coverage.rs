//! The lines of a running configuration with their classes, for the history.

use switchtender_devices::driver::Backup;

use super::{ServeFleet, ServedCatalog, ServedDevice, catalogs};
use crate::coverage::line_classes::LineClasses;
use crate::error_chain::chain;
use crate::fleet::coverage::{SurveyedDevice, declared_lines};

/// What was read of a device after a run.
pub(crate) struct ReadBackup {
    /// With masked secrets.
    pub(crate) backup: Backup,
    /// The classes of the lines of the configuration.
    pub(crate) classes: Option<LineClasses>,
}

impl ServeFleet {
    /// The classes of the lines of a configuration. Without a catalog that is known between runs, no line is managed.
    pub(super) fn line_classes(
        &self,
        device: &ServedDevice,
        text: &str,
        surveyed: SurveyedDevice,
    ) -> LineClasses {
        let declared = match (&device.source, &self.connector) {
            (ServedCatalog::Path(path), Some(connector)) => {
                let inventory = &connector.inventory;
                let found = inventory.devices.get(&device.name);
                found.map(|found| {
                    let catalogs = catalogs(path, inventory);
                    let (facts, platform) = (&surveyed.facts, surveyed.driver.platform());
                    declared_lines(&catalogs, found, &connector.registry, facts, platform)
                })
            }
            _ => None,
        };
        let declared = declared.and_then(|declared| match declared {
            Ok(declared) => Some(declared),
            Err(error) => {
                let error = chain(&error);
                tracing::warn!("cannot compare the configuration with its files: {error}");
                None
            }
        });
        let count = text.lines().count();
        let lines = surveyed.classified(declared.as_ref());
        LineClasses::new(count, &lines)
    }
}
