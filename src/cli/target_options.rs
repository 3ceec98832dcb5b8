//! The options that name the devices of a run and their desired state.

use std::path::PathBuf;

use clap::ArgGroup;
use switchtender_devices::driver::Registry;

use super::exit::CommandError;
use super::inventory_source::InventorySource;
use super::manifest::ManifestArgs;
use super::selection::Selection;
use crate::fleet::catalog_files::{CatalogFiles, InventoryCatalogs};
use crate::inventory::Inventory;
use crate::route::HostResourcePolicy;

/// The devices and catalogs of a run.
#[derive(Clone, Debug, clap::Args)]
#[command(group(ArgGroup::new("desired").args(["catalog", "state", "manifest"])))]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub(crate) source: InventorySource,

    /// Catalog file, or directory with <device>.json for each device
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) catalog: Option<PathBuf>,

    /// Directory of desired state in YAML, instead of catalogs
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) manifest: ManifestArgs,

    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) definitions: Option<PathBuf>,

    /// File with host types [default: ./switchtender.toml]
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,

    /// Apply even if the name of the catalog does not match the device
    #[arg(long)]
    pub(crate) allow_name_mismatch: bool,

    /// What to do about host resources in the catalog of a device
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    pub(crate) host_resources: HostResourcePolicy,
}

impl TargetArgs {
    /// The catalogs, or what they are made of.
    pub(crate) fn catalogs(
        &self,
        inventory: &Inventory,
        registry: &Registry,
        devices: usize,
    ) -> Result<InventoryCatalogs, CommandError> {
        if let Some(compiler) = self.manifest.compiler(registry)? {
            return Ok(InventoryCatalogs::Manifest(compiler));
        }
        if let Some(path) = &self.state {
            return Ok(InventoryCatalogs::State(super::state::directory(
                path, inventory,
            )?));
        }
        let path = self.catalog.clone().ok_or_else(|| {
            CommandError::new("no desired state is named")
                .hint("set --catalog, --state or --manifest")
        })?;
        if let Err(error) = std::fs::metadata(&path) {
            let text = format!("cannot read {}", path.display());
            return Err(CommandError::new(text).with_source(error).hint(
                "pass a catalog, or a directory with <device>.json for each device, as --catalog",
            ));
        }
        if !path.is_dir() && devices > 1 {
            let text = format!(
                "{} is one catalog, but {devices} devices are selected",
                path.display(),
            );
            return Err(CommandError::new(text)
                .hint("select its device with --target, or pass a directory"));
        }
        Ok(InventoryCatalogs::Files(CatalogFiles { path }))
    }
}
