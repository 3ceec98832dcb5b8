//! Devices without a file of desired state: they are not managed.

use super::StateDirectory;
use crate::diagnostic::{Diagnostic, Severity};
use crate::inventory::{Device, range};

/// Devices without a file of desired state.
pub(crate) struct Unmanaged {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Unmanaged {
    /// `None`: there are no such devices.
    pub(crate) fn new(state: &StateDirectory, devices: &[&Device]) -> Option<Self> {
        /// Maximum length of a list of names.
        const WIDTH: usize = 60;
        let first = devices.first()?;
        let directory = &state.path;
        let path = directory.display();
        let names = range::of_names(devices.iter().map(|device| device.name.as_str())).join(", ");
        let message = match devices {
            [device] => format!("{} has no file in {path}: not managed", device.name),
            _ if names.len() <= WIDTH => format!(
                "{} devices have no file in {path}: not managed ({names})",
                devices.len()
            ),
            _ => format!(
                "{} devices have no file in {path}: not managed",
                devices.len()
            ),
        };
        let example = format!("{}.yaml", first.name);
        let example = directory.join("device").join(example);
        let hint = format!(
            "write a file such as {}, or {} for all devices",
            example.display(),
            directory.join("common.yaml").display()
        );
        // The files may be there under other names.
        let misnamed = state.misnamed().into_iter().next();
        Some(Self {
            message,
            hint: misnamed.map_or(hint, |found| found.message),
        })
    }

    /// The finding of `validate` and `serve`.
    pub(crate) fn finding(self, severity: Severity) -> Diagnostic {
        Diagnostic::new("no-state", severity, self.message).help(self.hint)
    }
}
