//! The inventory of a command: a file, or one device on the command line.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use secrecy::SecretString;
use switchtender_devices::driver::Registry;
use switchtender_devices::names::PlatformName;

use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::options::unknown_name::unknown_platform;
use crate::inventory::{Inventory, InventoryOptions};

/// The inventory of the current directory.
pub(crate) const DEFAULT_INVENTORY: &str = "inventory.toml";

/// Whether an offline command may run the command of an inventory.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SourceCommandArgs {
    /// Run the command of [source] in the inventory, or ask its service
    #[arg(long)]
    pub(crate) run_commands: bool,
}

/// Prints the warnings about commands of an inventory that do not run.
pub(crate) fn warn_of_commands(inventory: &Inventory) {
    for found in inventory.command_warnings() {
        let help = found.help.as_deref().unwrap_or_default();
        eprint_notice(&format!("warning: {} ({help})", found.message));
    }
}

/// The devices of a command.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InventorySource {
    /// Inventory of the devices
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_INVENTORY)]
    pub(crate) inventory: PathBuf,

    /// One device instead of an inventory. It needs --platform, and --ask-password or the SSH agent
    #[arg(long, value_name = "USER@ADDRESS[:PORT]", requires = "platform")]
    pub(crate) device: Option<String>,

    /// Host key of --device, SHA256:…, or its certificate, instead of known_hosts or a CA
    #[arg(long, value_name = "FINGERPRINT", requires = "device")]
    fingerprint: Option<String>,

    /// Platform of --device or of a saved configuration
    #[arg(long)]
    pub(crate) platform: Option<PlatformName>,

    /// Ask for the password of the devices on the terminal
    #[arg(long)]
    ask_password: bool,

    /// Ask for the password of the privileged mode on the terminal
    #[arg(long)]
    ask_enable_password: bool,
}

impl InventorySource {
    /// Loads the inventory, and asks for the password. With `is_offline` no device is contacted.
    pub(crate) fn load(
        &self,
        registry: &Registry,
        is_offline: bool,
    ) -> Result<Inventory, CommandError> {
        let options = InventoryOptions {
            registry: Some(registry),
            is_offline,
            ..InventoryOptions::default()
        };
        let loaded = match (&self.device, &self.platform) {
            (Some(device), Some(platform)) => {
                if registry.platform(platform).is_none() {
                    return Err(unknown_platform(registry, platform));
                }
                let agent = std::env::var_os("SSH_AUTH_SOCK").is_some() && !self.ask_password;
                let fingerprint = self.fingerprint.as_deref();
                Inventory::of_device(device, platform, agent, fingerprint, &options)
            }
            _ => Inventory::load(&self.inventory, &options),
        };
        let mut inventory = loaded.map_err(CommandError::findings)?;
        warn_of_commands(&inventory);
        if self.ask_password {
            let prompt = match &self.device {
                Some(device) => format!("Password of {device}: "),
                None => format!("Password of the devices in {}: ", self.inventory.display()),
            };
            let password = ask(&prompt, "password")?;
            inventory.set_secret(&password, |settings| &mut settings.password);
        }
        if self.ask_enable_password {
            let prompt = match &self.device {
                Some(device) => format!("Enable password of {device}: "),
                None => format!(
                    "Enable password of the devices in {}: ",
                    self.inventory.display()
                ),
            };
            let password = ask(&prompt, "enable_password")?;
            inventory.set_secret(&password, |settings| &mut settings.enable_password);
        }
        Ok(inventory)
    }
}

/// Asks for a secret on the terminal. `setting` is its key in an inventory.
fn ask(prompt: &str, setting: &str) -> Result<SecretString, CommandError> {
    let answer = hidden_answer(prompt);
    answer.map(SecretString::from).map_err(|error| {
        CommandError::new("cannot ask for the password")
            .with_source(error)
            .hint(format!(
                "run the command on a terminal, or set `{setting}` in an inventory"
            ))
    })
}

/// The answer to a prompt on the terminal, which shows nothing that is typed from before the prompt.
/// A program that answers as soon as it sees the prompt does not reveal its password.
fn hidden_answer(prompt: &str) -> io::Result<String> {
    let terminal = File::open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    let mut hidden = before.clone();
    hidden.local_modes -= LocalModes::ECHO | LocalModes::ECHONL;
    tcsetattr(&terminal, OptionalActions::Now, &hidden)?;
    let answer = rpassword::prompt_password(prompt);
    tcsetattr(&terminal, OptionalActions::Now, &before)?;
    answer
}
