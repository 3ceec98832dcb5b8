//! The options `--mock` and `--mock-config`.

use std::path::PathBuf;

use switchtender_devices::driver::Registry;

use crate::cli::exit::{CommandError, eprint_notice};
use crate::fleet::mock_fleet::MockFleet;
use crate::inventory::Device;

/// Maximum number of mocks whose addresses are printed.
const MAX_ADDRESSES: usize = 10;

/// Prints the addresses of few mocks.
pub(crate) fn announce(mocks: &MockFleet, devices: &[&Device]) {
    let addresses = devices.iter().filter_map(|device| {
        let target = mocks.target(&device.name)?;
        let port = target.port.map(|port| format!(":{port}"));
        Some(format!(
            "{} {}{}",
            device.name,
            target.host,
            port.unwrap_or_default()
        ))
    });
    let addresses: Vec<String> = addresses.collect();
    eprint_notice(&match addresses.len() {
        0 => return,
        1..=MAX_ADDRESSES => format!("mocks: {}", addresses.join(", ")),
        count => format!("mocks: {count}"),
    });
}

/// Options to replace devices by mocks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MockOptions {
    /// Replace each device by a mock of its platform. Without one, the device is a structural mock,
    /// which keeps lines, objects or elements as the definition describes them
    #[arg(long)]
    mock: bool,

    /// Initial configurations of the mocks: DIR/<device>.cfg has the running configuration of a
    /// command line, or the JSON of `mock load-balancer --config` for a load balancer.
    /// DIR/<device>.json has the other answers of a structural mock. DIR/<device>.recording replaces
    /// the mock: its answers are replayed
    #[arg(long, value_name = "DIR", requires = "mock")]
    mock_config: Option<PathBuf>,
}

impl MockOptions {
    /// Whether mocks replace the devices.
    pub(crate) fn is_enabled(&self) -> bool {
        self.mock
    }

    /// Starts a mock for each device, if enabled.
    pub(crate) async fn start(
        &self,
        devices: &[&Device],
        registry: &Registry,
    ) -> Result<Option<MockFleet>, CommandError> {
        if !self.mock {
            return Ok(None);
        }
        let started = MockFleet::start(devices, registry, self.mock_config.as_deref()).await;
        let started =
            started.map_err(|error| CommandError::new("cannot start a mock").with_source(error));
        started.map(Some)
    }
}
