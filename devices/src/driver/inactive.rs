//! `[inactive]` of a platform: how its configuration marks parts that the device has and does not use.

use crate::document::keys;

keys! {
    /// How a configuration marks parts that the device does not use.
    pub(crate) struct InactiveRule {
        /// The attribute of an inactive element; its value is its name.
        mark: String,
        /// The attribute of an element in an edit that activates it.
        activate: String,
    }
}
