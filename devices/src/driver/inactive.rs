//! `[inactive]` of a platform: how its configuration marks parts that the device has and does not use.

use crate::document::keys;

keys! {
    /// How a configuration marks parts that the device does not use.
    pub(crate) struct InactiveRule {
        /// The first word of lines that mark others as inactive, or the attribute of an inactive
        /// element, whose value is its name.
        mark: String,
        /// The first word of lines that activate others, or the attribute of an element in an edit
        /// that activates it.
        activate: String,
    }
}
