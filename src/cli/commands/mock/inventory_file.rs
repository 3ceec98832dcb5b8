//! An inventory of running mocks.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use switchtender_devices::driver::{MockKind, Registry};
use switchtender_mocks::fleet::RunningDevice;

use crate::cli::exit::{CommandError, print};
use crate::cli::options::definitions;
use crate::terminal_text::TerminalText;

/// The inventory to write, with the logins of the mocks.
pub(super) struct InventoryFile<'a> {
    pub(super) file: &'a Path,
    pub(super) user: &'a str,
    pub(super) password: &'a str,
    pub(super) enable_password: Option<&'a str>,
}

impl InventoryFile<'_> {
    /// Writes the file. Only the owner can read it, because it has the passwords.
    pub(super) fn write(&self, devices: &[RunningDevice]) -> Result<(), CommandError> {
        let path = self.file.display();
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.file);
        let registry = definitions::load(None)?;
        let text = self.text(devices, &registry);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                CommandError::new(format!("{path} exists already")).hint("name another file")
            }
            _ => CommandError::new(format!("cannot write {path}")).with_source(error),
        })?;
        print(&TerminalText::of_line(format_args!(
            "{path} is written: switchtender plan --inventory {path} --state DIR"
        )));
        Ok(())
    }

    fn text(&self, devices: &[RunningDevice], registry: &Registry) -> String {
        let platform_of = |kind| {
            let mut platforms = registry.platforms();
            let found = platforms.find(|platform| platform.mock == Some(kind));
            found.map_or("", |platform| &platform.name)
        };
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut text = format!(
            "# The mocks of one command. Their addresses are valid until it ends.\n\n\
             [defaults]\nuser = {}\npassword = {}\n",
            quoted(self.user),
            quoted(self.password)
        );
        if let Some(password) = self.enable_password {
            let _ = writeln!(text, "enable_password = {}", quoted(password));
        }
        for device in devices {
            let (platform, fingerprint) = match device {
                RunningDevice::Switch(switch) => {
                    (platform_of(MockKind::Switch), switch.host_key().fingerprint)
                }
                RunningDevice::Grammar(switch) => {
                    (switch.platform(), switch.host_key().fingerprint)
                }
                RunningDevice::LoadBalancer(balancer) => {
                    (platform_of(MockKind::LoadBalancer), balancer.fingerprint())
                }
                // They have other platforms, and no option for an inventory.
                RunningDevice::Structural(_) | RunningDevice::Replay(_) => continue,
            };
            let address = device.address();
            let _ = write!(
                text,
                "\n[device.{}]\nplatform = \"{platform}\"\naddress = \"{}\"\nport = {}\nfingerprint = {}\n",
                device.name(),
                address.ip(),
                address.port(),
                quoted(&fingerprint)
            );
        }
        text
    }
}
