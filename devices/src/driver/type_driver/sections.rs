//! The keys of a type's file besides those of its transport.

use crate::document::{Item, KeyValue, ValueShape, sections};
use crate::driver::cli::load::sections::CliTypeSections;
use crate::driver::command::load::CommandSections;
use crate::driver::facts::WhenKeys;
use crate::driver::rest::load::sections::RestTypeSections;
use crate::driver::self_test::SelfTestKeys;

sections! {
    /// The keys of all types.
    pub(in crate::driver) struct TypeSections {
        /// Version of the format, 1.
        schema (required): i64,
        /// Name of the platform, equal to the directory.
        platform (required): String,
        /// Name of the type, equal to the name of the file.
        r#type as "type" (required): String,
        /// Description of the implementation.
        doc: String,
        /// `shipped`, or the platform whose file of the type this one changes.
        extends: String,
        /// Position in the order of changes: a number or a name of `[rank]`.
        rank: i64 | String,
        /// Differences on some devices; the first match wins.
        variant: Vec<(VariantSections, TypeBody)>,
        /// Tests of the type.
        test: Vec<SelfTestKeys>,
    }
}

sections! {
    /// The keys of a variant.
    pub(in crate::driver) struct VariantSections {
        /// Conditions that must all hold.
        when (required): WhenKeys,
        /// Reason why these devices do not have the type.
        excluded: String,
        /// The variant has none of the sections of the base.
        complete: bool,
    }
}

/// The sections that depend on the transport, and on what the type is.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct TypeBody;

impl KeyValue for TypeBody {
    fn declare(shape: &ValueShape) {
        CliTypeSections::declare(shape);
        RestTypeSections::declare(shape);
        CommandSections::declare(shape);
    }

    /// The loaders read the sections.
    fn read(item: &Item<'_>) -> Option<Self> {
        item.table().map(|_| Self)
    }
}
