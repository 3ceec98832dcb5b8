//! Reasons of failures that are equal except for what names the device.

use std::collections::HashMap;

use switchtender_devices::names::DeviceName;

use crate::inventory::{Device, Inventory};

/// The texts that name each device: its name, certname, address and port.
pub(super) struct DeviceTexts(HashMap<DeviceName, Vec<String>>);

impl DeviceTexts {
    pub(super) fn of(inventory: &Inventory) -> Self {
        let devices = inventory.devices.values();
        Self(devices.map(|one| (one.name.clone(), texts(one))).collect())
    }

    /// A text without what names its device, and without fingerprints: equal for devices with one problem.
    pub(super) fn common(&self, device: &DeviceName, text: &str) -> String {
        let texts = self.0.get(device).map_or(&[][..], Vec::as_slice);
        let mut common = text.to_owned();
        for own in texts {
            common = without_word(&common, own);
        }
        without_fingerprints(&common)
    }
}

fn texts(device: &Device) -> Vec<String> {
    let settings = &device.settings;
    let mut texts = vec![device.name.to_string(), device.certname.to_string()];
    if let Some(address) = settings.address.as_ref().map(|own| &own.value) {
        texts.push(address.clone());
        // A port alone is a number like others.
        if let Some(port) = settings.port.as_ref().map(|own| own.value) {
            texts.extend([
                format!("{address}:{port}"),
                format!("[{address}]:{port}"),
                format!("-p {port} {address}"),
            ]);
        }
    }
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}

/// What replaces a text. No message has this character.
const PLACEHOLDER: &str = "\u{0}";

/// A text without the words that are equal to one.
fn without_word(text: &str, word: &str) -> String {
    let mut common = String::with_capacity(text.len());
    let mut at = 0;
    for (start, found) in text.match_indices(word) {
        let is_part = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let end = start + found.len();
        if !is_part(text[..start].chars().next_back()) && !is_part(text[end..].chars().next()) {
            common.push_str(&text[at..start]);
            common.push_str(PLACEHOLDER);
            at = end;
        }
    }
    common + &text[at..]
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

    fn common(own: &[&str], text: &str) -> String {
        let device = DeviceName::parse("sw1").unwrap();
        let texts = own.iter().map(|text| (*text).to_owned()).collect();
        DeviceTexts(HashMap::from([(device.clone(), texts)])).common(&device, text)
    }

    #[test]
    fn common_texts_have_no_names_of_devices() {
        let first = common(
            &["-p 22 192.0.2.1", "[192.0.2.1]:22", "192.0.2.1", "sw1"],
            "the host key of [192.0.2.1]:22 is not known: SHA256:aB/c+1 (`ssh-keyscan -p 22 192.0.2.1`)",
        );
        let second = common(
            &[
                "-p 2022 192.0.2.10",
                "[192.0.2.10]:2022",
                "192.0.2.10",
                "sw2",
            ],
            "the host key of [192.0.2.10]:2022 is not known: SHA256:xyz= (`ssh-keyscan -p 2022 192.0.2.10`)",
        );
        assert_eq!(first, second);
        // Parts of words remain.
        assert_eq!(
            common(&["sw1"], "sw10: sw1.json"),
            format!("sw10: {PLACEHOLDER}.json")
        );
    }
}
