//! Looking at a device without a catalog: its facts and what is on it.

use std::sync::Arc;

use switchtender_devices::change::Instance;
use switchtender_devices::driver::{Driver, Facts};
use switchtender_devices::model::TypeModel;
use switchtender_devices::read::{ReadError, Reads};
use switchtender_devices::session::Access;

use super::device_run::NotRun;
use super::reach::Reach;

/// Why a device could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    #[error(transparent)]
    NotRun(#[from] NotRun),
    /// The platform, or the device's model, lacks the type.
    #[error("{0}")]
    Unsupported(String),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl LookError {
    pub fn hint(&self) -> Option<String> {
        match self {
            LookError::NotRun(error) => error.hint(),
            _ => None,
        }
    }
}

/// The facts of a device.
///
/// # Cancellation
/// Must not be dropped midway.
pub async fn facts(reach: &Reach, name: &str) -> Result<Facts, NotRun> {
    let device = &reach.inventory.devices[name];
    let connection = reach.connection(device, Access::ReadOnly).await?;
    let (mut session, facts) = connection.open().await?;
    session.close().await;
    Ok(facts)
}

/// The instances of a type on a device, in the order of the device, and the driver that read them.
///
/// # Cancellation
/// Must not be dropped midway.
pub async fn instances(
    reach: &Reach,
    name: &str,
    model: &Arc<TypeModel>,
) -> Result<(Driver, Vec<Instance>), LookError> {
    let device = &reach.inventory.devices[name];
    let platform = reach.platform(device)?;
    // Whether the platform has the type at all is known before anything is contacted.
    Driver::new(&platform, &Facts::default())
        .supports(model)
        .map_err(LookError::Unsupported)?;
    let connection = reach.connection(device, Access::ReadOnly).await?;
    let (mut session, facts) = connection.open().await.map_err(NotRun::from)?;
    let driver = Driver::new(&platform, &facts);
    let requests = driver.reads(&[model]);
    let texts = session.read(&requests).await;
    session.close().await;
    driver.supports(model).map_err(LookError::Unsupported)?;
    let names = requests.into_iter().map(|request| request.name);
    let reads: Reads = names.zip(texts.map_err(NotRun::from)?).collect();
    let instances = driver.instances(model, &platform.parse(&reads)?)?;
    Ok((driver, instances))
}
