//! How a device shows the configuration that it loads at its next start.

use super::Driver;
use super::platform::Platform;
use crate::read::{CONFIG, ReadRequest, Reads};

impl Platform {
    /// Whether a device shows what it has saved.
    pub fn shows_saved(&self) -> bool {
        self.saved.is_some()
    }
}

impl Driver {
    /// The reads that show whether the configuration is saved. `None`: the device does not show it.
    pub(crate) fn saved_reads(&self) -> Option<[ReadRequest; 2]> {
        let platform = self.platform();
        let saved = platform.saved.as_ref()?;
        let request = |name: &str| Some(platform.reads.get(name)?.request.clone());
        Some([request(CONFIG)?, request(saved.read())?])
    }

    /// Whether the configuration with these answers to [`Driver::saved_reads`] is saved.
    pub(crate) fn is_startup_equal(&self, running: String, saved: String) -> bool {
        let configuration = |text: String| {
            let answers: Reads = [(CONFIG.to_owned(), text)].into_iter().collect();
            self.backup(&answers, str::to_owned).configuration
        };
        configuration(running) == configuration(saved)
    }
}
