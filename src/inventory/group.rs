//! Groups of devices with common settings: `[group.<name>]`.

use std::collections::BTreeMap;

use foldhash::HashMap;
use switchtender_devices::diagnostic::{Diagnostic, suggest};
use switchtender_devices::document::{Findings, Table};
use switchtender_devices::secret::MASK;

use super::file_context::FileContext;
use super::range;
use super::setting::{InventoryTable, TablePosition};
use super::table_settings::TableSettings;

/// A group: the devices that it names, and their settings.
pub(super) struct Group {
    name: String,
    members: Vec<String>,
    position: TablePosition,
    pub(super) settings: TableSettings,
}

impl Group {
    /// Reads the table of a group. The caller finishes it.
    pub(super) fn read(
        name: &str,
        table: &Table<'_>,
        position: TablePosition,
        file: &FileContext<'_>,
    ) -> Self {
        if table.get("devices").is_none() {
            table.missing("devices");
        }
        Self {
            name: name.to_owned(),
            members: table.strings("devices").unwrap_or_default(),
            position,
            settings: TableSettings::read(table, &InventoryTable::Group(name.to_owned()), file),
        }
    }
}

/// The groups of each device, in the order of the file.
pub(super) struct Memberships<'g>(HashMap<String, Vec<&'g Group>>);

impl<'g> Memberships<'g> {
    /// Looks up the devices that the groups name. Reports names of no device.
    pub(super) fn new<'n>(
        groups: &'g [Group],
        devices: impl Iterator<Item = &'n str> + Clone,
        findings: &Findings,
    ) -> Self {
        let mut of_device: HashMap<String, Vec<&Group>> = devices
            .clone()
            .map(|name| (name.to_owned(), Vec::new()))
            .collect();
        for group in groups {
            for member in &group.members {
                let names = match range::expand(member) {
                    None => vec![member.clone()],
                    Some(Ok(names)) => names,
                    Some(Err(error)) => {
                        let message = format!("`{member}` names no devices: {error}");
                        findings.push(group.position.error("range", message).help(range::HELP));
                        continue;
                    }
                };
                let mut unknown = names.iter().filter(|name| !of_device.contains_key(*name));
                if let Some(name) = unknown.next() {
                    let list = "name devices of this inventory, or ranges such as \"sw[01-20]\"";
                    let message =
                        format!("group `{}` names the unknown device `{name}`", group.name);
                    let help = suggest(name, devices.clone(), list);
                    findings.push(group.position.error("unknown-device", message).help(help));
                }
                for name in &names {
                    if let Some(groups) = of_device.get_mut(name)
                        && !groups.iter().any(|known| std::ptr::eq(*known, group))
                    {
                        groups.push(group);
                    }
                }
            }
        }
        Self(of_device)
    }

    /// The settings of a device over those of its groups. Groups with different values for a setting that
    /// the device does not have are an error.
    pub(super) fn apply(
        &self,
        name: &str,
        own: TableSettings,
        findings: &Findings,
    ) -> TableSettings {
        let groups = self.0.get(name).map(Vec::as_slice).unwrap_or_default();
        if groups.len() > 1 {
            for conflict in conflicts(name, &own, groups) {
                findings.push(conflict);
            }
        }
        let layers = groups.iter();
        layers.fold(own, |settings, group| settings.over(&group.settings))
    }
}

fn conflicts(device: &str, own: &TableSettings, groups: &[&Group]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let own: Vec<String> = own.rows().into_iter().map(|(key, ..)| key).collect();
    let mut values = BTreeMap::new();
    for group in groups {
        for (key, value, origin) in group.settings.rows() {
            if own.contains(&key) {
                continue;
            }
            match values.get(&key) {
                None => {
                    values.insert(key, (value, &group.name));
                }
                // Secrets in clear text look the same.
                Some((other, _)) if *other == value && value != MASK => {}
                Some((_, first)) => found.push(
                    origin
                        .error(
                            "group-conflict",
                            format!(
                                "groups `{first}` and `{}` have different values of `{key}` for device `{device}`",
                                group.name
                            ),
                        )
                        .help(format!("set {key} in [device.{device}], or in one of the groups only")),
                ),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::inventory::{Inventory, InventoryOptions};

    const DEFAULTS: &str = "[defaults]\nplatform = \"cisco_ios\"\nuser = \"u\"\nagent = true\n";

    fn parse(text: &str) -> Result<Inventory, Vec<String>> {
        let text = format!("{DEFAULTS}{text}");
        let options = InventoryOptions::default();
        let parsed = Inventory::parse("i.toml", &text, Path::new(""), None, &options);
        parsed.map_err(|found| found.iter().map(|one| one.message.to_string()).collect())
    }

    fn addresses(inventory: &Inventory) -> Vec<String> {
        let devices = inventory.devices.values();
        let address =
            |settings: &super::TableSettings| settings.address.as_ref().unwrap().value.clone();
        devices
            .map(|device| {
                format!(
                    "{} {} {}",
                    device.name,
                    address(&device.settings),
                    device.certname
                )
            })
            .collect()
    }

    #[test]
    fn range_of_devices_has_a_range_of_addresses_or_their_names() {
        let text = "[device.\"sw[08-10]\"]\naddress = \"192.0.2.[8-10]\"\ncertname = \"{name}.lab.test\"\n\
            [device.\"core[1,3]\"]\naddress = \"{name}.example.com\"\n";
        let inventory = parse(text).unwrap();
        assert_eq!(
            addresses(&inventory),
            [
                "sw08 192.0.2.8 sw08.lab.test",
                "sw09 192.0.2.9 sw09.lab.test",
                "sw10 192.0.2.10 sw10.lab.test",
                "core1 core1.example.com core1",
                "core3 core3.example.com core3",
            ]
        );
    }

    #[test]
    fn name_of_a_device_is_possible_in_defaults() {
        let inventory =
            parse("address = \"{name}.example.com\"\n[device.sw1]\n[device.sw2]\n").unwrap();
        assert_eq!(
            addresses(&inventory),
            ["sw1 sw1.example.com sw1", "sw2 sw2.example.com sw2"]
        );
    }

    #[test]
    fn group_settings_are_below_those_of_the_device_and_above_the_platform() {
        let text = "[platform.cisco_ios]\nport = 1\nsite = \"p\"\n\
            [group.access]\ndevices = [\"sw[1-2]\"]\nport = 2\nsite = \"g\"\nlabels = { role = \"access\" }\n\
            [group.lab]\ndevices = [\"sw2\"]\nport = 2\n\
            [device.sw1]\naddress = \"a\"\nport = 3\n[device.sw2]\naddress = \"b\"\n[device.sw3]\naddress = \"c\"\n";
        let inventory = parse(text).unwrap();
        let devices = inventory.devices.values();
        let settings: Vec<_> = devices
            .map(|device| {
                let port = device.settings.port.as_ref().unwrap().value;
                (port, device.site().unwrap(), device.label("role"))
            })
            .collect();
        let access = Some("access");
        assert_eq!(
            settings,
            [(3, "g", access), (2, "g", access), (1, "p", None)]
        );
    }

    #[test]
    fn group_and_range_errors_name_device_and_table() {
        let device = "[device.sw1]\naddress = \"a\"\n";
        let cases = [
            (
                "[group.a]\ndevices = [\"sw1\"]\nport = 1\n[group.b]\ndevices = [\"sw1\"]\nport = 2\n",
                "groups `a` and `b` have different values of `port` for device `sw1`",
            ),
            (
                "[group.a]\ndevices = [\"sw[1-2]\"]\n",
                "group `a` names the unknown device `sw2`",
            ),
            (
                "[group.a]\nport = 1\n",
                "key `devices` is missing in [group.a]",
            ),
            (
                "[device.\"sw[1-2]\"]\naddress = \"{name}\"\n",
                "two tables have the device `sw1`",
            ),
            (
                "[device.\"ap[1-3]\"]\naddress = \"10.0.0.[1-2]\"\n",
                "2 addresses for 3 devices",
            ),
            (
                "[device.\"ap[3-1]\"]\naddress = \"{name}\"\n",
                "`ap[3-1]` is no device name: the range [3-1] does not run from a lower to a higher number",
            ),
            (
                "[device.\"ap[1-2]\"]\naddress = \"10.0.0.[255-256]\"\n",
                "`10.0.0.[255-256]` is neither a hostname nor an IP address",
            ),
        ];
        for (text, expected) in cases {
            let found = parse(&format!("{device}{text}")).unwrap_err();
            assert!(
                found.iter().any(|message| message == expected),
                "{expected}: {found:?}"
            );
        }
    }
}
