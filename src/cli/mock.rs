//! `switchtender mock`: mock devices by hand.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use switchtender_mocks::fault::{FORMS, Mock};
use switchtender_mocks::fleet::{DeviceOptions, Fleet, RunningDevice};
use switchtender_mocks::{Fault, LoadBalancerOptions, SharedWriter, SwitchOptions};

use super::exit::{CommandError, Exit, print};

/// Start mock devices on this machine, until interrupted
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    Switch(SwitchArgs),
    LoadBalancer(LoadBalancerArgs),
}

/// A switch with an IOS-like command line over SSH
#[derive(Debug, clap::Args)]
struct SwitchArgs {
    #[command(flatten)]
    common: Common,

    /// Running configuration to begin with
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Product number, such as C9300-48P
    #[arg(long)]
    model: Option<String>,

    /// Password for `enable`
    #[arg(long, default_value = "enable")]
    enable_password: String,
}

/// A load balancer with an iControl-REST-like interface over HTTPS
#[derive(Debug, clap::Args)]
struct LoadBalancerArgs {
    #[command(flatten)]
    common: Common,

    /// Objects to begin with: JSON, {"POST /mgmt/tm/ltm/pool": {…}, …}
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Common {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,

    /// Port of the first one, the others follow; 0 takes free ones
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// User that may log in
    #[arg(long, default_value = "admin")]
    user: String,

    /// Its password
    #[arg(long, default_value = "admin")]
    password: String,

    /// What goes wrong on purpose (repeatable); --fault help lists them
    #[arg(long, value_name = "FAULT")]
    fault: Vec<String>,

    /// Write each exchange to this file, one JSON object per line; secrets are in clear, and only
    /// the owner may read it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    let common = match &args.kind {
        Kind::Switch(args) => &args.common,
        Kind::LoadBalancer(args) => &args.common,
    };
    if common.fault.iter().any(|fault| fault == "help") {
        print(&fault_help());
        return Ok(Exit::SUCCESS);
    }
    let prepared = Prepared::new(common)?;
    let numbers = 1..=common.count;
    let devices: Result<Vec<DeviceOptions>, CommandError> = match &args.kind {
        Kind::Switch(args) => numbers
            .map(|number| switch(args, &prepared, number).map(DeviceOptions::Switch))
            .collect(),
        Kind::LoadBalancer(args) => numbers
            .map(|number| load_balancer(args, &prepared, number).map(DeviceOptions::LoadBalancer))
            .collect(),
    };
    let devices = devices?;
    super::block_on(async {
        let fleet = Fleet::start(devices, common.port).await;
        let fleet =
            fleet.map_err(|error| CommandError::new("cannot start the mock").because(error))?;
        for device in fleet.devices() {
            print(&invitation(device, common));
        }
        super::interrupted().await;
        fleet.stop().await;
        Ok(Exit::SUCCESS)
    })
}

/// How to get to a mock that runs.
fn invitation(device: &RunningDevice, common: &Common) -> String {
    let (name, address, user) = (device.name(), device.address(), &common.user);
    match device {
        RunningDevice::Switch(switch) => {
            let key = switch.host_key().fingerprint;
            let mut text = format!(
                "{name}: ssh -p {} {user}@{}  (host key {key})\n",
                address.port(),
                address.ip()
            );
            for line in switch.unknown_lines() {
                text.push_str(&format!("{name}: keeps `{line}` without knowing it\n"));
            }
            text
        }
        RunningDevice::LoadBalancer(balancer) => {
            let certificate = balancer.fingerprint();
            format!(
                "{name}: https://{user}@{address}/mgmt/tm  (certificate SHA-256 {certificate})\n"
            )
        }
    }
}

/// What all devices of one command share, read before the first is started.
struct Prepared {
    faults: Vec<Fault>,
    log: Option<SharedWriter>,
}

impl Prepared {
    fn new(args: &Common) -> Result<Self, CommandError> {
        let faults = args.fault.iter().map(|fault| fault.parse());
        let faults = faults.collect::<Result<_, _>>().map_err(|error| {
            CommandError::new("cannot start the mock")
                .because(error)
                .hint("--fault help lists the faults")
        })?;
        let log = match &args.log {
            None => None,
            Some(path) => {
                let file = open_log(path).map_err(|error| {
                    CommandError::new(format!("cannot write {}", path.display())).because(error)
                })?;
                Some(SharedWriter::new(file))
            }
        };
        Ok(Self { faults, log })
    }
}

/// Opens a log for its owner alone: lines of configuration are in it whole, secrets too.
fn open_log(path: &Path) -> io::Result<File> {
    const OWNER_ONLY: u32 = 0o600;
    let file = File::options()
        .create(true)
        .append(true)
        .mode(OWNER_ONLY)
        .open(path)?;
    // A file that was there before; what is no file (`/dev/stderr`) stays as it is.
    let found = file.metadata()?;
    if found.is_file() && found.permissions().mode() & 0o777 != OWNER_ONLY {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    }
    Ok(file)
}

fn switch(
    args: &SwitchArgs,
    prepared: &Prepared,
    number: u16,
) -> Result<SwitchOptions, CommandError> {
    let name = format!("switch{number}");
    let defaults = SwitchOptions::default();
    Ok(SwitchOptions {
        hostname: name.clone(),
        name,
        user: args.common.user.clone(),
        password: args.common.password.clone(),
        enable_password: Some(args.enable_password.clone()),
        model: args.model.clone().unwrap_or(defaults.model.clone()),
        config: args.config.as_deref().map(read).transpose()?,
        faults: prepared.faults.clone(),
        log: prepared.log.clone(),
        ..defaults
    })
}

fn load_balancer(
    args: &LoadBalancerArgs,
    prepared: &Prepared,
    number: u16,
) -> Result<LoadBalancerOptions, CommandError> {
    let name = format!("balancer{number}");
    let config = match &args.config {
        None => None,
        Some(path) => Some(serde_json::from_str(&read(path)?).map_err(|error| {
            CommandError::new(format!("{} is not JSON", path.display())).because(error)
        })?),
    };
    Ok(LoadBalancerOptions {
        hostname: format!("{name}.example"),
        name,
        user: args.common.user.clone(),
        password: args.common.password.clone(),
        config,
        faults: prepared.faults.clone(),
        log: prepared.log.clone(),
        ..LoadBalancerOptions::default()
    })
}

fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| {
        CommandError::new(format!("cannot read {}", path.display())).because(error)
    })
}

/// All faults, those of both mocks first, and what their parameters mean.
fn fault_help() -> String {
    let width = FORMS.iter().map(|form| form.text.len()).max().unwrap_or(0);
    let of = |head: &str, only: Option<Mock>| {
        let forms = FORMS.iter().filter(|form| form.only == only);
        let lines = forms.map(|form| format!("  {:width$}  {}\n", form.text, form.meaning));
        format!("{head}:\n{}", lines.collect::<String>())
    };
    format!(
        "{}\n{}\n{}\n{FAULT_PARAMETERS}",
        of("Both mocks", None),
        of("mock switch only", Some(Mock::Switch)),
        of("mock load-balancer only", Some(Mock::LoadBalancer)),
    )
}

const FAULT_PARAMETERS: &str = "\
N|REGEX: once, after N commands or at the first that matches. REGEX alone: at each that matches. A
command is a line as it is typed on a switch; on a load balancer it is a request, of which REGEX sees
`METHOD /path` and neither the query nor the body, as in '^PATCH /mgmt/tm/ltm/pool'.
";
