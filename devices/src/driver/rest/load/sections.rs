//! The sections of a type's file about requests.

use super::attribute_keys::LocationKeys;
use super::instance_keys::{ElementKeys, KindKeys, ObjectKeys, RefreshKeys, SharedArrayKeys};
use crate::document::{Named, sections};

sections! {
    /// The sections of a type's file about requests.
    pub(in crate::driver) struct RestTypeSections {
        /// Where the instances are, and how they are created and removed.
        instance (expected): ObjectKeys | ElementKeys,
        /// How attributes are read and written.
        attr: Named<LocationKeys>,
        /// Kinds of objects, selected by an attribute.
        kind: KindKeys,
        /// Arrays whose entries belong to several attributes.
        shared: Named<SharedArrayKeys>,
        /// What a refresh sends.
        refresh: RefreshKeys,
    }
}
