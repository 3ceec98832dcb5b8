//! Converts the resources of a catalog for the driver of a platform, before the device is
//! contacted.

use std::sync::Arc;

use switchtender_devices::driver::{Driver, Facts, Platform};
use switchtender_devices::model::TypeModel;

use crate::catalog::types::TypeSource;
use crate::catalog::{self, Catalog, LoadError, Resources, Typing};
use crate::compat::Deviations;
use crate::validate::Canonical;

/// Gives every resource its type, with canonical attributes; `canonical` holds those that the
/// checks computed.
///
/// # Errors
/// Invalid types, attributes, names and relationships.
pub(crate) fn convert(
    catalog: Catalog,
    platform: &Arc<Platform>,
    types: &dyn TypeSource,
    deviations: Deviations,
    canonical: Canonical,
) -> Result<Resources, LoadError> {
    let driver = Driver::new(platform, &Facts::default());
    let canonicalize = |model: &TypeModel, attributes| {
        driver
            .canonicalize(model, attributes)
            .map_err(|mut errors| errors.remove(0))
    };
    let typing = Typing {
        types,
        canonicalize: &canonicalize,
        default_schedules: true,
        deviations,
    };
    catalog::convert_canonical(catalog, &typing, canonical)
}
