//! The inventory with the devices and labels of an import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use switchtender_devices::driver::Registry;

use super::ImportArgs;
use super::read::ReadDevice;
use crate::cli::exit::CommandError;
use crate::import::labels::{self, LabelRule};
use crate::inventory::range;
use crate::inventory::{Inventory, InventoryOptions};
use crate::natural_order::natural_order;

/// The text of an inventory before and after an import.
pub(super) struct ImportInventory {
    pub(super) inventory: Inventory,
    /// The complete text; `None`: nothing is added.
    pub(super) text: Option<String>,
    pub(super) new_devices: usize,
    /// Keys of labels whose files are written.
    pub(super) label_order: Vec<String>,
}

/// Adds the missing devices, and the labels of `--label`.
///
/// # Errors
/// The file cannot be read, or a label contradicts it.
pub(super) fn complete(
    args: &ImportArgs,
    registry: &Registry,
    devices: &[ReadDevice],
) -> Result<ImportInventory, CommandError> {
    let path = &args.access.source.inventory;
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let text = format!("cannot read {}", path.display());
            return Err(CommandError::new(text).with_source(error));
        }
    };
    let existing = parse(path, &before, registry)?;
    let mut added = String::new();
    let mut new_devices = 0;
    for device in devices {
        if existing.devices.contains_key(&device.name) {
            continue;
        }
        new_devices += 1;
        let address = device.address.as_deref().unwrap_or(&device.name);
        added += &format!(
            "\n[device.{}]\nplatform = {}\naddress = {}\n",
            toml_key(&device.name),
            toml_text(&device.platform.name),
            toml_text(address)
        );
    }
    added += &label_groups(&existing, &args.labels, devices)?;
    let keys = label_keys(&existing, &args.labels)?;
    let mut text = before.clone();
    if existing.label_order.is_empty() && keys.len() > 1 {
        let list: Vec<String> = keys.iter().map(|key| toml_text(key)).collect();
        text = format!("label_order = [{}]\n{text}", list.join(", "));
    }
    if !added.is_empty() {
        if new_devices > 0 {
            text += "\n# Added by `switchtender import`. Check the addresses, and add the credentials.\n";
        }
        text += added.trim_start_matches('\n');
    }
    let inventory = parse(path, &text, registry)?;
    Ok(ImportInventory {
        inventory,
        text: (text != before).then_some(text),
        new_devices,
        label_order: keys,
    })
}

fn parse(path: &Path, text: &str, registry: &Registry) -> Result<Inventory, CommandError> {
    let options = InventoryOptions {
        registry: Some(registry),
        is_offline: true,
        ..InventoryOptions::default()
    };
    let base = path.parent().unwrap_or(Path::new(""));
    let name = path.display().to_string();
    Inventory::parse(&name, text, base, None, &options).map_err(CommandError::findings)
}

/// A group for each value of a label, with the devices that do not have it.
fn label_groups(
    existing: &Inventory,
    rules: &[LabelRule],
    devices: &[ReadDevice],
) -> Result<String, CommandError> {
    let mut members: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for device in devices {
        let known = existing.devices.get(&device.name);
        for (key, value) in labels::labels(rules, device.labeled()) {
            match known.and_then(|known| known.label(&key)) {
                Some(own) if own == value => {}
                Some(own) => {
                    let name = &device.name;
                    let text = format!(
                        "{name} has the label {key} = \"{own}\", and --label finds \"{value}\""
                    );
                    let error = CommandError::new(text);
                    return Err(error.hint("change the inventory, or leave out --label"));
                }
                None => {
                    members
                        .entry((key, value))
                        .or_default()
                        .insert(&device.name);
                }
            }
        }
    }
    let mut text = String::new();
    for ((key, value), names) in members {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_by_key(|name| natural_order(name));
        let list: Vec<String> = range::of_names(names)
            .iter()
            .map(|one| toml_text(one))
            .collect();
        let base = format!("{key}-{value}");
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let mut tables = [base.clone()].into_iter().chain(numbered);
        let table = tables.find(|name| {
            let head = format!("[group.{}]", toml_key(name));
            !existing.source.text.contains(&head)
        });
        text += &format!(
            "\n[group.{}]\ndevices = [{}]\nlabels = {{ {} = {} }}\n",
            toml_key(&table.expect("numbers do not end")),
            list.join(", "),
            toml_key(&key),
            toml_text(&value)
        );
    }
    Ok(text)
}

/// The keys of labels in their order: those of the inventory, or of `--label`.
fn label_keys(existing: &Inventory, rules: &[LabelRule]) -> Result<Vec<String>, CommandError> {
    let mut keys = existing.label_order.clone();
    let of_devices = existing.devices.values();
    let of_devices: BTreeSet<&String> = of_devices
        .flat_map(|device| device.settings.labels.keys())
        .collect();
    for rule in rules {
        if keys.contains(&rule.key) {
            continue;
        }
        if !existing.label_order.is_empty() {
            let text = format!("label_order of the inventory does not have {}", rule.key);
            return Err(CommandError::new(text).hint("add it to label_order"));
        }
        keys.push(rule.key.clone());
    }
    if existing.label_order.is_empty() {
        let others = of_devices.into_iter().filter(|key| !keys.contains(key));
        let others: Vec<String> = others.cloned().collect();
        keys.extend(others);
    }
    Ok(keys)
}

/// A text as a value of TOML.
fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A text as a key of TOML.
fn toml_key(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.chars().all(is_bare) {
        text.to_owned()
    } else {
        toml_text(text)
    }
}
