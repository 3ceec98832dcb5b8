//! The settings of a device run: flags before `puppet.conf` before defaults, checked once.

pub mod puppet_conf;
pub mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchtender_devices::diagnostic::{Diagnostic, nearest};

use puppet_conf::{ConfValue, PuppetConf};
use table::{Kind, SETTINGS, Setting, Support};

/// Settings as values. Names are the peer's; [`table`] says what each means.
#[derive(Clone, Debug)]
pub struct Settings {
    pub confdir: PathBuf,
    pub vardir: PathBuf,
    pub ssldir: PathBuf,
    pub deviceconfig: PathBuf,
    pub deviceconfdir: PathBuf,
    pub devicedir: PathBuf,
    pub server: Server,
    /// In the order in which they are tried; empty: `server` alone, without asking for its status.
    pub server_list: Vec<Server>,
    /// Set only where the configuration names one: it then goes before the chosen server.
    pub ca_server: Option<Server>,
    pub report_server: Option<Server>,
    pub http: HttpSettings,
    pub certificates: CertificateSettings,
    pub environment: EnvironmentSettings,
    pub noop: bool,
    pub tags: Vec<String>,
    pub skip_tags: Vec<String>,
    pub report: bool,
    pub usecacheonfailure: bool,
    pub use_cached_catalog: bool,
    pub pluginsync: bool,
    pub prerun_command: Option<String>,
    pub postrun_command: Option<String>,
    pub resubmit_facts: bool,
    /// `None`: no limit.
    pub runtimeout: Option<Duration>,
    pub waitforlock: Duration,
    pub maxwaitforlock: Option<Duration>,
    pub runinterval: Duration,
    /// Each device begins at its own moment within this time.
    pub splay: Option<Duration>,
    pub ignoreschedules: bool,
    pub evaltrace: bool,
    pub graph: bool,
    /// `None`: in each device's own directory.
    pub graphdir: Option<PathBuf>,
    pub exclude_unchanged_resources: bool,
    pub fact_limits: FactLimits,
    /// What was set, with its value and origin, for people.
    pub given: Vec<(String, String, Origin)>,
}

/// A server's name and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    pub host: String,
    pub port: u16,
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[derive(Clone, Debug)]
pub struct HttpSettings {
    pub connect_timeout: Duration,
    pub read_timeout: Duration,
    pub catalog_timeout: Duration,
    pub extra_headers: Vec<(String, String)>,
    /// `host:port` of a proxy.
    pub proxy: Option<String>,
    pub profile: bool,
}

#[derive(Clone, Debug)]
pub struct CertificateSettings {
    /// Zero: do not wait.
    pub waitforcert: Duration,
    pub maxwaitforcert: Option<Duration>,
    /// Lower-case hex without colons.
    pub ca_fingerprint: Option<String>,
    pub revocation: Revocation,
    pub key_type: KeyType,
    pub dns_alt_names: Vec<String>,
    pub renewal_interval: Duration,
    pub ca_refresh_interval: Duration,
    pub crl_refresh_interval: Duration,
}

/// What is checked against CRLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    Chain,
    Leaf,
    Off,
}

/// Kind of new keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    P256,
    P384,
    Rsa { bits: u16 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentSettings {
    pub name: String,
    /// Sent along as `configured_environment`; `None`: nobody configured one.
    pub configured: Option<String>,
    /// From the command line: it is kept, and the server is not asked.
    pub fixed: bool,
    pub strict: bool,
    pub max_restarts: usize,
}

/// Where warnings about facts begin; zero turns one off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactLimits {
    pub value_length: usize,
    pub name_length: usize,
    pub top_level: usize,
    pub number: usize,
    pub payload: usize,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File,
    Flag,
}

/// Where the peer keeps its things, which depends on who runs it and how it was packaged.
#[derive(Clone, Debug)]
pub struct Home {
    pub confdir: PathBuf,
    pub vardir: PathBuf,
}

impl Home {
    /// `exists` says whether a directory is there: Debian's packages use another place.
    pub fn find(root: bool, home: Option<&Path>, exists: impl Fn(&Path) -> bool) -> Self {
        let (conf, debian) = (
            Path::new("/etc/puppetlabs/puppet"),
            Path::new("/etc/puppet"),
        );
        match home {
            Some(home) if !root => Self {
                confdir: home.join(".puppetlabs/etc/puppet"),
                vardir: home.join(".puppetlabs/opt/puppet/cache"),
            },
            _ if !exists(conf) && exists(debian) => Self {
                confdir: debian.to_owned(),
                vardir: PathBuf::from("/var/cache/puppet"),
            },
            _ => Self {
                confdir: conf.to_owned(),
                vardir: PathBuf::from("/opt/puppetlabs/puppet/cache"),
            },
        }
    }
}

/// Reads `puppet.conf` where flags and home say it is; a missing file is an empty one.
pub fn read(flags: &BTreeMap<String, String>, home: &Home) -> Result<Settings, Vec<Diagnostic>> {
    let early = Resolver {
        flags,
        conf: &PuppetConf::default(),
        home,
    };
    let path = PathBuf::from(early.text("config").map_err(|found| vec![*found])?);
    let conf = match std::fs::read_to_string(&path) {
        Ok(text) => puppet_conf::parse(&path.display().to_string(), &text)?,
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
pub fn resolve(
    flags: &BTreeMap<String, String>,
    conf: &PuppetConf,
    home: &Home,
) -> Result<Settings, Vec<Diagnostic>> {
    let resolver = Resolver { flags, conf, home };
    let mut found = Vec::new();
    for setting in SETTINGS {
        if let Err(mistake) = resolver.check(setting) {
            found.push(*mistake);
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    // Every value was checked above, so that all mistakes are told together.
    resolver.settings().map_err(|mistake| vec![*mistake])
}

type Checked<T> = Result<T, Box<Diagnostic>>;

struct Resolver<'a> {
    flags: &'a BTreeMap<String, String>,
    conf: &'a PuppetConf,
    home: &'a Home,
}

impl Resolver<'_> {
    fn settings(&self) -> Checked<Settings> {
        let port = |name: &str| {
            self.integer(name)
                .map(|port| u16::try_from(port).unwrap_or(0))
        };
        let server = Server {
            host: self.text("server")?,
            port: port("serverport")?,
        };
        let own_server = |host: &str, own_port: &str| -> Checked<Option<Server>> {
            let set =
                self.origin(host) != Origin::Default || self.origin(own_port) != Origin::Default;
            Ok(if set {
                Some(Server {
                    host: self.text(host)?,
                    port: port(own_port)?,
                })
            } else {
                None
            })
        };
        let server_list = self
            .list("server_list")?
            .iter()
            .map(|entry| self.listed_server(entry, server.port))
            .collect::<Checked<Vec<_>>>()?;
        let splay = self.flags.contains_key("splay") && self.boolean("splay")?;
        let environment = self.text("environment")?;
        let origin = self.origin("environment");
        Ok(Settings {
            confdir: self.path("confdir")?,
            vardir: self.path("vardir")?,
            ssldir: self.path("ssldir")?,
            deviceconfig: self.path("deviceconfig")?,
            deviceconfdir: self.path("deviceconfdir")?,
            devicedir: self.path("devicedir")?,
            ca_server: own_server("ca_server", "ca_port")?,
            report_server: own_server("report_server", "report_port")?,
            server,
            server_list,
            http: self.http()?,
            certificates: self.certificates()?,
            environment: EnvironmentSettings {
                configured: (origin != Origin::Default).then(|| environment.clone()),
                name: environment,
                fixed: origin == Origin::Flag,
                strict: self.boolean("strict_environment_mode")?,
                max_restarts: self.count("max_environment_restarts")?,
            },
            noop: self.boolean("noop")?,
            tags: self.list("tags")?,
            skip_tags: self.list("skip_tags")?,
            report: self.boolean("report")?,
            usecacheonfailure: self.boolean("usecacheonfailure")?,
            use_cached_catalog: self.boolean("use_cached_catalog")?,
            pluginsync: self.boolean("pluginsync")?,
            prerun_command: self.optional("prerun_command")?,
            postrun_command: self.optional("postrun_command")?,
            resubmit_facts: self.boolean("resubmit_facts")?,
            runtimeout: self
                .duration("runtimeout")?
                .filter(|limit| !limit.is_zero()),
            waitforlock: self.duration("waitforlock")?.unwrap_or(Duration::MAX),
            maxwaitforlock: self.duration("maxwaitforlock")?,
            runinterval: self.duration("runinterval")?.unwrap_or(Duration::MAX),
            splay: if splay {
                self.duration("splaylimit")?
            } else {
                None
            },
            ignoreschedules: self.boolean("ignoreschedules")?,
            evaltrace: self.boolean("evaltrace")?,
            graph: self.boolean("graph")?,
            graphdir: self.optional("graphdir")?.map(PathBuf::from),
            exclude_unchanged_resources: self.boolean("exclude_unchanged_resources")?,
            fact_limits: FactLimits {
                value_length: self.count("fact_value_length_soft_limit")?,
                name_length: self.count("fact_name_length_soft_limit")?,
                top_level: self.count("top_level_facts_soft_limit")?,
                number: self.count("number_of_facts_soft_limit")?,
                payload: self.count("payload_soft_limit")?,
            },
            given: SETTINGS
                .iter()
                .filter(|setting| self.origin(setting.name) != Origin::Default)
                .map(|setting| {
                    let value = self.raw(setting.name).0;
                    (setting.name.to_owned(), value, self.origin(setting.name))
                })
                .collect(),
        })
    }

    fn http(&self) -> Checked<HttpSettings> {
        let limit = |name: &str| -> Checked<Duration> {
            let limit = self.duration(name)?.filter(|limit| !limit.is_zero());
            Ok(limit.unwrap_or(Duration::from_secs(3600)))
        };
        let proxy = self.text("http_proxy_host")?;
        let headers = self.list("http_extra_headers")?;
        Ok(HttpSettings {
            connect_timeout: limit("http_connect_timeout")?,
            read_timeout: limit("http_read_timeout")?,
            catalog_timeout: limit("catalog_timeout")?,
            extra_headers: headers
                .iter()
                .map(|header| match header.split_once(':') {
                    Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
                    None => {
                        Err(self.wrong("http_extra_headers", "NAME:VALUE, separated by commas"))
                    }
                })
                .collect::<Checked<Vec<_>>>()?,
            proxy: match proxy.as_str() {
                "" | "none" => None,
                host => Some(format!("{host}:{}", self.integer("http_proxy_port")?)),
            },
            profile: self.boolean("profile")?,
        })
    }

    fn certificates(&self) -> Checked<CertificateSettings> {
        let bits = u16::try_from(self.integer("keylength")?).unwrap_or(0);
        let interval =
            |name: &str| -> Checked<Duration> { Ok(self.duration(name)?.unwrap_or(Duration::MAX)) };
        Ok(CertificateSettings {
            waitforcert: interval("waitforcert")?,
            maxwaitforcert: self.duration("maxwaitforcert")?,
            ca_fingerprint: self.optional("ca_fingerprint")?.map(|text| {
                text.chars()
                    .filter(char::is_ascii_hexdigit)
                    .collect::<String>()
                    .to_lowercase()
            }),
            revocation: match self.text("certificate_revocation")?.as_str() {
                "chain" | "true" => Revocation::Chain,
                "leaf" => Revocation::Leaf,
                "false" => Revocation::Off,
                _ => return Err(self.wrong("certificate_revocation", "chain, leaf or false")),
            },
            key_type: match (
                self.text("key_type")?.as_str(),
                self.text("named_curve")?.as_str(),
            ) {
                ("rsa", _) if (2048..=16384).contains(&bits) => KeyType::Rsa { bits },
                ("rsa", _) => return Err(self.wrong("keylength", "a number from 2048 to 16384")),
                ("ec", "prime256v1") => KeyType::P256,
                ("ec", "secp384r1") => KeyType::P384,
                ("ec", _) => return Err(self.wrong("named_curve", "prime256v1 or secp384r1")),
                _ => return Err(self.wrong("key_type", "ec or rsa")),
            },
            dns_alt_names: self.list("dns_alt_names")?,
            renewal_interval: interval("hostcert_renewal_interval")?,
            ca_refresh_interval: interval("ca_refresh_interval")?,
            crl_refresh_interval: interval("crl_refresh_interval")?,
        })
    }

    fn listed_server(&self, entry: &str, default_port: u16) -> Checked<Server> {
        let wrong = || self.wrong("server_list", "HOST[:PORT], separated by commas");
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => (entry, default_port),
        };
        if host.is_empty() {
            return Err(wrong());
        }
        Ok(Server {
            host: host.to_owned(),
            port,
        })
    }

    /// Whether the value is what the setting takes.
    fn check(&self, setting: &Setting) -> Checked<()> {
        match setting.kind {
            Kind::Text | Kind::Path | Kind::List => self.text(setting.name).map(drop)?,
            _ if matches!(setting.support, Support::NoEffect(_)) => {}
            Kind::Boolean => self.boolean(setting.name).map(drop)?,
            Kind::Duration => self.duration(setting.name).map(drop)?,
            Kind::Integer => self.integer(setting.name).map(drop)?,
        }
        if let Support::Refused(instead) = setting.support {
            let text = self.text(setting.name)?;
            if !text.is_empty() && text != "false" && self.origin(setting.name) != Origin::Default {
                let told = Diagnostic::error(
                    "setting-refused",
                    format!("{} is not supported", setting.name),
                );
                return Err(Box::new(self.placed(setting.name, told).help(instead)));
            }
        }
        Ok(())
    }

    fn origin(&self, name: &str) -> Origin {
        if self.flags.contains_key(name) {
            Origin::Flag
        } else if self.conf.values.contains_key(name) {
            Origin::File
        } else {
            Origin::Default
        }
    }

    /// The value as written and its place, if it has one.
    fn raw(&self, name: &str) -> (String, Option<&ConfValue>) {
        if let Some(value) = self.flags.get(name) {
            return (value.clone(), None);
        }
        if let Some(value) = self.conf.values.get(name) {
            return (value.text.clone(), Some(value));
        }
        let default = match name {
            "confdir" => self.home.confdir.display().to_string(),
            "vardir" => self.home.vardir.display().to_string(),
            _ => table::find(name)
                .map_or("", |setting| setting.default)
                .to_owned(),
        };
        (default, None)
    }

    /// The value with the settings it refers to filled in.
    fn text(&self, name: &str) -> Checked<String> {
        self.expanded(name, 0)
    }

    fn expanded(&self, name: &str, depth: usize) -> Checked<String> {
        let (raw, _) = self.raw(name);
        if depth > 16 {
            return Err(self.wrong(name, "a value that does not refer to itself"));
        }
        let mut text = String::with_capacity(raw.len());
        let mut rest = raw.as_str();
        while let Some(at) = rest.find('$') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let (word, after) = match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some(parts) => parts,
                None => {
                    let end = rest
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .unwrap_or(rest.len());
                    rest.split_at(end)
                }
            };
            // Commands may have variables of the shell in them.
            if table::find(word).is_some() {
                text.push_str(&self.expanded(word, depth + 1)?);
                rest = after;
            } else {
                text.push('$');
            }
        }
        text.push_str(rest);
        Ok(text)
    }

    fn optional(&self, name: &str) -> Checked<Option<String>> {
        self.text(name)
            .map(|text| (!text.is_empty()).then_some(text))
    }

    fn path(&self, name: &str) -> Checked<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn list(&self, name: &str) -> Checked<Vec<String>> {
        let text = self.text(name)?;
        Ok(text
            .trim_matches(['[', ']'])
            .split(',')
            .map(|item| item.trim().to_owned())
            .filter(|item| !item.is_empty())
            .collect())
    }

    fn boolean(&self, name: &str) -> Checked<bool> {
        match self.text(name)?.as_str() {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            _ => Err(self.wrong(name, "true or false")),
        }
    }

    fn integer(&self, name: &str) -> Checked<u64> {
        let number = self.text(name)?.parse::<u64>().ok();
        let port = name.ends_with("port");
        match number {
            Some(number) if !port || (1..=65_535).contains(&number) => Ok(number),
            _ if port => Err(self.wrong(name, "a port, 1 to 65535")),
            _ => Err(self.wrong(name, "a whole number")),
        }
    }

    fn count(&self, name: &str) -> Checked<usize> {
        Ok(usize::try_from(self.integer(name)?).unwrap_or(usize::MAX))
    }

    /// `None`: unlimited.
    fn duration(&self, name: &str) -> Checked<Option<Duration>> {
        let text = self.text(name)?;
        if text == "unlimited" {
            return Ok(None);
        }
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let factor = match &text[digits..] {
            "" | "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3600),
            "d" => Some(86_400),
            "y" => Some(365 * 86_400),
            _ => None,
        };
        let seconds = text[..digits]
            .parse::<u64>()
            .ok()
            .zip(factor)
            .and_then(|(number, factor)| number.checked_mul(factor));
        match seconds {
            Some(seconds) => Ok(Some(Duration::from_secs(seconds))),
            None => Err(self.wrong(name, "a time such as 90, 30m, 2h or 1d, or `unlimited`")),
        }
    }

    fn wrong(&self, name: &str, expected: &str) -> Box<Diagnostic> {
        let (text, _) = self.raw(name);
        let told = Diagnostic::error(
            "setting-value",
            format!("{name} must be {expected}, not `{text}`"),
        );
        Box::new(self.placed(name, told))
    }

    /// Puts a finding where the value stands; flags have no place.
    fn placed(&self, name: &str, told: Diagnostic) -> Diagnostic {
        match self.raw(name).1 {
            Some(value) => told.at(&value.source, value.span.clone(), ""),
            None => told,
        }
    }
}

/// The name of a setting that was meant by a flag that does not exist.
pub fn nearest_name(word: &str) -> Option<&'static str> {
    nearest(word, SETTINGS.iter().map(|setting| setting.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Home {
        Home {
            confdir: "/c".into(),
            vardir: "/v".into(),
        }
    }

    fn settings(conf: &str, flags: &[(&str, &str)]) -> Result<Settings, Vec<String>> {
        let conf = puppet_conf::parse("puppet.conf", conf).unwrap();
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
    fn without_a_file_the_defaults_hold() {
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
        assert!(settings.given.is_empty());
    }

    #[test]
    fn flags_go_before_the_file_and_values_refer_to_each_other() {
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
    fn the_splay_flag_takes_its_limit_from_the_interval() {
        let settings = settings("", &[("splay", "true"), ("runinterval", "600")]).unwrap();
        assert_eq!(settings.splay, Some(Duration::from_secs(600)));
    }

    #[test]
    fn all_wrong_values_are_told_together() {
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
            "vardir must be a value that does not refer to itself, not `$vardir/x`",
        ] {
            assert!(
                found.iter().any(|told| told == message),
                "{message}: {found:#?}"
            );
        }
    }

    #[test]
    fn the_peers_places_depend_on_the_user_and_the_package() {
        let there = |name: &'static str| move |path: &Path| path == Path::new(name);
        let user = Home::find(false, Some(Path::new("/home/u")), |_| true);
        assert_eq!(user.confdir, Path::new("/home/u/.puppetlabs/etc/puppet"));
        let root = Home::find(
            true,
            Some(Path::new("/root")),
            there("/etc/puppetlabs/puppet"),
        );
        assert_eq!(root.vardir, Path::new("/opt/puppetlabs/puppet/cache"));
        let debian = Home::find(true, None, there("/etc/puppet"));
        assert_eq!(debian.confdir, Path::new("/etc/puppet"));
    }
}
