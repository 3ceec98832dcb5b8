//! Reads answers of devices, for the programs in `src/bin`.
//!
//! In this directory, `cargo run --release --bin catalog -- -max_total_time=300 CORPUS FIXTURES` mutates
//! the files of two directories and adds inputs that reach new code to the first one.

use std::sync::Arc;

use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::model::TypeModel;
use switchtender_devices::read::Reads;

/// A built-in platform with its types.
pub struct Reader {
    driver: Driver,
    models: Vec<Arc<TypeModel>>,
}

impl Reader {
    /// The reader of a built-in platform.
    ///
    /// # Panics
    /// If the platform does not exist.
    #[must_use]
    pub fn new(platform: &str) -> Self {
        let registry = Registry::shipped();
        let platform = registry.platform(platform).expect("a built-in platform");
        let driver = Driver::new(platform, &Facts::default());
        let models = registry
            .models()
            .filter(|model| driver.supports(model).is_ok());
        let models = models.cloned().collect();
        Self { driver, models }
    }

    /// Reads the instances of one type from the same answer to each of its reads. The length of the
    /// text selects the type.
    pub fn read(&self, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return;
        };
        let model = &self.models[bytes.len() % self.models.len()];
        let reads = self.driver.reads(&[model]);
        let answers: Reads = reads
            .into_iter()
            .map(|read| (read.name, text.to_owned()))
            .collect();
        if let Ok(state) = self.driver.platform().parse(&answers) {
            // An error is a valid result; a panic is not.
            drop(self.driver.instances(model, &state));
        }
    }
}
