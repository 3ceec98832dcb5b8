//! Builds the settings from their values.

use super::values::{SettingResult, SettingValues};
use super::*;

impl SettingValues<'_> {
    pub(crate) fn settings(&self) -> SettingResult<Settings> {
        let port = |name: &str| {
            self.integer(name)
                .map(|port| u16::try_from(port).unwrap_or(0))
        };
        let server = Server {
            host: self.text("server")?,
            port: port("serverport")?,
        };
        let own_server = |host: &str, own_port: &str| -> SettingResult<Option<Server>> {
            let set = self.origin(host) != PuppetSettingSource::Default
                || self.origin(own_port) != PuppetSettingSource::Default;
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
            .collect::<SettingResult<Vec<_>>>()?;
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
                configured: (origin != PuppetSettingSource::Default).then(|| environment.clone()),
                name: environment,
                fixed: origin == PuppetSettingSource::Flag,
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
            supplied: SETTINGS
                .iter()
                .filter(|setting| self.origin(setting.name) != PuppetSettingSource::Default)
                .map(|setting| {
                    let value = self.raw(setting.name).0;
                    (setting.name.to_owned(), value, self.origin(setting.name))
                })
                .collect(),
        })
    }

    fn http(&self) -> SettingResult<HttpSettings> {
        let limit = |name: &str| -> SettingResult<Duration> {
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
                    Some((name, value)) => Ok((name.trim().to_owned(), value.trim().into())),
                    None => {
                        Err(self.wrong("http_extra_headers", "NAME:VALUE, separated by commas"))
                    }
                })
                .collect::<SettingResult<Vec<_>>>()?,
            proxy: match proxy.as_str() {
                "" | "none" => None,
                host => Some(format!("{host}:{}", self.integer("http_proxy_port")?)),
            },
            profile: self.boolean("profile")?,
        })
    }

    fn certificates(&self) -> SettingResult<CertificateSettings> {
        let bits = u16::try_from(self.integer("keylength")?).unwrap_or(0);
        let interval = |name: &str| -> SettingResult<Duration> {
            Ok(self.duration(name)?.unwrap_or(Duration::MAX))
        };
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

    fn listed_server(&self, entry: &str, default_port: u16) -> SettingResult<Server> {
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
}
