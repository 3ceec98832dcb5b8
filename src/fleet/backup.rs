//! The answers of one device that its types and facts need, as texts for files.

use switchtender_devices::driver::{Backup, Driver};
use switchtender_devices::read::CONFIG;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::mask_device_text;

use super::connector::{DeviceConnector, OpenDevice};
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
    mut connector: DeviceConnector,
    secrets: BackupSecrets,
) -> Result<DeviceBackup, InspectError> {
    let secret_mask = SecretMask::default();
    connector.share_mask(&secret_mask);
    let OpenDevice {
        mut session, facts, ..
    } = connector.open().await.map_err(DeviceRunError::from)?;
    let platform = &connector.platform;
    let driver = Driver::new(platform, &facts);
    let answers = read_each(session.as_mut(), driver.backup_reads()).await;
    session.close().await;
    let Answers {
        reads, mut failed, ..
    } = answers?;
    if let Some((error, _)) = failed.swap_remove(CONFIG) {
        return Err(error);
    }
    let mask = |text: &str| match secrets {
        BackupSecrets::Masked => mask_device_text(platform.protocol(), &secret_mask, text),
        BackupSecrets::Clear => text.to_owned(),
    };
    Ok(DeviceBackup {
        backup: driver.backup(&reads, mask),
        failed: failed.into_values().map(|(error, _)| error).collect(),
    })
}
