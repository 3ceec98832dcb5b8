//! Connection parameters of a device: from its attributes, otherwise defaults.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::LineTransport;
use switchtender_devices::session::connect_params::{
    Algorithms, ConnectParams, HostKeyPolicy, LimitSettings, RestLogin, RestOptions, SshOptions,
    TlsPolicy,
};
use switchtender_devices::session::deadline::Deadline;
use switchtender_devices::session::fence::NoFence;
use switchtender_devices::session::ledger::{LockWait, NoLedger};

use super::checked::CheckedAttributes;
use crate::device_conf::{ConnectionWarnings, DeviceSection, ResolveContext};

pub(crate) fn target(
    entry: &DeviceSection,
    checked: &CheckedAttributes,
    legacy: bool,
    context: ResolveContext<'_>,
    warnings: &mut ConnectionWarnings,
) -> ConnectParams {
    let port = checked
        .integer("port")
        .and_then(|port| u16::try_from(port).ok());
    let log = entry.debug || checked.boolean("ssh_logging", false);
    ConnectParams {
        device: entry.name.to_string(),
        host: checked.text("host").expect("required"),
        port,
        user: checked.text("user").expect("required"),
        password: checked.secret("password"),
        enable_password: checked.secret("enable_password"),
        prompt: None,
        transport: transport(entry, checked, legacy),
        ssh: SshOptions {
            private_key: checked.text("private_key_file").map(PathBuf::from),
            passphrase: None,
            agent: None,
            host_key: host_key(entry, checked, context, warnings),
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
            tls: tls(entry, checked, legacy, context, warnings),
            proxy: None,
            socket: None,
        },
        connect_timeout: checked.seconds("timeout", 30),
        command_timeout: checked.seconds("command_timeout", 120),
        limits: LimitSettings {
            login: checked.duration("login_limit"),
            command: checked.duration("command_limit"),
            run: checked.duration("run_limit"),
        },
        deadline: Deadline::default(),
        fence: Arc::new(NoFence),
        ledger: Arc::new(NoLedger),
        lock_wait: LockWait::default(),
        transcript: log.then(|| {
            checked
                .text("ssh_log_file")
                .map_or_else(|| context.device_dir.join("SSH_I_DUMPED"), PathBuf::from)
        }),
        recording: None,
        mask: SecretMask::default(),
    }
}

/// A legacy URL names the transport by its scheme.
fn transport(entry: &DeviceSection, checked: &CheckedAttributes, legacy: bool) -> LineTransport {
    let named = checked.text("transport").is_some_and(|word| word == "http");
    if named || legacy && entry.url_text().starts_with("https:") {
        LineTransport::Http
    } else {
        LineTransport::Ssh
    }
}

/// Trusts the first contact like `puppet device`, because its users have no known_hosts file.
fn host_key(
    entry: &DeviceSection,
    checked: &CheckedAttributes,
    context: ResolveContext<'_>,
    warnings: &mut ConnectionWarnings,
) -> HostKeyPolicy {
    if !checked.boolean("verify_hosts", true) {
        warnings.of_session.push(
            Diagnostic::warning(
                "host-key-ignored",
                "the host key of the device is not verified",
            )
            .at(&entry.head.source, entry.head.span.clone(), "")
            .help("remove `verify_hosts: false`, or pin the key with `host_key_fingerprint`"),
        );
        return HostKeyPolicy::Ignore;
    }
    if let Some(fingerprint) = checked.text("host_key_fingerprint") {
        return HostKeyPolicy::Fingerprint(fingerprint);
    }
    let file = checked.text("known_hosts_file").map_or_else(
        || context.device_dir.join("ssl").join("known_hosts"),
        PathBuf::from,
    );
    HostKeyPolicy::TrustOnFirstUse(vec![file])
}

/// Legacy URLs have no TLS options: the certificate of the first contact is stored.
fn tls(
    entry: &DeviceSection,
    checked: &CheckedAttributes,
    legacy: bool,
    context: ResolveContext<'_>,
    warnings: &mut ConnectionWarnings,
) -> TlsPolicy {
    if let Some(fingerprint) = checked.text("fingerprint") {
        return TlsPolicy::Fingerprint(fingerprint);
    }
    if let Some(file) = checked.text("ca_file") {
        return TlsPolicy::CaFile(PathBuf::from(file));
    }
    if legacy && entry.url_text().starts_with("https:") {
        warnings.of_section.push(
            Diagnostic::warning(
                "tls-first-use",
                "the device's certificate is trusted on first contact and required from then on",
            )
            .at(&entry.url.source, entry.url.span.clone(), "")
            .help("use `url file:///…` with `fingerprint` or `ca_file` to pin it"),
        );
        return TlsPolicy::TrustOnFirstUse(
            context.device_dir.join("ssl").join("device_fingerprint"),
        );
    }
    if !checked.boolean("ssl_verify", true) {
        warnings.of_session.push(
            Diagnostic::warning(
                "tls-ignored",
                "the certificate of the device is not verified",
            )
            .at(&entry.head.source, entry.head.span.clone(), "")
            .help("pin it with `fingerprint`, or set its CA with `ca_file`"),
        );
        return TlsPolicy::Ignore;
    }
    TlsPolicy::System
}
