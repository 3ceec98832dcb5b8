//! The settings of a device run: flags before `puppet.conf` before defaults, checked once.

mod assemble;
mod directories;
mod parse;
pub mod table;
mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::regular_file;

pub use directories::PuppetDirectories;
use parse::PuppetConf;
use table::SETTINGS;
use values::SettingValues;

/// Settings as values. Names are those of Puppet; [`table`] has their meanings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Directory of `puppet.conf`, `device.conf` and the certificates of the devices.
    pub confdir: PathBuf,
    /// Directory of caches and state.
    pub vardir: PathBuf,
    /// Directory of the certificates of the proxy host, including its CA bundle.
    pub ssldir: PathBuf,
    /// Device list: a file, or a directory of `*.conf` files.
    pub deviceconfig: PathBuf,
    /// Directory of the certificates of the devices, one subdirectory per certname.
    pub deviceconfdir: PathBuf,
    /// Directory of the caches and state of the devices, one subdirectory per certname.
    pub devicedir: PathBuf,
    /// Puppet Server from `server` and `serverport`, used if `server_list` is empty.
    pub server: Server,
    /// In the order in which they are tried; empty: `server` alone, without asking for its status.
    pub server_list: Vec<Server>,
    /// Set only where the configuration names one: it then goes before the chosen server.
    pub ca_server: Option<Server>,
    /// Server that receives the reports; `None`: the server of the run.
    pub report_server: Option<Server>,
    /// Timeouts, headers and proxy of requests to the server.
    pub http: HttpSettings,
    /// Settings for keys, certificates, the CA bundle and the CRLs.
    pub certificates: CertificateSettings,
    /// Environment to request from the server.
    pub environment: EnvironmentSettings,
    /// Report changes without making them.
    pub noop: bool,
    /// Apply only resources with one of these tags; empty: all resources.
    pub tags: Vec<String>,
    /// Skip resources with one of these tags.
    pub skip_tags: Vec<String>,
    /// Send a report after each run.
    pub report: bool,
    /// Use the cached catalog if the server provides none.
    pub usecacheonfailure: bool,
    /// Use the cached catalog without a request to the server.
    pub use_cached_catalog: bool,
    /// Download drivers from the modules of the device's environment.
    pub pluginsync: bool,
    /// Command to run before each device; if it fails, the device is not run.
    pub prerun_command: Option<String>,
    /// Command to run after each device; if it fails, the run fails.
    pub postrun_command: Option<String>,
    /// Send the facts again after the run.
    pub resubmit_facts: bool,
    /// `None`: no limit.
    pub runtimeout: Option<Duration>,
    /// Interval between checks of a device that another run holds; zero: do not wait.
    pub waitforlock: Duration,
    /// Maximum time to wait for another run of the device; `None`: no limit.
    pub maxwaitforlock: Option<Duration>,
    /// Lifetime of facts, and maximum delay from a `Retry-After` header.
    pub runinterval: Duration,
    /// Each device begins at its own moment within this time.
    pub splay: Option<Duration>,
    /// Apply resources outside of their schedules.
    pub ignoreschedules: bool,
    /// Log the start and duration of each resource.
    pub evaltrace: bool,
    /// Write the dependency graphs of each run.
    pub graph: bool,
    /// `None`: in each device's own directory.
    pub graphdir: Option<PathBuf>,
    /// Omit unchanged resources from reports.
    pub exclude_unchanged_resources: bool,
    /// Soft limits for the facts of a device.
    pub fact_limits: FactLimits,
    /// What was set, with its value and origin, for people.
    pub supplied: Vec<(String, String, PuppetSettingSource)>,
}

impl Settings {
    /// The settings that were set and have no effect, with the reason.
    pub fn without_effect(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.supplied.iter().filter_map(|(name, ..)| {
            let setting = table::find(name)?;
            match setting.support {
                table::SettingSupport::NoEffect(why) => Some((setting.name, why)),
                _ => None,
            }
        })
    }
}

/// A server's name and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    /// Host name or IP address.
    pub host: String,
    /// TCP port, usually 8140.
    pub port: u16,
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Settings of HTTP requests to the server.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    pub(crate) connect_timeout: Duration,
    pub(crate) read_timeout: Duration,
    /// Timeout of a catalog request.
    pub catalog_timeout: Duration,
    pub(crate) extra_headers: Vec<(String, SecretString)>,
    /// `host:port` of a proxy.
    pub(crate) proxy: Option<String>,
    pub(crate) profile: bool,
}

/// Settings for keys, certificates, the CA bundle and the CRLs.
#[derive(Clone, Debug)]
pub struct CertificateSettings {
    /// Zero: do not wait.
    pub waitforcert: Duration,
    /// Maximum time to wait for a signed certificate; `None`: no limit.
    pub maxwaitforcert: Option<Duration>,
    /// Lower-case hex without colons.
    pub ca_fingerprint: Option<String>,
    /// Certificates of the server's chain to check against CRLs.
    pub revocation: Revocation,
    /// Type and size of new private keys.
    pub key_type: KeyType,
    /// Subject alternative names in new certificate requests.
    pub dns_alt_names: Vec<String>,
    /// Renew a certificate, or warn, this long before it expires.
    pub renewal_interval: Duration,
    /// Interval between downloads of the CA bundle.
    pub ca_refresh_interval: Duration,
    /// Interval between downloads of the CRLs.
    pub crl_refresh_interval: Duration,
}

/// What is checked against CRLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// Every certificate of the chain.
    Chain,
    /// Only the certificate of the server.
    Leaf,
    /// No certificate; CRLs are not downloaded.
    Off,
}

/// Type of new keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// EC key on the curve `prime256v1`.
    P256,
    /// EC key on the curve `secp384r1`.
    P384,
    /// RSA key.
    Rsa {
        /// Size of the modulus in bits, 2048 to 16384.
        bits: u16,
    },
}

/// The requested environment and the reaction to a different one from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentSettings {
    /// Value of `environment`, `production` by default.
    pub name: String,
    /// Sent as `configured_environment`; `None`: none is configured.
    pub(crate) configured: Option<String>,
    /// From the command line: it stays, and the node request is skipped.
    pub(crate) fixed: bool,
    pub(crate) strict: bool,
    pub(crate) max_restarts: usize,
}

/// Where warnings about facts begin; zero turns one off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactLimits {
    pub(crate) value_length: usize,
    pub(crate) name_length: usize,
    pub(crate) top_level: usize,
    pub(crate) number: usize,
    pub(crate) payload: usize,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PuppetSettingSource {
    /// The setting is not configured.
    Default,
    /// From `puppet.conf`.
    File,
    /// From the command line.
    Flag,
}

/// The path of `puppet.conf`.
///
/// # Errors
/// The flag is invalid.
pub(crate) fn path(
    flags: &BTreeMap<String, String>,
    home: &PuppetDirectories,
) -> Result<PathBuf, Vec<Diagnostic>> {
    let early = SettingValues {
        flags,
        conf: &PuppetConf::default(),
        home,
    };
    let path = early.text("config").map_err(|found| vec![*found])?;
    Ok(PathBuf::from(path))
}

/// Reads `puppet.conf` from the path of flags and home; a missing file counts as empty.
pub fn read(
    flags: &BTreeMap<String, String>,
    home: &PuppetDirectories,
) -> Result<Settings, Vec<Diagnostic>> {
    let path = path(flags, home)?;
    let conf = match regular_file::read_text(&path, regular_file::LARGEST) {
        Ok(text) => parse::parse(&path.display().to_string(), &text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => PuppetConf::default(),
        Err(error) => {
            return Err(vec![Diagnostic::error(
                "puppet-conf-unreadable",
                format!("cannot read {}: {error}", path.display()),
            )]);
        }
    };
    resolve(flags, &conf, home)
}

/// Makes settings of flags and file.
///
/// # Errors
/// All values that are not what their setting takes, and settings that ask for what is refused.
pub(crate) fn resolve(
    flags: &BTreeMap<String, String>,
    conf: &PuppetConf,
    home: &PuppetDirectories,
) -> Result<Settings, Vec<Diagnostic>> {
    let values = SettingValues { flags, conf, home };
    let mut found = Vec::new();
    for setting in SETTINGS {
        if let Err(error) = values.check(setting) {
            found.push(*error);
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    // Every value was checked above, so that all errors are reported together.
    values.settings().map_err(|error| vec![*error])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn home() -> PuppetDirectories {
        PuppetDirectories {
            confdir: "/c".into(),
            vardir: "/v".into(),
        }
    }

    fn settings(conf: &str, flags: &[(&str, &str)]) -> Result<Settings, Vec<String>> {
        let conf = parse::parse("puppet.conf", conf).unwrap();
        let flags = flags
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        resolve(&flags, &conf, &home())
            .map_err(|found| found.into_iter().map(|found| found.message).collect())
    }

    fn server(host: &str, port: u16) -> Server {
        Server {
            host: host.to_owned(),
            port,
        }
    }

    #[test]
    fn read_without_a_file_returns_the_defaults() {
        let settings = settings("", &[]).unwrap();
        assert_eq!(settings.server, server("puppet", 8140));
        assert_eq!(settings.deviceconfig, Path::new("/c/device.conf"));
        assert_eq!(settings.devicedir, Path::new("/v/devices"));
        assert_eq!(
            settings.environment,
            EnvironmentSettings {
                name: "production".to_owned(),
                configured: None,
                fixed: false,
                strict: false,
                max_restarts: 3,
            }
        );
        assert_eq!(settings.http.connect_timeout, Duration::from_secs(10));
        assert_eq!(settings.certificates.waitforcert, Duration::from_secs(120));
        assert_eq!(settings.certificates.maxwaitforcert, None);
        assert_eq!(settings.certificates.key_type, KeyType::P256);
        assert_eq!((settings.ca_server, settings.report_server), (None, None));
        assert!(settings.usecacheonfailure && settings.report && !settings.noop);
        assert!(settings.supplied.is_empty());
    }

    #[test]
    fn read_prefers_flags_and_expands_references() {
        let conf = "[main]\nserver = a.example\nserverport = 8141\nserver_list = b.example,c.example:9\nca_server = ca.example\ndeviceconfig = ${confdir}/d.conf\nruninterval = 1h\nsplay = true\nenvironment = test\nprerun_command = echo $HOME\nmaxwaitforcert = 5m\ncertificate_revocation = leaf\nkey_type = rsa\nkeylength = 2048\n";
        let settings = settings(
            conf,
            &[
                ("confdir", "/x"),
                ("environment", "dev"),
                ("noop", "true"),
                ("tags", "a, B"),
            ],
        )
        .unwrap();
        assert_eq!(
            settings.server_list,
            [server("b.example", 8141), server("c.example", 9)]
        );
        assert_eq!(settings.ca_server, Some(server("ca.example", 8141)));
        assert_eq!(settings.deviceconfig, Path::new("/x/d.conf"));
        assert_eq!(settings.splay, None, "in the file it is the proxy's own");
        assert!(settings.environment.fixed && settings.noop);
        assert_eq!(settings.environment.configured.as_deref(), Some("dev"));
        assert_eq!(settings.tags, ["a", "B"]);
        assert_eq!(settings.prerun_command.as_deref(), Some("echo $HOME"));
        assert_eq!(
            settings.certificates.maxwaitforcert,
            Some(Duration::from_secs(300))
        );
        assert_eq!(settings.certificates.revocation, Revocation::Leaf);
        assert_eq!(settings.certificates.key_type, KeyType::Rsa { bits: 2048 });
    }

    #[test]
    fn splay_flag_uses_splaylimit() {
        let settings = settings("", &[("splay", "true"), ("runinterval", "600")]).unwrap();
        assert_eq!(settings.splay, Some(Duration::from_secs(600)));
    }

    #[test]
    fn read_reports_all_invalid_values() {
        let found = settings(
            "noop = maybe\nwaitforcert = soon\nserverport = 0\nuse_srv_records = true\npassfile = /p\nvardir = $vardir/x\n",
            &[],
        )
        .unwrap_err();
        for message in [
            "noop must be true or false, not `maybe`",
            "waitforcert must be a time such as 90, 30m, 2h or 1d, or `unlimited`, not `soon`",
            "serverport must be a port, 1 to 65535, not `0`",
            "use_srv_records is not supported",
            "passfile is not supported",
            "vardir must be a value without a reference to itself, not `$vardir/x`",
        ] {
            assert!(
                found.iter().any(|text| text == message),
                "{message}: {found:#?}"
            );
        }
    }
}
