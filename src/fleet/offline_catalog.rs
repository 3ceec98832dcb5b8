//! The catalog of a device as it is now, without a session and without secrets: for graphs.

use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{Facts, Registry};

use super::catalog_files::{CatalogError, InventoryCatalogs};
use crate::desired_state::{SecretValues, StateDevice, StateError};
use crate::inventory::Device;

/// Why a device has no catalog without a run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OfflineTextError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("the catalog is compiled for each run only")]
    RunOnly,
}

/// The text of a device's catalog. Templates of desired state have the facts of the last run.
pub(crate) fn read(
    catalogs: &InventoryCatalogs,
    device: &Device,
    registry: &Registry,
    facts: Option<&Facts>,
) -> Result<Arc<Source>, OfflineTextError> {
    match catalogs {
        InventoryCatalogs::Files(files) => Ok(files.read(device)?),
        InventoryCatalogs::State(directory) => {
            let merged = directory.merged(device, registry)?;
            let target = StateDevice {
                device,
                facts,
                registry,
            };
            let secrets = SecretValues::placeholders(&merged, &directory.path);
            Ok(merged.catalog(&target, &secrets)?.source)
        }
        InventoryCatalogs::Manifest(_) | InventoryCatalogs::Undo(_) => {
            Err(OfflineTextError::RunOnly)
        }
    }
}
