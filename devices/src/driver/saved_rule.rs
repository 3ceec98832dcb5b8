//! The read of the configuration that a device has saved.

use crate::document::keys;

keys! {
    /// `[saved]` of a platform.
    pub(super) struct SavedRule {
        /// The read of the saved configuration, which looks as the read `config` does.
        read: String,
    }
}

impl SavedRule {
    pub(super) fn read(&self) -> &String {
        &self.read
    }
}
