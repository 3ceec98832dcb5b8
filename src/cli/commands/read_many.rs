//! Reads many devices for one table. An error of one device does not stop the others.

use std::sync::Arc;

use switchtender_devices::names::DeviceName;
use tokio_util::sync::CancellationToken;

use crate::cli::commands::resource::read_error;
use crate::cli::exit::{Exit, eprint_text};
use crate::cli::interrupt::stop_reads_on_signals;
use crate::fleet::connector::{Connector, DeviceConnector};
use crate::fleet::inspect::InspectError;
use crate::fleet::read_devices::{CONCURRENCY, read_devices};

/// What was read of devices.
pub(crate) struct ReadMany<T> {
    /// In the order of the inventory.
    pub(crate) read: Vec<(DeviceName, T)>,
    /// Those that the platform of the device cannot have.
    pub(crate) unsupported: Vec<(DeviceName, InspectError)>,
    /// A failure, if a device could not be read.
    pub(crate) exit: Exit,
}

/// Reads devices, and prints the error of each device that cannot be read.
///
/// # Cancellation
/// Ends at signals.
pub(crate) async fn read_many<T, W, F>(
    connector: &Arc<Connector>,
    names: Vec<DeviceName>,
    is_colored: bool,
    work: W,
) -> ReadMany<T>
where
    T: Send + 'static,
    W: Fn(DeviceConnector) -> F + Send + Sync + 'static,
    F: Future<Output = Result<T, InspectError>> + Send + 'static,
{
    let stop = CancellationToken::new();
    stop_reads_on_signals(&stop);
    let mut all = ReadMany {
        read: Vec::new(),
        unsupported: Vec::new(),
        exit: Exit::SUCCESS,
    };
    read_devices(
        connector,
        names,
        CONCURRENCY,
        &stop,
        work,
        |name, read| match read {
            Ok(read) => all.read.push((name, read)),
            Err(error @ InspectError::Unsupported(_)) => all.unsupported.push((name, error)),
            Err(error) => {
                eprint_text(&read_error(&name, &error).text(is_colored));
                all.exit = Exit::FAILURE;
            }
        },
    )
    .await;
    let devices = &connector.inventory.devices;
    all.read
        .sort_by_key(|(name, _)| devices.get_index_of(name.as_str()));
    all
}
