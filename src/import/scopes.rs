//! The files that can declare state, and the devices of each.

use std::collections::BTreeSet;

use super::parts::ImportedDevice;

/// The devices that a file applies to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileScope {
    /// `common.yaml`.
    Common,
    /// `platform/NAME.yaml`.
    Platform(String),
    /// `label/KEY/VALUE.yaml`.
    Label {
        /// The key of the label.
        key: String,
        /// Its value.
        value: String,
    },
    /// `device/NAME.yaml`.
    Device(String),
}

impl FileScope {
    /// The path in the directory of the state.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Common => "common.yaml".to_owned(),
            Self::Platform(name) => format!("platform/{name}.yaml"),
            Self::Label { key, value } => format!("label/{key}/{value}.yaml"),
            Self::Device(name) => format!("device/{name}.yaml"),
        }
    }

    /// Whether the file applies to a device.
    pub(super) fn includes(&self, device: &ImportedDevice) -> bool {
        match self {
            Self::Common => true,
            Self::Platform(name) => *name == device.platform,
            Self::Label { key, value } => device.labels.get(key) == Some(value),
            Self::Device(name) => *name == device.name,
        }
    }

    /// Whether several devices can have the file.
    pub(super) fn is_shared(&self) -> bool {
        !matches!(self, Self::Device(_))
    }
}

/// The files of a fleet by level: those of a later level replace values of an earlier one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeLevels {
    pub(super) levels: Vec<Vec<FileScope>>,
    /// There is one device.
    is_alone: bool,
}

impl ScopeLevels {
    /// The levels of these devices. Platforms have no common types, so that several of them share no file for all.
    pub(crate) fn new(devices: &[ImportedDevice], label_order: &[String]) -> Self {
        let platforms: BTreeSet<&str> = devices.iter().map(|one| one.platform.as_str()).collect();
        let all = match platforms.len() {
            0 | 1 => vec![FileScope::Common],
            _ => {
                let platforms = platforms.into_iter();
                platforms
                    .map(|name| FileScope::Platform(name.to_owned()))
                    .collect()
            }
        };
        let labels = label_order.iter().map(|key| {
            let values = devices.iter().filter_map(|device| device.labels.get(key));
            let values: BTreeSet<&String> = values.collect();
            let scope = |value: &String| FileScope::Label {
                key: key.clone(),
                value: value.clone(),
            };
            values.into_iter().map(scope).collect()
        });
        let own = devices
            .iter()
            .map(|device| FileScope::Device(device.name.clone()));
        let own = vec![own.collect()];
        Self {
            levels: [all].into_iter().chain(labels).chain(own).collect(),
            is_alone: devices.len() == 1,
        }
    }

    /// The first file of a device, or its own one if the first would have only this device.
    pub(crate) fn top(&self, device: &ImportedDevice) -> Option<FileScope> {
        let first = self.of_device(device).next()?;
        let own = FileScope::Device(device.name.clone());
        Some(if self.is_alone { own } else { first.clone() })
    }

    /// The levels of labels.
    pub(super) fn labels(&self) -> &[Vec<FileScope>] {
        match self.levels.as_slice() {
            [_, labels @ .., _] => labels,
            _ => &[],
        }
    }

    /// The scopes of a device, from the first to the last.
    pub(super) fn of_device<'a>(
        &'a self,
        device: &'a ImportedDevice,
    ) -> impl Iterator<Item = &'a FileScope> {
        let all = self.levels.iter().flatten();
        all.filter(move |scope| scope.includes(device))
    }
}
