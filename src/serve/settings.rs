//! `serve.toml`: the settings of the process.
//!
//! ```toml
//! listen = "127.0.0.1:8440"
//! store = "history.db"            # relative to this file, as all paths
//! keep = "90d"
//! keep_unchanged = "24h"          # older unchanged runs are counted by day
//!
//! [defaults]                      # schedule and catalogs of all devices
//! interval = "30m"
//! windows = ["Mon-Fri 22:00-04:00"]
//! state = "state"
//!
//! [backup]                        # what is read of devices, also in files and in Git
//! directory = "configs"
//! commit = true
//!
//! [secrets]
//! commands = true                 # secrets of the state may come from commands
//!
//! [device."core-*"]               # other values for some devices; later tables win
//! interval = "10m"
//!
//! [label."role=lab"]
//! mode = "plan"
//!
//! [oidc]                          # logins at a provider, with the roles of its users
//! issuer = "https://login.example.net/realms/network"
//! client_id = "switchtender"
//!
//! [oidc.role.network-admins]
//! role = "admin"
//!
//! [fleet]                         # this process as a node of several, with a store in PostgreSQL
//! node = "ber-1"
//! sites = ["berlin"]
//!
//! [approval]                      # runs of these devices need the approval of a person
//! devices = "role = core"
//! expires = "24h"
//! ```

mod approval_settings;
mod backup_settings;
mod device_settings;
mod fleet_settings;
pub(crate) mod hidden_values;
mod parts;
mod puppet_settings;
mod values;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::document::{self, Findings, Table};
use switchtender_devices::regular_file;

use approval_settings::{ApprovalSettings, DEFAULT_APPROVAL};
pub(crate) use backup_settings::{BackupSettings, ConfigurationReads};
pub(crate) use device_settings::{CatalogPath, DeviceRule, DeviceSettingsTable, RuleSubject};
pub(crate) use fleet_settings::{FleetSettings, LONGEST_LEASE};
use hidden_values::{hide, possible_secrets};
pub(crate) use parts::{RELEASE_SETTINGS, SettingsKeys};
pub(crate) use puppet_settings::{PuppetDbSettings, PuppetServerSettings};
use values::{days_or_duration, duration, parsed, positive, size};

use super::access::OidcSettings;
use super::web::WebSettings;
use crate::error_chain::chain;
use crate::history::device_state::KnownDevice;
use crate::history::{HistoryOptions, Retention, StoreLocation};
use crate::inventory::{StateCommands, redact};

/// The settings file of the current directory.
pub(crate) const DEFAULT_SETTINGS: &str = "serve.toml";

const DEFAULT_PORT: u16 = 8440;
const DEFAULT_KEEP: Duration = Duration::from_secs(90 * 24 * 60 * 60);
const DEFAULT_KEEP_UNCHANGED: Duration = Duration::from_secs(24 * 60 * 60);
const DEFAULT_CONCURRENCY: usize = 100;
const DEFAULT_REQUEST_LIMIT: Duration = Duration::from_secs(60 * 60);

/// The settings of the process.
#[derive(Clone, Debug)]
pub(crate) struct ServeSettings {
    pub(crate) source: Arc<Source>,
    pub(crate) keys: SettingsKeys,
    pub(crate) listen: SocketAddr,
    pub(crate) inventory: PathBuf,
    pub(crate) definitions: Option<PathBuf>,
    /// `None`: the default one.
    pub(crate) state_dir: Option<PathBuf>,
    /// `None`: `history.db` in the state directory.
    pub(crate) store: Option<StoreLocation>,
    pub(crate) max_size: Option<u64>,
    pub(crate) keep: Duration,
    /// The age at which unchanged runs are folded into one row for each device and day.
    pub(crate) keep_unchanged: Duration,
    /// Runs at once.
    pub(crate) concurrency: usize,
    /// The time after which a request that has not started expires.
    pub(crate) request_limit: Duration,
    /// When the running configuration is read and stored.
    pub(crate) configurations: ConfigurationReads,
    pub(crate) backup: Option<BackupSettings>,
    pub(crate) defaults: DeviceSettingsTable,
    /// In the order of the file.
    pub(crate) rules: Vec<DeviceRule>,
    pub(crate) puppet_server: Option<PuppetServerSettings>,
    pub(crate) puppetdb: Option<PuppetDbSettings>,
    pub(crate) web: WebSettings,
    pub(crate) state_commands: StateCommands,
    pub(crate) fleet: FleetSettings,
    /// `None`: no run needs an approval.
    pub(crate) approval: Option<ApprovalSettings>,
}

impl ServeSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// All errors of the file.
    pub(crate) fn load(path: &Path) -> Result<Self, Vec<Diagnostic>> {
        let text = regular_file::read_text(path, regular_file::LARGEST).map_err(|error| {
            let text = format!("cannot read {}: {error}", path.display());
            vec![Diagnostic::error("unreadable", text)]
        })?;
        let source = Source::new(path.display().to_string(), text);
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(&source, directory)
    }

    /// As [`ServeSettings::load`]; relative paths begin at `directory`.
    pub(crate) fn parse(source: &Arc<Source>, directory: &Path) -> Result<Self, Vec<Diagnostic>> {
        let findings = Findings::new(source);
        let mut settings = document::read(&findings, |root| read(source, directory, root));
        let (has_errors, mut hidden) = (findings.has_errors(), findings.hidden());
        let mut list = findings.into_list();
        if list.iter().any(|found| found.code == "toml-syntax") {
            hidden.extend(possible_secrets(&source.text));
        }
        if has_errors {
            redact(&mut list, source, &hidden);
            return Err(list);
        }
        settings.source = source.redacted(&hidden);
        Ok(settings)
    }

    /// The place of the history.
    pub(crate) fn history(&self, state_dir: &Path) -> HistoryOptions {
        let location = self.store.clone();
        HistoryOptions {
            location: location.unwrap_or_else(|| StoreLocation::File(state_dir.join("history.db"))),
            max_size: self.max_size,
        }
    }

    /// The keys with other values than those of the start, which apply after a restart.
    pub(crate) fn changed_at_restart(&self, start: &Self) -> Vec<&'static str> {
        let (web, started) = (&self.web, &start.web);
        let keys = [
            ("listen", self.listen != start.listen),
            ("state_dir", self.state_dir != start.state_dir),
            ("store", self.store != start.store),
            ("fleet", self.fleet != start.fleet),
            ("web.server_names", web.server_names != started.server_names),
            ("web.url", web.url != started.url),
            ("web.certificate", web.tls != started.tls),
            ("web.plain_http", web.plain_http != started.plain_http),
            ("oidc", web.oidc != started.oidc),
            ("web.anonymous", web.anonymous != started.anonymous),
            (
                "web.requests_per_minute",
                web.requests_per_minute != started.requests_per_minute,
            ),
        ];
        let changed = keys.into_iter().filter(|(_, is_changed)| *is_changed);
        changed.map(|(key, _)| key).collect()
    }

    /// Findings that do not prevent the work.
    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        let url = self.puppetdb.as_ref().map(|settings| settings.url.as_str());
        let is_plain = url.is_some_and(|url| url.starts_with("http:"));
        let text = "`[puppetdb] url` has no encryption: facts and reports are readable on the way";
        let plain = is_plain.then(|| Diagnostic::warning("plain-http", text.to_owned()));
        plain.into_iter().collect()
    }

    /// Whether runs change a device only as a person approved.
    pub(crate) fn needs_approval(&self, device: &KnownDevice) -> bool {
        let approval = self.approval.as_ref();
        approval.is_some_and(|approval| approval.includes(device))
    }

    /// The time after which a plan that needs an approval expires.
    pub(crate) fn approval_time(&self) -> Duration {
        let approval = self.approval.as_ref();
        approval.map_or(DEFAULT_APPROVAL, |approval| approval.expires)
    }

    pub(crate) fn retention(&self) -> Retention {
        Retention {
            age: self.keep,
            // The rest is for what is written until the next retention.
            size: self.max_size.map(|size| size / 100 * 80),
        }
    }
}

fn read(source: &Arc<Source>, directory: &Path, root: &Table<'_>) -> ServeSettings {
    let listen = root
        .get("listen")
        .and_then(|item| parsed(&item, "an address with a port"));
    let age = |key| root.get(key).and_then(|item| days_or_duration(&item));
    let max_size = root.get("max_size").and_then(|item| size(&item));
    let concurrency = root.get("concurrency").and_then(|item| positive(&item));
    let request_limit = root.get("request_limit").and_then(|item| duration(&item));
    let reads = root.get("configurations");
    let reads = reads.and_then(|item| parsed(&item, "`changes`, `always` or `never`"));
    let reads: ConfigurationReads = reads.unwrap_or_default();
    let backup = root.table("backup");
    let backup = backup.map(|table| BackupSettings::read(&table, directory, reads));
    let defaults = root.table("defaults");
    let defaults = defaults.map(|table| DeviceSettingsTable::read(&table, directory));
    let server = root.table("puppet_server");
    let server = server.map(|table| PuppetServerSettings::read(&table, directory));
    let puppetdb = root.table("puppetdb");
    let puppetdb = puppetdb.map(|table| PuppetDbSettings::read(&table, directory));
    let web = root.table("web");
    let mut web = web
        .map(|table| WebSettings::read(&table, directory))
        .unwrap_or_default();
    web.oidc = root
        .table("oidc")
        .and_then(|table| OidcSettings::read(&table, directory));
    let approval = root.table("approval");
    let settings = ServeSettings {
        source: Arc::clone(source),
        keys: SettingsKeys::of(root),
        listen: listen
            .unwrap_or_else(|| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT)),
        inventory: (root.file_path("inventory", directory))
            .unwrap_or_else(|| directory.join("inventory.toml")),
        definitions: root.file_path("definitions", directory),
        state_dir: root.file_path("state_dir", directory),
        store: store(root, directory, max_size),
        max_size,
        keep: age("keep").unwrap_or(DEFAULT_KEEP),
        keep_unchanged: age("keep_unchanged").unwrap_or(DEFAULT_KEEP_UNCHANGED),
        concurrency: concurrency.unwrap_or(DEFAULT_CONCURRENCY),
        request_limit: request_limit.unwrap_or(DEFAULT_REQUEST_LIMIT),
        configurations: reads,
        backup,
        defaults: defaults.unwrap_or_default(),
        rules: device_settings::rules(root, directory),
        puppet_server: server,
        puppetdb,
        web,
        state_commands: StateCommands::read(root),
        fleet: FleetSettings::read(root, directory),
        approval: approval.map(|table| ApprovalSettings::read(&table)),
    };
    root.finish();
    settings
}

/// The place of the history. A relative path begins at `directory`.
fn store(root: &Table<'_>, directory: &Path, max_size: Option<u64>) -> Option<StoreLocation> {
    let item = root.get("store")?;
    let text = item.string()?;
    match StoreLocation::parse(text.as_ref(), directory) {
        Ok(StoreLocation::Server(_)) if max_size.is_some() => {
            let message =
                "`max_size` is for a file of SQLite: the tables of a server do not shrink";
            let help = "remove it; limit the history with `keep`";
            let span = item.span.clone();
            (root.findings).error_with_help("store-size", span, message, help);
            None
        }
        Ok(location) => Some(location),
        Err(error) => {
            hide(root, "store");
            item.error(
                "store-address",
                format!("cannot use the store: {}", chain(&error)),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::terminal::{RenderOptions, render_all};

    #[test]
    fn errors_have_no_secrets_of_the_file() {
        let hook = "https://chat.test/s3cret-path";
        for text in [
            format!("[web.webhook.a]\nurl = \"{hook}\nsecret_file = \"a\"\n"),
            format!("[web.webhook.a]\nurl = [\"{hook}\"]\nsecret_file = \"a\"\n"),
            format!("[web.webhook.a]\nurl = \"{hook}\", secret_file = \"a\"\n"),
            format!("[web.webhook.a]\nsecret = \"{hook}\"\nurl = \"{hook}\"\n"),
            "[puppetdb]\nurl = { a = \"https://u:s3cret@db\" }\n".to_owned(),
        ] {
            let source = Source::new("serve.toml", text);
            let found = ServeSettings::parse(&source, Path::new("")).unwrap_err();
            let printed = render_all(&found, RenderOptions::PLAIN);
            assert!(
                printed.as_str().contains("serve.toml:"),
                "{}",
                printed.as_str()
            );
            assert!(!printed.as_str().contains("s3cret"), "{}", printed.as_str());
        }
    }

    #[test]
    fn settings_of_the_start_are_named() {
        let parse = |text: &str| {
            let source = Source::new("serve.toml", text);
            ServeSettings::parse(&source, Path::new("")).unwrap()
        };
        let start = parse("max_size = \"1GiB\"\n");
        let other = parse(
            "listen = \"127.0.0.1:1\"\nstore = \"a.db\"\nmax_size = \"2GiB\"\n\
             [web]\nserver_names = [\"a\"]\n",
        );
        let keys = other.changed_at_restart(&start);
        assert_eq!(keys, ["listen", "store", "web.server_names"]);
        assert!(start.changed_at_restart(&start).is_empty());
    }
}
