//! Secrets that a device does not show, as they were set last.
//!
//! Kept are keyed hashes (HMAC-SHA-256) under a key of the device's own, so that equal secrets on
//! two devices cannot be seen to be equal, and none can be read back
//! (`docs/devices/cisco_ios.md`, section 4, *secrets*).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use switchtender_devices::driver::RememberedSecrets;
use switchtender_devices::provider::driven::SecretMemory;
use switchtender_devices::value::Value;

use super::{DeviceStore, StoreError};

const FILE: &str = "remembered-secrets.json";
const VERSION: u32 = 1;

/// What is remembered of one device.
#[derive(Debug)]
pub struct Remembered {
    kept: Mutex<Kept>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    /// Hexadecimal, 32 bytes.
    key: String,
    /// By resource, then by attribute.
    hashes: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(skip)]
    changed: bool,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept")
            .field("resources", &self.hashes.len())
            .finish_non_exhaustive()
    }
}

impl Remembered {
    /// What earlier runs remembered; nothing, under a new key, if there were none.
    pub fn load(store: &DeviceStore) -> Result<Self, StoreError> {
        let kept = match store.load(FILE, VERSION)? {
            Some(kept) => kept,
            None => Kept {
                key: hex(&new_key()),
                hashes: BTreeMap::new(),
                changed: false,
            },
        };
        Ok(Self {
            kept: Mutex::new(kept),
        })
    }

    /// Writes what was remembered in this run, if anything.
    pub fn save(&self, store: &DeviceStore) -> Result<(), StoreError> {
        let kept = self
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if kept.changed {
            store.save(FILE, VERSION, &kept)
        } else {
            Ok(())
        }
    }
}

impl RememberedSecrets for Remembered {
    fn is_last(&self, reference: &str, attribute: &str, value: &Value) -> Option<bool> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = kept.hashes.get(reference)?.get(attribute)?;
        Some(*last == kept.hash(value))
    }
}

impl SecretMemory for Remembered {
    fn remember(&self, reference: &str, attribute: &str, value: &Value) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = kept.hash(value);
        let of_resource = kept.hashes.entry(reference.to_owned()).or_default();
        if of_resource.insert(attribute.to_owned(), hash.clone()) != Some(hash) {
            kept.changed = true;
        }
    }
}

impl Kept {
    fn hash(&self, value: &Value) -> String {
        let text = match value.unwrap_sensitive() {
            Value::String(text) | Value::Symbol(text) => text.clone(),
            other => format!("{other:?}"),
        };
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}

fn new_key() -> [u8; 32] {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the operating system has random numbers");
    key
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::*;

    #[test]
    fn a_secret_is_known_again_and_cannot_be_read_from_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path()).device("sw1");
        let secret = Value::Sensitive(Box::new("pl4nted".into()));
        let first = Remembered::load(&store).unwrap();
        assert_eq!(first.is_last("Ntp_auth_key[1]", "password", &secret), None);
        first.remember("Ntp_auth_key[1]", "password", &secret);
        first.save(&store).unwrap();

        let second = Remembered::load(&store).unwrap();
        assert_eq!(
            second.is_last("Ntp_auth_key[1]", "password", &secret),
            Some(true)
        );
        let other = Value::Sensitive(Box::new("other".into()));
        assert_eq!(
            second.is_last("Ntp_auth_key[1]", "password", &other),
            Some(false)
        );
        let text = std::fs::read_to_string(store.dir().join(FILE)).unwrap();
        assert!(!text.contains("pl4nted"));
    }
}
