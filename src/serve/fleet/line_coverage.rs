//! The lines of a running configuration with their classes, for the history.

use super::{ServeFleet, ServedCatalog, ServedDevice, catalogs};
use crate::coverage::line_classes::LineClasses;
use crate::error_chain::chain;
use crate::fleet::coverage::{SurveyedDevice, declared_lines};

/// A running configuration that was read after a run.
pub(crate) struct ReadConfiguration {
    /// With masked secrets.
    pub(crate) text: String,
    pub(crate) classes: LineClasses,
}

impl ServeFleet {
    /// A configuration with the classes of its lines. Without a catalog that is known between runs, no line is managed.
    pub(super) fn classified(
        &self,
        device: &ServedDevice,
        text: String,
        surveyed: SurveyedDevice,
    ) -> ReadConfiguration {
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
        ReadConfiguration {
            text,
            classes: LineClasses::new(count, &lines),
        }
    }
}
