//! Catalogs in files: one for the one device, or a directory that holds `<device>.json`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::names::DeviceName;

use crate::catalog;
use crate::inventory::Device;

/// Why the catalog of a device cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogError {
    #[error("{path}")]
    Unreadable {
        path: PathBuf,
        device: DeviceName,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    NotText(#[from] catalog::LoadError),
}

impl CatalogError {
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            CatalogError::Unreadable {
                path,
                device,
                source,
            } if source.kind() == std::io::ErrorKind::NotFound => {
                let dir = path.parent().unwrap_or(Path::new(".")).display();
                Some(format!(
                    "put the catalog of {device} into {dir}, or select devices with --target"
                ))
            }
            _ => None,
        }
    }
}

/// The location of the catalogs.
#[derive(Clone, Debug)]
pub(crate) struct CatalogFiles {
    pub(crate) path: PathBuf,
}

impl CatalogFiles {
    /// Reads the catalog of a device.
    pub(crate) fn read(&self, device: &Device) -> Result<Arc<Source>, CatalogError> {
        let path = if self.path.is_dir() {
            self.path.join(format!("{}.json", device.name))
        } else {
            self.path.clone()
        };
        let bytes = std::fs::read(&path).map_err(|source| CatalogError::Unreadable {
            path: path.clone(),
            device: device.name.clone(),
            source,
        })?;
        Ok(catalog::source(path.display().to_string(), bytes)?)
    }
}
