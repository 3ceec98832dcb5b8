//! Digests of the secrets that were set last, for devices that do not show them.
//!
//! A digest is an HMAC-SHA-256 with a key of the device. Equal secrets on two devices have different
//! digests, and no secret can be read back
//! (`docs/reference/devices/cisco_ios.md`, section 4, *secrets*).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::Sha256;
use switchtender_devices::driver::SecretHistory;
use switchtender_devices::format_version::FormatVersion;
use switchtender_devices::provider::state::SecretDigestStore;
use switchtender_devices::value::Value;

use super::file::state_version;
use super::{DeviceStore, StoreError};
use crate::catalog::rich_data;

const FILE: &str = "secret-digests.json";
const VERSION: FormatVersion = state_version(1);

/// The secret digests of one device.
#[derive(Debug)]
pub(crate) struct SecretDigests {
    digests: Mutex<Digests>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Digests {
    /// Hexadecimal, 32 bytes.
    key: String,
    /// By resource, then by attribute.
    by_resource: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(skip)]
    changed: bool,
    /// The resources and attributes of the secrets that this run has set.
    #[serde(skip)]
    set: BTreeSet<(String, String)>,
    /// The store has the key.
    #[serde(skip)]
    is_stored: bool,
}

impl std::fmt::Debug for Digests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Digests")
            .field("resources", &self.by_resource.len())
            .finish_non_exhaustive()
    }
}

impl SecretDigests {
    /// The digests of earlier runs; none, with a new key, if there was no run.
    pub(crate) fn load(store: &DeviceStore) -> Result<Self, StoreError> {
        let loaded: Option<Digests> = store.load(FILE, VERSION)?;
        let stored = |digests| {
            Self::of(Digests {
                is_stored: true,
                ..digests
            })
        };
        Ok(loaded.map_or_else(Self::new, stored))
    }

    /// None, with a new key.
    pub(crate) fn new() -> Self {
        Self::of(Digests {
            key: hex::encode(new_key()),
            by_resource: BTreeMap::new(),
            changed: false,
            set: BTreeSet::new(),
            is_stored: false,
        })
    }

    fn of(digests: Digests) -> Self {
        Self {
            digests: Mutex::new(digests),
        }
    }

    /// The digest of a text.
    pub(crate) fn of_text(&self, text: &str) -> String {
        let digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        digests.digest(&text.into())
    }

    /// Removes the digests of the secrets that this run has set: the device may have others.
    pub(crate) fn forget_set(&self) {
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        let digests = &mut *digests;
        for (reference, attribute) in std::mem::take(&mut digests.set) {
            if let Some(of_resource) = digests.by_resource.get_mut(&reference) {
                digests.changed |= of_resource.remove(&attribute).is_some();
            }
        }
    }

    /// Writes the key if it is new, so that later runs have the same digests.
    pub(crate) fn save_key(&self, store: &DeviceStore) -> Result<(), StoreError> {
        {
            let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
            digests.changed |= !digests.is_stored;
        }
        self.save(store)
    }

    /// Writes the digests if this run has changed them.
    pub(crate) fn save(&self, store: &DeviceStore) -> Result<(), StoreError> {
        let digests = self
            .digests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if digests.changed {
            store.save(FILE, VERSION, &digests)
        } else {
            Ok(())
        }
    }
}

impl SecretHistory for SecretDigests {
    fn matches_last_set(&self, reference: &str, attribute: &str, value: &Value) -> Option<bool> {
        let digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        let last = digests.by_resource.get(reference)?.get(attribute)?;
        Some(*last == digests.digest(value))
    }
}

impl SecretDigestStore for SecretDigests {
    fn remember(&self, reference: &str, attribute: &str, value: &Value) {
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = digests.digest(value);
        let of_resource = digests.by_resource.entry(reference.to_owned()).or_default();
        if of_resource.insert(attribute.to_owned(), digest.clone()) != Some(digest) {
            digests.changed = true;
        }
        let name = (reference.to_owned(), attribute.to_owned());
        digests.set.insert(name);
    }
}

impl Digests {
    fn digest(&self, value: &Value) -> String {
        // Nested secrets are in clear there, so that a change of one changes the digest.
        let text = sorted(rich_data::write(value.unwrap_sensitive())).to_string();
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(text.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }
}

/// The value with sorted keys: their order has no meaning.
fn sorted(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(sorted).collect(),
        Json::Object(fields) => {
            let fields: BTreeMap<String, Json> = fields.into_iter().collect();
            let fields = fields.into_iter();
            fields.map(|(name, value)| (name, sorted(value))).collect()
        }
        other => other,
    }
}

fn new_key() -> [u8; 32] {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the operating system has random numbers");
    key
}

#[cfg(test)]
mod tests {
    use switchtender_devices::names::DeviceName;

    use super::super::Store;
    use super::*;

    fn sw1() -> DeviceName {
        DeviceName::parse("sw1").unwrap()
    }

    #[test]
    fn digest_changes_with_a_nested_secret() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = SecretDigests::load(&Store::at(dir.path()).device(&sw1())).unwrap();
        let sensitive = |text: &str| Value::Sensitive(Box::new(text.into()));
        let list = |text: &str| Value::List(vec!["sha".into(), sensitive(text)]);
        let hash = |text: &str| Value::Hash(vec![("key".into(), sensitive(text))]);
        let binary = |text: &str| Value::Sensitive(Box::new(Value::Binary(text.into())));
        for (name, old, new) in [
            ("list", list("pl4nted"), list("ch4nged")),
            ("hash", hash("pl4nted"), hash("ch4nged")),
            ("binary", binary("pl4nted"), binary("ch4nged")),
        ] {
            secrets.remember("Snmp_user[u]", name, &old);
            let is_last = |value| secrets.matches_last_set("Snmp_user[u]", name, value);
            assert_eq!(is_last(&old), Some(true), "{name}");
            assert_eq!(is_last(&new), Some(false), "{name}");
        }
    }

    #[test]
    fn secret_digests_match_the_last_secret_and_do_not_contain_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path()).device(&sw1());
        let secret = Value::Sensitive(Box::new("pl4nted".into()));
        let first = SecretDigests::load(&store).unwrap();
        assert_eq!(
            first.matches_last_set("Ntp_auth_key[1]", "password", &secret),
            None
        );
        first.remember("Ntp_auth_key[1]", "password", &secret);
        first.save(&store).unwrap();

        let second = SecretDigests::load(&store).unwrap();
        assert_eq!(
            second.matches_last_set("Ntp_auth_key[1]", "password", &secret),
            Some(true)
        );
        let other = Value::Sensitive(Box::new("other".into()));
        assert_eq!(
            second.matches_last_set("Ntp_auth_key[1]", "password", &other),
            Some(false)
        );
        let text = std::fs::read_to_string(store.dir().join(FILE)).unwrap();
        assert!(!text.contains("pl4nted"));
    }
}
