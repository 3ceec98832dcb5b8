//! `switchtender device`: the replacement of `puppet device`.
//!
//! Devices of `device.conf` run concurrently against their Puppet Server; a failure of one device
//! does not affect another. Flags and exit codes are those of `puppet device`
//! (`docs/reference/agent-protocol.md`, section 1).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryFutureExt as _;
use switchtender_devices::driver::Registry;
use switchtender_devices::session::deadline::Deadline;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::agent::disabled;
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::Settings;
use crate::agent::run::Proxy;
use crate::catalog::Level;
use crate::cli::commands::resource::{ResourceFormat, ResourceOutput};
use crate::cli::commands::run_recorder::RunRecorder;
use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_document, print_json};
use crate::cli::interrupt::{stop_read_on_signals, stop_run_on_signals, unless_stopped};
use crate::cli::options::device_state;
use crate::cli::options::global::Global;
use crate::cli::options::puppet_settings::SettingFlags;
use crate::cli::options::run_arguments::Compat;
use crate::cli::options::serve_state;
use crate::cli::options::store_options::StoreOption;
use crate::cli::options::unknown_name::unknown_type;
use crate::cli::output::log_destination::LogDestinations;
use crate::cli::output::view::{DeviceFailure, FinishedDevice, View, ViewTask};
use crate::clock;
use crate::device_conf::{self, CredentialsReaders, DeviceSection};
use crate::fleet::catalog_files::read_catalog_file;
use crate::fleet::device_run::DeviceRun;
use crate::fleet::inspect;
use crate::fleet::limits::{Limits, Membership};
use crate::fleet::run_request::{LockWait, RunRequest};
use crate::fleet::runner;
use crate::fleet::server_run::{AppliedFile, ServerFleet};
use crate::inventory::Secrets;
use crate::manifest::CompilerOptions;
use crate::route::HostResourcePolicy;
use crate::run_kind::RunKind;
use crate::store::Store;
use crate::telemetry::device_span;
use crate::terminal_text::TerminalText;
use crate::transaction;
use crate::validate::Policy;
use switchtender_devices::secret_mask::SecretMask;

/// Run devices against a Puppet Server; replaces `puppet device`
///
/// Examples:
///   switchtender device --verbose
///   switchtender device --target sw1.example.net --noop
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DeviceArgs {
    /// Run only this section of device.conf
    #[arg(short, long, value_name = "NAME")]
    target: Option<String>,

    /// Apply this catalog (JSON), or compile and apply this manifest, without contacting the server
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["facts", "resource"])]
    apply: Option<PathBuf>,

    /// Print the facts of the device as JSON
    #[arg(short, long, conflicts_with = "resource")]
    facts: bool,

    /// Print the resources of a type on the device, as Puppet code
    #[arg(short, long, value_names = ["TYPE", "NAME"], num_args = 1..=2)]
    resource: Option<Vec<String>>,

    /// With --resource: print YAML for Hiera
    #[arg(
        short = 'y',
        long = "to_yaml",
        alias = "to-yaml",
        requires = "resource"
    )]
    to_yaml: bool,

    /// With --resource: print secrets in clear text
    #[arg(long = "show-secrets", requires = "resource")]
    show_secrets: bool,

    /// Exit with the sum of 2 (changes), 4 (failures) and 1 (a device could not run)
    #[arg(long, alias = "detailed_exitcodes")]
    detailed_exitcodes: bool,

    /// Log destinations, separated by commas: console, syslog or files (.json and .jsonl are structured)
    #[arg(short, long, value_name = "DEST", value_delimiter = ',')]
    logdest: Vec<String>,

    /// Log all messages to the console
    #[arg(short, long)]
    debug: bool,

    /// Ignored: the report contains the log
    #[arg(long, value_name = "N", hide = true)]
    port: Option<u16>,

    /// Number of devices that run at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,

    /// Number of catalogs that are requested at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    catalog_concurrency: u16,

    /// What to do about host resources in the catalog of a device
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    host_resources: HostResourcePolicy,

    #[command(flatten)]
    store: StoreOption,

    /// Users who are allowed to read credentials files
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    credentials_readers: CredentialsReaders,

    /// Rewrite and remove lines and objects of a device that were not understood
    #[arg(long)]
    overwrite_unknown: bool,

    /// Disable runs of the target, or of all devices
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "reason not specified")]
    disable: Option<String>,

    /// Enable runs of the target, or of all devices
    #[arg(long, conflicts_with = "disable")]
    enable: bool,

    #[command(flatten)]
    compiler: CompilerOptions,

    #[command(flatten)]
    settings: SettingFlags,

    /// Restore the behavior of an older program where Switchtender deliberately differs
    #[arg(long, value_enum)]
    compat: Option<Compat>,
}

pub(crate) fn run(args: &DeviceArgs, global: &Global) -> Result<Exit, CommandError> {
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
    let catalog = args.apply.as_deref();
    let catalog = catalog
        .map(|path| applied_file(path, &args.compiler))
        .transpose()?;
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
    let log = LogDestinations::open(names, level, global.is_stdout_colored())?;
    for (name, why) in settings.without_effect() {
        eprint_notice(&format!("warning: the setting {name} has no effect: {why}"));
    }
    let request = args.request(&settings);
    let reads_only = args.facts || args.resource.is_some();
    if !reads_only && request.kind == RunKind::Apply {
        device_state::check_changes(&args.store)?;
    }
    let recorder = RunRecorder::open(&args.store, !reads_only)?;
    let store = Store::at(&settings.vardir);
    let key_directory = serve_state::default_directory()?;
    let history = recorder.history().filter(|_| !reads_only);
    let store = device_state::with_database(store, history, &key_directory)?;
    let fleet = Arc::new(ServerFleet {
        store,
        secrets: Secrets::new(args.credentials_readers == CredentialsReaders::Anyone),
        readers: args.credentials_readers,
        active: Semaphore::new(args.concurrency.into()),
        log_level: level.min(Level::Notice),
        catalog,
        proxy: Arc::new(Proxy::new(settings, args.catalog_concurrency.into())),
    });
    crate::cli::runtime::block_on(async {
        if args.facts {
            return show_facts(&fleet, &devices[0], request.kind).await;
        }
        if let Some(desired) = &args.resource {
            return show_resources(
                &fleet,
                &devices[0],
                desired,
                args.to_yaml,
                args.show_secrets,
            )
            .await;
        }
        let bits = run_all(fleet, request, devices, (recorder, Box::new(log))).await?;
        Ok(exit_code(bits, args.detailed_exitcodes))
    })
}

impl DeviceArgs {
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

    /// A run like one of `puppet device`.
    fn request(&self, settings: &Settings) -> RunRequest {
        let deviations = crate::cli::options::run_arguments::deviations(self.compat);
        let tags = |tags: &[String]| transaction::TagSelection::parse(&tags.join(","));
        RunRequest {
            kind: if settings.noop {
                RunKind::Noop
            } else {
                RunKind::Apply
            },
            settings: transaction::TransactionSettings {
                tags: tags(&settings.tags),
                skip_tags: tags(&settings.skip_tags),
                ignore_schedules: settings.ignoreschedules,
                evaltrace: settings.evaltrace,
                host_resources: self.host_resources,
                deviations,
                ..transaction::TransactionSettings::default()
            },
            policy: Policy {
                host_resources: self.host_resources,
                deviations,
                conflicts_fail_resources: true,
                allows_purge: true,
                ..Policy::default()
            },
            overwrite_unknown: self.overwrite_unknown,
            allow_own_path: true,
            time_limit: settings.runtimeout,
            lock_wait: LockWait {
                interval: settings.waitforlock,
                limit: settings.maxwaitforlock,
            },
            ..RunRequest::default()
        }
    }

    fn devices(&self, settings: &Settings) -> Result<Vec<DeviceSection>, CommandError> {
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

/// A catalog, or a manifest: a directory, or a file with the extension of manifests.
fn applied_file(
    path: &std::path::Path,
    options: &CompilerOptions,
) -> Result<AppliedFile, CommandError> {
    let is_manifest = path.is_dir() || path.extension().is_some_and(|extension| extension == "pp");
    if is_manifest && path.exists() {
        let compiler =
            crate::cli::options::manifest::compiler(path, options, &Registry::shipped())?;
        return Ok(AppliedFile::Manifest(compiler));
    }
    read_catalog(path).map(AppliedFile::Catalog)
}

fn read_catalog(path: &std::path::Path) -> Result<String, CommandError> {
    let path_text = path.display();
    if !path.exists() {
        return Err(CommandError::new(format!(
            "{path_text} does not exist, cannot apply"
        )));
    }
    let bytes = read_catalog_file(path).map_err(|error| {
        CommandError::new(format!("cannot read {path_text}")).with_source(error)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        CommandError::new(format!("{path_text} is not UTF-8")).with_source(error.utf8_error())
    })?;
    if !text.trim_start().starts_with('{') {
        return Err(
            CommandError::new(format!("{path_text} is not a catalog in JSON"))
                .hint("a manifest needs a file name that ends with `.pp`"),
        );
    }
    Ok(text)
}

fn switch<E: std::error::Error + Send + Sync + 'static>(
    settings: &Settings,
    devices: &[DeviceSection],
    act: impl Fn(&Layout) -> Result<&'static str, E>,
) -> Result<Exit, CommandError> {
    for device in devices {
        let done = act(&Layout::new(settings, &device.certname)).map_err(|error| {
            CommandError::new(format!("cannot enable or disable {}", device.name))
                .with_source(error)
        })?;
        print(&TerminalText::of_line(format_args!(
            "{}: {done}",
            device.name
        )));
    }
    Ok(Exit::SUCCESS)
}

/// Runs all devices; returns the bits of the exit code.
async fn run_all(
    fleet: Arc<ServerFleet>,
    request: RunRequest,
    devices: Vec<DeviceSection>,
    (recorder, view): (RunRecorder, Box<dyn View>),
) -> Result<u8, CommandError> {
    // A device that waits for its certificate needs no permit: the fleet counts active devices.
    let limits = Limits::new(devices.len(), None, None, []);
    let members = devices
        .into_iter()
        .map(|device| (device, Membership::default()))
        .collect();
    let stop = request.stop.clone();
    let request = Arc::new(request);
    let view = ViewTask::start(view);
    stop_run_on_signals(&request, view.sender());
    let (observer, sender) = (view.sender().observer(), view.sender());
    let mut code = 0;
    runner::run(
        members,
        &limits,
        &stop,
        move |device: DeviceSection| {
            let (fleet, observer) = (Arc::clone(&fleet), Arc::clone(&observer));
            let request = Arc::clone(&request);
            let recorder = recorder.clone();
            async move {
                let (began, started) = (clock::instant(), clock::timestamp());
                let run = fleet.run(&device, &request, &observer);
                let run = run.instrument(device_span(&device.name)).await;
                let recorded = recorder.record(&device.name, started, &run);
                recorded.await;
                (run, began.elapsed())
            }
        },
        |device, ended| {
            let mut mask = SecretMask::default();
            let (record, result, took) = match ended {
                Ok((run, took)) => {
                    code |= exit_bits(&run);
                    mask = run.mask;
                    let result = run.result.map_err(DeviceFailure::from);
                    (Some(run.record), result, took)
                }
                Err(error) => {
                    code |= 1;
                    (None, Err(error.into()), Duration::ZERO)
                }
            };
            sender.finished(FinishedDevice {
                device: device.name,
                platform: device.kind.into(),
                record,
                result,
                mask,
                took,
            });
        },
    )
    .await;
    view.end(Vec::new()).await?;
    Ok(code)
}

/// A device's part of the exit code: bits 2 (changes) and 4 (failures), and 1 if it could not run.
fn exit_bits(run: &DeviceRun) -> u8 {
    let has_failure = run.result.is_ok() && run.record.failure.is_some();
    let failed = if has_failure { 4 } else { 0 };
    let could_not_run = u8::from(run.result.is_err() || run.stopped);
    match run.record.exit_bits() {
        Some(bits) => bits | failed | could_not_run,
        None => 1,
    }
}

/// Without `--detailed-exitcodes` only devices that could not run count.
fn exit_code(bits: u8, detailed: bool) -> Exit {
    Exit(if detailed { bits } else { bits & 1 })
}

async fn show_facts(
    fleet: &ServerFleet,
    device: &DeviceSection,
    kind: RunKind,
) -> Result<Exit, CommandError> {
    let deadline = Deadline::default();
    stop_read_on_signals(&deadline);
    let read = async {
        let (mut connector, _) = fleet.connector(device).await?;
        connector.set_deadline(&deadline);
        inspect::facts(&connector).await
    };
    let read = read.map_err(|error| CommandError {
        hint: error.hint(),
        ..CommandError::new(format!("cannot read the facts of {}", device.name)).with_source(error)
    });
    let facts = unless_stopped(&deadline, read).await?;
    let facts = fleet.agent_facts(device, &facts, kind).to_json();
    let facts: serde_json::Value = serde_json::from_str(&facts).expect("facts are JSON");
    print_json(&format!("{facts:#}\n"));
    Ok(Exit::SUCCESS)
}

async fn show_resources(
    fleet: &ServerFleet,
    device: &DeviceSection,
    desired: &[String],
    yaml: bool,
    show_secrets: bool,
) -> Result<Exit, CommandError> {
    let type_name = desired[0].to_lowercase();
    let text = format!("cannot read {type_name} of {}", device.name);
    let deadline = Deadline::default();
    stop_read_on_signals(&deadline);
    let connecting = fleet.connector(device).map_err(|error| CommandError {
        hint: error.hint(),
        ..CommandError::new(text.clone()).with_source(error)
    });
    let (mut connector, registry) = unless_stopped(&deadline, connecting).await?;
    connector.set_deadline(&deadline);
    let Some(model) = registry.model(&type_name) else {
        return Err(unknown_type(&registry, &type_name));
    };
    let read = inspect::instances(&connector, model).map_err(|error| CommandError {
        hint: error.hint(),
        ..CommandError::new(text.clone()).with_source(error)
    });
    let inspection = unless_stopped(&deadline, read).await?;
    let format = if yaml {
        ResourceFormat::PuppetYaml
    } else {
        ResourceFormat::Puppet
    };
    let output = ResourceOutput {
        format,
        with_defaults: true,
        show_secrets,
        certname: &device.certname,
        name: desired.get(1).map(String::as_str),
    };
    let rendered = output.render(inspection);
    if let Some(notice) = rendered.notice {
        eprint_notice(&notice);
    }
    if yaml {
        print(&TerminalText::of_line("---"));
    }
    print_document(&rendered.text);
    Ok(Exit::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_without_details_counts_devices_that_could_not_run() {
        for (bits, normal, detailed) in [
            (0, 0, 0),
            (2, 0, 2),
            (4, 0, 4),
            (6, 0, 6),
            (1, 1, 1),
            (7, 1, 7),
        ] {
            assert_eq!(exit_code(bits, false), Exit(normal));
            assert_eq!(exit_code(bits, true), Exit(detailed));
        }
    }
}
