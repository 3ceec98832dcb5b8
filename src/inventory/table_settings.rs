//! The settings of one table of the inventory, and the merge of tables.
//!
//! The list in `settings!` below has all keys, each with its type and parser. A device's settings are its own table over its platform's over the defaults,
//! key by key; `labels`, `options` and `parameters` are merged entry by entry.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value as Json;
use switchtender_devices::diagnostic::nearest;
use switchtender_devices::dialogue::HostnamePattern;
use switchtender_devices::document::{self, Findings, Item};
use switchtender_devices::duration;
use switchtender_devices::names::{Certname, PlatformName};
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::secret_url::SecretUrl;
use switchtender_devices::session::LineTransport;
use switchtender_devices::session::connect_params::{Algorithms, RestLogin};
use switchtender_devices::value::Value;
use toml::de::DeValue;

use super::address;
use super::failure_policy::FailurePolicy;
use super::file_context::FileContext;
use super::placeholders;
use super::range;
use super::render_setting::Render as _;
use super::save_policy::SavePolicy;
use super::schema::SettingSchema;
use super::secret_source::SecretSource;
use super::setting::{InventoryTable, SettingOrigin, TableSetting};
use super::standby_policy::StandbyPolicy;
use super::verification::{Fingerprint, HostKey, Tls};

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $name:ident $(| $synonym:literal)*: $kind:ty = $read:expr;)+) => {
        /// The settings of one table, or of a device after merging.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct TableSettings {
            $($(#[doc = $doc])* pub $name: Option<TableSetting<$kind>>,)+
            /// Free labels for selection.
            pub(crate) labels: BTreeMap<String, TableSetting<String>>,
            /// Options of the platform's driver, by dotted name: `network_trunk.manage_vlan_lists`.
            pub(crate) options: BTreeMap<String, TableSetting<Value>>,
            /// Parameters of the platform: `vsys`.
            pub(crate) parameters: BTreeMap<String, TableSetting<String>>,
        }

        impl TableSettings {
            /// All keys except the tables of labels, options and parameters.
            pub(super) const KEYS: &[&str] = &[$(stringify!($name)),+];

            /// Words that people try, each with the key.
            pub(super) const SYNONYMS: &[(&str, &str)] =
                &[$($(($synonym, stringify!($name)),)*)+ ("tags", "labels"), ("group", "labels"), ("groups", "labels")];

            /// Name, description and JSON Schema of each key except the tables of labels, options and parameters.
            pub(super) fn schemas() -> Vec<(&'static str, &'static str, Json)> {
                vec![$((
                    stringify!($name),
                    concat!("", $($doc),*).trim(),
                    <$kind as SettingSchema>::schema(),
                )),+]
            }

            /// Reads the keys of a table. The caller can read further keys and must finish the table.
            pub(crate) fn read(table: &document::Table<'_>, of: &InventoryTable, file: &FileContext<'_>) -> Self {
                let setting = |item: &Item<'_>| origin(item, of);
                Self {
                    $($name: table.get(stringify!($name)).and_then(|item| {
                        let read: fn(&Item<'_>, &FileContext<'_>, &InventoryTable) -> Option<$kind> = $read;
                        let value = read(&item, file, of)?;
                        Some(TableSetting { value, origin: setting(&item) })
                    }),)+
                    labels: texts(table, of, "labels"),
                    options: options(table, of),
                    parameters: texts(table, of, "parameters"),
                }
            }

            /// These settings, with those of `below` for keys that are not set.
            #[must_use]
            pub(crate) fn over(mut self, below: &TableSettings) -> Self {
                $(if self.$name.is_none() {
                    self.$name.clone_from(&below.$name);
                })+
                for (name, label) in &below.labels {
                    self.labels.entry(name.clone()).or_insert_with(|| label.clone());
                }
                for (name, option) in &below.options {
                    self.options.entry(name.clone()).or_insert_with(|| option.clone());
                }
                for (name, parameter) in &below.parameters {
                    self.parameters.entry(name.clone()).or_insert_with(|| parameter.clone());
                }
                self
            }

            /// Key, value as text and origin of every setting. A secret is rendered as its source.
            pub(crate) fn rows(&self) -> Vec<(String, String, SettingOrigin)> {
                let mut list = Vec::new();
                $(if let Some(setting) = &self.$name {
                    list.push((
                        stringify!($name).to_owned(),
                        setting.value.render(),
                        setting.origin.clone(),
                    ));
                })+
                for (name, label) in &self.labels {
                    let value = label.value.clone();
                    list.push((format!("labels.{name}"), value, label.origin.clone()));
                }
                for (name, option) in &self.options {
                    let value = option.value.inspect();
                    list.push((format!("options.{name}"), value, option.origin.clone()));
                }
                for (name, parameter) in &self.parameters {
                    let value = parameter.value.clone();
                    list.push((format!("parameters.{name}"), value, parameter.origin.clone()));
                }
                list
            }
        }
    };
}

settings! {
    /// Name of the platform, `cisco_ios`.
    platform | "type" | "os" | "device_type" | "network_os" | "driver" | "ansible_network_os":
        PlatformName = |item, _, _| item.string().map(PlatformName::from);
    /// Name in the catalog; the default is the name of the device.
    certname: Certname = |item, _, _| certname(item);
    /// Host name or IP address.
    address | "host" | "hostname" | "ip" | "ip_address" | "ansible_host": String = |item, _, _| address(item);
    /// TCP port; the default is the port of the platform.
    port | "ssh_port" | "ansible_port": u16 = |item, _, _| port(item);
    /// User name of the login.
    user | "username" | "ssh_user" | "login_user" | "ansible_user": String = |item, _, _| item.string();
    /// Password of the login.
    password | "pass" | "passwd" | "ansible_password" | "ansible_ssh_pass":
        SecretSource = |item, file, _| SecretSource::read(item, file);
    /// Password for `enable`, sent when the device prompts for it.
    enable_password | "enable" | "secret" | "enable_secret" | "become_password" | "ansible_become_password":
        SecretSource = |item, file, _| SecretSource::read(item, file);
    /// Pattern of the host name in prompts, with what stands around it; the default is that of the platform.
    prompt | "prompt_pattern" | "hostname_pattern": HostnamePattern = |item, _, _| prompt(item);
    /// How the lines of a command line travel: `ssh`, the default, or `http`, if the platform has `[http]`.
    transport: LineTransport = |item, _, _| word(item, LINE_TRANSPORTS);
    /// File with an SSH key.
    private_key | "key" | "key_file" | "ssh_key" | "identity_file" | "ansible_ssh_private_key_file":
        PathBuf = |item, file, _| item.string().map(|text| file.path(&text));
    /// Pass phrase of `private_key`.
    passphrase: SecretSource = |item, file, _| SecretSource::read(item, file);
    /// Use the SSH agent; the default is `false`.
    agent | "ssh_agent": bool = |item, _, _| item.bool();
    /// Files with host keys; the default is those of OpenSSH.
    known_hosts: Vec<PathBuf> = |item, file, _| paths(item, file);
    /// Verification of SSH host keys; the default is `known_hosts`.
    host_key | "host_key_checking" | "strict_host_key_checking": HostKey = |item, _, _| word(item, &HostKey::WORDS);
    /// Fingerprint of the only accepted host key (SSH) or certificate (HTTPS).
    fingerprint: Fingerprint = |item, _, _| Fingerprint::read(item);
    /// Set of SSH algorithms; the default is `modern`.
    algorithms: Algorithms = |item, _, _| word(item, ALGORITHMS);
    /// File with CA certificates (PEM); the default is those of the system.
    ca_file | "ca" | "cafile" | "ca_cert": PathBuf = |item, file, _| item.string().map(|text| file.path(&text));
    /// Verification of HTTPS certificates; the default is `verify`. `disabled`: plain HTTP.
    tls | "ssl" | "https" | "validate_certs" | "verify_ssl": Tls = |item, _, _| word(item, &Tls::WORDS);
    /// Token of a REST interface, instead of a login.
    token | "api_token" | "api_key": SecretSource = |item, file, _| SecretSource::read(item, file);
    /// Login method of a REST interface; the default is `auto`.
    login: RestLogin = |item, _, _| word(item, LOGINS);
    /// Authentication provider of a REST login.
    login_provider: String = |item, _, _| item.string();
    /// Unix socket of a REST interface, instead of address and port. Requests are plain HTTP.
    socket | "unix_socket": PathBuf = |item, file, _| item.string().map(|text| file.path(&text));
    /// URL of an HTTP proxy.
    proxy | "http_proxy": SecretUrl = |item, file, _| item.string().map(|_| file.literal(item).into());
    /// Jump host: a device of the inventory, or a table with `address` and `user`; `false`: none.
    jump | "jump_host" | "jumphost" | "bastion" | "proxy_jump" | "gateway": Jump = Jump::read;
    /// Site of the device, for limits and rules about several catalogs.
    site | "location": String = |item, _, _| item.string();
    /// Limit for connection and login together; the default is `30s`.
    connect_timeout: Duration = |item, _, _| timeout(item);
    /// Limit for the time without output of a command or request; the default is `2m`.
    command_timeout | "timeout": Duration = |item, _, _| timeout(item);
    /// Absolute limit of connection and login, with all jump hosts; the default is that of the platform.
    login_limit: Duration = |item, _, _| timeout(item);
    /// Absolute limit of one command or request; the default is that of the platform.
    command_limit: Duration = |item, _, _| timeout(item);
    /// Absolute limit of the run of a device; the default is that of the platform.
    run_limit: Duration = |item, _, _| timeout(item);
    /// When a run saves the configuration; the default is `on_change` for platforms with `[saved]`, and `never` for others.
    save_config | "save": SavePolicy = |item, _, _| SavePolicy::read(item);
    /// Whether the device reverts the changes of a run unless a second login confirms them; the default is `off`. `--protect` overrides it.
    protect: ProtectPolicy = |item, _, _| word(item, &ProtectPolicy::WORDS);
    /// Whether a scheduled reload protects a run if the device has no timed revert; the default is `false`.
    protect_by_reload: bool = |item, _, _| item.bool();
    /// Whether the changes of a run are undone after a failed resource; the default is `keep`. `--on-failure` overrides it.
    on_failure: FailurePolicy = |item, _, _| word(item, &FailurePolicy::WORDS);
    /// What a run does that would change the standby unit of a pair; the default is `refuse`. Plans run.
    standby: StandbyPolicy = |item, _, _| word(item, &StandbyPolicy::WORDS);
    /// Whether all other sessions of the login end before the first write after a crash or a takeover, not only the recorded ones; the default is `false`.
    end_sessions: bool = |item, _, _| item.bool();
    /// Maximum number of resources that a run changes; `--max-changes` overrides it.
    max_changes: usize = |item, _, _| count(item);
    /// Maximum number of resources that a run removes; `--max-removals` overrides it.
    max_removals: usize = |item, _, _| count(item);
    /// Maximum share of its interfaces that a catalog shuts down, in percent; `--max-shutdown` overrides it.
    max_shutdown: u8 = |item, _, _| percent(item);
    /// Devices that `apply` runs before this one. If one of them does not succeed, this one is not started.
    after | "depends_on" | "requires" | "wait_for": Vec<String> = |item, _, _| item.strings();
}

impl TableSettings {
    /// The settings whose values are secrets, with their keys.
    pub(crate) fn secrets(&self) -> [(&'static str, &Option<TableSetting<SecretSource>>); 4] {
        [
            ("password", &self.password),
            ("enable_password", &self.enable_password),
            ("passphrase", &self.passphrase),
            ("token", &self.token),
        ]
    }

    /// The sources of secrets of these settings, and of those of the jump hosts.
    pub(super) fn all_secrets(&self) -> Vec<&TableSetting<SecretSource>> {
        let mut found = Vec::new();
        let mut next = Some(self);
        while let Some(settings) = next {
            let secrets = settings.secrets().into_iter();
            found.extend(secrets.filter_map(|(_, secret)| secret.as_ref()));
            next = match settings.jump.as_ref().map(|jump| &jump.value) {
                Some(Jump::Host(host)) => Some(host),
                _ => None,
            };
        }
        found
    }

    /// The addresses of the devices of a range; `None` if their number is wrong, which is reported, or if
    /// the address has no range.
    pub(super) fn addresses(&self, devices: usize, findings: &Findings) -> Option<Vec<String>> {
        let address = self.address.as_ref()?;
        let expanded = range::expand(&address.value)?;
        let message = match expanded {
            Ok(addresses) if addresses.len() == devices => return Some(addresses),
            Ok(addresses) => format!("{} addresses for {devices} devices", addresses.len()),
            Err(error) => error.to_string(),
        };
        let help = "write as many numbers as in the name, or use the name: \"{name}.example.com\"";
        findings.push(address.origin.error("range", message).help(help));
        None
    }

    /// Name or address of the jump host.
    pub(crate) fn jump_host(&self) -> Option<&str> {
        match &self.jump.as_ref()?.value {
            Jump::No => None,
            Jump::Device(name) => Some(name),
            Jump::Host(host) => host.address.as_ref().map(|address| address.value.as_str()),
        }
    }
}

/// The jump host of a device.
#[derive(Clone, Debug)]
pub(crate) enum Jump {
    /// No jump host (`jump = false`), even if an inherited table has one.
    No,
    /// A device of the inventory.
    Device(String),
    /// A host with its own settings.
    Host(Box<TableSettings>),
}

impl Jump {
    fn read(item: &Item<'_>, file: &FileContext<'_>, of: &InventoryTable) -> Option<Self> {
        if item.as_bool() == Some(false) {
            return Some(Jump::No);
        }
        if !item.is_table() {
            return item.string().map(Jump::Device);
        }
        let table = item.table()?;
        let layer = TableSettings::read(&table, of, file);
        for key in ["address", "user"] {
            if table.get(key).is_none() {
                table.missing(key);
            }
        }
        table.finish_with(TableSettings::SYNONYMS);
        Some(Jump::Host(Box::new(layer)))
    }
}

pub(super) const ALGORITHMS: &[(&str, Algorithms)] = &[
    ("modern", Algorithms::Modern),
    ("compatible", Algorithms::Compatible),
    ("legacy", Algorithms::Legacy),
];

pub(super) const LINE_TRANSPORTS: &[(&str, LineTransport)] =
    &[("ssh", LineTransport::Ssh), ("http", LineTransport::Http)];

pub(super) const LOGINS: &[(&str, RestLogin)] = &[
    ("auto", RestLogin::Auto),
    ("token", RestLogin::Token),
    ("basic", RestLogin::Basic),
];

fn paths(item: &Item<'_>, file: &FileContext<'_>) -> Option<Vec<PathBuf>> {
    let texts = item.strings()?;
    Some(texts.iter().map(|text| file.path(text)).collect())
}

fn origin(item: &Item<'_>, of: &InventoryTable) -> SettingOrigin {
    SettingOrigin {
        table: of.clone(),
        source: std::sync::Arc::clone(&item.findings.source),
        span: item.span.clone(),
    }
}

fn address(item: &Item<'_>) -> Option<String> {
    let text = item.string()?;
    // Errors of ranges are reported with the name.
    let addresses = match range::expand(&text) {
        Some(expanded) => expanded.unwrap_or_default(),
        None => vec![placeholders::with_words(&text)],
    };
    if let Some(help) = addresses.iter().find_map(|address| address::check(address)) {
        item.findings.error_with_help(
            "address",
            item.span.clone(),
            format!("`{text}` is neither a hostname nor an IP address"),
            help,
        );
    }
    // An invalid address does not count as missing.
    Some(text)
}

fn prompt(item: &Item<'_>) -> Option<HostnamePattern> {
    let text = item.string()?;
    let pattern = HostnamePattern::parse(&text);
    if let Err(reason) = &pattern {
        item.findings.error_with_help(
            "prompt",
            item.span.clone(),
            format!("`{text}` is not a pattern of a host name: {reason}"),
            "write a pattern of the name in single quotation marks: 'core\\(lab\\)'",
        );
    }
    pattern.ok()
}

fn port(item: &Item<'_>) -> Option<u16> {
    let number = item.integer()?;
    let port = u16::try_from(number).ok().filter(|port| *port > 0);
    if port.is_none() {
        item.error("port", format!("{number} is not a port (1 to 65535)"));
    }
    port
}

fn count(item: &Item<'_>) -> Option<usize> {
    let number = item.integer()?;
    let count = usize::try_from(number).ok();
    if count.is_none() {
        item.error("limit", format!("{number} is not a limit (0 or more)"));
    }
    count
}

fn percent(item: &Item<'_>) -> Option<u8> {
    let number = item.integer()?;
    let percent = u8::try_from(number).ok().filter(|percent| *percent <= 100);
    if percent.is_none() {
        item.error("limit", format!("{number} is not a percentage (0 to 100)"));
    }
    percent
}

pub(super) fn timeout(item: &Item<'_>) -> Option<Duration> {
    if let DeValue::Integer(_) = item.value() {
        let number = item.integer()?;
        item.findings.error_with_help(
            "duration",
            item.span.clone(),
            format!("`{}` has no unit", item.path),
            format!("write \"{number}s\""),
        );
        return None;
    }
    let text = item.string()?;
    let found = duration::parse(&text).filter(|limit| !limit.is_zero());
    if found.is_none() {
        item.findings.error_with_help(
            "duration",
            item.span.clone(),
            format!("`{text}` is not a duration"),
            "write a number with its unit: \"30s\", \"500ms\", \"2m\"",
        );
    }
    found
}

pub(super) fn word<T: Copy>(item: &Item<'_>, words: &[(&str, T)]) -> Option<T> {
    let text = item.string()?;
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let names = words.iter().map(|(word, _)| *word);
        let help = match nearest(&text, names.clone()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "use one of {}",
                names
                    .map(|word| format!("\"{word}\""))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        item.findings.error_with_help(
            "unknown-word",
            item.span.clone(),
            format!("`{}` cannot be \"{text}\"", item.path),
            help,
        );
    }
    found.map(|(_, value)| *value)
}

fn certname(item: &Item<'_>) -> Option<Certname> {
    let text = item.string()?;
    match Certname::parse(&text) {
        Ok(certname) => Some(certname),
        Err(error) => {
            item.findings.error_with_help(
                "certname",
                item.span.clone(),
                error.to_string(),
                error.hint,
            );
            None
        }
    }
}

fn texts(
    table: &document::Table<'_>,
    of: &InventoryTable,
    key: &str,
) -> BTreeMap<String, TableSetting<String>> {
    let Some(texts) = table.table(key) else {
        return BTreeMap::new();
    };
    texts
        .entries()
        .into_iter()
        .filter_map(|(name, _, item)| {
            let value = item.string()?;
            let origin = origin(&item, of);
            Some((name, TableSetting { value, origin }))
        })
        .collect()
}

fn options(
    table: &document::Table<'_>,
    of: &InventoryTable,
) -> BTreeMap<String, TableSetting<Value>> {
    let mut found = BTreeMap::new();
    if let Some(options) = table.table("options") {
        flatten(&options, "", of, &mut found);
    }
    found
}

fn flatten(
    table: &document::Table<'_>,
    prefix: &str,
    of: &InventoryTable,
    found: &mut BTreeMap<String, TableSetting<Value>>,
) {
    for (name, _, item) in table.entries() {
        let name = format!("{prefix}{name}");
        if item.is_table() {
            if let Some(inner) = item.table() {
                flatten(&inner, &format!("{name}."), of, found);
            }
        } else if let Some(value) = value(&item) {
            let origin = origin(&item, of);
            found.insert(name, TableSetting { value, origin });
        }
    }
}

fn value(item: &Item<'_>) -> Option<Value> {
    match item.value() {
        DeValue::Boolean(truth) => Some(Value::Bool(*truth)),
        DeValue::Integer(_) => item.integer().map(Value::Integer),
        DeValue::Array(_) => {
            let items = item.list()?;
            Some(Value::List(items.iter().filter_map(value).collect()))
        }
        _ => item.string().map(Value::String),
    }
}
