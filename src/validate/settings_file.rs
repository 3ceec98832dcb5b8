//! `switchtender.toml`: settings of a site.
//!
//! ```toml
//! host_types = ["site_cron"]       # types that hosts apply
//!
//! [apply]
//! confirm = false                  # `apply` does not ask before it changes devices
//!
//! [secrets]
//! commands = true                  # `{secret: {command: […]}}` of desired state may run
//!
//! [validate.severity]              # see `severities`
//! ```

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::document::{self, Findings};
use switchtender_devices::names::TypeName;

use super::severities::Severities;
use crate::inventory::StateCommands;

/// The settings of a site.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// `apply` asks on a terminal before it changes devices.
    pub(crate) confirms: bool,
    pub(crate) severities: Severities,
    /// Types that hosts apply, in lower case. Their resources are skipped on devices.
    pub(crate) host_types: Vec<TypeName>,
    pub(crate) state_commands: StateCommands,
}

impl Default for SettingsFile {
    fn default() -> Self {
        Self {
            confirms: true,
            severities: Severities::default(),
            host_types: Vec::new(),
            state_commands: StateCommands::default(),
        }
    }
}

impl SettingsFile {
    /// Reads `switchtender.toml`.
    ///
    /// # Errors
    /// All errors of the file.
    pub(crate) fn load(source: &Arc<Source>) -> Result<Self, Vec<Diagnostic>> {
        let findings = Findings::new(source);
        let settings = document::read(&findings, |root| {
            let host_types = root.strings("host_types").unwrap_or_default();
            let host_types = host_types.iter().map(|name| name.to_lowercase());
            let severities = root.table("validate").map(|table| Severities::read(&table));
            let apply = root.table("apply");
            let confirms = apply.and_then(|apply| {
                let confirms = apply.bool("confirm");
                apply.finish();
                confirms
            });
            let state_commands = StateCommands::read(root);
            root.finish();
            Self {
                confirms: confirms.unwrap_or(true),
                severities: severities.unwrap_or_default(),
                host_types: host_types.map(|name| name.as_str().into()).collect(),
                state_commands,
            }
        });
        if findings.is_empty() {
            Ok(settings)
        } else {
            Err(findings.into_list())
        }
    }
}
