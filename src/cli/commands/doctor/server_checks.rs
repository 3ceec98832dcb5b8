//! Checks of what a run against a Puppet Server needs.

use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::names::{Certname, PlatformName};
use switchtender_devices::regular_file;
use switchtender_devices::session::{self, Access};

use super::check_result::{CheckResult, CheckState};
use super::{DoctorArgs, check_writable};
use crate::agent::ca::bootstrap::TlsCredentials;
use crate::agent::ca::local_identity;
use crate::agent::client::endpoint::{self, Endpoint};
use crate::agent::client::pluginsync::Definitions;
use crate::agent::client::report_spool::ReportSpool;
use crate::agent::disabled;
use crate::agent::http::tls::Trust;
use crate::agent::http::{Client, RequestError, RequestErrorKind};
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::{Server, Settings};
use crate::cli::exit::CommandError;
use crate::device_conf::{self, DeviceSection, ResolveContext};
use crate::error_chain::chain;
use crate::inventory::Secrets;

/// A certificate that expires within this time is a warning.
pub(super) const EXPIRES_SOON: Duration = Duration::from_secs(30 * 86_400);

/// Checks the settings, the servers and the devices of `device.conf`.
pub(super) async fn check_all(args: &DoctorArgs) -> Result<Vec<CheckResult>, CommandError> {
    let settings = Arc::new(args.settings.read()?);
    let mut checks = vec![CheckResult::new(
        "settings",
        CheckState::Ok,
        format!(
            "set in puppet.conf or by flags: {}",
            settings.supplied.len()
        ),
    )];
    for directory in [&settings.confdir, &settings.vardir] {
        checks.push(check_writable(directory, "--confdir or --vardir"));
    }
    let devices = match device_conf::load_all(&settings.deviceconfig) {
        Err(found) => {
            checks.extend(
                found
                    .iter()
                    .map(|found| CheckResult::finding("device.conf", found)),
            );
            return Ok(checks);
        }
        Ok(devices) => devices,
    };
    let file = settings.deviceconfig.display();
    let text = format!("devices in {file}: {}", devices.len());
    checks.push(if !settings.deviceconfig.exists() {
        let text = format!("{file} does not exist");
        let hint = "`switchtender device` needs it; check an inventory with --inventory FILE";
        CheckResult::new("device.conf", CheckState::Error, text).hint(Some(hint.to_owned()))
    } else if devices.is_empty() {
        CheckResult::new("device.conf", CheckState::Error, text)
            .hint(Some("add a section for each device".to_owned()))
    } else {
        CheckResult::new("device.conf", CheckState::Ok, text)
    });
    let desired: Vec<&DeviceSection> = devices
        .iter()
        .filter(|device| {
            args.target.is_empty() || args.target.iter().any(|name| device.name == *name)
        })
        .collect();
    for name in &args.target {
        if !devices.iter().any(|device| device.name == *name) {
            checks.push(CheckResult::new(
                name,
                CheckState::Error,
                format!("not found in {}", settings.deviceconfig.display()),
            ));
        }
    }
    checks.extend(check_servers(&settings, desired.first().copied()).await);
    let secrets = Secrets::new(false);
    let device_checks = desired
        .iter()
        .map(|device| check_device(args, &settings, &secrets, device));
    for found in futures_util::future::join_all(device_checks).await {
        checks.extend(found);
    }
    Ok(checks)
}

/// Checks each server of a run, verified with the CA bundle of a device if there is one.
async fn check_servers(settings: &Settings, device: Option<&DeviceSection>) -> Vec<CheckResult> {
    let bundle = device
        .map(|device| Layout::new(settings, &device.certname))
        .and_then(|layout| regular_file::read_text(&layout.ca(), regular_file::LARGEST).ok())
        .or_else(|| {
            let path = settings.ssldir.join("certs/ca.pem");
            regular_file::read_text(&path, regular_file::LARGEST).ok()
        });
    let verified = bundle.is_some();
    let trust = bundle.map_or(Trust::FirstContact, |ca| {
        // Missing or damaged CRLs are a result of their own for each device.
        let layout = device.map(|device| Layout::new(settings, &device.certname));
        let check =
            layout.and_then(|layout| local_identity::revocation(settings, &layout, &ca).ok());
        Trust::Bundle {
            ca,
            revocation: check.flatten(),
        }
    });
    let mut all: Vec<&Server> = settings.server_list.iter().collect();
    if all.is_empty() {
        all.push(&settings.server);
    }
    all.extend(&settings.ca_server);
    all.extend(&settings.report_server);
    let client = match Client::new(&settings.http, Duration::ZERO, &trust, None) {
        Ok(client) => client,
        Err(error) => {
            return vec![
                CheckResult::new("CA bundle", CheckState::Error, chain(&error)).hint(Some(
                    "remove certs/ca.pem of the device: the next run downloads it again".to_owned(),
                )),
            ];
        }
    };
    let mut checks = Vec::new();
    for server in all {
        let subject = format!("server {server}");
        checks.push(match endpoint::status(&client, server).await {
            Ok(()) if verified => CheckResult::new(subject, CheckState::Ok, "running"),
            Ok(()) => CheckResult::new(
                subject,
                CheckState::Warning,
                "running; there is no CA bundle yet",
            )
            .hint(Some(
                "set ca_fingerprint; without it the first run trusts the bundle that it downloads"
                    .to_owned(),
            )),
            Err(error) => {
                CheckResult::new(subject, CheckState::Error, chain(&error)).hint(error.hint())
            }
        });
    }
    checks
}

async fn check_device(
    args: &DoctorArgs,
    settings: &Settings,
    secrets: &Secrets,
    device: &DeviceSection,
) -> Vec<CheckResult> {
    let layout = Layout::new(settings, &device.certname);
    let (mut checks, ready) = check_certificate(settings, &layout);
    if let Some(ready) = ready {
        checks.push(check_server_accepts(settings, &device.certname, &ready).await);
    }
    checks.extend(check_run_state(&layout));
    let registry = match Definitions::default().of(&layout) {
        Ok(registry) => registry,
        Err(error) => {
            checks.push(CheckResult::new(
                &device.name,
                CheckState::Error,
                chain(&error),
            ));
            return checks;
        }
    };
    let context = ResolveContext {
        secrets,
        device_dir: &layout.var,
        readers: args.credentials_readers,
        definitions: Some(&registry),
    };
    let connection = match device.connection(context).await {
        Ok(connection) => connection,
        Err(found) => {
            checks.extend(
                found
                    .iter()
                    .map(|found| CheckResult::finding(&device.name, found)),
            );
            return checks;
        }
    };
    checks.extend(
        connection
            .warnings
            .of_section
            .iter()
            .chain(&connection.warnings.of_session)
            .map(|found| CheckResult::finding(&device.name, found)),
    );
    let Some(platform) = registry.platform(&connection.platform) else {
        let platforms: Vec<&str> = registry
            .platform_names()
            .map(PlatformName::as_str)
            .collect();
        checks.push(
            CheckResult::new(
                &device.name,
                CheckState::Error,
                format!("unknown device type {}", device.kind),
            )
            .hint(Some(format!(
                "platforms: {}; a module of the environment can add one",
                platforms.join(", ")
            ))),
        );
        return checks;
    };
    if args.offline {
        return checks;
    }
    checks.push(
        match session::open(&connection.target, platform.protocol(), Access::ReadOnly).await {
            Ok(mut session) => {
                let notes = session.notes();
                let login = session.statistics().login;
                session.close().await;
                let text = format!(
                    "logged in at {} in {:.1} s",
                    connection.redacted_url,
                    login.as_secs_f64()
                );
                let state = if notes.is_empty() {
                    CheckState::Ok
                } else {
                    CheckState::Warning
                };
                CheckResult::new(&device.name, state, [vec![text], notes].concat().join("; "))
            }
            Err(error) => {
                let text = chain(&error);
                let own = format!("{}: ", device.name);
                let text = text.strip_prefix(&own).unwrap_or(&text);
                CheckResult::new(&device.name, CheckState::Error, text).hint(error.hint())
            }
        },
    );
    checks
}

/// Checks the local key and certificate of a device. Requests nothing.
fn check_certificate(
    settings: &Settings,
    layout: &Layout,
) -> (Vec<CheckResult>, Option<TlsCredentials>) {
    let name = &layout.certname;
    let mut checks = Vec::new();
    if let Ok(metadata) = std::fs::metadata(layout.key())
        && metadata.mode() & 0o007 != 0
    {
        checks.push(
            CheckResult::new(
                name,
                CheckState::Error,
                "all users can read its private key",
            )
            .hint(Some(format!("chmod 0640 {}", layout.key().display()))),
        );
    }
    let ready = match local_identity::load(settings, layout) {
        Ok(Some(ready)) => ready,
        Ok(None) => {
            checks.push(
                CheckResult::new(name, CheckState::Warning, "has no certificate yet").hint(Some(
                    format!("request it with `switchtender cert request {name}`, or start a run"),
                )),
            );
            return (checks, None);
        }
        Err(error) => {
            checks
                .push(CheckResult::new(name, CheckState::Error, chain(&error)).hint(error.hint()));
            return (checks, None);
        }
    };
    let until = ready.certificate.not_after;
    let left = until.duration_since(crate::clock::timestamp());
    let left = Duration::try_from(left).unwrap_or_default();
    let text = format!("certificate until {until}");
    checks.push(if left < EXPIRES_SOON {
        let renew = format!(
            "renew it: `puppetserver ca clean --certname {name}` on the server, then `switchtender cert clean {name}`"
        );
        let text = format!("{text}, days left: {}", left.as_secs() / 86_400);
        CheckResult::new(name, CheckState::Warning, text).hint(Some(renew))
    } else {
        CheckResult::new(name, CheckState::Ok, text)
    });
    (checks, Some(ready))
}

/// Checks whether the server accepts the certificate of the device, as at the start of a run.
async fn check_server_accepts(
    settings: &Settings,
    name: &Certname,
    ready: &TlsCredentials,
) -> CheckResult {
    let client = Client::new(
        &settings.http,
        Duration::ZERO,
        &ready.trust,
        Some(&ready.identity),
    );
    let client = match client {
        Ok(client) => client,
        Err(error) => {
            return CheckResult::new(name, CheckState::Error, chain(&error)).hint(Some(format!(
                "find the files with `switchtender cert show {name}`; removed bundles are downloaded again"
            )));
        }
    };
    let endpoint = Endpoint {
        client: &client,
        server: settings.server_list.first().unwrap_or(&settings.server),
        certname: name,
        transaction_uuid: "",
    };
    let environment = &settings.environment.name;
    match endpoint.node(environment, environment).await {
        Ok(named) => CheckResult::new(
            name,
            CheckState::Ok,
            format!(
                "accepted by the server, environment {}",
                named.as_ref().unwrap_or(environment)
            ),
        ),
        // The check of the server reports the cause.
        Err(RequestError {
            kind: RequestErrorKind::Unreachable(_) | RequestErrorKind::Timeout(_),
            ..
        }) => CheckResult::new(
            name,
            CheckState::Warning,
            "cannot check the certificate: the server does not respond",
        ),
        Err(error) => CheckResult::new(name, CheckState::Error, chain(&error)).hint(error.hint()),
    }
}

/// Checks the state of earlier runs: disabled devices, reports to send.
fn check_run_state(layout: &Layout) -> Vec<CheckResult> {
    let name = &layout.certname;
    let mut checks = Vec::new();
    match disabled::reason(layout) {
        Ok(None) => {}
        Ok(Some(reason)) => checks.push(
            CheckResult::new(name, CheckState::Warning, format!("disabled: {reason}")).hint(Some(
                format!("enable it with `switchtender device --enable --target {name}`"),
            )),
        ),
        Err(error) => checks.push(CheckResult::new(name, CheckState::Error, chain(&error))),
    }
    let waiting = ReportSpool::new(layout).reports().len();
    if waiting > 0 {
        let text = format!("unsent reports: {waiting}");
        let hint = "start a run; it sends them if the server answers".to_owned();
        checks.push(CheckResult::new(name, CheckState::Warning, text).hint(Some(hint)));
    }
    checks
}
