//! The driver of a shipped platform, used without a device.

use std::sync::{Arc, LazyLock};

use switchtender_devices::change::{Change, Desired};
use switchtender_devices::driver::{Driver, Facts, NoSecretHistory, Registry};
use switchtender_devices::operation::Operation;
use switchtender_devices::read::State;

/// All shipped definitions, loaded once.
pub(crate) static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::shipped);

/// The driver of a shipped platform.
pub(crate) fn driver(platform: &str) -> Driver {
    let platform = REGISTRY.platform(platform).expect("a shipped platform");
    Driver::new(platform, &Facts::default())
}

/// Returns the operations for a resource and applies them to the state.
pub(crate) fn apply(driver: &Driver, desired: &Desired, state: &mut State) -> Vec<Operation> {
    let current = driver.instance(desired, state).expect("understood");
    let desired = driver.resolve(desired, current.as_ref(), state);
    let attributes = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
    if attributes.is_empty() {
        return Vec::new();
    }
    let change = Change::new(Arc::new(desired.clone().into_owned()), current, attributes);
    let operations = driver.render(&change, state).expect("possible");
    driver.predict(&desired.model, state, &operations);
    operations
}
