//! `switchtender device`: the drop-in for `puppet device`.
//!
//! Devices of `device.conf` run side by side against their Puppet Server; nothing about one of
//! them stops, blocks or redirects another. Flags and exit codes are the peer's
//! (`docs/reference/agent-protocol.md`, section 1).

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::Global;
use super::exit::{CommandError, Exit, print};
use super::log_destination::LogDestinations;
use super::puppet_settings::{CredentialsReaders, SettingFlags};
use super::run::Mixed;
use super::view::puppet_code;
use crate::agent::disabled;
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::Settings;
use crate::agent::run::Proxy;
use crate::catalog::{Level, rich_data};
use crate::device_conf::{self, Entry};
use crate::error_chain::chain;
use crate::fleet::limits::{Limits, Membership};
use crate::fleet::runner;
use crate::fleet::served_device::{ServedError, ServedFleet};
use crate::inventory::Secrets;
use crate::telemetry::device_span;
use crate::transaction;
use crate::validate::Policy;

/// Run devices against a Puppet Server, in the place of `puppet device`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this section of device.conf
    #[arg(short, long, value_name = "NAME")]
    target: Option<String>,

    /// Apply this catalog (JSON) instead of asking the server; nothing is sent
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["facts", "resource"])]
    apply: Option<PathBuf>,

    /// Print the facts of the device as JSON
    #[arg(short, long, conflicts_with = "resource")]
    facts: bool,

    /// Print what the device has of a type, as Puppet code
    #[arg(short, long, value_names = ["TYPE", "NAME"], num_args = 1..=2)]
    resource: Option<Vec<String>>,

    /// With --resource: YAML for data lookup
    #[arg(
        short = 'y',
        long = "to_yaml",
        alias = "to-yaml",
        requires = "resource"
    )]
    to_yaml: bool,

    /// Exit with 2 (changes), 4 (failures), 6 (both), 1 (a device could not run)
    #[arg(long, alias = "detailed_exitcodes")]
    detailed_exitcodes: bool,

    /// Where messages go: console, syslog or files (.json and .jsonl are structured), separated by commas
    #[arg(short, long, value_name = "DEST", value_delimiter = ',')]
    logdest: Vec<String>,

    /// Log everything, to the console
    #[arg(short, long)]
    debug: bool,

    /// Accepted and without effect: the report carries the log
    #[arg(long, value_name = "N", hide = true)]
    port: Option<u16>,

    /// Devices at work at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,

    /// Catalogs asked for at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    catalog_concurrency: u16,

    /// What to do about resources for hosts in a device's catalog
    #[arg(long, value_enum, default_value_t = Mixed::Warn, value_name = "HOW")]
    mixed: Mixed,

    /// Who may be able to read credentials files
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    credentials_readers: CredentialsReaders,

    /// Keep the target, or all devices, from being run
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "reason not specified")]
    disable: Option<String>,

    /// Let the target, or all devices, be run again
    #[arg(long, conflicts_with = "disable")]
    enable: bool,

    #[command(flatten)]
    settings: SettingFlags,
}

pub fn run(args: &Args, global: &Global) -> Result<Exit, CommandError> {
    let settings = args.settings.read()?;
    args.check_combination()?;
    let devices = args.devices(&settings)?;
    if let Some(reason) = &args.disable {
        return switch(&settings, &devices, |layout| {
            disabled::disable(layout, reason).map(|()| "disabled")
        });
    }
    if args.enable {
        return switch(&settings, &devices, |layout| {
            disabled::enable(layout).map(|was| if was { "enabled" } else { "was not disabled" })
        });
    }
    let catalog = args.apply.as_deref().map(read_catalog).transpose()?;
    let level = if args.debug {
        Level::Debug
    } else if global.verbose > 0 {
        Level::Info
    } else {
        Level::Notice
    };
    let names = match args.logdest.as_slice() {
        [] => &["console".to_owned()][..],
        names => names,
    };
    let log = Arc::new(LogDestinations::open(
        names,
        level,
        global.colored_stdout(),
    )?);
    let stop = CancellationToken::new();
    let listener = Arc::clone(&log);
    let fleet = Arc::new(ServedFleet {
        secrets: Secrets::new(args.credentials_readers == CredentialsReaders::Anyone),
        readers: args.credentials_readers.into(),
        settings: args.transaction_settings(&settings),
        policy: Policy {
            mixed: args.mixed.into(),
            ..Policy::default()
        },
        at_work: Semaphore::new(args.concurrency.into()),
        log_level: level.min(Level::Notice),
        catalog,
        stop: stop.clone(),
        listener: Arc::new(move |device: &str, entry: &transaction::LogEntry| {
            listener.write(device, entry);
        }),
        proxy: Arc::new(Proxy::new(settings, args.catalog_concurrency.into())),
    });
    let exit = super::block_on(async {
        tokio::spawn(super::stop_when_interrupted(
            stop.clone(),
            |text| eprintln!("{text}"),
            || (),
        ));
        if args.facts {
            return show_facts(&fleet, &devices[0]).await;
        }
        if let Some(wanted) = &args.resource {
            return show_resources(&fleet, &devices[0], wanted, args.to_yaml).await;
        }
        Ok(run_all(fleet, devices, &stop, args.detailed_exitcodes).await)
    });
    log.finish();
    exit
}

impl Args {
    fn check_combination(&self) -> Result<(), CommandError> {
        if self.target.is_some() {
            return Ok(());
        }
        let missing = if self.apply.is_some() {
            "missing argument: --target is required when using --apply"
        } else if self.facts {
            "facts command requires target"
        } else if self.resource.is_some() {
            "resource command requires target"
        } else {
            return Ok(());
        };
        Err(CommandError::new(missing).hint("name the device with --target"))
    }

    /// How the engine applies, by the settings.
    fn transaction_settings(&self, settings: &Settings) -> transaction::Settings {
        transaction::Settings {
            noop: settings.noop,
            tags: transaction::TagSelection::parse(&settings.tags.join(",")),
            skip_tags: transaction::TagSelection::parse(&settings.skip_tags.join(",")),
            ignore_schedules: settings.ignoreschedules,
            evaltrace: settings.evaltrace,
            mixed: match self.mixed {
                Mixed::Silent => transaction::Mixed::Silent,
                _ => transaction::Mixed::Warn,
            },
            ..transaction::Settings::default()
        }
    }

    fn devices(&self, settings: &Settings) -> Result<Vec<Entry>, CommandError> {
        let file = settings.deviceconfig.display();
        let mut devices =
            device_conf::load_all(&settings.deviceconfig).map_err(CommandError::findings)?;
        if let Some(target) = &self.target {
            devices.retain(|device| device.name == *target);
            if devices.is_empty() {
                return Err(CommandError::new(format!(
                    "Target device / certificate '{target}' not found in {file}"
                )));
            }
        }
        if devices.is_empty() {
            return Err(CommandError::new(format!("No device found in {file}"))
                .hint("name another file with --deviceconfig"));
        }
        Ok(devices)
    }
}

fn read_catalog(path: &std::path::Path) -> Result<String, CommandError> {
    let shown = path.display();
    if !path.exists() {
        return Err(CommandError::new(format!(
            "{shown} does not exist, cannot apply"
        )));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError::new(format!("cannot read {shown}")).because(error))?;
    if !text.trim_start().starts_with('{') {
        return Err(CommandError::new(format!("{shown} is not a catalog in JSON")).hint(
            "manifests are not compiled here; make a catalog with `puppet catalog compile NAME --manifest FILE --render-as json`",
        ));
    }
    Ok(text)
}

fn switch<E: std::error::Error + Send + Sync + 'static>(
    settings: &Settings,
    devices: &[Entry],
    act: impl Fn(&Layout) -> Result<&'static str, E>,
) -> Result<Exit, CommandError> {
    for device in devices {
        let done = act(&Layout::new(settings, &device.name)).map_err(|error| {
            CommandError::new(format!("cannot switch {}", device.name)).because(error)
        })?;
        print(&format!("{}: {done}\n", device.name));
    }
    Ok(Exit::SUCCESS)
}

async fn run_all(
    fleet: Arc<ServedFleet>,
    devices: Vec<Entry>,
    stop: &CancellationToken,
    detailed: bool,
) -> Exit {
    // Waiting for a signature needs no permit, so the runner has one for every device and the
    // fleet counts those at work.
    let limits = Limits::new(devices.len(), None, None, []);
    let members = devices
        .into_iter()
        .map(|device| (device, Membership::default()))
        .collect();
    let mut code = 0;
    runner::run(
        members,
        &limits,
        stop,
        move |device| {
            let fleet = Arc::clone(&fleet);
            async move {
                let run = fleet.run(&device);
                run.instrument(device_span(&device.name)).await
            }
        },
        |device: Entry, result| match result {
            Ok(bits) => code |= bits,
            Err(error) => {
                tracing::error!(
                    device = device.name,
                    error = chain(&error),
                    "the run was lost"
                );
                code |= 1;
            }
        },
    )
    .await;
    exit_code(code, detailed)
}

/// Without `--detailed-exitcodes` only devices that could not run count.
fn exit_code(bits: u8, detailed: bool) -> Exit {
    Exit(if detailed { bits } else { bits & 1 })
}

async fn show_facts(fleet: &ServedFleet, device: &Entry) -> Result<Exit, CommandError> {
    let facts = fleet
        .facts_of(device)
        .await
        .map_err(|error| because(format!("cannot read the facts of {}", device.name), error))?;
    let facts: serde_json::Value =
        serde_json::from_str(&facts.to_json()).expect("it was made a moment ago");
    print(&format!("{facts:#}\n"));
    Ok(Exit::SUCCESS)
}

fn because(text: String, error: ServedError) -> CommandError {
    CommandError {
        hint: error.hint(),
        ..CommandError::new(text).because(error)
    }
}

async fn show_resources(
    fleet: &ServedFleet,
    device: &Entry,
    wanted: &[String],
    yaml: bool,
) -> Result<Exit, CommandError> {
    let type_name = wanted[0].to_lowercase();
    let mut instances = fleet
        .instances_of(device, &type_name)
        .await
        .map_err(|error| because(format!("cannot read {type_name} of {}", device.name), error))?;
    if let Some(name) = wanted.get(1) {
        instances.retain(|(title, _)| title == name);
    }
    print(&match yaml {
        true => {
            let titles = instances.iter().map(|(title, attributes)| {
                let attributes = attributes.iter();
                let attributes: serde_json::Map<String, serde_json::Value> = attributes
                    .map(|(name, value)| (name.to_string(), rich_data::write_plain(value)))
                    .collect();
                (title.clone(), attributes.into())
            });
            let titles: serde_json::Map<String, serde_json::Value> = titles.collect();
            let tree = json!({ type_name: titles });
            format!(
                "---\n{}",
                serde_saphyr::to_string(&tree).expect("a tree of texts is YAML")
            )
        }
        false => instances
            .iter()
            .map(|(title, attributes)| puppet_code::resource(&type_name, title, attributes))
            .collect(),
    });
    Ok(Exit::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_devices_that_could_not_run_count_without_details() {
        for (bits, plain, detailed) in [
            (0, 0, 0),
            (2, 0, 2),
            (4, 0, 4),
            (6, 0, 6),
            (1, 1, 1),
            (7, 1, 7),
        ] {
            assert_eq!(exit_code(bits, false), Exit(plain));
            assert_eq!(exit_code(bits, true), Exit(detailed));
        }
    }
}
