//! The running configuration of one device, as text for a file.

use switchtender_devices::driver::{Backup, Driver};
use switchtender_devices::read::Reads;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::mask_device_text;

use super::connector::DeviceConnector;
use super::device_run::DeviceRunError;
use super::inspect::InspectError;

/// Secrets in a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackupSecrets {
    Masked,
    Clear,
}

/// Reads the configuration of a device.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn backup(
    mut connector: DeviceConnector,
    secrets: BackupSecrets,
) -> Result<Backup, InspectError> {
    let mask = SecretMask::default();
    connector.share_mask(&mask);
    let (mut session, facts) = connector.open().await.map_err(DeviceRunError::from)?;
    let platform = &connector.platform;
    let driver = Driver::new(platform, &facts);
    let requests = driver.backup_reads().unwrap_or_default();
    let texts = session.read(&requests).await;
    session.close().await;
    let texts = texts.map_err(DeviceRunError::from)?;
    let names = requests.into_iter().map(|request| request.name);
    let answers: Reads = names.zip(texts).collect();
    let Some(mut backup) = driver.backup(&answers) else {
        return Err(InspectError::NoBackup(platform.name.clone()));
    };
    if secrets == BackupSecrets::Masked {
        backup.text = mask_device_text(&platform.protocol, &mask, &backup.text);
    }
    Ok(backup)
}
