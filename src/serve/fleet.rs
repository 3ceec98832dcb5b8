//! The devices of the process: from the settings, the inventory and `device.conf` to device runs.

mod graph;
mod line_coverage;
mod states;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::definitions;
use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::accept_drift::DriftRequest;
use super::access::OidcSettings;
use super::dispatcher::ScheduledDevice;
use super::queue::QueueLimits;
use super::release::FleetInputs;
use super::schedule::DeviceSchedule;
use super::settings::{CatalogPath, PuppetServerSettings, RuleSubject, ServeSettings};
use super::watched_files::WatchedFiles;
use crate::agent::puppet_conf::{self, PuppetDirectories};
use crate::agent::run::Proxy;
use crate::catalog::Level;
use crate::desired_state::StateDirectory;
use crate::device_conf::{self, CredentialsReaders, DeviceSection};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error_chain::chain;
use crate::fleet::backup::{self, SurveyedBackup};
use crate::fleet::catalog_files::{CatalogFiles, InventoryCatalogs};
use crate::fleet::connector::Connector;
use crate::fleet::device_run::{DeviceRun, Observer};
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::known_device::{known_device, known_section};
use crate::fleet::limits::Membership;
use crate::fleet::mock_fleet::MockFleet;
use crate::fleet::run_request::{LockWait, RunRequest};
use crate::fleet::server_run::ServerFleet;
use crate::history::device_state::KnownDevice;
use crate::history::releases::ReleaseNumber;
use crate::inventory::{Device, Inventory, InventoryOptions, NO_VAULT_HELP, Secrets};
use crate::run_kind::RunKind;
use crate::store::{Store, StoreError};
use crate::validate::Policy;
pub(crate) use line_coverage::ReadBackup;
use states::States;

/// How long a secret is not read again: rotated secrets, and sources that work again, need no restart.
const SECRET_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// Catalogs that are requested from a Puppet Server at once.
const CATALOG_REQUESTS: usize = 4;

/// The devices and what their runs need.
pub(crate) struct ServeFleet {
    pub(crate) settings: Arc<ServeSettings>,
    connector: Option<Arc<Connector>>,
    server: Option<ServerDevices>,
    devices: BTreeMap<Arc<str>, ServedDevice>,
    /// Findings that do not prevent the work.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The release that the devices come from. `None`: files of the process.
    pub(crate) release: Option<ReleaseNumber>,
    /// Why the newest release is not used. Then runs only plan.
    pub(crate) rejected_release: Option<String>,
    stop: CancellationToken,
    abort: CancellationToken,
}

struct ServedDevice {
    name: DeviceName,
    scheduled: ScheduledDevice,
    known: KnownDevice,
    source: ServedCatalog,
}

enum ServedCatalog {
    Path(CatalogPath),
    Server(Arc<DeviceSection>),
}

/// The runs against a Puppet Server.
struct ServerDevices {
    fleet: ServerFleet,
    time_limit: Option<Duration>,
    lock_wait: LockWait,
}

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
        let mut fleet = Self::new(settings, context);
        let mut matched = vec![false; fleet.settings.rules.len()];
        files.add(&fleet.settings.inventory);
        for webhook in &fleet.settings.web.webhooks {
            files.add(&webhook.secret_file);
        }
        // A proxy of a Puppet Server needs no inventory.
        if fleet.settings.inventory.exists() || fleet.settings.puppet_server.is_none() {
            let added = fleet.add_inventory(&registry, context, files, &mut matched);
            added.await?;
        }
        if let Some(server) = fleet.settings.puppet_server.clone() {
            fleet.add_server(&server, context, files, &mut matched)?;
        }
        fleet.warn_about_rules(&matched);
        Ok(fleet)
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
    pub(super) fn without_devices(
        settings: ServeSettings,
        context: &LoadContext,
        reason: String,
    ) -> Self {
        Self {
            rejected_release: Some(reason),
            ..Self::new(settings, context)
        }
    }

    /// A rule without devices is often misspelled.
    fn warn_about_rules(&mut self, matched: &[bool]) {
        let settings = Arc::clone(&self.settings);
        let unused = settings.rules.iter().zip(matched);
        for (rule, _) in unused.filter(|(_, is_matched)| !**is_matched) {
            let text = format!("[{}] matches no device", rule.table);
            let warning = Diagnostic::warning("unused-table", text);
            let warning = warning.at(&settings.source, rule.span.clone(), "");
            self.warnings
                .push(if rule.is_label() && settings.puppet_server.is_some() {
                    warning.help("devices of `device.conf` have no labels; use their names")
                } else {
                    warning
                });
        }
    }

    /// Records the rules that match a device.
    fn mark(&self, matched: &mut [bool], device: RuleSubject<'_>) {
        for (rule, is_matched) in self.settings.rules.iter().zip(matched) {
            *is_matched |= rule.matches(device);
        }
    }

    async fn add_inventory(
        &mut self,
        registry: &Arc<Registry>,
        context: &LoadContext,
        files: &mut WatchedFiles,
        matched: &mut [bool],
    ) -> Result<(), LoadFleetError> {
        let options = InventoryOptions {
            registry: Some(registry),
            is_offline: context.uses_mocks,
            ..InventoryOptions::default()
        };
        let inventory = Inventory::load(&self.settings.inventory, &options)?;
        self.warnings.extend(inventory.command_warnings().cloned());
        let mut findings = Vec::new();
        let provider = self.settings.web.oidc.as_ref();
        if provider.is_some_and(OidcSettings::needs_vault) && inventory.vault.is_none() {
            let text = format!(
                "`client_secret` of [oidc] is in Vault, and {} has no [vault]",
                self.settings.inventory.display()
            );
            findings.push(Diagnostic::error("missing-key", text).help(NO_VAULT_HELP));
        }
        let mut states = States::default();
        for device in inventory.devices.values() {
            let settings = &self.settings;
            let subject = RuleSubject::Inventory(device);
            self.mark(matched, subject);
            let merged = settings.defaults.with_rules(&settings.rules, subject);
            let Some(catalog) = merged.catalog() else {
                let text = format!("device `{}` has no catalog", device.name);
                let mut finding = Diagnostic::error("no-catalog", text);
                finding.help = Some(format!(
                    "set `catalog` or `state` in [defaults] of {}",
                    settings.source.name
                ));
                findings.push(finding);
                continue;
            };
            if let CatalogPath::State(path) = catalog
                && !states.manages(path, device, &inventory, files)
            {
                continue;
            }
            let name: Arc<str> = device.name.as_str().into();
            let platform = device.platform_of(registry);
            let guarantee = platform.map(|platform| device.guarantee(&platform).class);
            let known = KnownDevice {
                guarantee: guarantee.map(|class| class.word().to_owned()),
                ..known_device(device)
            };
            let schedule = DeviceSchedule {
                needs_approval: settings.needs_approval(&known),
                ..merged.schedule()
            };
            let served = ServedDevice {
                name: device.name.clone(),
                scheduled: ScheduledDevice {
                    name: Arc::clone(&name),
                    schedule: Arc::new(schedule),
                    member: Membership::of(device),
                },
                known,
                source: ServedCatalog::Path(catalog.clone()),
            };
            self.devices.insert(name, served);
        }
        if self.devices.is_empty() && self.settings.puppet_server.is_none() {
            findings.extend(states.findings(Severity::Error))
        } else {
            self.warnings.extend(states.findings(Severity::Warning))
        }
        if !findings.is_empty() {
            return Err(findings.into());
        }
        let mocks = start_mocks(context, &inventory, registry).await?;
        self.connector = Some(Arc::new(Connector {
            secrets: Secrets::of_inventory(&inventory)
                .with_state_commands(self.settings.state_commands)
                .with_lifetime(SECRET_LIFETIME),
            inventory,
            registry: Arc::clone(registry),
            store: context.store.clone(),
            mocks: mocks.map(Arc::new),
            running: None,
            transcripts: None,
            recordings: None,
        }));
        Ok(())
    }

    fn add_server(
        &mut self,
        server: &PuppetServerSettings,
        context: &LoadContext,
        files: &mut WatchedFiles,
        matched: &mut [bool],
    ) -> Result<(), LoadFleetError> {
        let mut flags = BTreeMap::new();
        for (name, path) in [
            ("config", &server.config),
            ("deviceconfig", &server.deviceconfig),
        ] {
            if let Some(path) = path {
                flags.insert(name.to_owned(), path.display().to_string());
            }
        }
        let home = std::env::var_os("HOME");
        let root = rustix::process::geteuid().is_root();
        let home = PuppetDirectories::find(root, home.as_deref().map(Path::new), Path::exists);
        files.add(&puppet_conf::path(&flags, &home)?);
        let puppet = puppet_conf::read(&flags, &home)?;
        files.add_with_entries(&puppet.deviceconfig);
        let interval = puppet.runinterval;
        let splay = puppet.splay;
        let sections = device_conf::load_all(&puppet.deviceconfig)?;
        if sections.is_empty() {
            self.warnings.push(no_devices(server, &puppet.deviceconfig));
        }
        for section in sections {
            let subject = RuleSubject::Name(section.name.as_str());
            self.mark(matched, subject);
            let settings = &self.settings;
            let merged = settings.defaults.with_rules(&settings.rules, subject);
            let mut schedule = merged.schedule();
            if !merged.has_interval() && !interval.is_zero() {
                schedule.interval = interval;
                schedule.splay = splay.unwrap_or(interval);
            }
            let name: Arc<str> = section.name.as_str().into();
            let known = known_section(&section);
            schedule.needs_approval = settings.needs_approval(&known);
            let served = ServedDevice {
                name: section.name.clone(),
                scheduled: ScheduledDevice {
                    name: Arc::clone(&name),
                    schedule: Arc::new(schedule),
                    member: Membership::default(),
                },
                known,
                source: ServedCatalog::Server(Arc::new(section)),
            };
            self.devices.insert(name, served);
        }
        let time_limit = puppet.runtimeout;
        let lock_wait = LockWait {
            interval: puppet.waitforlock,
            limit: puppet.maxwaitforlock,
        };
        // The dispatcher has waited already.
        let puppet = puppet_conf::Settings {
            splay: None,
            ..puppet
        };
        self.server = Some(ServerDevices {
            fleet: ServerFleet {
                store: context.store.with_root(&puppet.vardir),
                proxy: Arc::new(Proxy::new(puppet, CATALOG_REQUESTS)),
                secrets: Secrets::new(false).with_lifetime(SECRET_LIFETIME),
                readers: CredentialsReaders::default(),
                active: Semaphore::new(self.settings.concurrency.max(1)),
                log_level: Level::Notice,
                catalog: None,
            },
            time_limit,
            lock_wait,
        });
        Ok(())
    }

    /// Moves what the files of this host have to the store of several hosts, if there is one.
    pub(crate) fn synchronize_states(&self) -> Result<(), StoreError> {
        let server = self.server.as_ref().map(|server| &server.fleet.store);
        let inventory = self.connector.as_ref().map(|connector| &connector.store);
        let mut stores = server.into_iter().chain(inventory);
        stores.try_for_each(Store::synchronize)
    }

    /// The inventory, if there is one.
    pub(crate) fn inventory(&self) -> Option<&Inventory> {
        Some(&self.connector.as_ref()?.inventory)
    }

    /// The directories of catalogs with the names of their devices.
    pub(crate) fn catalogs(&self) -> Vec<(CatalogPath, Vec<String>)> {
        let mut catalogs: BTreeMap<&CatalogPath, Vec<String>> = BTreeMap::new();
        for device in self.devices.values() {
            if let ServedCatalog::Path(path) = &device.source {
                catalogs
                    .entry(path)
                    .or_default()
                    .push(device.name.to_string());
            }
        }
        let catalogs = catalogs.into_iter();
        catalogs
            .map(|(path, devices)| (path.clone(), devices))
            .collect()
    }

    /// The secrets of `serve.toml`. Those in Vault are on the server of the inventory.
    pub(crate) fn secrets_of_settings(&self) -> Secrets {
        match &self.connector {
            Some(connector) => Secrets::of_inventory(&connector.inventory),
            None => Secrets::new(false),
        }
    }

    /// Runs a device.
    ///
    /// # Cancellation
    /// As [`crate::fleet::device_run::run`].
    pub(crate) async fn run(
        &self,
        device: &str,
        request: RunRequest,
        observer: &Observer,
    ) -> Option<DeviceRun> {
        let device = self.devices.get(device)?;
        match &device.source {
            ServedCatalog::Path(path) => {
                let connector = self.connector.as_ref()?;
                let fleet = InventoryFleet {
                    connector: Arc::clone(connector),
                    // The files are read again for each run.
                    catalogs: catalogs(path, &connector.inventory),
                    graphs: None,
                };
                Some(fleet.run(&device.name, &request, None, observer).await)
            }
            ServedCatalog::Server(section) => {
                let server = self.server.as_ref()?;
                let request = RunRequest {
                    time_limit: server.time_limit,
                    lock_wait: server.lock_wait,
                    allow_own_path: true,
                    policy: Policy {
                        conflicts_fail_resources: true,
                        allows_purge: true,
                        ..Policy::default()
                    },
                    ..request
                };
                Some(server.fleet.run(section, &request, observer).await)
            }
        }
    }

    /// The running configuration of a device and its other answers, with masked secrets. `None`: they cannot be read.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(crate) async fn backup(&self, device: &str) -> Option<ReadBackup> {
        let device = self.devices.get(device)?;
        let mut connector = match &device.source {
            ServedCatalog::Path(_) => {
                let connector = self.connector.as_ref()?;
                let device = connector.inventory.devices.get(&device.name)?;
                connector.connector(device, Access::ReadOnly).await.ok()?
            }
            ServedCatalog::Server(section) => {
                let server = self.server.as_ref()?;
                server.fleet.connector(section).await.ok()?.0
            }
        };
        connector.set_deadline(&Deadline::default());
        match backup::surveyed_backup(connector).await {
            Ok(SurveyedBackup { backup, surveyed }) => {
                let text = backup.configuration.as_deref();
                let classes = text.zip(surveyed);
                let classes =
                    classes.map(|(text, surveyed)| self.line_classes(device, text, surveyed));
                Some(ReadBackup { backup, classes })
            }
            Err(error) => {
                let error = chain(&error);
                tracing::warn!("cannot read the running configuration: {error}");
                None
            }
        }
    }

    /// What is needed to accept the drift of a device. `None`: it has no desired state in YAML files.
    pub(super) fn drift_request(&self, device: &str) -> Option<DriftRequest> {
        let device = self.devices.get(device)?;
        let ServedCatalog::Path(CatalogPath::State(directory)) = &device.source else {
            return None;
        };
        Some(DriftRequest {
            connector: Arc::clone(self.connector.as_ref()?),
            device: device.name.clone(),
            directory: directory.clone(),
        })
    }

    /// The name of a device in PuppetDB, if this process reports to it.
    pub(super) fn puppetdb_name(&self, device: &str) -> Option<String> {
        self.settings.puppetdb.as_ref()?;
        self.certname(device)
    }

    /// The certificate name of a device.
    pub(super) fn certname(&self, device: &str) -> Option<String> {
        let device = self.devices.get(device)?;
        Some(match &device.source {
            ServedCatalog::Server(section) => section.certname.to_string(),
            ServedCatalog::Path(_) => {
                let inventory = &self.connector.as_ref()?.inventory;
                inventory.devices.get(&device.name)?.certname.to_string()
            }
        })
    }

    /// The devices for the dispatcher.
    pub(crate) fn scheduled(&self) -> Vec<ScheduledDevice> {
        let devices = self.devices.values();
        devices.map(|device| device.scheduled.clone()).collect()
    }

    /// The site of a device.
    pub(crate) fn site(&self, name: &str) -> Option<&str> {
        self.devices.get(name)?.scheduled.member.site.as_deref()
    }

    /// The sites of all devices, once for each device.
    pub(super) fn sites(&self) -> impl Iterator<Item = Option<&str>> {
        let devices = self.devices.values();
        devices.map(|device| device.scheduled.member.site.as_deref())
    }

    /// The schedule of a device.
    pub(crate) fn schedule(&self, name: &str) -> Option<&Arc<DeviceSchedule>> {
        Some(&self.devices.get(name)?.scheduled.schedule)
    }

    /// The devices for the history.
    pub(crate) fn known(&self) -> Vec<KnownDevice> {
        let devices = self.devices.values();
        devices.map(|device| device.known.clone()).collect()
    }

    /// What is known of a device.
    pub(crate) fn known_device(&self, name: &str) -> Option<&KnownDevice> {
        Some(&self.devices.get(name)?.known)
    }

    pub(crate) fn limits(&self) -> QueueLimits {
        let limits = self.connector.as_ref().map(|one| one.inventory.limits);
        let limits = limits.unwrap_or_default();
        let all = self.settings.concurrency;
        QueueLimits {
            all: limits.concurrency.map_or(all, |limit| limit.min(all)),
            per_site: limits.per_site,
            per_jump_host: limits.per_jump,
        }
    }

    /// The definitions and the mocks, if there are some.
    pub(super) fn mocks(&self) -> Option<(Arc<Registry>, Arc<MockFleet>)> {
        let connector = self.connector.as_ref()?;
        Some((Arc::clone(&connector.registry), connector.mocks.clone()?))
    }

    /// A run of this process.
    pub(super) fn request(&self, kind: RunKind) -> RunRequest {
        RunRequest {
            kind,
            stop: self.stop.clone(),
            abort: self.abort.clone(),
            ..RunRequest::default()
        }
    }
}

/// A proxy without devices. As in Puppet, `config` does not move the other files.
fn no_devices(server: &PuppetServerSettings, file: &Path) -> Diagnostic {
    let missing = if file.exists() { "" } else { ": no such file" };
    let text = format!(
        "[puppet_server] has no devices in {}{missing}",
        file.display()
    );
    let beside = server.config.as_ref();
    let beside = beside.map(|config| config.with_file_name("device.conf"));
    let help = match beside.filter(|beside| beside.exists() && beside != file) {
        Some(beside) => format!(
            "set `deviceconfig = \"{}\"` in [puppet_server]: `config` does not change it",
            beside.display()
        ),
        None => "name the file with `deviceconfig` in [puppet_server]".to_owned(),
    };
    Diagnostic::warning("no-devices", text).help(help)
}

fn catalogs(path: &CatalogPath, inventory: &Inventory) -> InventoryCatalogs {
    match path {
        CatalogPath::Catalogs(path) => {
            InventoryCatalogs::Files(CatalogFiles { path: path.clone() })
        }
        CatalogPath::State(path) => {
            InventoryCatalogs::State(Arc::new(StateDirectory::new(path, inventory)))
        }
    }
}

async fn start_mocks(
    context: &LoadContext,
    inventory: &Inventory,
    registry: &Registry,
) -> Result<Option<MockFleet>, LoadFleetError> {
    if !context.uses_mocks {
        return Ok(None);
    }
    let devices: Vec<&Device> = inventory.devices.values().collect();
    let started = MockFleet::start(&devices, registry, None).await;
    let started = started.map_err(|error| LoadFleetError::Mock(chain(&error)))?;
    Ok(Some(started))
}
