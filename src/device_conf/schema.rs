//! The schema of connection attributes. [`checked`] validates the values, [`mod@target`] converts
//! them to connection parameters.

mod checked;
mod target;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::{Platform, Transport};

use self::checked::CheckedAttributes;
use self::target::target;
use super::{ConnectionSettings, ConnectionWarnings, DeviceSection, RawAttributes, ResolveContext};
use crate::inventory::SavePolicy;

/// An attribute of a connection.
struct Attribute {
    name: &'static str,
    /// Other spellings in older files.
    aliases: &'static [&'static str],
    kind: AttributeType,
    required: bool,
    /// Transports with this attribute.
    scope: Scope,
}

#[derive(Clone, Copy)]
enum AttributeType {
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
    /// A command line over SSH or HTTP.
    Lines,
}

const fn text(name: &'static str, scope: Scope) -> Attribute {
    Attribute {
        name,
        aliases: &[],
        kind: AttributeType::Text,
        required: false,
        scope,
    }
}

const fn seconds(name: &'static str) -> Attribute {
    Attribute {
        kind: AttributeType::Integer {
            low: 1,
            high: 86_400,
        },
        ..text(name, Scope::Any)
    }
}

const fn boolean(name: &'static str, scope: Scope) -> Attribute {
    Attribute {
        kind: AttributeType::Boolean,
        ..text(name, scope)
    }
}

/// `docs/reference/agent-protocol.md` section 2, `docs/reference/devices/cisco_ios.md` section 2.1,
/// `docs/reference/devices/f5_bigip.md` section 1.
const ATTRIBUTES: &[Attribute] = &[
    Attribute {
        aliases: &["address"],
        required: true,
        ..text("host", Scope::Any)
    },
    Attribute {
        kind: AttributeType::Integer {
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
    seconds("login_limit"),
    seconds("command_limit"),
    seconds("run_limit"),
    text("enable_password", Scope::Ssh),
    boolean("verify_hosts", Scope::Ssh),
    text("known_hosts_file", Scope::Ssh),
    text("host_key_fingerprint", Scope::Ssh),
    text("private_key_file", Scope::Ssh),
    boolean("ssh_legacy_algorithms", Scope::Ssh),
    boolean("ssh_logging", Scope::Ssh),
    text("ssh_log_file", Scope::Ssh),
    Attribute {
        kind: AttributeType::OneOf(&["ssh", "http"]),
        ..text("transport", Scope::Lines)
    },
    Attribute {
        kind: AttributeType::OneOf(&["auto", "token", "basic"]),
        ..text("auth", Scope::Rest)
    },
    text("login_provider", Scope::Rest),
    boolean("ssl_verify", Scope::Rest),
    text("ca_file", Scope::Rest),
    text("fingerprint", Scope::Rest),
    Attribute {
        kind: AttributeType::OneOf(&["never", "always", "on_change"]),
        ..text("save_config", Scope::Any)
    },
    Attribute {
        kind: AttributeType::OneOf(&["auto", "always", "never"]),
        ..text("transaction", Scope::Rest)
    },
];

/// The platform of a type of `device.conf`, by name or alias. A type without a platform accepts the
/// attributes of all transports.
fn platform<'a>(kind: &str, context: ResolveContext<'a>) -> Option<&'a Platform> {
    let platform = context.definitions?.platform_by_alias(kind)?;
    Some(platform)
}

/// Whether a type accepts a legacy URL of this scheme.
pub(crate) fn takes_url(kind: &str, scheme: &str, context: ResolveContext<'_>) -> bool {
    platform(kind, context).is_none_or(|platform| match platform.transport {
        Transport::SshCli if platform.protocol().has_line_requests() => true,
        Transport::SshCli | Transport::Netconf => scheme == "ssh",
        Transport::Rest => scheme == "https",
    })
}

/// Validates all attributes, collects the errors, and creates the connection settings.
pub(crate) fn connection(
    entry: &DeviceSection,
    supplied: RawAttributes,
    legacy: bool,
    context: ResolveContext<'_>,
) -> Result<ConnectionSettings, Vec<Diagnostic>> {
    let platform = platform(&entry.kind, context);
    let has_requests = platform.is_some_and(|one| one.protocol().has_line_requests());
    let scope = match platform.map(|platform| platform.transport) {
        None => Scope::Any,
        Some(_) if has_requests => Scope::Any,
        Some(Transport::SshCli | Transport::Netconf) => Scope::Ssh,
        Some(Transport::Rest) => Scope::Rest,
    };
    let attributes: Vec<&Attribute> = ATTRIBUTES
        .iter()
        .filter(|attribute| match attribute.scope {
            Scope::Any => true,
            Scope::Lines => has_requests || platform.is_none(),
            own => scope == Scope::Any || own == scope,
        })
        .collect();
    let mut checked = CheckedAttributes::default();
    for value in supplied.values {
        checked.add(value, &attributes);
    }
    for attribute in attributes.iter().filter(|attribute| attribute.required) {
        if checked.mark(attribute.name).is_none() {
            checked.errors.push(
                Diagnostic::error(
                    "connection-missing",
                    format!("the attribute `{}` is missing", attribute.name),
                )
                .at(&supplied.source, 0..0, ""),
            );
        }
    }
    if !checked.errors.is_empty() {
        let heading = Diagnostic::error(
            "connection-schema",
            format!(
                "The connection info provided does not match the Transport Schema for {}",
                entry.kind
            ),
        )
        .at(&entry.head.source, entry.head.span.clone(), "");
        checked.errors.insert(0, heading);
        return Err(checked.errors);
    }
    let mut warnings = ConnectionWarnings::default();
    let target = target(entry, &checked, legacy, context, &mut warnings);
    let save = checked.text("save_config");
    let transaction = checked.text("transaction");
    Ok(ConnectionSettings {
        platform: platform.map_or_else(
            || entry.kind.as_str().into(),
            |platform| platform.name.clone(),
        ),
        target,
        redacted_url: entry.redacted_url(),
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use secrecy::ExposeSecret as _;
    use switchtender_devices::driver::Registry;
    use switchtender_devices::session::connect_params::{HostKeyPolicy, TlsPolicy};

    use super::super::{CredentialsReaders, parse};
    use super::*;
    use crate::inventory::Secrets;

    async fn connect(kind: &str, credentials: &str) -> Result<ConnectionSettings, Vec<Diagnostic>> {
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

    async fn from_conf(text: &str) -> Result<ConnectionSettings, Vec<Diagnostic>> {
        let (secrets, definitions) = (Secrets::new(false), Registry::shipped());
        parse("device.conf", text).unwrap()[0]
            .connection(ResolveContext {
                secrets: &secrets,
                device_dir: Path::new("/var/devices/sw1"),
                readers: CredentialsReaders::Group,
                definitions: Some(&definitions),
            })
            .await
    }

    #[tokio::test]
    async fn connection_accepts_both_spellings_of_attributes() {
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
            assert!(connection.warnings.of_section.is_empty());
            assert!(connection.warnings.of_session.is_empty());
        }
    }

    #[tokio::test]
    async fn connection_errors_are_reported_together_without_values() {
        let found = connect(
            "cisco_ios",
            "hots: h\nport: s3cret\npassword: [s3cret]\nverify_hosts: maybe\nssl_verify: true\nusername: a\nuser: b\n",
        )
        .await
        .unwrap_err();
        let messages: Vec<_> = found
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
            messages,
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
                    "Value type mismatch: `password` expects a string, got a list",
                    3
                ),
                (
                    "Value type mismatch: `verify_hosts` expects true or false, got a string",
                    4
                ),
                ("Unknown attribute: ssl_verify", 5),
                ("duplicate attribute `user`", 7),
                ("the attribute `host` is missing", 1),
            ]
        );
        assert_eq!(found[1].help.as_deref(), Some("did you mean `host`?"));
        assert!(!format!("{found:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn connection_from_legacy_urls() {
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
        assert_eq!(balancer.warnings.of_section[0].code, "tls-first-use");
    }

    #[tokio::test]
    async fn connection_rejects_unsupported_urls() {
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
    async fn connection_warns_about_disabled_checks() {
        let switch = connect("cisco_ios", "host: h\nuser: u\nverify_hosts: false")
            .await
            .unwrap();
        assert_eq!(switch.target.ssh.host_key, HostKeyPolicy::Ignore);
        assert_eq!(switch.save, SavePolicy::Never);
        assert_eq!(switch.warnings.of_session[0].code, "host-key-ignored");
        let balancer = connect(
            "f5",
            "host: h\nuser: u\nssl_verify: false\nsave_config: always",
        )
        .await
        .unwrap();
        assert_eq!(balancer.target.rest.tls, TlsPolicy::Ignore);
        assert_eq!(balancer.warnings.of_session[0].code, "tls-ignored");
        assert_eq!(balancer.save, SavePolicy::Always);
    }
}
