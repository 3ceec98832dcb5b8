//! `switchtender mock`: starts mock devices and a mock Puppet Server, and lists faults.

mod inventory_file;
mod puppet_server;
mod replay;

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use switchtender_devices::names::PlatformName;
use switchtender_devices::read::Reads;
use switchtender_devices::regular_file;
use switchtender_mocks::fault::{FAULTS, MockKind};
use switchtender_mocks::fleet::{DeviceOptions, Fleet, RunningDevice};
use switchtender_mocks::{
    Fault, GrammarSwitchOptions, HostKey, LoadBalancerOptions, SharedWriter, StructuralOptions,
    SwitchOptions, grammar_switch, serial_number,
};

use self::inventory_file::InventoryFile;
use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::unknown_name::unknown_platform;
use crate::cli::output::view::wrapped_text;
use crate::error_chain::chain;
use crate::fleet::{saved_files, structural_mock};
use crate::terminal_text::TerminalText;

/// Start mock devices or a mock Puppet Server on this machine
///
/// Examples:
///   switchtender mock switch --count 2 --port 2201
///   switchtender mock switch --platform cisco_nxos
///   switchtender mock switch --count 300 --inventory mocks.toml
///   switchtender mock load-balancer --fault 'error-status=503 ^POST'
///   switchtender mock puppet-server catalogs
///   switchtender mock --replay recordings
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true
)]
pub(crate) struct MockArgs {
    #[command(subcommand)]
    command: Option<MockCommand>,

    #[command(flatten)]
    replay: replay::ReplayArgs,
}

#[derive(Debug, Subcommand)]
enum MockCommand {
    Switch(MockSwitchArgs),
    LoadBalancer(MockLoadBalancerArgs),
    Platform(MockPlatformArgs),
    PuppetServer(puppet_server::MockPuppetServerArgs),
    /// List the faults that mock devices can inject
    ///
    /// Example: switchtender mock faults
    Faults,
}

/// User name and password for login.
const DEFAULT_LOGIN: &str = "admin";
const DEFAULT_ENABLE_PASSWORD: &str = "enable";

/// Start switches with a command line over SSH, until interrupted
///
/// Without a platform they are like IOS. Switches of another platform also answer its requests over
/// HTTPS.
///
/// Example: switchtender mock switch --count 2 --port 2201
#[derive(Debug, clap::Args)]
struct MockSwitchArgs {
    #[command(flatten)]
    common: MockDeviceArgs,

    /// Platform, such as cisco_nxos or arista_eos
    #[arg(long, value_parser = grammar_switch::platforms(), conflicts_with_all = ["model", "enable_password"])]
    platform: Option<String>,

    /// Initial running configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Product number, such as C9300-48P
    #[arg(long)]
    model: Option<String>,

    /// Password for `enable`
    #[arg(long, default_value = DEFAULT_ENABLE_PASSWORD)]
    enable_password: String,
}

/// Start load balancers with an iControl-REST-like interface over HTTPS, until interrupted
///
/// Example: switchtender mock load-balancer --port 8443
#[derive(Debug, clap::Args)]
struct MockLoadBalancerArgs {
    #[command(flatten)]
    common: MockDeviceArgs,

    /// Initial objects: JSON, {"POST /mgmt/tm/ltm/pool": {…}, …}
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Start a structural mock of any platform, until interrupted
///
/// It keeps lines and blocks, objects or elements as the definition describes them. It is for trials
/// of a definition, and no proof for a real device.
///
/// Example: switchtender mock platform my_os --definitions ./definitions --config running/sw1.cfg
#[derive(Debug, clap::Args)]
struct MockPlatformArgs {
    /// Platform, such as frr
    platform: PlatformName,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// Initial running configuration; a file *.json beside it has answers, with the names of the
    /// reads as keys
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Port of the device. 0 selects a free one
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// User name for login
    #[arg(long, default_value = DEFAULT_LOGIN)]
    user: String,

    /// Password for login
    #[arg(long, default_value = structural_mock::DEFAULT_PASSWORD)]
    password: String,

    /// Inject a fault (repeatable); `mock faults` lists them
    #[arg(long, value_name = "FAULT")]
    fault: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct MockDeviceArgs {
    /// Number of devices
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,

    /// Port of the first device; the others use the next ports. 0 selects free ports
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// Write an inventory of the devices to this file, which must not exist
    #[arg(short, long, value_name = "FILE")]
    inventory: Option<PathBuf>,

    /// User name for login
    #[arg(long, default_value = DEFAULT_LOGIN)]
    user: String,

    /// Password for login
    #[arg(long, default_value = DEFAULT_LOGIN)]
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
    let Some(command) = &args.command else {
        return replay::run(&args.replay);
    };
    let (common, enable_password, devices) = match command {
        MockCommand::Platform(args) => {
            let (options, notes) = structural(args)?;
            for note in notes {
                print(&TerminalText::of_line(format_args!(
                    "{}: {note}",
                    options.name
                )));
            }
            let devices = vec![DeviceOptions::Structural(Box::new(options))];
            let logins = logins(
                &args.user,
                &args.password,
                structural_mock::DEFAULT_PASSWORD,
            );
            return serve(devices, args.port, &args.user, &logins, None);
        }
        MockCommand::Faults => {
            print(&render_faults());
            return Ok(Exit::SUCCESS);
        }
        MockCommand::PuppetServer(args) => return puppet_server::run(args),
        MockCommand::Switch(args) => {
            let shared = SharedOptions::new(&args.common)?;
            let options = (1..=args.common.count).map(|number| match &args.platform {
                None => switch(args, &shared, number).map(DeviceOptions::Switch),
                Some(platform) => {
                    grammar(args, platform, &shared, number).map(DeviceOptions::Grammar)
                }
            });
            let devices = options.collect::<Result<Vec<_>, _>>()?;
            let enable_password = args.platform.is_none().then_some(&args.enable_password);
            (&args.common, enable_password, devices)
        }
        MockCommand::LoadBalancer(args) => {
            let shared = SharedOptions::new(&args.common)?;
            let options = (1..=args.common.count).map(|number| {
                load_balancer(args, &shared, number).map(DeviceOptions::LoadBalancer)
            });
            (&args.common, None, options.collect::<Result<Vec<_>, _>>()?)
        }
    };
    let enable_password = enable_password.map(String::as_str);
    let login = logins(&common.user, &common.password, DEFAULT_LOGIN);
    let enable = enable_password.map(|password| {
        let password = password_of(password, DEFAULT_ENABLE_PASSWORD, "--enable-password");
        format!(", enable password {password}")
    });
    let logins = format!("{login}{}", enable.unwrap_or_default());
    let inventory = common.inventory.as_deref().map(|file| InventoryFile {
        file,
        user: &common.user,
        password: &common.password,
        enable_password,
    });
    serve(devices, common.port, &common.user, &logins, inventory)
}

/// Runs mocks until the command is interrupted. `logins` says where their passwords are set.
fn serve(
    devices: Vec<DeviceOptions>,
    port: u16,
    user: &str,
    logins: &str,
    inventory: Option<InventoryFile<'_>>,
) -> Result<Exit, CommandError> {
    crate::cli::runtime::block_on(async {
        let fleet = Fleet::start(devices, port).await;
        let fleet =
            fleet.map_err(|error| CommandError::new("cannot start the mock").with_source(error))?;
        for device in fleet.devices() {
            print(&render_address(device, user));
        }
        print(&TerminalText::of_line(logins));
        if let Some(inventory) = inventory {
            inventory.write(fleet.devices())?;
        }
        crate::cli::interrupt::interrupted().await;
        fleet.stop().await;
        Ok(Exit::SUCCESS)
    })
}

/// The login of all mocks. Passwords of options are not repeated.
fn logins(user: &str, password: &str, default: &str) -> String {
    let password = password_of(password, default, "--password");
    format!("user {user}, password {password}")
}

fn password_of(password: &str, default: &str, option: &str) -> String {
    if password == default {
        default.to_owned()
    } else {
        format!("that of {option}")
    }
}

/// The command does not read exchanges from memory; `--log` writes all to a file.
const EXCHANGES_IN_MEMORY: usize = 0;

/// How to connect to a running mock.
fn render_address(device: &RunningDevice, user: &str) -> TerminalText {
    let (name, address) = (device.name(), device.address());
    let ssh = |key: HostKey| {
        TerminalText::of_line(format_args!(
            "{name}: ssh -p {} {user}@{}  (host key {})",
            address.port(),
            address.ip(),
            key.fingerprint
        ))
    };
    match device {
        RunningDevice::Structural(device) => match device.host_key() {
            Some(key) => ssh(key),
            None => {
                let token = device.token().map(|_| "the token is the password; ");
                TerminalText::of_line(format_args!(
                    "{name}: https://{user}@{address}  ({}certificate SHA-256 {})",
                    token.unwrap_or_default(),
                    device.fingerprint()
                ))
            }
        },
        RunningDevice::Replay(device) => match device.host_key() {
            Some(key) => ssh(key),
            None => TerminalText::of_line(format_args!(
                "{name}: https://{user}@{address}  (certificate SHA-256 {})",
                device.fingerprint()
            )),
        },
        RunningDevice::Switch(switch) => {
            let mut text = ssh(switch.host_key());
            for line in switch.unknown_lines() {
                text.line(format_args!(
                    "{name}: keeps the unknown line `{line}` as text"
                ));
            }
            text
        }
        RunningDevice::Grammar(switch) => {
            let mut text = ssh(switch.host_key());
            let certificate = switch.fingerprint();
            text.line(format_args!(
                "{name}: https://{user}@{}  (certificate SHA-256 {certificate})",
                switch.request_address()
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
        let faults = faults(&args.fault)?;
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

fn faults(texts: &[String]) -> Result<Vec<Fault>, CommandError> {
    let faults = texts.iter().map(|fault| fault.parse());
    faults.collect::<Result<_, _>>().map_err(|error| {
        CommandError::new("cannot start the mock")
            .with_source(error)
            .hint("list the faults with `switchtender mock faults`")
    })
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
    // Two mocks with the same name are two devices.
    let suffix = match args.common.port {
        0 => std::process::id(),
        port => u32::from(port),
    };
    Ok(SwitchOptions {
        serials: vec![serial_number(&format!("{name} {suffix}"))],
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

/// The options of a switch with the grammar of a platform.
fn grammar(
    args: &MockSwitchArgs,
    platform: &str,
    shared: &SharedOptions,
    number: u16,
) -> Result<GrammarSwitchOptions, CommandError> {
    Ok(GrammarSwitchOptions {
        exchanges_in_memory: EXCHANGES_IN_MEMORY,
        user: args.common.user.clone(),
        password: args.common.password.clone(),
        config: args.config.as_deref().map(read).transpose()?,
        faults: shared.faults.clone(),
        log: shared.log.clone(),
        ..GrammarSwitchOptions::new(platform, &format!("switch{number}"))
    })
}

/// The options of a structural mock, and what it cannot show.
fn structural(args: &MockPlatformArgs) -> Result<(StructuralOptions, Vec<String>), CommandError> {
    let registry = crate::cli::options::definitions::load(args.definitions.as_deref())?;
    let Some(platform) = registry.platform(&args.platform) else {
        return Err(unknown_platform(&registry, &args.platform));
    };
    let saved = match &args.config {
        None => Reads::default(),
        Some(file) => saved_files::read_with_neighbor(file)
            .map_err(|error| CommandError::new(chain(&error)))?,
    };
    let described = structural_mock::describe(&args.platform, platform, &saved);
    let (options, notes) = described.map_err(|error| {
        CommandError::new(format!("cannot start a mock of platform {}", args.platform))
            .with_source(error)
    })?;
    let options = StructuralOptions {
        user: args.user.clone(),
        password: args.password.clone(),
        faults: faults(&args.fault)?,
        ..options
    };
    Ok((options, notes))
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
    regular_file::read_text(path, regular_file::LARGEST).map_err(|error| {
        CommandError::new(format!("cannot read {}", path.display())).with_source(error)
    })
}

/// The table of faults, grouped by mock, and an explanation of the arguments.
fn render_faults() -> TerminalText {
    let width = FAULTS.iter().map(|row| row.syntax().len()).max();
    let width = width.unwrap_or(0);
    let mut text = TerminalText::new();
    const KINDS: [MockKind; 3] = [
        MockKind::Switch,
        MockKind::LoadBalancer,
        MockKind::Structural,
    ];
    let sections = [
        ("All mocks", [true, true, true]),
        ("Switch and load balancer", [true, true, false]),
        ("Switch", [true, false, false]),
        ("Load balancer", [false, true, false]),
    ];
    for (title, mocks) in sections {
        text.line(format_args!("{title}:"));
        let rows = FAULTS
            .iter()
            .filter(|row| KINDS.map(|mock| row.is_supported_by(mock)) == mocks);
        for row in rows {
            let syntax = format!("  {:width$}  ", row.syntax());
            let indent = " ".repeat(syntax.len());
            for line in wrapped_text(&syntax, &indent, row.help) {
                text.line(line);
            }
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

On a switch or a platform, a command is a line. On a load balancer, it is
`METHOD /path` without query and body, for example '^PATCH /mgmt/tm/ltm/pool'.
On a platform with REST, it has both, and the faults are those of a load
balancer. With NETCONF, it is an operation, for example '<edit-config>'.

The faults drop-after, stall-after, garbage-after, drip-bytes, drip-lines and
flood also have stages in place of N: <connect>, and on a switch <login>
(drop-after, stall-after) and <shell>.
";
