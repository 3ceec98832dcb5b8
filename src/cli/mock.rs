//! `switchtender mock`: mock devices by hand.

use std::path::PathBuf;

use clap::Subcommand;
use switchtender_mocks::{CliSwitch, Fault, SharedWriter, SwitchOptions};

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

    /// Write each exchange to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    let Kind::Switch(switch) = &args.kind;
    let common = &switch.common;
    if common.fault.iter().any(|fault| fault == "help") {
        print(&fault_help());
        return Ok(Exit::SUCCESS);
    }
    let prepared = Prepared::new(common)?;
    super::block_on(async {
        let mut running = Vec::new();
        for index in 0..common.count {
            running.push(start_switch(switch, &prepared, index).await?);
        }
        super::interrupted().await;
        for switch in running {
            switch.stop().await;
        }
        Ok(Exit::SUCCESS)
    })
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
                let file = std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path);
                let file = file.map_err(|error| {
                    CommandError::new(format!("cannot write {}", path.display())).because(error)
                })?;
                Some(SharedWriter::new(file))
            }
        };
        Ok(Self { faults, log })
    }
}

async fn start_switch(
    args: &SwitchArgs,
    prepared: &Prepared,
    index: u16,
) -> Result<switchtender_mocks::RunningSwitch, CommandError> {
    let name = format!("switch{}", index + 1);
    let config = args.config.as_ref().map(|path| {
        std::fs::read_to_string(path).map_err(|error| {
            CommandError::new(format!("cannot read {}", path.display())).because(error)
        })
    });
    let defaults = SwitchOptions::default();
    let options = SwitchOptions {
        hostname: name.clone(),
        user: args.common.user.clone(),
        password: args.common.password.clone(),
        enable_password: Some(args.enable_password.clone()),
        model: args.model.clone().unwrap_or(defaults.model.clone()),
        config: config.transpose()?,
        faults: prepared.faults.clone(),
        log: prepared.log.clone(),
        name: name.clone(),
        ..defaults
    };
    let switch = CliSwitch::start(options, port(&args.common, index)).await;
    let switch =
        switch.map_err(|error| CommandError::new("cannot start the mock").because(error))?;
    let address = switch.address();
    print(&format!(
        "{name}: ssh -p {} {}@{}  (host key {})\n",
        address.port(),
        args.common.user,
        address.ip(),
        switch.host_key().fingerprint
    ));
    for line in switch.unknown_lines() {
        print(&format!("{name}: keeps `{line}` without knowing it\n"));
    }
    Ok(switch)
}

fn port(args: &Common, index: u16) -> u16 {
    if args.port == 0 {
        0
    } else {
        args.port.saturating_add(index)
    }
}

fn fault_help() -> String {
    let width = switchtender_mocks::fault::NAMES
        .iter()
        .map(|(form, _)| form.len())
        .max()
        .unwrap_or(0);
    let lines = switchtender_mocks::fault::NAMES.iter();
    lines
        .map(|(form, meaning)| format!("{form:width$}  {meaning}\n"))
        .collect()
}
