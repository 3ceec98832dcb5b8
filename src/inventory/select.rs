//! Selection of devices by name, pattern and label.

use std::collections::BTreeSet;

use switchtender_devices::diagnostic::{Diagnostic, nearest, suggest};

use super::selection::{DeviceSelection, LabelTerm, Selectable, TextPattern, label};
use super::{Device, Inventory};

/// What to do about an inventory without devices.
pub(super) const ADD_DEVICE: &str = "add one: [device.sw1] with `platform`, `address` and `user`";

impl Selectable for Device {
    fn names(&self) -> [&str; 2] {
        [self.name.as_str(), self.certname.as_str()]
    }

    fn label(&self, key: &str) -> Option<&str> {
        let own = self.settings.labels.get(key).map(|label| &label.value);
        label(key, own, self.site(), &self.platform)
    }
}

impl Inventory {
    /// The selected devices in the order of the file.
    ///
    /// # Errors
    /// A target or label matches no device: a misspelled name must not mean "nothing to do".
    pub(crate) fn select(
        &self,
        selection: &DeviceSelection,
    ) -> Result<Vec<&Device>, Vec<Diagnostic>> {
        let names = selection.names.iter().chain(&selection.excluded);
        let unknown = names.filter(|pattern| !self.has_name(pattern));
        let mut errors: Vec<Diagnostic> = unknown.map(|name| self.unknown_target(name)).collect();
        for label in &selection.labels {
            let unknown = label.values.iter().filter(|value| {
                let mut values = self
                    .devices
                    .values()
                    .filter_map(|device| label_of(device, label));
                !values.any(|one| value.matches(one))
            });
            errors.extend(unknown.map(|value| self.unknown_label(label, value)));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let devices = self.devices.values();
        let chosen: Vec<&Device> = devices
            .filter(|device| selection.matches(*device))
            .collect();
        if chosen.is_empty() {
            let found = if self.devices.is_empty() {
                let message = format!("{} contains no device", self.source.name);
                Diagnostic::error("no-devices", message).help(ADD_DEVICE)
            } else {
                let message = "no device matches all targets and labels".to_owned();
                let list = "list the devices with `switchtender inventory show`";
                Diagnostic::error("unknown-target", message).help(list)
            };
            return Err(vec![found]);
        }
        Ok(chosen)
    }

    /// The device with this certname.
    pub(crate) fn by_certname(&self, certname: &str) -> Option<&Device> {
        self.devices
            .values()
            .find(|device| device.certname == certname)
    }

    fn has_name(&self, pattern: &TextPattern) -> bool {
        let mut devices = self.devices.values();
        devices.any(|device| device.names().into_iter().any(|name| pattern.matches(name)))
    }

    fn unknown_target(&self, target: &TextPattern) -> Diagnostic {
        let names = self.devices.values().flat_map(Selectable::names);
        let text = &target.text;
        let message = if target.is_text() {
            format!("unknown device `{text}` in {}", self.source.name)
        } else {
            format!("no device matches `{text}`")
        };
        let found = Diagnostic::error("unknown-target", message);
        let list = "list the devices with `switchtender inventory show`";
        found.help(suggest(text, names, list))
    }

    fn unknown_label(&self, label: &LabelTerm, value: &TextPattern) -> Diagnostic {
        let (name, value) = (&label.key, &value.text);
        let found = Diagnostic::error(
            "unknown-label",
            format!("no device has label {name}={value}"),
        );
        let devices = self.devices.values();
        let values = devices.filter_map(|device| label_of(device, label));
        let devices = self.devices.values();
        let names = devices.flat_map(|device| device.settings.labels.keys().map(String::as_str));
        if let Some(near) = nearest(value, values.clone()) {
            return found.help(format!("did you mean {name}={near}?"));
        }
        let values: BTreeSet<&str> = values.collect();
        if !values.is_empty() {
            let values = Vec::from_iter(values).join(", ");
            return found.help(format!("values of {name}: {values}"));
        }
        if let Some(near) = nearest(name, names.clone()) {
            return found.help(format!("did you mean {near}={value}?"));
        }
        let names: BTreeSet<&str> = names.collect();
        if names.is_empty() {
            found.help("no device has labels")
        } else {
            found.help(format!("labels: {}", Vec::from_iter(names).join(", ")))
        }
    }
}

fn label_of<'d>(device: &'d Device, label: &LabelTerm) -> Option<&'d str> {
    Selectable::label(device, &label.key)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::InventoryOptions;
    use super::*;

    fn inventory() -> Inventory {
        let text = r#"
[defaults]
platform = "cisco_ios"
user = "u"
agent = true
[device]
sw1 = { address = "a", certname = "sw1.lab.test", labels = { rack = "a1", site = "fra" } }
sw2 = { address = "b", certname = "sw2.lab.test", labels = { rack = "a2", site = "fra" } }
core1 = { address = "c", site = "berlin" }
"#;
        Inventory::parse(
            "i.toml",
            text,
            Path::new(""),
            None,
            &InventoryOptions::default(),
        )
        .unwrap()
    }

    fn select(targets: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
        let selection = DeviceSelection::parse_all(&targets).unwrap();
        let inventory = inventory();
        match inventory.select(&selection) {
            Ok(devices) => Ok(devices
                .iter()
                .map(|device| device.name.to_string())
                .collect()),
            Err(errors) => Err(errors
                .into_iter()
                .map(|error| format!("{} | {}", error.message, error.help.unwrap_or_default()))
                .collect()),
        }
    }

    #[test]
    fn select_combines_targets_and_labels() {
        let cases: [(&[&str], &[&str]); 9] = [
            (&[], &["sw1", "sw2", "core1"]),
            (&["core1", "sw1"], &["sw1", "core1"]),
            (&["sw2.lab.test"], &["sw2"]),
            (&["sw*", "!sw1.lab.test"], &["sw2"]),
            (&["sw[2-9]", "core?"], &["sw2", "core1"]),
            (&["site=fra"], &["sw1", "sw2"]),
            (&["sw*", "site=fra", "rack=a2"], &["sw2"]),
            // A setting counts as a label, unless a label has its name.
            (&["site = berlin, platform = cisco*"], &["core1"]),
            (&["rack != a1"], &["sw2", "core1"]),
        ];
        for (targets, expected) in cases {
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(select(targets), Ok(expected), "{targets:?}");
        }
    }

    #[test]
    fn select_reports_unknown_targets_and_labels() {
        let cases: [(&[&str], &[&str]); 6] = [
            (
                &["swl", "sw2"],
                &["unknown device `swl` in i.toml | did you mean `sw1`?"],
            ),
            // A misspelled exclusion would select a device too many.
            (
                &["sw*, !swl, site != fre"],
                &[
                    "unknown device `swl` in i.toml | did you mean `sw1`?",
                    "no device has label site=fre | did you mean site=fra?",
                ],
            ),
            (
                &["x*", "rack=z9"],
                &[
                    "no device matches `x*` | list the devices with `switchtender inventory show`",
                    "no device has label rack=z9 | values of rack: a1, a2",
                ],
            ),
            (
                &["rak=a1"],
                &["no device has label rak=a1 | did you mean rack=a1?"],
            ),
            (
                &["site in (fra, fre)"],
                &["no device has label site=fre | did you mean site=fra?"],
            ),
            (
                &["core1", "site=fra"],
                &[
                    "no device matches all targets and labels | list the devices with `switchtender inventory show`",
                ],
            ),
        ];
        for (targets, expected) in cases {
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(select(targets), Err(expected), "{targets:?}");
        }
    }
}
