//! Selection of devices by name, pattern and label.

use foldhash::HashSet;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeSet;

use switchtender_devices::diagnostic::{Diagnostic, nearest, suggest};

use super::{Device, Inventory, range};

/// What to do about an inventory without devices.
pub(super) const ADD_DEVICE: &str = "add one: [device.sw1] with `platform`, `address` and `user`";

/// A selection: devices that match any target (without targets: all) and have all labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceSelection {
    /// Names or certnames, ranges such as `sw[01-20]`, or patterns with `*`, `?`, `[…]` and `{a,b}`.
    pub(crate) targets: Vec<String>,
    pub(crate) labels: Vec<LabelSelector>,
}

/// A required label, `rack=a1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelSelector {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A text that is not a label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form name=value")]
pub(crate) struct LabelSyntaxError(String);

impl std::str::FromStr for LabelSelector {
    type Err = LabelSyntaxError;

    fn from_str(text: &str) -> Result<Self, LabelSyntaxError> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(LabelSyntaxError(text.to_owned())),
        }
    }
}

impl DeviceSelection {
    /// Whether a target is the name of the device and not a pattern.
    pub(crate) fn is_named(&self, device: &Device) -> bool {
        let mut targets = self.targets.iter();
        targets.any(|target| device.name == **target || device.certname == **target)
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
        let mut errors = Vec::new();
        let mut targets = Vec::new();
        for target in &selection.targets {
            match TargetPattern::parse(target) {
                Ok(found) if self.devices.values().any(|device| found.matches(device)) => {
                    targets.push(found);
                }
                Ok(_) => errors.push(self.unknown_target(target)),
                Err(error) => errors.push(Diagnostic::error(
                    "bad-target",
                    format!("`{target}` is not a pattern: {}", error.kind()),
                )),
            }
        }
        for label in &selection.labels {
            let matches = |device: &Device| device.label(&label.name) == Some(&label.value);
            if !self.devices.values().any(matches) {
                errors.push(self.unknown_label(label));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let chosen: Vec<&Device> = self
            .devices
            .values()
            .filter(|device| targets.is_empty() || targets.iter().any(|t| t.matches(device)))
            .filter(|device| {
                let mut labels = selection.labels.iter();
                labels.all(|label| device.label(&label.name) == Some(&label.value))
            })
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

    fn unknown_target(&self, target: &str) -> Diagnostic {
        let names = self
            .devices
            .values()
            .flat_map(|device| [device.name.as_str(), device.certname.as_str()]);
        let message = if is_pattern(target) {
            format!("no device matches `{target}`")
        } else {
            format!("unknown device `{target}` in {}", self.source.name)
        };
        let found = Diagnostic::error("unknown-target", message);
        let list = "list the devices with `switchtender inventory show`";
        found.help(suggest(target, names, list))
    }

    fn unknown_label(&self, label: &LabelSelector) -> Diagnostic {
        let LabelSelector { name, value } = label;
        let found = Diagnostic::error(
            "unknown-label",
            format!("no device has label {name}={value}"),
        );
        let values = self
            .devices
            .values()
            .filter_map(|device| device.label(name));
        let names = self
            .devices
            .values()
            .flat_map(|device| device.settings.labels.keys().map(String::as_str));
        if let Some(near) = nearest(value, values.clone()) {
            return found.help(format!("did you mean {name}={near}?"));
        }
        if values.clone().next().is_some() {
            let mut values: Vec<&str> = values.collect();
            values.sort_unstable();
            values.dedup();
            return found.help(format!("values of {name}: {}", values.join(", ")));
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

enum TargetPattern {
    Name(String),
    /// The names of a range.
    Names(HashSet<String>),
    Pattern(GlobMatcher),
}

impl TargetPattern {
    fn parse(text: &str) -> Result<Self, globset::Error> {
        if let Some(Ok(names)) = range::expand(text) {
            return Ok(TargetPattern::Names(names.into_iter().collect()));
        }
        if !is_pattern(text) {
            return Ok(TargetPattern::Name(text.to_owned()));
        }
        GlobBuilder::new(text)
            .build()
            .map(|glob| TargetPattern::Pattern(glob.compile_matcher()))
    }

    fn matches(&self, device: &Device) -> bool {
        match self {
            TargetPattern::Name(name) => device.name == *name || device.certname == *name,
            TargetPattern::Names(names) => {
                names.contains(device.name.as_str()) || names.contains(device.certname.as_str())
            }
            TargetPattern::Pattern(glob) => {
                glob.is_match(device.name.as_str()) || glob.is_match(device.certname.as_str())
            }
        }
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
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
core1 = { address = "c" }
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

    fn select(targets: &[&str], labels: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let selection = DeviceSelection {
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            labels: labels.iter().map(|label| label.parse().unwrap()).collect(),
        };
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
        let cases: [(&[&str], &[&str], &[&str]); 7] = [
            (&[], &[], &["sw1", "sw2", "core1"]),
            (&["core1", "sw1"], &[], &["sw1", "core1"]),
            (&["sw2.lab.test"], &[], &["sw2"]),
            (&["sw*"], &[], &["sw1", "sw2"]),
            (&["sw[2-9]", "core?"], &[], &["sw2", "core1"]),
            (&[], &["site=fra"], &["sw1", "sw2"]),
            (&["sw*"], &["site=fra", "rack=a2"], &["sw2"]),
        ];
        for (targets, labels, expected) in cases {
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(
                select(targets, labels),
                Ok(expected),
                "{targets:?} {labels:?}"
            );
        }
    }

    #[test]
    fn select_reports_unknown_targets_and_labels() {
        let cases: [(&[&str], &[&str], &[&str]); 6] = [
            (
                &["swl", "sw2"],
                &[],
                &["unknown device `swl` in i.toml | did you mean `sw1`?"],
            ),
            (
                &["x*"],
                &["rack=z9"],
                &[
                    "no device matches `x*` | list the devices with `switchtender inventory show`",
                    "no device has label rack=z9 | values of rack: a1, a2",
                ],
            ),
            (
                &[],
                &["rak=a1"],
                &["no device has label rak=a1 | did you mean rack=a1?"],
            ),
            (
                &[],
                &["site=fre"],
                &["no device has label site=fre | did you mean site=fra?"],
            ),
            (
                &["core1"],
                &["site=fra"],
                &[
                    "no device matches all targets and labels | list the devices with `switchtender inventory show`",
                ],
            ),
            (
                &["sw[1"],
                &[],
                &["`sw[1` is not a pattern: unclosed character class; missing ']' | "],
            ),
        ];
        for (targets, labels, expected) in cases {
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(
                select(targets, labels),
                Err(expected),
                "{targets:?} {labels:?}"
            );
        }
    }

    #[test]
    fn label_selector_needs_a_name() {
        assert!("rack".parse::<LabelSelector>().is_err());
        assert!("=a1".parse::<LabelSelector>().is_err());
        let empty: LabelSelector = "rack=".parse().unwrap();
        assert_eq!(empty.value, "");
    }
}
