//! Secrets of devices as references: no file of the state has one in clear text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::names::TypeName;
use switchtender_devices::value::{Name, Value};

use super::parts::ImportedDevice;
use crate::desired_state::declared::DeclaredValue;

/// The directory of secrets in files, in the directory of the state.
pub(crate) const SECRET_DIRECTORY: &str = "secrets";

/// How secrets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SecretMode {
    /// References to environment variables, and an example file with their names
    Env,
    /// References to files of the directory `secrets`, which only the owner can read
    File,
    /// No secrets: their attributes are not managed
    Skip,
}

/// The secrets of a fleet by the names of their references.
#[derive(Debug, Default)]
pub(crate) struct SecretReferences {
    pub(crate) secrets: BTreeMap<String, ReferencedSecret>,
    /// Attributes without a value, with their devices: secrets inside of lists and maps, or all that are skipped.
    pub(crate) left_out: BTreeMap<String, BTreeSet<String>>,
}

/// One secret, which several attributes and devices can have.
#[derive(Debug)]
pub(crate) struct ReferencedSecret {
    value: SecretString,
    /// `tacacs_server t1 key`.
    pub(crate) uses: BTreeSet<String>,
    pub(crate) devices: BTreeSet<String>,
}

impl ReferencedSecret {
    /// The secret in clear text.
    pub(crate) fn text(&self) -> &str {
        self.value.expose_secret()
    }
}

/// Replaces the secrets of devices. Equal values have one name.
pub(crate) fn replace(devices: &mut [ImportedDevice], mode: SecretMode) -> SecretReferences {
    let names = match mode {
        SecretMode::Env | SecretMode::File => names(devices),
        SecretMode::Skip => HashMap::new(),
    };
    let mut references = SecretReferences::default();
    for device in devices {
        for (type_name, resources) in &mut device.state.types {
            for (title, attributes) in resources {
                attributes.retain(|name, value| {
                    let secret = match value {
                        Some(DeclaredValue::Value(secret)) if secret.contains_secret() => secret,
                        _ => return true,
                    };
                    let subject = format!("{type_name} {title} {name}");
                    let text = secret_text(secret);
                    let name = text.as_ref().and_then(|text| names.get(text));
                    let (Some(text), Some(name)) = (text, name) else {
                        let devices = references.left_out.entry(subject).or_default();
                        devices.insert(device.name.clone());
                        return false;
                    };
                    references.add(name, text, subject, &device.name);
                    *value = Some(match mode {
                        SecretMode::File => {
                            DeclaredValue::SecretFile(format!("{SECRET_DIRECTORY}/{name}"))
                        }
                        SecretMode::Env | SecretMode::Skip => {
                            DeclaredValue::SecretVariable(name.clone())
                        }
                    });
                    true
                });
            }
        }
    }
    references
}

/// The text of a secret; `None` for one inside of a list or a map.
fn secret_text(value: &Value) -> Option<String> {
    match value {
        Value::Sensitive(secret) => secret.scalar_text(),
        _ => None,
    }
}

/// The devices with each secret of each attribute.
type SecretUses<'a> = BTreeMap<(TypeName, String, Name), BTreeMap<String, Vec<&'a str>>>;

fn uses(devices: &[ImportedDevice]) -> SecretUses<'_> {
    let mut uses = SecretUses::new();
    for device in devices {
        for (type_name, resources) in &device.state.types {
            for (title, attributes) in resources {
                for (name, value) in attributes {
                    let text = match value {
                        Some(DeclaredValue::Value(value)) => secret_text(value),
                        _ => None,
                    };
                    if let Some(text) = text {
                        let subject = (type_name.clone(), title.clone(), name.clone());
                        let values = uses.entry(subject).or_default();
                        values.entry(text).or_default().push(&device.name);
                    }
                }
            }
        }
    }
    uses
}

/// A name for each secret: from its first attribute, with that of a device if others have another secret there.
fn names(devices: &[ImportedDevice]) -> HashMap<String, String> {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for ((type_name, title, attribute), values) in uses(devices) {
        let base = variable(&format!("{type_name}_{title}_{attribute}"));
        let mut values: Vec<(String, Vec<&str>)> = values.into_iter().collect();
        values.sort_by_key(|(_, devices)| Reverse(devices.len()));
        for (text, devices) in values {
            if names.contains_key(&text) {
                continue;
            }
            let own = variable(&format!("{base}_{}", devices[0]));
            let numbered = (2..).map(|number| format!("{own}_{number}"));
            let mut candidates = [base.clone(), own.clone()].into_iter().chain(numbered);
            let name = candidates.find(|name| !used.contains(name));
            let name = name.expect("numbers do not end");
            used.insert(name.clone());
            names.insert(text, name);
        }
    }
    names
}

/// A text as the name of an environment variable.
fn variable(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_uppercase());
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_matches('_').to_owned()
}

impl SecretReferences {
    fn add(&mut self, name: &str, text: String, subject: String, device: &str) {
        let found = self.secrets.entry(name.to_owned());
        let found = found.or_insert_with(|| ReferencedSecret {
            value: SecretString::from(text),
            uses: BTreeSet::new(),
            devices: BTreeSet::new(),
        });
        found.uses.insert(subject);
        found.devices.insert(device.to_owned());
    }

    /// The example of a file with the variables, without their values.
    pub(crate) fn example(&self) -> String {
        let mut text =
            "# Set these variables for plan and apply. Do not commit their values.\n".to_owned();
        for (name, secret) in &self.secrets {
            let uses: Vec<&str> = secret.uses.iter().map(String::as_str).collect();
            let devices = match secret.devices.len() {
                1 => secret.devices.iter().next().cloned().unwrap_or_default(),
                count => format!("{count} devices"),
            };
            text += &format!("# {}: {devices}\n{name}=\n", uses.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::map::IndexMap;

    use super::*;
    use crate::desired_state::declared::DeclaredAttributes;

    fn device(name: &str, keys: &[(&str, &str)]) -> ImportedDevice {
        let resources = keys.iter().map(|(title, key)| {
            let key = DeclaredValue::Value(Value::string(*key).into_sensitive());
            let attributes = DeclaredAttributes::from_iter([("key".into(), Some(key))]);
            ((*title).to_owned(), attributes)
        });
        let resources: IndexMap<String, DeclaredAttributes> = resources.collect();
        let mut device = ImportedDevice {
            name: name.to_owned(),
            ..ImportedDevice::default()
        };
        device.state.types.insert("server".into(), resources);
        device
    }

    #[test]
    fn equal_secrets_share_one_variable() {
        let mut devices = [
            device("sw1", &[("t1", "a"), ("t2", "a")]),
            device("sw2", &[("t1", "a")]),
            device("sw-3", &[("t1", "b")]),
        ];
        let references = replace(&mut devices, SecretMode::Env);
        assert_eq!(
            references.example(),
            "# Set these variables for plan and apply. Do not commit their values.\n\
             # server t1 key, server t2 key: 2 devices\nSERVER_T1_KEY=\n\
             # server t1 key: sw-3\nSERVER_T1_KEY_SW_3=\n"
        );
        assert_eq!(references.secrets["SERVER_T1_KEY"].text(), "a");
        let value = &devices[2].state.types["server"]["t1"]["key"];
        let variable = DeclaredValue::SecretVariable("SERVER_T1_KEY_SW_3".to_owned());
        assert_eq!(value, &Some(variable));
    }

    #[test]
    fn skipped_secrets_are_listed() {
        let mut devices = [device("sw1", &[("t1", "a")])];
        let references = replace(&mut devices, SecretMode::Skip);
        assert!(references.secrets.is_empty());
        assert!(references.left_out["server t1 key"].contains("sw1"));
        assert!(devices[0].state.types["server"]["t1"].is_empty());
    }
}
