//! `switchtender doctor`: checks of everything that a run needs.

mod check_result;
mod fleet_checks;
mod inventory_checks;
mod server_checks;
mod store_checks;
mod worker_checks;

use std::path::{Path, PathBuf};

use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::inventory_source::DEFAULT_INVENTORY;
use crate::cli::options::output_format::Output;
use crate::cli::options::puppet_settings::SettingFlags;
use crate::cli::options::store_options::StoreOption;
use crate::device_conf::CredentialsReaders;
use check_result::{CheckResult, CheckState};

/// Check configuration, certificates, server, devices and store
///
/// Checks the inventory of --inventory, or `inventory.toml` of the current directory. Without
/// one, or with a setting of `puppet.conf`, it checks what `switchtender device` needs. The store of
/// runs is checked, too, if one is configured: of a database version, TLS, rights and durability.
/// Exit: 0 no errors, 1 errors.
///
/// Examples:
///   switchtender doctor --connect
///   switchtender doctor --deviceconfig /etc/puppet/device.conf --target sw1.example.net
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DoctorArgs {
    /// Check only these devices: an expression as for `plan`; of device.conf, names (repeatable)
    #[arg(short, long, value_name = "EXPRESSION")]
    target: Vec<String>,

    /// Check this inventory: files, permissions, secrets, host keys, definitions
    #[arg(short, long, value_name = "FILE")]
    inventory: Option<PathBuf>,

    /// With an inventory: log in to the devices, too
    #[arg(long)]
    connect: bool,

    /// With an inventory: directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// With an inventory: state directory of apply
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    /// With device.conf: do not connect to devices
    #[arg(long, conflicts_with_all = ["inventory", "connect", "definitions", "state_dir"])]
    offline: bool,

    /// Users who are allowed to read credentials files
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    credentials_readers: CredentialsReaders,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    store: StoreOption,

    #[command(flatten)]
    settings: SettingFlags,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Exit, CommandError> {
    crate::cli::runtime::block_on(async {
        let mut checks = match args.checked_inventory() {
            Some(path) => inventory_checks::check_all(path, args).await?,
            // A node of a fleet has its devices from releases, and no Puppet Server.
            None if args.settings.is_empty() && !args.offline && fleet_checks::is_node() => {
                Vec::new()
            }
            None => server_checks::check_all(args).await?,
        };
        checks.extend(store_checks::check_all(args));
        checks.extend(fleet_checks::check_all().await);
        for check in &checks {
            check.print(args.output);
        }
        let worst = checks.iter().map(|check| check.state).max();
        Ok(if worst == Some(CheckState::Error) {
            Exit::FAILURE
        } else {
            Exit::SUCCESS
        })
    })
}

impl DoctorArgs {
    /// The inventory to check. `None`: `device.conf` is checked.
    fn checked_inventory(&self) -> Option<&Path> {
        let of_inventory = self.connect || self.definitions.is_some() || self.state_dir.is_some();
        let of_device_conf = self.offline || !self.settings.is_empty();
        let default = Path::new(DEFAULT_INVENTORY);
        let is_checked = of_inventory || (!of_device_conf && default.exists());
        self.inventory.as_deref().or(is_checked.then_some(default))
    }
}

/// Checks whether a directory, or its nearest existing parent, is writable. `options` choose another one.
fn check_writable(directory: &Path, options: &str) -> CheckResult {
    let subject = directory.display().to_string();
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let Some(existing) = absolute.ancestors().find(|path| path.exists()) else {
        return CheckResult::new(subject, CheckState::Error, "does not exist");
    };
    match tempfile::tempfile_in(existing) {
        Ok(_) => CheckResult::new(subject, CheckState::Ok, "is writable"),
        Err(error) => CheckResult::new(
            subject,
            CheckState::Error,
            format!("is not writable: {error}"),
        )
        .hint(Some(format!(
            "run as its owner, or choose another directory with {options}"
        ))),
    }
}
