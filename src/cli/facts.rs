//! `switchtender facts`: the facts of a device.

use switchtender_devices::session::Access;
use tracing::Instrument as _;

use super::block_on;
use super::exit::{CommandError, Exit, print};
use super::one_device::OneDevice;
use super::view::of_device;
use crate::fleet::inspect;
use crate::telemetry::device_span;

/// Show the facts of a device as JSON
#[derive(Debug, clap::Args)]
pub struct FactsArgs {
    #[command(flatten)]
    device: OneDevice,
}

/// Reads the facts from the device and prints them as JSON.
pub fn run(args: &FactsArgs) -> Result<Exit, CommandError> {
    block_on(async {
        let (connector, name) = args.device.connector().await?;
        let read = async {
            let device = &connector.inventory.devices[&name];
            let connector = connector.connector(device, Access::ReadOnly).await?;
            inspect::facts(&connector).await
        };
        let facts = read
            .instrument(device_span(&name))
            .await
            .map_err(|error| CommandError {
                hint: error.hint(),
                findings: error.findings().to_vec(),
                ..CommandError::new(of_device(&name, &error))
            })?;
        let text = serde_json::to_string_pretty(&facts);
        print(&format!("{}\n", text.expect("facts are texts")));
        Ok(Exit::SUCCESS)
    })
}
