//! The options that name the devices of a run and their desired state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgGroup;
use switchtender_devices::driver::Registry;

use crate::cli::exit::CommandError;
use crate::cli::options::inventory_source::InventorySource;
use crate::cli::options::manifest::ManifestArgs;
use crate::cli::options::selection::Selection;
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
    pub(crate) settings: Option<PathBuf>,

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
            let directory = crate::cli::options::desired_state::directory(path, inventory)?;
            return Ok(InventoryCatalogs::State(Arc::new(directory)));
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
        if let Some(error) = other_source(&path) {
            return Err(error);
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

/// The error about desired state in YAML, or about manifests, that is passed as a catalog.
fn other_source(path: &Path) -> Option<CommandError> {
    let has = |extension: &str| {
        if !path.is_dir() {
            path.extension().is_some_and(|own| own == extension)
        } else {
            has_file(path, extension, DEPTH)
        }
    };
    if path.is_dir() && has("json") {
        return None;
    }
    let name = path.display();
    if has("yaml") {
        let directory = if path.is_dir() {
            path
        } else {
            path.parent().unwrap_or(path)
        };
        let text = format!("{name} is desired state in YAML, not a catalog");
        let directory = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        let hint = format!("pass its directory as --state {}", directory.display());
        return Some(CommandError::new(text).hint(hint));
    }
    has("pp").then(|| {
        let text = format!("{name} is a Puppet manifest, not a compiled catalog");
        CommandError::new(text).hint(format!(
            "pass it as --manifest {name}, which compiles it with an installed Puppet or OpenVox"
        ))
    })
}

/// Levels of directories in desired state: label/KEY/VALUE.yaml.
const DEPTH: usize = 2;

/// Whether a directory has a file with this extension, up to so many levels below it.
fn has_file(directory: &Path, extension: &str, depth: usize) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.iter().any(|path| {
        let is_found = path.extension().is_some_and(|own| own == extension) && path.is_file();
        is_found || (depth > 0 && path.is_dir() && has_file(path, extension, depth - 1))
    })
}
