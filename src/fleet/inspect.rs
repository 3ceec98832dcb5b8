//! Reads a device without a catalog: its facts and the instances of a type.

use std::sync::Arc;

use switchtender_devices::change::Instance;
use switchtender_devices::driver::{Driver, Facts, UnsupportedType};
use switchtender_devices::model::TypeModel;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::read::{ReadError, Reads, State};

use super::connector::DeviceConnector;
use super::device_run::DeviceRunError;

/// Why a device could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InspectError {
    #[error(transparent)]
    Run(#[from] DeviceRunError),
    /// The platform, or the model of the device, lacks the type.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedType),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl InspectError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            InspectError::Run(error) => error.hint(),
            _ => None,
        }
    }
}

/// The facts of a device.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn facts(connector: &DeviceConnector) -> Result<Facts, DeviceRunError> {
    let (mut session, facts) = connector.open().await?;
    session.close().await;
    Ok(facts)
}

/// The instances of a type on a device.
pub(crate) struct Inspection {
    /// The driver that read them.
    pub(crate) driver: Driver,
    /// In the order of the device.
    pub(crate) instances: Vec<Instance>,
    /// Lines, rows and objects of the type that were not understood.
    pub(crate) not_understood: Vec<NotUnderstood>,
    /// Messages for the user about values that are unknown.
    pub(crate) notes: Vec<String>,
}

/// The instances of a type on a device, in the order of the device, and the driver that read them.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn instances(
    connector: &DeviceConnector,
    model: &Arc<TypeModel>,
) -> Result<Inspection, InspectError> {
    let platform = &connector.platform;
    // A platform without the type needs no connection.
    Driver::new(platform, &Facts::default()).supports(model)?;
    let (mut session, facts) = connector.open().await.map_err(DeviceRunError::from)?;
    let driver = Driver::new(platform, &facts);
    let requests = driver.reads(&[model]);
    let texts = session.read(&requests).await;
    let notes = session.close().await;
    driver.supports(model)?;
    let names = requests.into_iter().map(|request| request.name);
    let texts = texts.map_err(DeviceRunError::from)?;
    let reads: Reads = names.zip(texts).collect();
    let (state, errors) = platform.parse_answers(&reads, &State::default());
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    let instances = driver.instances(model, &state)?;
    let not_understood = driver.not_understood(&[model], &state);
    Ok(Inspection {
        driver,
        instances,
        not_understood,
        notes,
    })
}
