//! An inventory of one device that a command line describes.

use std::path::Path;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;

use super::secret_source::SecretSource;
use super::setting::{InventoryTable, SettingOrigin, TableSetting};
use super::table_settings::TableSettings;
use super::{Inventory, InventoryOptions};

const DEVICE: &str = "--device";

/// The keys of the inventory that an option of their own sets.
const OPTIONS: [(&str, &str); 2] = [("platform", "--platform"), ("fingerprint", "--fingerprint")];

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
        let parsed = Self::parse_device(text, platform, agent, fingerprint, options);
        parsed.map_err(about_options)
    }

    fn parse_device(
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
        Self::parse(DEVICE, &inventory, Path::new(""), None, options)
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

/// The findings with the names of the options in place of positions in a file that does not exist.
fn about_options(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // The name is the address.
    if findings.len() > 1 {
        findings.retain(|found| found.code != "device-name");
    }
    for found in &mut findings {
        let labels = std::mem::take(&mut found.labels);
        let line = labels.first().and_then(|label| {
            let (line, _) = label.source.position(label.span.start);
            label.source.text.lines().nth(line - 1)
        });
        let key = line.and_then(|line| line.split_once(" = "));
        let option = key.and_then(|(key, _)| OPTIONS.iter().find(|(other, _)| *other == key));
        let option = option.map_or(DEVICE, |(_, option)| option);
        found.message = format!("{option}: {}", found.message);
    }
    findings
}
