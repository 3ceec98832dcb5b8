//! Reasons of failures that are equal except for what names the device.

use std::collections::HashMap;

use switchtender_devices::names::DeviceName;

use crate::inventory::{Device, Inventory};
use crate::report::alike::{OwnWords, sentence};

/// The words that name each device.
pub(super) struct DeviceWords(HashMap<DeviceName, OwnWords>);

impl DeviceWords {
    pub(super) fn of(inventory: &Inventory) -> Self {
        let devices = inventory.devices.values();
        Self(devices.map(|one| (one.name.clone(), words(one))).collect())
    }

    /// The words of a device.
    pub(super) fn of_device(&self, device: &DeviceName) -> OwnWords {
        self.0.get(device).cloned().unwrap_or_default()
    }

    /// A text without what names its device, and without fingerprints: equal for devices with one problem.
    pub(super) fn common(&self, device: &DeviceName, text: &str) -> String {
        without_fingerprints(&self.of_device(device).template(text))
    }

    /// As [`DeviceWords::common`], also without numbers: the summary has one line for such reasons.
    pub(super) fn alike(&self, device: &DeviceName, text: &str) -> String {
        sentence(&self.common(device, text), &OwnWords::default())
    }
}

/// Name, certname, address and port.
fn words(device: &Device) -> OwnWords {
    let settings = &device.settings;
    let mut words = vec![
        (device.name.to_string(), "{device}"),
        (device.certname.to_string(), "{certname}"),
    ];
    if let Some(address) = settings.address.as_ref().map(|own| &own.value) {
        words.push((address.clone(), "{address}"));
        // A port alone is a number like others.
        if let Some(port) = settings.port.as_ref().map(|own| own.value) {
            words.extend([
                (format!("{address}:{port}"), "{address}:{port}"),
                (format!("[{address}]:{port}"), "[{address}]:{port}"),
                (format!("-p {port} {address}"), "-p {port} {address}"),
            ]);
        }
    }
    OwnWords::new(words)
}

/// A text without the digests of keys, `SHA256:…`.
fn without_fingerprints(text: &str) -> String {
    const PREFIX: &str = "SHA256:";
    let mut parts = text.split(PREFIX);
    let mut common = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_digest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | ':');
        common.push_str(PREFIX);
        common.push_str(part.trim_start_matches(is_digest));
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(own: &[(&str, &'static str)], text: &str) -> String {
        let device = DeviceName::parse("sw1").unwrap();
        let words = own.iter().map(|(word, name)| ((*word).to_owned(), *name));
        let words = OwnWords::new(words);
        DeviceWords(HashMap::from([(device.clone(), words)])).common(&device, text)
    }

    #[test]
    fn common_texts_have_no_names_of_devices() {
        let words = |name, address, port| {
            let both = format!("-p {port} {address}");
            let pair = format!("[{address}]:{port}");
            let text = format!(
                "the host key of {pair} is not known: SHA256:a{name}/c+1 (`ssh-keyscan {both}`)"
            );
            let own = [
                (&*both, "-p {port} {address}"),
                (&*pair, "{pair}"),
                (name, "{device}"),
            ];
            common(&own, &text)
        };
        let first = words("sw1", "192.0.2.1", 22);
        let second = words("sw2", "192.0.2.10", 2022);
        assert_eq!(first, second);
    }
}
