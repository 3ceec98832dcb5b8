//! The settings of the peer that matter for device runs, and what becomes of each here.
//!
//! The table is the single place: flags of `switchtender device`, the reader of `puppet.conf` and
//! `docs/migrating-from-puppet-device.md` come from it (a test compares the page).

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

/// How it compares with the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    Same,
    /// Works, but not in quite the same way.
    Different(&'static str),
    /// Read and without effect.
    NoEffect(&'static str),
    /// Refused when it asks for something, because ignoring it would be wrong.
    Refused(&'static str),
}

/// A setting of `puppet.conf` that is also a flag.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub name: &'static str,
    /// Other names for the same thing.
    pub aliases: &'static [&'static str],
    pub kind: Kind,
    /// As `puppet.conf` would say it; may refer to other settings.
    pub default: &'static str,
    pub support: Support,
    /// One sentence for the help.
    pub help: &'static str,
}

const fn same(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Setting {
    Setting {
        name,
        aliases: &[],
        kind,
        default,
        support: Support::Same,
        help,
    }
}

const fn different(setting: Setting, why: &'static str) -> Setting {
    Setting {
        support: Support::Different(why),
        ..setting
    }
}

const fn without_effect(name: &'static str, kind: Kind, why: &'static str) -> Setting {
    Setting {
        support: Support::NoEffect(why),
        ..same(name, kind, "", "Accepted and without effect")
    }
}

const fn refused(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    why: &'static str,
) -> Setting {
    Setting {
        support: Support::Refused(why),
        ..same(name, kind, default, "Not supported")
    }
}

use Kind::{Boolean, Duration, Integer, List, Path, Text};

/// All settings, in the order of the documentation.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    // Where things are.
    same("confdir", Path, "", "Directory of puppet.conf, device.conf and the devices' certificates"),
    same("vardir", Path, "", "Directory of what is kept between runs"),
    same("config", Path, "$confdir/puppet.conf", "The configuration file"),
    same("ssldir", Path, "$confdir/ssl", "The proxy's own certificates; its CA bundle is trusted for new devices"),
    same("deviceconfig", Path, "$confdir/device.conf", "The devices: a file, or a directory of *.conf files"),
    same("deviceconfdir", Path, "$confdir/devices", "Below it, each device's certificates"),
    same("devicedir", Path, "$vardir/devices", "Below it, each device's cache and state"),
    // Server.
    same("server", Text, "puppet", "The Puppet Server"),
    Setting { aliases: &["masterport"], ..same("serverport", Integer, "8140", "Its port") },
    same("server_list", List, "", "Servers to try in order, HOST[:PORT], separated by commas"),
    same("ca_server", Text, "$server", "The server that signs certificates"),
    same("ca_port", Integer, "$serverport", "Its port"),
    same("report_server", Text, "$server", "The server that takes reports"),
    same("report_port", Integer, "$serverport", "Its port"),
    refused("use_srv_records", Boolean, "false", "name the servers with server_list"),
    different(same("http_connect_timeout", Duration, "10s", "Limit for connecting to the server"), "default 10 s instead of 2 m: a fleet waits for each"),
    different(same("http_read_timeout", Duration, "60s", "Limit for an answer of the server"), "default 60 s instead of 10 m"),
    Setting { support: Support::Different("new: catalogs take longer than other answers"), ..same("catalog_timeout", Duration, "120s", "Limit for a catalog") },
    same("http_extra_headers", List, "", "Headers to send with each request, NAME:VALUE, separated by commas"),
    same("http_proxy_host", Text, "none", "HTTP proxy on the way to the server"),
    same("http_proxy_port", Integer, "3128", "Its port"),
    same("profile", Boolean, "false", "Ask the server to profile the requests"),
    // Certificates.
    same("waitforcert", Duration, "2m", "Time between two looks for a signed certificate; 0: do not wait"),
    same("maxwaitforcert", Duration, "unlimited", "How long to wait for a signed certificate at most"),
    same("ca_fingerprint", Text, "", "SHA-256 that the CA bundle of the first contact must have"),
    same("certificate_revocation", Text, "chain", "What is checked against CRLs: chain, leaf or false"),
    different(same("key_type", Text, "ec", "Kind of new keys: ec or rsa"), "default ec (P-256) instead of rsa: new keys cost nothing; existing keys are used whatever they are"),
    same("keylength", Integer, "4096", "Bits of new RSA keys"),
    different(same("named_curve", Text, "prime256v1", "Curve of new EC keys"), "prime256v1 and secp384r1"),
    same("dns_alt_names", List, "", "Further names for new certificates"),
    same("hostcert_renewal_interval", Duration, "30d", "Renew and warn when the certificate ends within this time"),
    same("ca_refresh_interval", Duration, "1d", "Ask for a new CA bundle after this time"),
    same("crl_refresh_interval", Duration, "1d", "Ask for new CRLs after this time"),
    refused("passfile", Path, "", "keys with a pass phrase cannot be read; remove it with `openssl rsa` or `openssl ec`"),
    // The run.
    same("environment", Text, "production", "The environment to begin with; as a flag it is kept and the server is not asked"),
    same("strict_environment_mode", Boolean, "false", "Fail when the catalog's environment is another one"),
    Setting { support: Support::Different("new: the peer allows four restarts"), ..same("max_environment_restarts", Integer, "3", "How often a run may begin again in the environment of its catalog") },
    same("noop", Boolean, "false", "Report changes, make none"),
    same("tags", List, "", "Apply only resources with one of these tags"),
    same("skip_tags", List, "", "Leave out resources with one of these tags"),
    same("report", Boolean, "true", "Send reports"),
    same("usecacheonfailure", Boolean, "true", "Use the cached catalog when the server gives none"),
    same("use_cached_catalog", Boolean, "false", "Use the cached catalog and ask for none"),
    different(same("pluginsync", Boolean, "true", "Fetch drivers from modules"), "fetches lib/switchtender/definitions of the device's own environment, no Ruby"),
    same("prerun_command", Text, "", "Command before each device's run; its failure ends the run"),
    same("postrun_command", Text, "", "Command after each device's run; its failure fails the run"),
    same("resubmit_facts", Boolean, "false", "Send facts again after the run"),
    different(same("runtimeout", Duration, "1h", "Limit for the run of one device"), "the peer bounds agent runs only"),
    different(same("waitforlock", Duration, "0", "Time between two looks at a device that another run holds; 0: do not wait"), "per device; the peer has no lock in device runs"),
    different(same("maxwaitforlock", Duration, "1m", "How long to wait for another run at most"), "per device"),
    same("runinterval", Duration, "30m", "Facts expire after this time; a server's Retry-After is obeyed up to it"),
    different(same("splay", Boolean, "false", "Begin each device at its own moment within splaylimit"), "only as a flag: in puppet.conf it is meant for the proxy's own agent"),
    same("splaylimit", Duration, "$runinterval", "See splay"),
    same("ignoreschedules", Boolean, "false", "Apply resources whatever their schedule says"),
    same("evaltrace", Boolean, "false", "Log when each resource is begun and how long it took"),
    same("graph", Boolean, "false", "Write the graphs of each device's run"),
    different(same("graphdir", Path, "", "Where graphs go: PATH/NAME/*.dot"), "default $devicedir/NAME/state/graphs; below another, each device has a directory of its own"),
    same("exclude_unchanged_resources", Boolean, "true", "Leave unchanged resources out of reports"),
    same("fact_value_length_soft_limit", Integer, "4096", "Warn of longer fact values; 0: never"),
    same("fact_name_length_soft_limit", Integer, "2560", "Warn of longer fact names; 0: never"),
    same("top_level_facts_soft_limit", Integer, "512", "Warn of more top-level facts; 0: never"),
    same("number_of_facts_soft_limit", Integer, "10240", "Warn of more fact values; 0: never"),
    same("payload_soft_limit", Integer, "16777216", "Warn of a larger facts document; 0: never"),
    // Read by the peer, not needed here.
    without_effect("use_last_environment", Boolean, "the node request is made every time; nothing of one device's environment reaches another"),
    without_effect("user", Text, "files belong to the user who runs the program"),
    without_effect("group", Text, "files belong to the group of the user who runs the program"),
    without_effect("libdir", Path, "no Ruby is run"),
    without_effect("preferred_serialization_format", Text, "catalogs are asked for as rich JSON, everything else as JSON"),
    without_effect("static_catalogs", Boolean, "files are host resources"),
    without_effect("statettl", Duration, "times of resources are kept for 32 days, the peer's default"),
    without_effect("daemonize", Boolean, "device runs are processes in the foreground"),
    without_effect("lastrunfile", Path, "each device has its own, below devicedir"),
    without_effect("lastrunreport", Path, "each device has its own, below devicedir"),
    without_effect("centrallogging", Boolean, "the report carries the log"),
    without_effect("color", Text, "see --color"),
    without_effect("trace", Boolean, "see --debug"),
];

/// The setting of this name, or of which it is another name.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS
        .iter()
        .find(|setting| setting.name == name || setting.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
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
