//! The devices of `device.conf`, with catalogs from a Puppet Server.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::load::{FleetLoad, LoadFleetError, SECRET_LIFETIME};
use super::{ServedCatalog, ServedDevice};
use crate::agent::puppet_conf::{self, PuppetDirectories};
use crate::agent::run::Proxy;
use crate::catalog::Level;
use crate::device_conf::{self, CredentialsReaders, DeviceSection};
use crate::diagnostic::Diagnostic;
use crate::fleet::device_run::{DeviceRun, Observer};
use crate::fleet::known_device::known_section;
use crate::fleet::limits::Membership;
use crate::fleet::run_request::{LockWait, RunRequest};
use crate::fleet::server_run::ServerFleet;
use crate::inventory::Secrets;
use crate::serve::settings::{PuppetServerSettings, RuleSubject};
use crate::validate::Policy;

/// Catalogs that are requested from a Puppet Server at once.
const CATALOG_REQUESTS: usize = 4;

/// The runs against a Puppet Server.
pub(super) struct ServerDevices {
    pub(super) fleet: ServerFleet,
    time_limit: Option<Duration>,
    lock_wait: LockWait,
}

impl ServerDevices {
    /// Runs a device.
    ///
    /// # Cancellation
    /// As [`crate::fleet::device_run::run`].
    pub(super) async fn run(
        &self,
        section: &Arc<DeviceSection>,
        request: RunRequest,
        observer: &Observer,
    ) -> DeviceRun {
        let request = RunRequest {
            time_limit: self.time_limit,
            lock_wait: self.lock_wait,
            allow_own_path: true,
            policy: Policy {
                conflicts_fail_resources: true,
                allows_purge: true,
                ..Policy::default()
            },
            ..request
        };
        self.fleet.run(section, &request, observer).await
    }
}

impl FleetLoad<'_> {
    pub(super) fn add_server(
        &mut self,
        server: &PuppetServerSettings,
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
        self.files.add(&puppet_conf::path(&flags, &home)?);
        let puppet = puppet_conf::read(&flags, &home)?;
        self.files.add_with_entries(&puppet.deviceconfig);
        let interval = puppet.runinterval;
        let splay = puppet.splay;
        let sections = device_conf::load_all(&puppet.deviceconfig)?;
        if sections.is_empty() {
            let warning = no_devices(server, &puppet.deviceconfig);
            self.fleet.warnings.push(warning);
        }
        for section in sections {
            let merged = self.settings_of(RuleSubject::Name(section.name.as_str()));
            let mut schedule = merged.schedule();
            if !merged.has_interval() && !interval.is_zero() {
                schedule.interval = interval;
                schedule.splay = splay.unwrap_or(interval);
            }
            let known = known_section(&section);
            self.add(ServedDevice {
                name: section.name.clone(),
                scheduled: self.scheduled(&known, schedule, Membership::default()),
                known,
                source: ServedCatalog::Server(Arc::new(section)),
            });
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
        self.fleet.server = Some(ServerDevices {
            fleet: ServerFleet {
                store: self.context.store.with_root(&puppet.vardir),
                proxy: Arc::new(Proxy::new(puppet, CATALOG_REQUESTS)),
                secrets: Secrets::new(false).with_lifetime(SECRET_LIFETIME),
                readers: CredentialsReaders::default(),
                active: Semaphore::new(self.fleet.settings.concurrency.max(1)),
                log_level: Level::Notice,
                catalog: None,
            },
            time_limit,
            lock_wait,
        });
        Ok(())
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
