//! The catalogs of an inventory: files, or desired state and manifests that they are made of.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::names::DeviceName;
use switchtender_devices::regular_file;

use super::undo::UndoCatalogs;
use crate::catalog;
use crate::desired_state::StateDirectory;
use crate::inventory::Device;
use crate::manifest::ManifestCompiler;

/// Why the catalog of a device cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogError {
    #[error("{path}")]
    Unreadable {
        path: PathBuf,
        device: DeviceName,
        #[source]
        source: ReadCatalogError,
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
                source: ReadCatalogError::Io(source),
            } if source.kind() == io::ErrorKind::NotFound => {
                let dir = path.parent().unwrap_or(Path::new(".")).display();
                Some(format!(
                    "put the catalog of {device} into {dir}, or select devices with --target"
                ))
            }
            _ => None,
        }
    }
}

/// An error of reading the text of a catalog.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadCatalogError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file is larger than {} MiB", catalog::MAX_SIZE >> 20)]
    TooLarge,
}

/// Reads the bytes of a catalog, at most [`catalog::MAX_SIZE`].
pub(crate) fn read_catalog(source: impl Read) -> Result<Vec<u8>, ReadCatalogError> {
    let mut bytes = Vec::new();
    let limit = catalog::MAX_SIZE as u64;
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() > catalog::MAX_SIZE {
        return Err(ReadCatalogError::TooLarge);
    }
    Ok(bytes)
}

/// Reads the bytes of a catalog file, at most [`catalog::MAX_SIZE`].
pub(crate) fn read_catalog_file(path: &Path) -> Result<Vec<u8>, ReadCatalogError> {
    Ok(regular_file::read(path, catalog::MAX_SIZE as u64)?)
}

/// Where the catalogs of an inventory come from.
#[derive(Debug)]
pub(crate) enum InventoryCatalogs {
    Files(CatalogFiles),
    State(Arc<StateDirectory>),
    Manifest(ManifestCompiler),
    /// What was before a run.
    Undo(UndoCatalogs),
}

impl InventoryCatalogs {
    /// The directory or file of the catalogs; `None` for an undo.
    pub(super) fn origin(&self) -> Option<String> {
        let path = match self {
            InventoryCatalogs::Files(files) => &files.path,
            InventoryCatalogs::State(directory) => &directory.path,
            InventoryCatalogs::Manifest(compiler) => compiler.manifest(),
            InventoryCatalogs::Undo(_) => return None,
        };
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        Some(path.display().to_string())
    }
}

/// One catalog for one device, or a directory with `<device>.json`.
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
        let bytes = read_catalog_file(&path).map_err(|source| CatalogError::Unreadable {
            path: path.clone(),
            device: device.name.clone(),
            source,
        })?;
        Ok(catalog::source(path.display().to_string(), bytes)?)
    }
}
