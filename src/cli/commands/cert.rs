//! `switchtender cert`: the certificates of devices.

use std::sync::Arc;

use clap::Subcommand;
use switchtender_devices::names::Certname;

use crate::agent::ca::bootstrap::Bootstrap;
use crate::agent::ca::certificate_request;
use crate::agent::ca::key::PrivateKey;
use crate::agent::ca::ssl_lock::SslLock;
use crate::agent::certificate::Certificate;
use crate::agent::device_file;
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::Settings;
use crate::agent::run::Proxy;
use crate::agent::run_log::{Level, RunLog};
use crate::cli::exit::{CommandError, Exit, eprint_notice, print};
use crate::cli::options::puppet_settings::SettingFlags;
use crate::device_conf;
use crate::error_chain::chain;
use crate::terminal_text::TerminalText;

/// List, request, show and clean the certificates of devices
///
/// Example: switchtender cert list
#[derive(Debug, clap::Args)]
pub(crate) struct CertArgs {
    #[command(subcommand)]
    command: CertCommand,
}

#[derive(Debug, Subcommand)]
enum CertCommand {
    /// List the devices of device.conf and the state of their certificates
    ///
    /// Example: switchtender cert list --confdir /etc/puppetlabs/puppet
    List(CertListArgs),
    /// Request certificates and wait for the signatures (--waitforcert, --maxwaitforcert)
    ///
    /// Example: switchtender cert request sw1.example.net --waitforcert 10
    Request(CertNameArgs),
    /// Remove key, certificate and pending request of devices; the server is not contacted
    ///
    /// Example: switchtender cert clean sw1.example.net
    Clean(CertNameArgs),
    /// Show the certificate of a device
    ///
    /// Example: switchtender cert show sw1.example.net
    Show(CertNameArgs),
}

#[derive(Debug, clap::Args)]
struct CertListArgs {
    #[command(flatten)]
    settings: SettingFlags,
}

#[derive(Debug, clap::Args)]
struct CertNameArgs {
    /// Certnames of devices
    #[arg(required = true, value_name = "NAME", value_parser = Certname::parse)]
    names: Vec<Certname>,

    #[command(flatten)]
    settings: SettingFlags,
}

pub(crate) fn run(args: &CertArgs) -> Result<Exit, CommandError> {
    match &args.command {
        CertCommand::List(args) => list(&args.settings.read()?),
        CertCommand::Request(args) => {
            let settings = args.settings.read()?;
            crate::cli::runtime::block_on(request_all(settings, &args.names))
        }
        CertCommand::Clean(args) => clean(&args.settings.read()?, &args.names),
        CertCommand::Show(args) => show(&args.settings.read()?, &args.names),
    }
}

/// The state of a certificate.
enum CertState {
    Nothing,
    Pending { fingerprint: String },
    Signed(Box<Certificate>),
    Broken(String),
}

fn state(layout: &Layout) -> CertState {
    let read = |path: std::path::PathBuf| device_file::read(&path);
    match (read(layout.certificate()), read(layout.request())) {
        (Err(error), _) | (_, Err(error)) => CertState::Broken(chain(&error)),
        (Ok(Some(pem)), _) => match Certificate::from_pem(&pem) {
            Ok(certificate) => CertState::Signed(Box::new(certificate)),
            Err(error) => CertState::Broken(error.to_string()),
        },
        (Ok(None), Ok(Some(pem))) => match certificate_request::fingerprint(&pem) {
            Some(fingerprint) => CertState::Pending { fingerprint },
            None => CertState::Broken("the pending request is damaged".to_owned()),
        },
        (Ok(None), Ok(None)) => CertState::Nothing,
    }
}

fn list(settings: &Settings) -> Result<Exit, CommandError> {
    let devices = device_conf::load_all(&settings.deviceconfig).map_err(CommandError::findings)?;
    if devices.is_empty() {
        let file = settings.deviceconfig.display();
        eprint_notice(&format!("{file} has no devices"));
    }
    let width = devices
        .iter()
        .map(|device| device.name.len())
        .max()
        .unwrap_or(0);
    let mut text = TerminalText::new();
    for device in &devices {
        let text_of_state = match state(&Layout::new(settings, &device.certname)) {
            CertState::Nothing => "no certificate".to_owned(),
            CertState::Pending { fingerprint } => format!("requested, SHA-256 {fingerprint}"),
            CertState::Signed(certificate) => {
                let ended = certificate.not_after < crate::clock::timestamp();
                let word = if ended { "EXPIRED" } else { "until" };
                format!(
                    "{word} {}, SHA-256 {}",
                    certificate.not_after, certificate.sha256
                )
            }
            CertState::Broken(why) => format!("BROKEN: {why}"),
        };
        text.line(format_args!("{:width$}  {text_of_state}", device.name));
    }
    print(&text);
    Ok(Exit::SUCCESS)
}

async fn request_all(settings: Settings, names: &[Certname]) -> Result<Exit, CommandError> {
    let proxy = Arc::new(Proxy::new(settings, 1));
    let requests = names.iter().map(|name| request_one(&proxy, name));
    let outcomes = tokio::select! {
        outcomes = futures_util::future::join_all(requests) => outcomes,
        () = crate::cli::interrupt::interrupted() => return Err(CommandError::new("interrupted")),
    };
    let is_valid = outcomes.into_iter().all(|is_valid| is_valid);
    Ok(if is_valid {
        Exit::SUCCESS
    } else {
        Exit::FAILURE
    })
}

/// Prints the messages about one name.
struct Printed<'a> {
    name: &'a Certname,
}

impl RunLog for Printed<'_> {
    fn log(&mut self, level: Level, message: String) {
        if level >= Level::Notice {
            let line = format_args!("{}: {level}: {message}", self.name);
            print(&TerminalText::of_line(line));
        }
    }
}

/// Requests one certificate and prints the result. Returns whether there is a certificate.
async fn request_one(proxy: &Proxy, name: &Certname) -> bool {
    let layout = Layout::new(&proxy.settings, name);
    let setup = Bootstrap {
        settings: &proxy.settings,
        layout: &layout,
        authority: &proxy.authority,
    };
    let outcome = setup.run(&mut Printed { name }).await;
    let mut text = TerminalText::new();
    match &outcome {
        Ok(ready) => {
            text.line(format_args!(
                "{name}: certificate until {}, SHA-256 {}",
                ready.certificate.not_after, ready.certificate.sha256
            ));
        }
        Err(error) => {
            text.line(format_args!("{name}: error: {}", chain(error)));
            if let Some(hint) = error.hint() {
                text.line(format_args!("{name}: hint: {hint}"));
            }
        }
    }
    print(&text);
    outcome.is_ok()
}

fn clean(settings: &Settings, names: &[Certname]) -> Result<Exit, CommandError> {
    for name in names {
        let layout = Layout::new(settings, name);
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
            CommandError::new(format!("cannot clean the certificate of {name}")).with_source(source)
        };
        if !layout.ssl.is_dir() {
            return Err(
                CommandError::new(format!("{name} has no certificates on this host"))
                    .hint("list the devices with `switchtender cert list`"),
            );
        }
        let _lock = SslLock::take(&layout).map_err(|error| failed(error.into()))?;
        for path in [layout.certificate(), layout.request(), layout.key()] {
            if device_file::remove(&path).map_err(|error| failed(error.into()))? {
                let line = format_args!("removed {}", path.display());
                print(&TerminalText::of_line(line));
            }
        }
    }
    Ok(Exit::SUCCESS)
}

fn show(settings: &Settings, names: &[Certname]) -> Result<Exit, CommandError> {
    let mut exit = Exit::SUCCESS;
    for name in names {
        let layout = Layout::new(settings, name);
        let mut text = TerminalText::of_line(name);
        match state(&layout) {
            CertState::Nothing => {
                exit = Exit::FAILURE;
                text.line("  no certificate; the next run requests one");
            }
            CertState::Pending { fingerprint } => {
                exit = Exit::FAILURE;
                text.line("  requested, not signed");
                text.line(format_args!("  SHA-256     {fingerprint}"));
                text.line(format_args!(
                    "  sign it     puppetserver ca sign --certname {name}"
                ));
            }
            CertState::Broken(why) => {
                exit = Exit::FAILURE;
                text.line(format_args!("  broken      {why}"));
            }
            CertState::Signed(certificate) => {
                let rows = [
                    ("file", layout.certificate().display().to_string()),
                    ("names", certificate.alternative_names.join(", ")),
                    ("issuer", certificate.issuer.clone()),
                    ("serial", certificate.serial.clone()),
                    (
                        "valid",
                        format!("{} to {}", certificate.not_before, certificate.not_after),
                    ),
                    ("SHA-256", certificate.sha256.clone()),
                    ("key", key_state(&layout, &certificate)),
                ];
                for (word, value) in rows {
                    text.line(format_args!("  {word:10}  {value}"));
                }
            }
        }
        print(&text);
    }
    Ok(exit)
}

fn key_state(layout: &Layout, certificate: &Certificate) -> String {
    match device_file::read(&layout.key()) {
        Err(error) => chain(&error),
        Ok(None) => "missing".to_owned(),
        Ok(Some(pem)) => match PrivateKey::from_pem(&pem) {
            Err(error) => error.to_string(),
            Ok(key) if key.public_key() == certificate.public_key => "fits".to_owned(),
            Ok(_) => "does NOT match the certificate".to_owned(),
        },
    }
}
