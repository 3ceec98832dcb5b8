//! An inventory of one device that a command line describes.

use std::path::Path;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;

use super::secret_source::SecretSource;
use super::setting::{InventoryTable, SettingOrigin, TableSetting};
use super::table_settings::TableSettings;
use super::{Inventory, InventoryOptions};

impl Inventory {
    /// The inventory of one device, `user@address` or `user@address:port`. Its name is the address. `agent`:
    /// use the SSH agent; `fingerprint`: of its host key or certificate.
    ///
    /// # Errors
    /// The text has no user, or the address, the platform or the fingerprint is invalid.
    pub(crate) fn of_device(
        text: &str,
        platform: &str,
        agent: bool,
        fingerprint: Option<&str>,
        options: &InventoryOptions<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let Some((user, address)) = text.rsplit_once('@').filter(|(user, _)| !user.is_empty())
        else {
            let message = format!("`{text}` has no user");
            let found = Diagnostic::error("device", message);
            return Err(vec![found.help("write user@address, or user@address:port")]);
        };
        // `[2001:db8::1]:22`, `192.0.2.1:22`, `2001:db8::1`
        let (address, port) = match address.rsplit_once(':') {
            Some((host, port)) if host.ends_with(']') || !host.contains(':') => (host, Some(port)),
            _ => (address, None),
        };
        let address = address.trim_start_matches('[').trim_end_matches(']');
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let name = quoted(&address.replace('%', "-"));
        let mut inventory = format!(
            "[device.{name}]\nplatform = {}\naddress = {}\nuser = {}\n",
            quoted(platform),
            quoted(address),
            quoted(user)
        );
        if let Some(port) = port {
            let Some(port) = port.parse::<u16>().ok().filter(|port| *port > 0) else {
                let message = format!("`{port}` is not a port (1 to 65535)");
                return Err(vec![Diagnostic::error("port", message)]);
            };
            inventory += &format!("port = {port}\n");
        }
        inventory += &format!("agent = {agent}\n");
        if let Some(fingerprint) = fingerprint {
            inventory += &format!("fingerprint = {}\n", quoted(fingerprint));
        }
        Self::parse("--device", &inventory, Path::new(""), None, options)
    }

    /// Sets a secret of all devices.
    pub(crate) fn set_secret(
        &mut self,
        secret: &SecretString,
        setting: impl Fn(&mut TableSettings) -> &mut Option<TableSetting<SecretSource>>,
    ) {
        let origin = SettingOrigin {
            table: InventoryTable::Defaults,
            source: self.source.clone(),
            span: 0..0,
        };
        for device in self.devices.values_mut() {
            *setting(&mut device.settings) = Some(TableSetting {
                value: SecretSource::Literal(secret.clone()),
                origin: origin.clone(),
            });
        }
    }
}
