//! `switchtender doctor`: what stands in the way of device runs, and what to do about it.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::session::{self, Access};

use super::exit::{CommandError, Exit, print};
use super::puppet_settings::{CredentialsReaders, SettingFlags};
use super::run::Output;
use crate::agent::ca::bootstrap::Ready;
use crate::agent::ca::local_identity::at_hand;
use crate::agent::client::endpoint::Endpoint;
use crate::agent::client::pluginsync::Definitions;
use crate::agent::client::report_spool::Spool;
use crate::agent::disabled;
use crate::agent::http::tls::Trust;
use crate::agent::http::{Client, RequestError, RequestErrorKind};
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::{Server, Settings};
use crate::device_conf::{self, Entry, Readers, Surroundings};
use crate::error_chain::chain;
use crate::inventory::Secrets;

/// Check configuration, permissions, certificates, server and devices, and say what to do
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these devices (repeatable)
    #[arg(short, long, value_name = "NAME")]
    target: Vec<String>,

    /// Do not log in to devices
    #[arg(long)]
    offline: bool,

    /// Who may be able to read credentials files
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    credentials_readers: CredentialsReaders,

    /// For people, or one JSON object per line for machines
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    settings: SettingFlags,
}

/// A certificate that ends within this time is worth a word.
const SOON: Duration = Duration::from_secs(30 * 86_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Ok,
    Warning,
    Error,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Error => "error",
        }
    }
}

/// One thing that was looked at.
struct Check {
    subject: String,
    state: State,
    text: String,
    hint: Option<String>,
}

impl Check {
    fn new(subject: impl Into<String>, state: State, text: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            state,
            text: text.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// A finding in a file, in one line.
    fn finding(subject: &str, found: &Diagnostic) -> Self {
        let place = found.labels.first().map_or(String::new(), |label| {
            let (line, _) = label.source.position(label.span.start);
            format!("{}:{line}: ", label.source.name)
        });
        let state = match found.severity {
            switchtender_devices::diagnostic::Severity::Error => State::Error,
            _ => State::Warning,
        };
        Self::new(subject, state, format!("{place}{}", found.message)).hint(found.help.clone())
    }
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    super::block_on(async {
        let checks = examine(args).await?;
        for check in &checks {
            print(&shown(check, args.output));
        }
        let worst = checks.iter().map(|check| check.state).max();
        Ok(if worst == Some(State::Error) {
            Exit::FAILURE
        } else {
            Exit::SUCCESS
        })
    })
}

fn shown(check: &Check, output: Output) -> String {
    match output {
        Output::Json => {
            let line = json!({
                "subject": check.subject, "state": check.state.word(),
                "text": check.text, "hint": check.hint,
            });
            format!("{line}\n")
        }
        Output::Human => {
            let mut text = format!(
                "{:8} {}: {}\n",
                check.state.word(),
                check.subject,
                check.text
            );
            if let Some(hint) = &check.hint {
                text.push_str(&format!("         → {hint}\n"));
            }
            text
        }
    }
}

async fn examine(args: &Args) -> Result<Vec<Check>, CommandError> {
    let settings = Arc::new(args.settings.read()?);
    let mut checks = vec![Check::new(
        "settings",
        State::Ok,
        format!("{} given in puppet.conf or as flags", settings.given.len()),
    )];
    for directory in [&settings.confdir, &settings.vardir] {
        checks.push(writable(directory));
    }
    let devices = match device_conf::load_all(&settings.deviceconfig) {
        Err(found) => {
            checks.extend(
                found
                    .iter()
                    .map(|found| Check::finding("device.conf", found)),
            );
            return Ok(checks);
        }
        Ok(devices) => devices,
    };
    let text = format!(
        "{} devices in {}",
        devices.len(),
        settings.deviceconfig.display()
    );
    checks.push(if devices.is_empty() {
        Check::new("device.conf", State::Error, text)
            .hint(Some("add a section for each device".to_owned()))
    } else {
        Check::new("device.conf", State::Ok, text)
    });
    let wanted: Vec<&Entry> = devices
        .iter()
        .filter(|device| args.target.is_empty() || args.target.contains(&device.name))
        .collect();
    for name in &args.target {
        if !devices.iter().any(|device| device.name == *name) {
            checks.push(Check::new(
                name,
                State::Error,
                format!("not found in {}", settings.deviceconfig.display()),
            ));
        }
    }
    checks.extend(servers(&settings, wanted.first().copied()).await);
    let secrets = Secrets::new(false);
    let examined = wanted
        .iter()
        .map(|device| examine_device(args, &settings, &secrets, device));
    for found in futures_util::future::join_all(examined).await {
        checks.extend(found);
    }
    Ok(checks)
}

/// Whether a directory, or the nearest one above it that exists, can be written.
fn writable(directory: &Path) -> Check {
    let subject = directory.display().to_string();
    let Some(existing) = directory.ancestors().find(|path| path.exists()) else {
        return Check::new(subject, State::Error, "does not exist");
    };
    match tempfile::tempfile_in(existing) {
        Ok(_) => Check::new(subject, State::Ok, "can be written"),
        Err(error) => Check::new(subject, State::Error, format!("cannot be written: {error}"))
            .hint(Some(
                "run as the user who owns it, or name another with --confdir or --vardir"
                    .to_owned(),
            )),
    }
}

/// Each server that runs would talk to. Verified with a device's bundle where there is one.
async fn servers(settings: &Settings, device: Option<&Entry>) -> Vec<Check> {
    let bundle = device
        .map(|device| Layout::new(settings, &device.name))
        .and_then(|layout| std::fs::read_to_string(layout.ca()).ok())
        .or_else(|| std::fs::read_to_string(settings.ssldir.join("certs/ca.pem")).ok());
    let verified = bundle.is_some();
    let trust = bundle.map_or(Trust::FirstContact, |ca| Trust::Bundle {
        ca,
        crl: None,
        revocation: settings.certificates.revocation,
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
                Check::new("CA bundle", State::Error, chain(&error)).hint(Some(
                    "move the device's certs/ca.pem away; the next run fetches it again".to_owned(),
                )),
            ];
        }
    };
    let mut checks = Vec::new();
    for server in all {
        let subject = format!("server {server}");
        let endpoint = Endpoint {
            client: &client,
            server,
            certname: "",
            transaction_uuid: "",
        };
        checks.push(match endpoint.status().await {
            Ok(()) if verified => Check::new(subject, State::Ok, "running"),
            Ok(()) => Check::new(
                subject,
                State::Warning,
                "running; no CA bundle is known yet",
            )
            .hint(Some(
                "the first run trusts the bundle it gets; set ca_fingerprint to check it"
                    .to_owned(),
            )),
            Err(error) => Check::new(subject, State::Error, chain(&error)).hint(error.hint()),
        });
    }
    checks
}

async fn examine_device(
    args: &Args,
    settings: &Settings,
    secrets: &Secrets,
    device: &Entry,
) -> Vec<Check> {
    let layout = Layout::new(settings, &device.name);
    let (mut checks, ready) = certificate(settings, &layout);
    if let Some(ready) = ready {
        checks.push(known(settings, &device.name, &ready).await);
    }
    checks.extend(left_behind(&layout));
    let around = Surroundings {
        secrets,
        device_dir: &layout.var,
        readers: Readers::from(args.credentials_readers),
    };
    let connection = match device.connection(around).await {
        Ok(connection) => connection,
        Err(found) => {
            checks.extend(
                found
                    .iter()
                    .map(|found| Check::finding(&device.name, found)),
            );
            return checks;
        }
    };
    checks.extend(
        connection
            .warnings
            .iter()
            .map(|found| Check::finding(&device.name, found)),
    );
    let registry = match Definitions::default().of(&layout) {
        Ok(registry) => registry,
        Err(error) => {
            checks.push(Check::new(&device.name, State::Error, chain(&error)));
            return checks;
        }
    };
    let Some(platform) = registry.platform(&connection.platform) else {
        let known: Vec<&str> = registry
            .platforms()
            .map(|platform| platform.name.as_str())
            .collect();
        checks.push(
            Check::new(
                &device.name,
                State::Error,
                format!("there is no driver for type {}", device.kind),
            )
            .hint(Some(format!(
                "known platforms: {}; a module of the device's environment may bring one",
                known.join(", ")
            ))),
        );
        return checks;
    };
    if args.offline {
        return checks;
    }
    checks.push(
        match session::open(&connection.target, &platform.protocol, Access::ReadOnly).await {
            Ok(mut session) => {
                let notes = session.notes();
                let login = session.statistics().login;
                session.close().await;
                let text = format!(
                    "logged in at {} in {:.1} s",
                    connection.shown_url,
                    login.as_secs_f64()
                );
                let state = if notes.is_empty() {
                    State::Ok
                } else {
                    State::Warning
                };
                Check::new(&device.name, state, [vec![text], notes].concat().join("; "))
            }
            Err(error) => {
                let text = chain(&error);
                let own = format!("{}: ", device.name);
                let text = text.strip_prefix(&own).unwrap_or(&text);
                Check::new(&device.name, State::Error, text).hint(error.hint())
            }
        },
    );
    checks
}

/// The device's key and certificate as they lie there; nothing is requested.
fn certificate(settings: &Settings, layout: &Layout) -> (Vec<Check>, Option<Ready>) {
    let name = &layout.certname;
    let mut checks = Vec::new();
    if let Ok(metadata) = std::fs::metadata(layout.key())
        && metadata.mode() & 0o007 != 0
    {
        checks.push(
            Check::new(name, State::Error, "everyone can read its private key")
                .hint(Some(format!("chmod 0640 {}", layout.key().display()))),
        );
    }
    let ready = match at_hand(settings, layout) {
        Ok(Some(ready)) => ready,
        Ok(None) => {
            checks.push(
                Check::new(name, State::Warning, "has no certificate yet").hint(Some(format!(
                    "`switchtender cert request {name}`, or let a run request it"
                ))),
            );
            return (checks, None);
        }
        Err(error) => {
            let told = Check::new(name, State::Error, chain(&error)).hint(error.hint());
            checks.push(told);
            return (checks, None);
        }
    };
    let until = ready.certificate.not_after;
    let left = until.duration_since(crate::clock::timestamp());
    let left = Duration::try_from(left).unwrap_or_default();
    let text = format!("certificate until {until}");
    checks.push(if left < SOON {
        let renew = format!(
            "on the server `puppetserver ca clean --certname {name}`, here `switchtender cert clean {name}`"
        );
        let text = format!("{text}: {} days", left.as_secs() / 86_400);
        Check::new(name, State::Warning, text).hint(Some(renew))
    } else {
        Check::new(name, State::Ok, text)
    });
    (checks, Some(ready))
}

/// Whether the server takes the device's certificate: the question that begins each run.
async fn known(settings: &Settings, name: &str, ready: &Ready) -> Check {
    let client = Client::new(
        &settings.http,
        Duration::ZERO,
        &ready.trust,
        Some(&ready.identity),
    );
    let client = match client {
        Ok(client) => client,
        Err(error) => {
            return Check::new(name, State::Error, chain(&error)).hint(Some(format!(
                "`switchtender cert show {name}` tells where the files are; bundles that are moved away are fetched again"
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
        Ok(named) => Check::new(
            name,
            State::Ok,
            format!(
                "known to the server, in environment {}",
                named.as_ref().unwrap_or(environment)
            ),
        ),
        // The check of the server reports the cause.
        Err(RequestError {
            kind: RequestErrorKind::Unreachable(_) | RequestErrorKind::Timeout(_),
            ..
        }) => Check::new(
            name,
            State::Warning,
            "cannot check the certificate: the server does not respond",
        ),
        Err(error) => Check::new(name, State::Error, chain(&error)).hint(error.hint()),
    }
}

/// What earlier runs and operators have left for the next run.
fn left_behind(layout: &Layout) -> Vec<Check> {
    let name = &layout.certname;
    let mut checks = Vec::new();
    match disabled::reason(layout) {
        Ok(None) => {}
        Ok(Some(reason)) => checks.push(
            Check::new(name, State::Warning, format!("disabled: {reason}")).hint(Some(format!(
                "`switchtender device --enable --target {name}`"
            ))),
        ),
        Err(error) => checks.push(Check::new(name, State::Error, chain(&error))),
    }
    let waiting = Spool::new(layout).waiting().len();
    if waiting > 0 {
        let text = format!("{waiting} reports wait for the server");
        let hint = "the next run that reaches the server sends them".to_owned();
        checks.push(Check::new(name, State::Warning, text).hint(Some(hint)));
    }
    checks
}
