//! Reads many devices of an inventory, concurrently and under its limits. Nothing is written to them.

use std::sync::Arc;

use switchtender_devices::names::DeviceName;
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::{Deadline, StopCause};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::connector::{Connector, DeviceConnector};
use super::inspect::InspectError;
use super::limits::{Limits, Membership};
use super::runner;
use crate::clock;
use crate::telemetry::device_span;

/// Number of devices that are read at once.
pub(crate) const CONCURRENCY: usize = 100;

/// Runs `work` for every device, and passes each result to `done` in order of completion.
///
/// # Cancellation
/// After `stop`, no device is started, and the sessions end.
pub(crate) async fn read_devices<T, W, F>(
    connector: &Arc<Connector>,
    names: Vec<DeviceName>,
    concurrency: usize,
    stop: &CancellationToken,
    work: W,
    mut done: impl FnMut(DeviceName, Result<T, InspectError>),
) where
    T: Send + 'static,
    W: Fn(DeviceConnector) -> F + Send + Sync + 'static,
    F: Future<Output = Result<T, InspectError>> + Send + 'static,
{
    let inventory = &connector.inventory;
    let members = names.iter().map(|name| &inventory.devices[name]);
    let members: Vec<Membership> = members.map(Membership::of).collect();
    let limits = Limits::of_inventory(inventory, concurrency, &members);
    let work = Arc::new(work);
    let read = {
        let (connector, stop) = (Arc::clone(connector), stop.clone());
        move |name: DeviceName| {
            let (connector, stop, work) = (Arc::clone(&connector), stop.clone(), Arc::clone(&work));
            let span = device_span(&name);
            let read = async move {
                let deadline = Deadline::default();
                let read = async {
                    let device = &connector.inventory.devices[&name];
                    let mut connector = connector.connector(device, Access::ReadOnly).await?;
                    connector.set_deadline(&deadline);
                    work(connector).await
                };
                let end_when_stopped = async {
                    stop.cancelled().await;
                    deadline.end_at(clock::instant(), StopCause::Requested);
                    std::future::pending().await
                };
                tokio::select! {
                    result = read => result,
                    () = end_when_stopped => unreachable!("never ends"),
                }
            };
            read.instrument(span)
        }
    };
    let devices = names.into_iter().zip(members).collect();
    runner::run(devices, &limits, stop, read, |name, ended| {
        done(name, ended.map_err(InspectError::from).flatten());
    })
    .await;
}
