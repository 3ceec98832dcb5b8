//! The objects in the running configuration of a device, for rules about references.

use std::collections::{BTreeMap, BTreeSet};

use switchtender_devices::driver::Driver;
use switchtender_devices::names::TypeName;
use switchtender_devices::read::{ReadError, Reads};

/// The objects of a running configuration, by type. A type without all of its answers is missing:
/// what the device has of it is unknown.
#[derive(Clone, Debug, Default)]
pub struct RunningConfig(BTreeMap<TypeName, RunningObjects>);

/// The objects of one type.
#[derive(Clone, Debug, Default)]
struct RunningObjects {
    names: BTreeSet<String>,
    /// Text that the type recognizes and does not read.
    not_understood: Vec<String>,
}

impl RunningConfig {
    /// Parses the answers of a device.
    ///
    /// # Errors
    /// An answer cannot be parsed.
    pub(crate) fn new(driver: &Driver, reads: &Reads) -> Result<Self, ReadError> {
        let platform = driver.platform();
        let state = platform.parse(reads)?;
        let mut objects: BTreeMap<TypeName, RunningObjects> = BTreeMap::new();
        for definition in platform.type_drivers() {
            let model = &definition.model;
            let needed = driver.reads(&[model]);
            let is_read = needed.iter().all(|read| state.get(&read.name).is_some());
            if driver.supports(model).is_err() || !is_read {
                continue;
            }
            let instances = driver.instances(model, &state)?;
            let names = instances
                .iter()
                .map(|one| model.object_name(&one.attributes));
            let not_understood = driver.not_understood(&[model], &state);
            let of_type = RunningObjects {
                names: names.flatten().collect(),
                not_understood: not_understood.into_iter().map(|one| one.text).collect(),
            };
            objects.insert(model.name.clone(), of_type);
        }
        Ok(Self(objects))
    }

    /// Whether the device has an object with this name. `None`: unknown.
    pub(crate) fn contains(&self, type_name: &str, name: &str) -> Option<bool> {
        let objects = self.0.get(type_name)?;
        if objects.names.contains(name) {
            return Some(true);
        }
        let mut texts = objects.not_understood.iter();
        (!texts.any(|text| text.contains(name))).then_some(false)
    }
}
