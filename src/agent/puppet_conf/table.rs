//! The table of Puppet settings for device runs.
//!
//! It is the only source for the flags of `switchtender device`, the reader of `puppet.conf` and the
//! table in `docs/migrating-from-puppet-device.md` (a test compares the page).

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingType {
    Text,
    /// `true` or `false`; as a flag `--name`, `--no-name`.
    Boolean,
    /// Seconds, or a number with a unit: `30m`, `1h`, `2d`.
    Duration,
    Integer,
    /// Separated by commas.
    List,
    Path,
}

/// The difference from Puppet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSupport {
    /// Works as in Puppet.
    Same,
    /// Works differently.
    Different(&'static str),
    /// Accepted without effect.
    NoEffect(&'static str),
    /// An error if set, because ignoring it would be wrong. The text is the hint.
    Refused(&'static str),
}

/// A setting of `puppet.conf` that is also a flag.
#[derive(Clone, Copy, Debug)]
pub struct PuppetSetting {
    /// Name in `puppet.conf`, and of the flag without dashes.
    pub name: &'static str,
    /// Other names of the setting.
    pub aliases: &'static [&'static str],
    pub(crate) value_type: SettingType,
    /// In the syntax of `puppet.conf`; may refer to other settings.
    pub default: &'static str,
    /// Difference from Puppet, with the reason.
    pub support: SettingSupport,
    /// One sentence for the help.
    pub help: &'static str,
}

const fn same(
    name: &'static str,
    value_type: SettingType,
    default: &'static str,
    help: &'static str,
) -> PuppetSetting {
    PuppetSetting {
        name,
        aliases: &[],
        value_type,
        default,
        support: SettingSupport::Same,
        help,
    }
}

const fn different(setting: PuppetSetting, why: &'static str) -> PuppetSetting {
    PuppetSetting {
        support: SettingSupport::Different(why),
        ..setting
    }
}

const fn without_effect(
    name: &'static str,
    value_type: SettingType,
    why: &'static str,
) -> PuppetSetting {
    PuppetSetting {
        support: SettingSupport::NoEffect(why),
        ..same(name, value_type, "", "Accepted without effect")
    }
}

const fn refused(
    name: &'static str,
    value_type: SettingType,
    default: &'static str,
    why: &'static str,
) -> PuppetSetting {
    PuppetSetting {
        support: SettingSupport::Refused(why),
        ..same(name, value_type, default, "Not supported")
    }
}

use SettingType::{Boolean, Duration, Integer, List, Path, Text};

/// All settings, in the order of the documentation.
#[rustfmt::skip]
pub const SETTINGS: &[PuppetSetting] = &[
    // Directories and files.
    same("confdir", Path, "", "Directory of puppet.conf, device.conf and the certificates of the devices"),
    same("vardir", Path, "", "Directory of caches and state"),
    same("config", Path, "$confdir/puppet.conf", "Configuration file"),
    same("ssldir", Path, "$confdir/ssl", "Certificates of the proxy host; new devices trust its CA bundle"),
    same("deviceconfig", Path, "$confdir/device.conf", "Device list: a file, or a directory of *.conf files"),
    same("deviceconfdir", Path, "$confdir/devices", "Directory of the certificates of the devices"),
    same("devicedir", Path, "$vardir/devices", "Directory of the caches and state of the devices"),
    // Server.
    same("server", Text, "puppet", "Host of the Puppet Server"),
    PuppetSetting { aliases: &["masterport"], ..same("serverport", Integer, "8140", "Port of the Puppet Server") },
    same("server_list", List, "", "Servers to try in order: HOST[:PORT], separated by commas"),
    same("ca_server", Text, "$server", "Host of the server that signs certificates"),
    same("ca_port", Integer, "$serverport", "Port of the server that signs certificates"),
    same("report_server", Text, "$server", "Host of the server that receives reports"),
    same("report_port", Integer, "$serverport", "Port of the server that receives reports"),
    refused("use_srv_records", Boolean, "false", "list the servers in server_list"),
    different(same("http_connect_timeout", Duration, "10s", "Timeout for connecting to the server"), "default 10 s instead of 2 m, because all devices wait for it"),
    different(same("http_read_timeout", Duration, "60s", "Timeout for a response of the server"), "default 60 s instead of 10 m"),
    different(same("catalog_timeout", Duration, "120s", "Timeout for a catalog"), "new: catalogs take longer than other responses"),
    same("http_extra_headers", List, "", "Headers to send with each request: NAME:VALUE, separated by commas"),
    same("http_proxy_host", Text, "none", "Host of the HTTP proxy"),
    same("http_proxy_port", Integer, "3128", "Port of the HTTP proxy"),
    same("profile", Boolean, "false", "Request profiling from the server (X-Puppet-Profiling header)"),
    // Certificates.
    same("waitforcert", Duration, "2m", "Interval between checks for a signed certificate; 0: do not wait"),
    same("maxwaitforcert", Duration, "unlimited", "Maximum time to wait for a signed certificate"),
    same("ca_fingerprint", Text, "", "Required SHA-256 fingerprint of the CA bundle on first contact"),
    same("certificate_revocation", Text, "chain", "Certificates to check against CRLs: chain, leaf or false"),
    different(same("key_type", Text, "ec", "Type of new keys: ec or rsa"), "default ec (P-256) instead of rsa, because generating an EC key takes no time; existing keys stay in use"),
    same("keylength", Integer, "4096", "Size of new RSA keys in bits"),
    different(same("named_curve", Text, "prime256v1", "Curve of new EC keys"), "only prime256v1 and secp384r1"),
    same("dns_alt_names", List, "", "Alternative names for new certificates"),
    same("hostcert_renewal_interval", Duration, "30d", "Renew a certificate, or warn, this long before it expires"),
    same("ca_refresh_interval", Duration, "1d", "Interval between downloads of the CA bundle"),
    same("crl_refresh_interval", Duration, "1d", "Interval between downloads of the CRLs"),
    refused("passfile", Path, "", "remove the pass phrase from the key with `openssl rsa` or `openssl ec`"),
    // The run.
    same("environment", Text, "production", "Environment to request; as a flag it overrides the environment from the server"),
    same("strict_environment_mode", Boolean, "false", "Fail if the catalog is from another environment"),
    different(same("max_environment_restarts", Integer, "3", "Maximum number of restarts in the environment of the catalog"), "new: Puppet allows four restarts"),
    same("noop", Boolean, "false", "Report changes without making them"),
    same("tags", List, "", "Apply only resources with one of these tags"),
    same("skip_tags", List, "", "Skip resources with one of these tags"),
    same("report", Boolean, "true", "Send reports"),
    same("usecacheonfailure", Boolean, "true", "Use the cached catalog if the server provides none"),
    same("use_cached_catalog", Boolean, "false", "Use the cached catalog without a request to the server"),
    different(same("pluginsync", Boolean, "true", "Download drivers from modules"), "downloads lib/switchtender/definitions and lib/puppet/type of the environment, of which it reads the names of types; no Ruby code runs"),
    same("prerun_command", Text, "", "Command to run before each device; if it fails, the device is not run"),
    same("postrun_command", Text, "", "Command to run after each device; if it fails, the run fails"),
    same("resubmit_facts", Boolean, "false", "Send facts again after the run"),
    different(same("runtimeout", Duration, "1h", "Timeout for the run of one device"), "Puppet limits agent runs only"),
    different(same("waitforlock", Duration, "0", "Interval between attempts to lock a device that another run holds; 0: do not wait"), "per device; device runs of Puppet have no lock"),
    different(same("maxwaitforlock", Duration, "1m", "Maximum time to wait for another run"), "per device"),
    same("runinterval", Duration, "30m", "Lifetime of facts, and maximum delay from a Retry-After header"),
    different(same("splay", Boolean, "false", "Delay the start of each device by a random time up to splaylimit"), "only as a flag: in puppet.conf it applies to the agent of the proxy host"),
    same("splaylimit", Duration, "$runinterval", "Maximum delay of splay"),
    same("ignoreschedules", Boolean, "false", "Apply resources outside of their schedules"),
    same("evaltrace", Boolean, "false", "Log the start and duration of each resource"),
    same("graph", Boolean, "false", "Write the graphs of each run"),
    different(same("graphdir", Path, "", "Directory of the graphs: PATH/NAME/*.dot"), "default $devicedir/NAME/state/graphs; another directory has one subdirectory per device"),
    different(same("exclude_unchanged_resources", Boolean, "true", "Omit unchanged resources from reports"), "as in Puppet 8; the default of Puppet 7 is false"),
    same("fact_value_length_soft_limit", Integer, "4096", "Warn about longer fact values; 0: never"),
    same("fact_name_length_soft_limit", Integer, "2560", "Warn about longer fact names; 0: never"),
    same("top_level_facts_soft_limit", Integer, "512", "Warn about more top-level facts; 0: never"),
    same("number_of_facts_soft_limit", Integer, "10240", "Warn about more fact values; 0: never"),
    same("payload_soft_limit", Integer, "16777216", "Warn about larger fact documents, in bytes; 0: never"),
    // Settings that Puppet reads and that have no effect here.
    without_effect("use_last_environment", Boolean, "each run requests the node; no environment is shared between devices"),
    without_effect("node_name_fact", Text, "the name of a node is its section of device.conf"),
    without_effect("node_name_value", Text, "the name of a node is its section of device.conf"),
    without_effect("user", Text, "files belong to the user who runs the program"),
    without_effect("group", Text, "files belong to the group of the user who runs the program"),
    without_effect("libdir", Path, "no Ruby code runs"),
    without_effect("preferred_serialization_format", Text, "catalogs are rich JSON, all other documents JSON"),
    without_effect("static_catalogs", Boolean, "files are host resources"),
    without_effect("statettl", Duration, "times of resources are stored for 32 days, the default of Puppet"),
    without_effect("daemonize", Boolean, "device runs are foreground processes"),
    without_effect("lastrunfile", Path, "each device has its own file below devicedir"),
    without_effect("lastrunreport", Path, "each device has its own file below devicedir"),
    without_effect("centrallogging", Boolean, "the report contains the log"),
    without_effect("color", Text, "see --color"),
    without_effect("trace", Boolean, "see --debug"),
];

/// The setting with this name or alias.
pub(crate) fn find(name: &str) -> Option<&'static PuppetSetting> {
    SETTINGS
        .iter()
        .find(|setting| setting.name == name || setting.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_unique_names() {
        let mut names: Vec<_> = SETTINGS
            .iter()
            .flat_map(|setting| {
                std::iter::once(setting.name).chain(setting.aliases.iter().copied())
            })
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
