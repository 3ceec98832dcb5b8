//! What is read of a device after a run: its configuration, and the classes of its lines.

use switchtender_devices::driver::Backup;
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;

use super::{ServeFleet, ServedCatalog, ServedDevice, catalogs};
use crate::coverage::line_classes::LineClasses;
use crate::error_chain::chain;
use crate::fleet::backup::{self, SurveyedBackup};
use crate::fleet::coverage::{SurveyedDevice, declared_lines};

/// What was read of a device after a run.
pub(crate) struct ReadBackup {
    /// With masked secrets.
    pub(crate) backup: Backup,
    /// The classes of the lines of the configuration.
    pub(crate) classes: Option<LineClasses>,
}

impl ServeFleet {
    /// The running configuration of a device and its other answers, with masked secrets. `None`: they cannot be read.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(crate) async fn backup(&self, device: &str) -> Option<ReadBackup> {
        let device = self.devices.get(device)?;
        let mut connector = match &device.source {
            ServedCatalog::Path(_) => {
                let connector = self.connector.as_ref()?;
                let device = connector.inventory.devices.get(&device.name)?;
                connector.connector(device, Access::ReadOnly).await.ok()?
            }
            ServedCatalog::Server(section) => {
                let server = self.server.as_ref()?;
                server.fleet.connector(section).await.ok()?.0
            }
        };
        connector.set_deadline(&Deadline::default());
        match backup::surveyed_backup(connector).await {
            Ok(SurveyedBackup { backup, surveyed }) => {
                let text = backup.configuration.as_deref();
                let classes = text.zip(surveyed);
                let classes =
                    classes.map(|(text, surveyed)| self.line_classes(device, text, surveyed));
                Some(ReadBackup { backup, classes })
            }
            Err(error) => {
                let error = chain(&error);
                tracing::warn!("cannot read the running configuration: {error}");
                None
            }
        }
    }

    /// The classes of the lines of a configuration. Without a catalog that is known between runs, no line is managed.
    fn line_classes(
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
