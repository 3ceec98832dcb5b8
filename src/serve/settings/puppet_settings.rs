//! `[puppet_server]` and `[puppetdb]`: the servers of Puppet that the process uses.

use std::path::{Path, PathBuf};

use switchtender_devices::document::Table;

use super::hidden_values::hide;

/// Devices whose catalogs come from a Puppet Server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PuppetServerSettings {
    pub(crate) config: Option<PathBuf>,
    pub(crate) deviceconfig: Option<PathBuf>,
}

impl PuppetServerSettings {
    pub(super) fn read(table: &Table<'_>, directory: &Path) -> Self {
        let settings = Self {
            config: table.file_path("config", directory),
            deviceconfig: table.file_path("deviceconfig", directory),
        };
        table.finish();
        settings
    }
}

/// The PuppetDB that receives facts and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PuppetDbSettings {
    pub(crate) url: String,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

impl PuppetDbSettings {
    pub(super) fn read(table: &Table<'_>, directory: &Path) -> Self {
        let url = table.string("url");
        if url.is_none() {
            table.missing("url");
        }
        hide(table, "url");
        let settings = Self {
            url: url.unwrap_or_default(),
            ca_file: table.file_path("ca_file", directory),
            certificate: table.file_path("certificate", directory),
            key: table.file_path("key", directory),
        };
        table.finish();
        settings
    }
}
