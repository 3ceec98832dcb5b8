//! The attributes that the connection of a type may have, and the [`Target`] they make.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::diagnostic::{Diagnostic, nearest};
use switchtender_devices::session::target::{
    Algorithms, HostKeyPolicy, RestLogin, RestOptions, SshOptions, Target, TlsPolicy,
};

use super::super::SavePolicy;
use super::hocon::Mark;
use super::{Connection, Entry, Given, GivenAll, GivenValue, Surroundings};

/// An attribute of a connection.
struct Attribute {
    name: &'static str,
    /// Other spellings, from older files.
    aliases: &'static [&'static str],
    kind: Kind,
    required: bool,
    /// For which connections it is.
    scope: Scope,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Boolean,
    Integer { low: i64, high: i64 },
    OneOf(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Any,
    Ssh,
    Rest,
}

const fn text(name: &'static str, scope: Scope) -> Attribute {
    Attribute {
        name,
        aliases: &[],
        kind: Kind::Text,
        required: false,
        scope,
    }
}

const fn seconds(name: &'static str) -> Attribute {
    Attribute {
        kind: Kind::Integer {
            low: 1,
            high: 86_400,
        },
        ..text(name, Scope::Any)
    }
}

const fn boolean(name: &'static str, scope: Scope) -> Attribute {
    Attribute {
        kind: Kind::Boolean,
        ..text(name, scope)
    }
}

/// `docs/agent-protocol.md` section 2, `docs/devices/cisco_ios.md` section 2.1,
/// `docs/devices/f5_bigip.md` section 1.
const ATTRIBUTES: &[Attribute] = &[
    Attribute {
        aliases: &["address"],
        required: true,
        ..text("host", Scope::Any)
    },
    Attribute {
        kind: Kind::Integer {
            low: 1,
            high: 65_535,
        },
        ..text("port", Scope::Any)
    },
    Attribute {
        aliases: &["username"],
        required: true,
        ..text("user", Scope::Any)
    },
    text("password", Scope::Any),
    seconds("timeout"),
    seconds("command_timeout"),
    text("enable_password", Scope::Ssh),
    boolean("verify_hosts", Scope::Ssh),
    text("known_hosts_file", Scope::Ssh),
    text("host_key_fingerprint", Scope::Ssh),
    text("private_key_file", Scope::Ssh),
    boolean("ssh_legacy_algorithms", Scope::Ssh),
    boolean("ssh_logging", Scope::Ssh),
    text("ssh_log_file", Scope::Ssh),
    Attribute {
        kind: Kind::OneOf(&["auto", "token", "basic"]),
        ..text("auth", Scope::Rest)
    },
    text("login_provider", Scope::Rest),
    boolean("ssl_verify", Scope::Rest),
    text("ca_file", Scope::Rest),
    text("fingerprint", Scope::Rest),
    Attribute {
        kind: Kind::OneOf(&["never", "always", "on_change"]),
        ..text("save_config", Scope::Any)
    },
    Attribute {
        kind: Kind::OneOf(&["auto", "always", "never"]),
        ..text("transaction", Scope::Rest)
    },
];

/// What is known of a type of `device.conf`. Others are platforms by their own name, perhaps from
/// a synced definition, and take the attributes of both.
struct KnownType {
    name: &'static str,
    platform: &'static str,
    scope: Scope,
    scheme: &'static str,
}

const KNOWN_TYPES: &[KnownType] = &[
    KnownType {
        name: "cisco_ios",
        platform: "cisco_ios",
        scope: Scope::Ssh,
        scheme: "ssh",
    },
    KnownType {
        name: "cisco",
        platform: "cisco_ios",
        scope: Scope::Ssh,
        scheme: "ssh",
    },
    KnownType {
        name: "f5",
        platform: "f5_bigip",
        scope: Scope::Rest,
        scheme: "https",
    },
    KnownType {
        name: "f5_bigip",
        platform: "f5_bigip",
        scope: Scope::Rest,
        scheme: "https",
    },
];

fn known(kind: &str) -> Option<&'static KnownType> {
    KNOWN_TYPES.iter().find(|known| known.name == kind)
}

/// Whether a type takes a legacy URL of this scheme.
pub fn takes_url(kind: &str, scheme: &str) -> bool {
    known(kind).is_none_or(|known| known.scheme == scheme)
}

/// Checks everything that was given, all mistakes together, and makes the connection of it.
pub fn connection(
    entry: &Entry,
    given: GivenAll,
    legacy: bool,
    around: Surroundings<'_>,
) -> Result<Connection, Vec<Diagnostic>> {
    let known = known(&entry.kind);
    let scope = known.map_or(Scope::Any, |known| known.scope);
    let attributes: Vec<&Attribute> = ATTRIBUTES
        .iter()
        .filter(|attribute| {
            scope == Scope::Any || attribute.scope == Scope::Any || attribute.scope == scope
        })
        .collect();
    let mut checked = Checked::default();
    for value in given.values {
        checked.add(value, &attributes);
    }
    for attribute in attributes.iter().filter(|attribute| attribute.required) {
        if checked.place(attribute.name).is_none() {
            checked.mistakes.push(
                Diagnostic::error(
                    "connection-missing",
                    format!("the connection has no `{}`", attribute.name),
                )
                .at(&given.source, 0..0, ""),
            );
        }
    }
    if !checked.mistakes.is_empty() {
        let heading = Diagnostic::error(
            "connection-schema",
            format!(
                "The connection info provided does not match the Transport Schema for {}",
                entry.kind
            ),
        )
        .at(&entry.head.source, entry.head.span.clone(), "");
        checked.mistakes.insert(0, heading);
        return Err(checked.mistakes);
    }
    let mut warnings = Vec::new();
    let target = target(entry, &checked, legacy, around, &mut warnings);
    let save = checked.text("save_config");
    let transaction = checked.text("transaction");
    Ok(Connection {
        platform: known
            .map_or(entry.kind.as_str(), |known| known.platform)
            .to_owned(),
        target,
        shown_url: entry.shown_url(),
        save: save
            .and_then(|word| SavePolicy::parse(&word))
            .unwrap_or_default(),
        options: transaction
            .map(|word| ("transaction".to_owned(), word))
            .into_iter()
            .collect(),
        warnings,
    })
}

/// Values that fit their attributes, and what did not fit.
#[derive(Default)]
struct Checked {
    values: Vec<(&'static str, Fitting, Mark)>,
    mistakes: Vec<Diagnostic>,
}

enum Fitting {
    Text(SecretString),
    Boolean(bool),
    Integer(i64),
}

impl Checked {
    fn add(&mut self, given: Given, attributes: &[&Attribute]) {
        let Some(attribute) = attributes.iter().find(|attribute| {
            attribute.name == given.key || attribute.aliases.contains(&given.key.as_str())
        }) else {
            let names = attributes.iter().map(|attribute| attribute.name);
            let help = match nearest(&given.key, names.clone()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known attributes: {}", names.collect::<Vec<_>>().join(", ")),
            };
            self.mistakes.push(
                Diagnostic::error(
                    "connection-unknown",
                    format!("Unknown attribute: {}", given.key),
                )
                .at(&given.key_mark.source, given.key_mark.span, "")
                .help(help),
            );
            return;
        };
        if let Some(first) = self.place(attribute.name) {
            self.mistakes.push(
                Diagnostic::error(
                    "connection-twice",
                    format!("`{}` is given twice", attribute.name),
                )
                .at(&given.key_mark.source, given.key_mark.span.clone(), "")
                .at(&first.source, first.span.clone(), "first here")
                .help("two spellings mean the same attribute; keep one"),
            );
            return;
        }
        match fit(&given.value, attribute.kind) {
            Ok(value) => self.values.push((attribute.name, value, given.key_mark)),
            Err(expected) => {
                // The attribute counts as given: it is not missing as well.
                self.mistakes.push(
                    Diagnostic::error(
                        "connection-type",
                        format!("Value type mismatch: `{}` expects {expected}", given.key),
                    )
                    .at(&given.mark.source, given.mark.span, ""),
                );
                let nothing = Fitting::Text(String::new().into());
                self.values.push((attribute.name, nothing, given.key_mark));
            }
        }
    }

    fn place(&self, name: &str) -> Option<&Mark> {
        self.values
            .iter()
            .find(|(known, _, _)| *known == name)
            .map(|(_, _, mark)| mark)
    }

    fn value(&self, name: &str) -> Option<&Fitting> {
        self.values
            .iter()
            .find(|(known, _, _)| *known == name)
            .map(|(_, value, _)| value)
    }

    fn secret(&self, name: &str) -> Option<SecretString> {
        match self.value(name) {
            Some(Fitting::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        self.secret(name)
            .map(|text| text.expose_secret().to_owned())
    }

    fn boolean(&self, name: &str, default: bool) -> bool {
        match self.value(name) {
            Some(Fitting::Boolean(truth)) => *truth,
            _ => default,
        }
    }

    fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Some(Fitting::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    fn seconds(&self, name: &str, default: u64) -> Duration {
        let given = self
            .integer(name)
            .and_then(|number| u64::try_from(number).ok());
        Duration::from_secs(given.unwrap_or(default))
    }
}

/// The value as the attribute takes it, or what the attribute expects. Numbers and booleans may
/// arrive as text.
fn fit(value: &GivenValue, kind: Kind) -> Result<Fitting, String> {
    let as_text = match value {
        GivenValue::Text(text) => Some(text.expose_secret()),
        _ => None,
    };
    match kind {
        Kind::Text => match value {
            GivenValue::Text(text) => Ok(Fitting::Text(text.clone())),
            // An unquoted password of digits arrives as a number.
            GivenValue::Integer(number) => Ok(Fitting::Text(number.to_string().into())),
            other => Err(format!("a text, got {}", kind_of(other))),
        },
        Kind::Boolean => match (value, as_text) {
            (GivenValue::Bool(truth), _) => Ok(Fitting::Boolean(*truth)),
            (_, Some("true")) => Ok(Fitting::Boolean(true)),
            (_, Some("false")) => Ok(Fitting::Boolean(false)),
            _ => Err(format!("true or false, got {}", kind_of(value))),
        },
        Kind::Integer { low, high } => {
            let number = match value {
                GivenValue::Integer(number) => Some(*number),
                _ => as_text.and_then(|text| text.trim().parse().ok()),
            };
            match number {
                Some(number) if (low..=high).contains(&number) => Ok(Fitting::Integer(number)),
                Some(_) => Err(format!("a number from {low} to {high}")),
                None => Err(format!(
                    "a number from {low} to {high}, got {}",
                    kind_of(value)
                )),
            }
        }
        Kind::OneOf(words) => match as_text {
            Some(text) if words.contains(&text) => Ok(Fitting::Text(text.to_owned().into())),
            _ => Err(format!("one of {}", words.join(", "))),
        },
    }
}

fn kind_of(value: &GivenValue) -> &'static str {
    match value {
        GivenValue::Bool(_) => "a boolean",
        GivenValue::Integer(_) => "an integer",
        GivenValue::Text(_) => "a string",
        GivenValue::Other(kind) => kind,
    }
}

fn target(
    entry: &Entry,
    checked: &Checked,
    legacy: bool,
    around: Surroundings<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> Target {
    let port = checked
        .integer("port")
        .and_then(|port| u16::try_from(port).ok());
    let log = entry.debug || checked.boolean("ssh_logging", false);
    Target {
        device: entry.name.clone(),
        host: checked.text("host").expect("required"),
        port,
        user: checked.text("user").expect("required"),
        password: checked.secret("password"),
        enable_password: checked.secret("enable_password"),
        ssh: SshOptions {
            private_key: checked.text("private_key_file").map(PathBuf::from),
            passphrase: None,
            agent: None,
            host_key: host_key(entry, checked, around, warnings),
            algorithms: if checked.boolean("ssh_legacy_algorithms", false) {
                Algorithms::Legacy
            } else {
                Algorithms::Modern
            },
            jump: None,
        },
        rest: RestOptions {
            token: None,
            login: match checked.text("auth").as_deref() {
                Some("token") => RestLogin::Token,
                Some("basic") => RestLogin::Basic,
                _ => RestLogin::Auto,
            },
            login_provider: checked.text("login_provider"),
            tls: tls(entry, checked, legacy, around, warnings),
            proxy: None,
        },
        connect_timeout: checked.seconds("timeout", 30),
        command_timeout: checked.seconds("command_timeout", 120),
        transcript: log.then(|| {
            checked
                .text("ssh_log_file")
                .map_or_else(|| around.device_dir.join("SSH_I_DUMPED"), PathBuf::from)
        }),
    }
}

/// First use is trusted, as the peer does: its users have no file to begin with.
fn host_key(
    entry: &Entry,
    checked: &Checked,
    around: Surroundings<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> HostKeyPolicy {
    if !checked.boolean("verify_hosts", true) {
        warnings.push(
            Diagnostic::warning("host-key-ignored", "the device's host key is not checked")
                .at(&entry.head.source, entry.head.span.clone(), "")
                .help("remove `verify_hosts: false`, or pin the key with `host_key_fingerprint`"),
        );
        return HostKeyPolicy::Ignore;
    }
    if let Some(fingerprint) = checked.text("host_key_fingerprint") {
        return HostKeyPolicy::Fingerprint(fingerprint);
    }
    let file = checked.text("known_hosts_file").map_or_else(
        || around.device_dir.join("ssl").join("known_hosts"),
        PathBuf::from,
    );
    HostKeyPolicy::TrustOnFirstUse(vec![file])
}

/// Legacy URLs never had a way to say anything about TLS: their first contact is remembered.
fn tls(
    entry: &Entry,
    checked: &Checked,
    legacy: bool,
    around: Surroundings<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> TlsPolicy {
    if let Some(fingerprint) = checked.text("fingerprint") {
        return TlsPolicy::Fingerprint(fingerprint);
    }
    if let Some(file) = checked.text("ca_file") {
        return TlsPolicy::CaFile(PathBuf::from(file));
    }
    if legacy && takes_url(&entry.kind, "https") {
        warnings.push(
            Diagnostic::warning(
                "tls-first-use",
                "the device's certificate is trusted on first contact and required from then on",
            )
            .at(&entry.url.source, entry.url.span.clone(), "")
            .help("use `url file:///…` with `fingerprint` or `ca_file` to pin it"),
        );
        return TlsPolicy::TrustOnFirstUse(
            around.device_dir.join("ssl").join("device_fingerprint"),
        );
    }
    if !checked.boolean("ssl_verify", true) {
        warnings.push(
            Diagnostic::warning("tls-ignored", "the device's certificate is not checked")
                .at(&entry.head.source, entry.head.span.clone(), "")
                .help("pin it with `fingerprint`, or name its CA with `ca_file`"),
        );
        return TlsPolicy::Ignore;
    }
    TlsPolicy::System
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::super::super::Secrets;
    use super::super::{Readers, parse};
    use super::*;

    async fn connect(kind: &str, credentials: &str) -> Result<Connection, Vec<Diagnostic>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sw1.conf");
        std::fs::write(&path, credentials).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        from_conf(&format!(
            "[sw1]\ntype {kind}\nurl file://{}\n",
            path.display()
        ))
        .await
    }

    async fn from_conf(text: &str) -> Result<Connection, Vec<Diagnostic>> {
        let secrets = Secrets::new(false);
        parse("device.conf", text).unwrap()[0]
            .connection(Surroundings {
                secrets: &secrets,
                device_dir: Path::new("/var/devices/sw1"),
                readers: Readers::OwnerAndGroup,
            })
            .await
    }

    #[tokio::test]
    async fn both_spellings_make_the_same_target() {
        for text in [
            "host: 10.0.0.1\nport: 2222\nuser: ops\npassword: s3cret\nenable_password: en\n",
            "{\"address\":\"10.0.0.1\",\"port\":\"2222\",\"username\":\"ops\",\"password\":\"s3cret\",\"enable_password\":\"en\"}",
        ] {
            let connection = connect("cisco_ios", text).await.unwrap();
            let target = &connection.target;
            assert_eq!(connection.platform, "cisco_ios");
            assert_eq!(
                (target.host.as_str(), target.port, target.user.as_str()),
                ("10.0.0.1", Some(2222), "ops")
            );
            assert_eq!(target.password.as_ref().unwrap().expose_secret(), "s3cret");
            assert_eq!(
                target.enable_password.as_ref().unwrap().expose_secret(),
                "en"
            );
            assert_eq!(
                (
                    target.connect_timeout.as_secs(),
                    target.command_timeout.as_secs()
                ),
                (30, 120)
            );
            assert_eq!(
                target.ssh.host_key,
                HostKeyPolicy::TrustOnFirstUse(vec!["/var/devices/sw1/ssl/known_hosts".into()])
            );
            assert!(connection.warnings.is_empty());
        }
    }

    #[tokio::test]
    async fn all_mistakes_are_told_together_and_without_values() {
        let found = connect(
            "cisco_ios",
            "hots: h\nport: s3cret\npassword: [s3cret]\nverify_hosts: maybe\nssl_verify: true\nusername: a\nuser: b\n",
        )
        .await
        .unwrap_err();
        let told: Vec<_> = found
            .iter()
            .map(|found| {
                (
                    found.message.as_str(),
                    found.labels[0]
                        .source
                        .position(found.labels[0].span.start)
                        .0,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (
                    "The connection info provided does not match the Transport Schema for cisco_ios",
                    1
                ),
                ("Unknown attribute: hots", 1),
                (
                    "Value type mismatch: `port` expects a number from 1 to 65535, got a string",
                    2
                ),
                (
                    "Value type mismatch: `password` expects a text, got a list",
                    3
                ),
                (
                    "Value type mismatch: `verify_hosts` expects true or false, got a string",
                    4
                ),
                ("Unknown attribute: ssl_verify", 5),
                ("`user` is given twice", 7),
                ("the connection has no `host`", 1),
            ]
        );
        assert_eq!(found[1].help.as_deref(), Some("did you mean `host`?"));
        assert!(!format!("{found:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn legacy_urls_make_targets() {
        let switch = from_conf("[a]\ntype cisco\nurl ssh://ops:p@sw1:2222/?enable=en\ndebug\n")
            .await
            .unwrap();
        assert_eq!(
            (switch.platform.as_str(), switch.target.port),
            ("cisco_ios", Some(2222))
        );
        assert_eq!(
            switch
                .target
                .enable_password
                .as_ref()
                .unwrap()
                .expose_secret(),
            "en"
        );
        assert_eq!(
            switch.target.transcript.as_deref(),
            Some(Path::new("/var/devices/sw1/SSH_I_DUMPED"))
        );

        let balancer = from_conf("[a]\ntype f5\nurl https://admin:p%2Fw@lb1/\n")
            .await
            .unwrap();
        assert_eq!(balancer.platform, "f5_bigip");
        assert_eq!(
            balancer.target.password.as_ref().unwrap().expose_secret(),
            "p/w"
        );
        assert!(matches!(
            balancer.target.rest.tls,
            TlsPolicy::TrustOnFirstUse(_)
        ));
        assert_eq!(balancer.warnings[0].code, "tls-first-use");
    }

    #[tokio::test]
    async fn urls_that_a_type_does_not_take_are_refused() {
        for (text, message) in [
            (
                "[a]\ntype f5\nurl ssh://u:s3cret@h/\n",
                "Unexpected url 'ssh://••••@h/' found. Only file:/// URLs for configuration supported at the moment.",
            ),
            (
                "[a]\ntype cisco_ios\nurl /etc/x.conf\n",
                "Unexpected url '/etc/x.conf' found. Only file:/// URLs for configuration supported at the moment.",
            ),
            (
                "[a]\ntype cisco\nurl telnet://u:s3cret@h/\n",
                "telnet is not supported",
            ),
            (
                "[a]\ntype cisco_ios\nurl file:////nonexistent/x.conf\n",
                "Trying to load config from '/nonexistent/x.conf', but file does not exist.",
            ),
        ] {
            let found = from_conf(text).await.unwrap_err();
            assert_eq!(found[0].message, message);
            assert!(!format!("{found:?}").contains("s3cret"));
        }
    }

    #[tokio::test]
    async fn checks_that_are_turned_off_are_warned_about() {
        let switch = connect("cisco_ios", "host: h\nuser: u\nverify_hosts: false")
            .await
            .unwrap();
        assert_eq!(switch.target.ssh.host_key, HostKeyPolicy::Ignore);
        assert_eq!(switch.save, SavePolicy::Never);
        assert_eq!(switch.warnings[0].code, "host-key-ignored");
        let balancer = connect(
            "f5",
            "host: h\nuser: u\nssl_verify: false\nsave_config: always",
        )
        .await
        .unwrap();
        assert_eq!(balancer.target.rest.tls, TlsPolicy::Ignore);
        assert_eq!(balancer.warnings[0].code, "tls-ignored");
        assert_eq!(balancer.save, SavePolicy::Always);
    }
}
