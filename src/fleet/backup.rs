//! The answers of one device that its types and facts need, as texts for files.

use switchtender_devices::driver::{Backup, Driver, Facts};
use switchtender_devices::read::{CONFIG, Reads};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::mask_device_text;

use super::connector::{DeviceConnector, OpenDevice};
use super::coverage::SurveyedDevice;
use super::device_run::DeviceRunError;
use super::inspect::{Answers, InspectError, read_each};

/// Secrets in a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackupSecrets {
    Masked,
    Clear,
}

/// The backup of a device.
pub(crate) struct DeviceBackup {
    pub(crate) backup: Backup,
    /// The other reads: the device refused them.
    pub(crate) failed: Vec<InspectError>,
}

/// Reads the configuration of a device and what else its types and facts need.
///
/// # Errors
/// The device cannot be read, or refuses to print its configuration.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn backup(
    connector: DeviceConnector,
    secrets: BackupSecrets,
) -> Result<DeviceBackup, InspectError> {
    let read = ReadAnswers::read(connector).await?;
    let backup = read.backup(secrets);
    Ok(DeviceBackup {
        backup,
        failed: read.failed,
    })
}

/// The answers of a device with masked secrets, and the lines of its configuration.
pub(crate) struct SurveyedBackup {
    pub(crate) backup: Backup,
    /// `None`: its platform has no configuration.
    pub(crate) surveyed: Option<SurveyedDevice>,
}

/// As [`backup`], with the lines of the configuration.
///
/// # Errors
/// As [`backup`].
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn surveyed_backup(
    connector: DeviceConnector,
) -> Result<SurveyedBackup, InspectError> {
    let read = ReadAnswers::read(connector).await?;
    let backup = read.backup(BackupSecrets::Masked);
    let clear = read.backup(BackupSecrets::Clear).configuration;
    let ReadAnswers { driver, facts, .. } = read;
    let surveyed = match clear {
        Some(clear) => {
            // The numbers of the lines are those of the text that is stored.
            let stored = Reads::from_iter([(CONFIG.to_owned(), clear)]);
            Some(SurveyedDevice::of(driver, facts, &stored)?)
        }
        None => None,
    };
    Ok(SurveyedBackup { backup, surveyed })
}

/// The answers of a device.
struct ReadAnswers {
    driver: Driver,
    facts: Facts,
    reads: Reads,
    failed: Vec<InspectError>,
    mask: SecretMask,
}

impl ReadAnswers {
    async fn read(mut connector: DeviceConnector) -> Result<Self, InspectError> {
        let secret_mask = SecretMask::default();
        connector.share_mask(&secret_mask);
        let OpenDevice {
            mut session, facts, ..
        } = connector.open().await.map_err(DeviceRunError::from)?;
        let driver = Driver::new(&connector.platform, &facts);
        let answers = read_each(session.as_mut(), driver.backup_reads()).await;
        session.close().await;
        let Answers {
            reads, mut failed, ..
        } = answers?;
        if let Some((error, _)) = failed.swap_remove(CONFIG) {
            return Err(error);
        }
        Ok(Self {
            driver,
            facts,
            reads,
            failed: failed.into_values().map(|(error, _)| error).collect(),
            mask: secret_mask,
        })
    }

    fn backup(&self, secrets: BackupSecrets) -> Backup {
        let protocol = self.driver.platform().protocol();
        self.driver.backup(&self.reads, |text: &str| match secrets {
            BackupSecrets::Masked => mask_device_text(protocol, &self.mask, text),
            BackupSecrets::Clear => text.to_owned(),
        })
    }
}
