//! `router.db` of Oxidized and RANCID: which device is of which type.
//!
//! A line is `NAME:TYPE:…` or `NAME;TYPE;…`. A comment begins with `#`.

use std::collections::BTreeMap;

/// The types of devices, by the names of their files.
pub(super) type DeviceTypes = BTreeMap<String, String>;

/// Reads a list of devices.
pub(super) fn parse(text: &str) -> DeviceTypes {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.starts_with('#'));
    let entries = lines.filter_map(|line| {
        // Names with colons are in lists with semicolons.
        let separator = if line.contains(';') { ';' } else { ':' };
        let mut fields = line.split(separator).map(str::trim);
        let (name, device_type) = (fields.next()?, fields.next()?);
        let is_complete = !name.is_empty() && !device_type.is_empty();
        is_complete.then(|| (name.to_owned(), device_type.to_ascii_lowercase()))
    });
    entries.collect()
}
