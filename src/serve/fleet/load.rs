//! Loads the devices of the process: from the settings, the inventory and `device.conf`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::definitions;
use switchtender_devices::driver::Registry;
use tokio_util::sync::CancellationToken;

use super::{ServeFleet, ServedDevice};
use crate::diagnostic::Diagnostic;
use crate::fleet::limits::Membership;
use crate::history::device_state::KnownDevice;
use crate::serve::dispatcher::ScheduledDevice;
use crate::serve::release::FleetInputs;
use crate::serve::schedule::DeviceSchedule;
use crate::serve::settings::{DeviceSettingsTable, RuleSubject, ServeSettings};
use crate::serve::watched_files::WatchedFiles;
use crate::store::Store;

/// How long a secret is not read again: rotated secrets, and sources that work again, need no restart.
pub(super) const SECRET_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// How the running process changes what is loaded.
#[derive(Clone)]
pub(crate) struct LoadContext {
    /// The state of devices. Its directory is that of the process, also if the settings name another one later.
    pub(crate) store: Store,
    pub(crate) stop: CancellationToken,
    pub(crate) abort: CancellationToken,
    /// Mocks replace the devices.
    pub(crate) uses_mocks: bool,
    pub(crate) inputs: FleetInputs,
}

impl LoadContext {
    /// For the files that the settings name, without mocks and not to be stopped.
    pub(crate) fn of_own_files(store: Store) -> Self {
        Self {
            store,
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            uses_mocks: false,
            inputs: FleetInputs::OwnFiles,
        }
    }
}

/// Why the devices cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadFleetError {
    #[error("invalid settings")]
    Findings(Vec<Diagnostic>),
    #[error("cannot read the definitions: {0}")]
    Definitions(std::io::Error),
    #[error("cannot start a mock: {0}")]
    Mock(String),
}

impl From<Vec<Diagnostic>> for LoadFleetError {
    fn from(findings: Vec<Diagnostic>) -> Self {
        LoadFleetError::Findings(findings)
    }
}

impl ServeFleet {
    /// Loads the inventory and `device.conf`, and adds the files that it reads.
    ///
    /// # Errors
    /// A file is invalid, or a device has no catalog.
    pub(crate) async fn load(
        settings: ServeSettings,
        context: &LoadContext,
        files: &mut WatchedFiles,
    ) -> Result<Self, LoadFleetError> {
        let own = match &settings.definitions {
            Some(directory) => definitions::from_directory(directory)
                .map_err(|error| LoadFleetError::Definitions(std::io::Error::other(error)))?,
            None => Vec::new(),
        };
        let registry = Arc::new(Registry::load(&own)?);
        let fleet = Self::new(settings, context);
        let settings = Arc::clone(&fleet.settings);
        files.add(&settings.inventory);
        for webhook in &settings.web.webhooks {
            files.add(&webhook.secret_file);
        }
        let mut load = FleetLoad {
            matched: vec![false; settings.rules.len()],
            fleet,
            context,
            files,
            registry,
        };
        // A proxy of a Puppet Server needs no inventory.
        if settings.inventory.exists() || settings.puppet_server.is_none() {
            load.add_inventory().await?;
        }
        if let Some(server) = &settings.puppet_server {
            load.add_server(server)?;
        }
        load.warn_about_rules();
        Ok(load.fleet)
    }

    fn new(settings: ServeSettings, context: &LoadContext) -> Self {
        Self {
            connector: None,
            server: None,
            devices: BTreeMap::new(),
            warnings: settings.warnings(),
            release: None,
            rejected_release: None,
            stop: context.stop.clone(),
            abort: context.abort.clone(),
            settings: Arc::new(settings),
        }
    }

    /// What a node has that can use no release.
    pub(in crate::serve) fn without_devices(
        settings: ServeSettings,
        context: &LoadContext,
        reason: String,
    ) -> Self {
        Self {
            rejected_release: Some(reason),
            ..Self::new(settings, context)
        }
    }
}

/// Devices that are being loaded.
pub(super) struct FleetLoad<'a> {
    pub(super) fleet: ServeFleet,
    pub(super) context: &'a LoadContext,
    pub(super) files: &'a mut WatchedFiles,
    pub(super) registry: Arc<Registry>,
    /// Whether each rule of the settings matches a device.
    matched: Vec<bool>,
}

impl FleetLoad<'_> {
    /// The settings of a device: the defaults with the rules that match it.
    pub(super) fn settings_of(&mut self, device: RuleSubject<'_>) -> DeviceSettingsTable {
        let settings = &self.fleet.settings;
        for (rule, is_matched) in settings.rules.iter().zip(&mut self.matched) {
            *is_matched |= rule.matches(device);
        }
        settings.defaults.with_rules(&settings.rules, device)
    }

    /// A device for the dispatcher.
    pub(super) fn scheduled(
        &self,
        known: &KnownDevice,
        schedule: DeviceSchedule,
        member: Membership,
    ) -> ScheduledDevice {
        let needs_approval = self.fleet.settings.needs_approval(known);
        ScheduledDevice {
            name: known.name.as_str().into(),
            schedule: Arc::new(DeviceSchedule {
                needs_approval,
                ..schedule
            }),
            member,
        }
    }

    pub(super) fn add(&mut self, device: ServedDevice) {
        let name = Arc::clone(&device.scheduled.name);
        self.fleet.devices.insert(name, device);
    }

    /// A rule without devices is often misspelled.
    fn warn_about_rules(&mut self) {
        let settings = Arc::clone(&self.fleet.settings);
        let unused = settings.rules.iter().zip(&self.matched);
        for (rule, _) in unused.filter(|(_, is_matched)| !**is_matched) {
            let text = format!("[{}] matches no device", rule.table);
            let mut warning = Diagnostic::warning("unused-table", text);
            warning = warning.at(&settings.source, rule.span.clone(), "");
            if rule.is_label() && settings.puppet_server.is_some() {
                warning = warning.help("devices of `device.conf` have no labels; use their names");
            }
            self.fleet.warnings.push(warning);
        }
    }
}
