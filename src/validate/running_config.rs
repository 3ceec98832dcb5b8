//! The instances in the running configuration of a device, for rules about references.

use std::collections::BTreeSet;

use switchtender_devices::driver::Driver;
use switchtender_devices::names::TypeName;
use switchtender_devices::read::{ReadError, Reads};
use switchtender_devices::value::Value;

/// The instances of a running configuration, by type and name.
#[derive(Clone, Debug, Default)]
pub struct RunningConfig(BTreeSet<(TypeName, String)>);

impl RunningConfig {
    /// Parses the answers of a device. Types without an answer have no instances.
    ///
    /// # Errors
    /// An answer cannot be parsed.
    pub(crate) fn new(driver: &Driver, reads: &Reads) -> Result<Self, ReadError> {
        let platform = driver.platform();
        let state = platform.parse(reads)?;
        let mut instances = BTreeSet::new();
        for definition in platform.type_drivers() {
            let model = &definition.model;
            let mut names = model.namevars();
            if let (Some(name), None) = (names.next(), names.next()) {
                for instance in driver.instances_so_far(model, &state)? {
                    if let Some(value) = instance.attributes.get(name).and_then(Value::scalar_text)
                    {
                        instances.insert((model.name.clone(), value));
                    }
                }
            }
        }
        Ok(Self(instances))
    }

    /// Whether the configuration has this instance.
    pub(crate) fn contains(&self, type_name: &str, name: &str) -> bool {
        self.0.contains(&(type_name.into(), name.to_owned()))
    }
}
