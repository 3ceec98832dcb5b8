//! `switchtender mock`: starts mock devices and lists their faults.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use switchtender_mocks::fault::{FAULTS, MockKind};
use switchtender_mocks::fleet::{DeviceOptions, Fleet, RunningDevice};
use switchtender_mocks::{Fault, LoadBalancerOptions, SharedWriter, SwitchOptions};

use super::exit::{CommandError, Exit, print};
use crate::terminal_text::TerminalText;

/// Start mock devices on this machine
///
/// Examples:
///   switchtender mock switch --count 2 --port 2201
///   switchtender mock load-balancer --fault 'error-status=503 ^POST'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct MockArgs {
    #[command(subcommand)]
    command: MockCommand,
}

#[derive(Debug, Subcommand)]
enum MockCommand {
    Switch(MockSwitchArgs),
    LoadBalancer(MockLoadBalancerArgs),
    /// List the faults that mock devices can inject
    Faults,
}

/// Start switches with an IOS-like command line over SSH, until interrupted
#[derive(Debug, clap::Args)]
struct MockSwitchArgs {
    #[command(flatten)]
    common: MockDeviceArgs,

    /// Initial running configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Product number, such as C9300-48P
    #[arg(long)]
    model: Option<String>,

    /// Password for `enable`
    #[arg(long, default_value = "enable")]
    enable_password: String,
}

/// Start load balancers with an iControl-REST-like interface over HTTPS, until interrupted
#[derive(Debug, clap::Args)]
struct MockLoadBalancerArgs {
    #[command(flatten)]
    common: MockDeviceArgs,

    /// Initial objects: JSON, {"POST /mgmt/tm/ltm/pool": {…}, …}
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct MockDeviceArgs {
    /// Number of devices
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,

    /// Port of the first device; the others use the next ports. 0 selects free ports
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// User name for login
    #[arg(long, default_value = "admin")]
    user: String,

    /// Password for login
    #[arg(long, default_value = "admin")]
    password: String,

    /// Inject a fault (repeatable); `mock faults` lists them
    #[arg(long, value_name = "FAULT")]
    fault: Vec<String>,

    /// Append each exchange to this file, one JSON object per line. It contains secrets in clear
    /// text, so only the owner can read it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub(crate) fn run(args: &MockArgs) -> Result<Exit, CommandError> {
    let (common, devices) = match &args.command {
        MockCommand::Faults => {
            print(&render_faults());
            return Ok(Exit::SUCCESS);
        }
        MockCommand::Switch(args) => {
            let shared = SharedOptions::new(&args.common)?;
            let options = (1..=args.common.count)
                .map(|number| switch(args, &shared, number).map(DeviceOptions::Switch));
            (&args.common, options.collect::<Result<Vec<_>, _>>()?)
        }
        MockCommand::LoadBalancer(args) => {
            let shared = SharedOptions::new(&args.common)?;
            let options = (1..=args.common.count).map(|number| {
                load_balancer(args, &shared, number).map(DeviceOptions::LoadBalancer)
            });
            (&args.common, options.collect::<Result<Vec<_>, _>>()?)
        }
    };
    super::block_on(async {
        let fleet = Fleet::start(devices, common.port).await;
        let fleet =
            fleet.map_err(|error| CommandError::new("cannot start the mock").with_source(error))?;
        for device in fleet.devices() {
            print(&render_address(device, common));
        }
        super::interrupt::interrupted().await;
        fleet.stop().await;
        Ok(Exit::SUCCESS)
    })
}

/// The command does not read exchanges from memory; `--log` writes all to a file.
const EXCHANGES_IN_MEMORY: usize = 0;

/// How to connect to a running mock.
fn render_address(device: &RunningDevice, common: &MockDeviceArgs) -> TerminalText {
    let (name, address, user) = (device.name(), device.address(), &common.user);
    match device {
        RunningDevice::Switch(switch) => {
            let key = switch.host_key().fingerprint;
            let mut text = TerminalText::of_line(format_args!(
                "{name}: ssh -p {} {user}@{}  (host key {key})",
                address.port(),
                address.ip()
            ));
            for line in switch.unknown_lines() {
                text.line(format_args!(
                    "{name}: keeps the unknown line `{line}` as text"
                ));
            }
            text
        }
        RunningDevice::LoadBalancer(balancer) => {
            let certificate = balancer.fingerprint();
            TerminalText::of_line(format_args!(
                "{name}: https://{user}@{address}/mgmt/tm  (certificate SHA-256 {certificate})"
            ))
        }
    }
}

/// Options that all devices of a command share.
struct SharedOptions {
    faults: Vec<Fault>,
    log: Option<SharedWriter>,
}

impl SharedOptions {
    fn new(args: &MockDeviceArgs) -> Result<Self, CommandError> {
        let faults = args.fault.iter().map(|fault| fault.parse());
        let faults = faults.collect::<Result<_, _>>().map_err(|error| {
            CommandError::new("cannot start the mock")
                .with_source(error)
                .hint("list the faults with `switchtender mock faults`")
        })?;
        let log = match &args.log {
            None => None,
            Some(path) => {
                let file = open_log(path).map_err(|error| {
                    CommandError::new(format!("cannot write {}", path.display())).with_source(error)
                })?;
                Some(SharedWriter::new(file))
            }
        };
        Ok(Self { faults, log })
    }
}

/// Opens a log that only its owner can read, because configuration lines contain secrets.
fn open_log(path: &Path) -> io::Result<File> {
    const OWNER_ONLY: u32 = 0o600;
    let file = File::options()
        .create(true)
        .append(true)
        .mode(OWNER_ONLY)
        .open(path)?;
    // The file may have existed with other permissions. Leave a device such as `/dev/stderr` alone.
    let found = file.metadata()?;
    if found.is_file() && found.permissions().mode() & 0o777 != OWNER_ONLY {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    }
    Ok(file)
}

fn switch(
    args: &MockSwitchArgs,
    shared: &SharedOptions,
    number: u16,
) -> Result<SwitchOptions, CommandError> {
    let name = format!("switch{number}");
    let defaults = SwitchOptions::default();
    Ok(SwitchOptions {
        exchanges_in_memory: EXCHANGES_IN_MEMORY,
        hostname: name.clone(),
        name,
        user: args.common.user.clone(),
        password: args.common.password.clone(),
        enable_password: Some(args.enable_password.clone()),
        model: args.model.clone().or(defaults.model.clone()),
        config: args.config.as_deref().map(read).transpose()?,
        faults: shared.faults.clone(),
        log: shared.log.clone(),
        ..defaults
    })
}

fn load_balancer(
    args: &MockLoadBalancerArgs,
    shared: &SharedOptions,
    number: u16,
) -> Result<LoadBalancerOptions, CommandError> {
    let name = format!("balancer{number}");
    let config = match &args.config {
        None => None,
        Some(path) => Some(serde_json::from_str(&read(path)?).map_err(|error| {
            CommandError::new(format!("cannot parse {} as JSON", path.display())).with_source(error)
        })?),
    };
    Ok(LoadBalancerOptions {
        exchanges_in_memory: EXCHANGES_IN_MEMORY,
        hostname: format!("{name}.example"),
        name,
        user: args.common.user.clone(),
        password: args.common.password.clone(),
        config,
        faults: shared.faults.clone(),
        log: shared.log.clone(),
        ..LoadBalancerOptions::default()
    })
}

fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| {
        CommandError::new(format!("cannot read {}", path.display())).with_source(error)
    })
}

/// The table of faults, grouped by mock, and an explanation of the arguments.
fn render_faults() -> TerminalText {
    let width = FAULTS.iter().map(|row| row.syntax().len()).max();
    let width = width.unwrap_or(0);
    let mut text = TerminalText::new();
    let sections: [(&str, &[MockKind]); 3] = [
        ("All mocks", &[MockKind::Switch, MockKind::LoadBalancer]),
        ("Switch", &[MockKind::Switch]),
        ("Load balancer", &[MockKind::LoadBalancer]),
    ];
    for (title, mocks) in sections {
        text.line(format_args!("{title}:"));
        for row in FAULTS.iter().filter(|row| row.mocks == mocks) {
            text.line(format_args!("  {:width$}  {}", row.syntax(), row.help));
        }
        text.end_line();
    }
    text.block("", FAULT_ARGUMENTS);
    text
}

const FAULT_ARGUMENTS: &str = "\
TIME      a duration, for example 20ms
N|REGEX   fires once: after N commands, or at the first command that matches
N|EACH    fires once after N commands, or at each command that matches

On a switch, a command is a line. On a load balancer, it is `METHOD /path` without query and
body, for example '^PATCH /mgmt/tm/ltm/pool'.

The faults drop-after, stall-after, garbage-after, drip-bytes, drip-lines and flood also have
stages in place of N: <connect>, and on a switch <login> (drop-after, stall-after) and <shell>.
";
