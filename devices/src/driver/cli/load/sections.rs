//! The sections of a type's file about command lines.

use super::attribute_keys::AttributeKeys;
use super::instance_keys::InstanceKeys;
use crate::document::{Named, sections};
use crate::driver::cli::refresh::SendKeys;
use crate::driver::cli::rewrite::RewriteKeys;

sections! {
    /// The sections of a type's file about command lines.
    pub(in crate::driver) struct CliTypeSections {
        /// Where the instances are, and how they are created and removed.
        instance (expected): InstanceKeys,
        /// How attributes are read and written.
        attr: Named<AttributeKeys>,
        /// What a refresh sends.
        refresh: SendKeys,
        /// Conversions of catalog values to the form that the device prints.
        rewrite: Vec<RewriteKeys>,
        /// Attributes that the platform does not have.
        unsupported: Vec<String>,
    }
}
