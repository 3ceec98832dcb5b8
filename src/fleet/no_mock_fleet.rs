//! Placeholder of the module `mock_fleet` in builds without the feature `mock`: there are no mocks.

use switchtender_devices::driver::Registry;
use switchtender_devices::names::PlatformName;
use switchtender_devices::session::connect_params::ConnectParams;

/// Mock devices of a run. A build without the feature `mock` has no value of this type.
#[derive(Debug)]
pub(crate) enum NoMockFleet {}

pub(crate) use NoMockFleet as MockFleet;

/// No platform has a mock.
pub(crate) fn platforms_with_mock(_: &Registry) -> Vec<PlatformName> {
    Vec::new()
}

impl NoMockFleet {
    /// Never called.
    pub(crate) fn take_notes(&self, _: &str) -> Vec<String> {
        match *self {}
    }

    /// Never called.
    pub(crate) fn target(&self, _: &str) -> Option<ConnectParams> {
        match *self {}
    }
}
