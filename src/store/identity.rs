//! Which device a state belongs to.
//!
//! A name in an inventory is only a name: two inventories can have the same one, hardware is replaced, and an
//! address moves between the units of a pair. Digests of secrets, undo and the history of values belong to the
//! device that answers:
//!
//! * A device is known by its **serial numbers** (`[identity]` of its platform), those of all members of a stack.
//!   Two answers are from one device if they share a number, so a stack may change its master.
//! * Without a serial number, it is known by its **host key**, or by its certificate.
//! * Without both, it is known by its name alone.
//! * A mock of `--mock` is known as the mock of its name. Its state is never that of the device.
//!
//! Inventory and address are recorded for people, and decide nothing.
//!
//! The directory of a name has the state of the first device with this name. Each further device has a
//! directory of its own below `others`. No run moves a state, so two inventories can use one name at the same
//! time. Only [`DeviceStore::accept`] joins devices: replaced hardware, or the two units of a pair.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use switchtender_devices::format_version::FormatVersion;

use super::file::state_version;
use super::{DeviceStore, StoreError, directory_name};

const FILE: &str = "identity.json";
const VERSION: FormatVersion = state_version(1);
pub(super) const OTHERS: &str = "others";
/// The beginning of fingerprints of host keys. Those of certificates have hexadecimal pairs.
const HOST_KEY: &str = "SHA256:";

/// What distinguishes a device from all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceIdentity {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    serials: BTreeSet<String>,
    /// Fingerprints of host keys and certificates.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    host_keys: BTreeSet<String>,
}

impl DeviceIdentity {
    pub(crate) fn new(serials: impl IntoIterator<Item = String>, host_key: Option<String>) -> Self {
        Self {
            serials: serials.into_iter().collect(),
            host_keys: host_key.into_iter().collect(),
        }
    }

    /// The mock of a device.
    pub(crate) fn of_mock(device: &str) -> Self {
        Self::new([format!("mock of {device}")], None)
    }

    /// A serial number or a fingerprint, as messages print it.
    pub(crate) fn parse(text: &str) -> Self {
        let is_certificate = text.len() > 20
            && text
                .split(':')
                .all(|pair| pair.len() == 2 && hex::decode(pair).is_ok());
        if text.starts_with(HOST_KEY) || is_certificate {
            Self::new([], Some(text.to_owned()))
        } else {
            Self::new([text.to_owned()], None)
        }
    }

    pub(crate) fn serials(&self) -> impl Iterator<Item = &str> {
        self.serials.iter().map(String::as_str)
    }

    /// Whether this is certainly another device. Without a number or key of the same kind, nothing is certain.
    pub(crate) fn is_other(&self, other: &Self) -> bool {
        if !self.serials.is_empty() && !other.serials.is_empty() {
            return self.serials.is_disjoint(&other.serials);
        }
        let is_host_key = |key: &&String| key.starts_with(HOST_KEY);
        [true, false].into_iter().any(|kind| {
            let of = |one: &Self| -> BTreeSet<String> {
                let keys = one.host_keys.iter();
                keys.filter(|key| is_host_key(key) == kind)
                    .cloned()
                    .collect()
            };
            let (one, other) = (of(self), of(other));
            !one.is_empty() && !other.is_empty() && one.is_disjoint(&other)
        })
    }

    fn add(&mut self, other: &Self) {
        self.serials.extend(other.serials.iter().cloned());
        self.host_keys.extend(other.host_keys.iter().cloned());
    }

    /// The words that `accept` understands: a serial number, else a fingerprint.
    pub(crate) fn word(&self) -> Option<&str> {
        let mut words = self.serials.iter().chain(&self.host_keys);
        words.next().map(String::as_str)
    }
}

impl fmt::Display for DeviceIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &BTreeSet<String>| {
            let all = all.iter().map(String::as_str);
            all.collect::<Vec<_>>().join(", ")
        };
        match (self.serials.is_empty(), self.host_keys.is_empty()) {
            (false, _) => write!(f, "serial number {}", list(&self.serials)),
            (true, false) => write!(f, "host key {}", list(&self.host_keys)),
            (true, true) => f.write_str("no serial number and no host key"),
        }
    }
}

/// The device of a state, and how it was reached last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) identity: DeviceIdentity,
    pub(crate) address: String,
    /// The inventory, or `device.conf`.
    pub(crate) inventory: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.identity, self.address)?;
        if self.inventory.is_empty() {
            Ok(())
        } else {
            write!(f, " in {}", self.inventory)
        }
    }
}

/// The state of the device that answers.
#[derive(Clone, Debug)]
pub(crate) struct OwnedState {
    pub(crate) store: DeviceStore,
    pub(crate) owner: Owner,
    /// The owners of the states with this name, if none of them is this device.
    pub(crate) known: Vec<Owner>,
}

impl OwnedState {
    /// Writes the owner.
    pub(crate) fn save_owner(&self) -> Result<(), StoreError> {
        self.store.save(FILE, VERSION, &self.owner)
    }
}

/// Why a device is not accepted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptError {
    #[error("{device} has no state")]
    NoState { device: String },
    #[error("{device} has states of several devices: {}", list(states))]
    Ambiguous { device: String, states: Vec<Owner> },
    #[error("the state of {device} belongs to {identity} already")]
    Known {
        device: String,
        identity: DeviceIdentity,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn list(states: &[Owner]) -> String {
    let states = states.iter().map(Owner::to_string);
    states.collect::<Vec<_>>().join("; ")
}

impl DeviceStore {
    /// The owner of the state in this directory; `None`: no run has recorded one.
    pub(crate) fn owner(&self) -> Result<Option<Owner>, StoreError> {
        self.load(FILE, VERSION)
    }

    /// The states with the name of the device: that of the first device, then those of others.
    pub(crate) fn states(&self) -> Result<Vec<DeviceStore>, StoreError> {
        let others = self.directories(OTHERS)?.into_iter();
        let others = others.map(|dir| DeviceStore {
            dir,
            ..self.clone()
        });
        Ok([self.clone()].into_iter().chain(others).collect())
    }

    /// The state of the device that answers. Nothing is written.
    pub(crate) fn owned_by(&self, seen: Owner) -> Result<OwnedState, StoreError> {
        let first = self.owner()?;
        let is_first = |owner: &Owner| !owner.identity.is_other(&seen.identity);
        if first.as_ref().is_some_and(is_first) {
            return Ok(owned(self.clone(), first, seen));
        }
        let mut known: Vec<Owner> = first.clone().into_iter().collect();
        for store in self.states()?.into_iter().skip(1) {
            let Some(owner) = store.owner()? else {
                continue;
            };
            if !owner.identity.is_other(&seen.identity) {
                return Ok(owned(store, Some(owner), seen));
            }
            known.push(owner);
        }
        let dir = match (first.is_some(), seen.identity.word()) {
            (true, Some(word)) => self.dir.join(OTHERS).join(directory_name(word)),
            _ => self.dir.clone(),
        };
        let store = DeviceStore {
            dir,
            ..self.clone()
        };
        Ok(OwnedState {
            known,
            ..owned(store, None, seen)
        })
    }

    /// Adds a device to the state with this name, which it continues: it replaces the device, or is the other
    /// unit of a pair. What runs have already stored for it prevails. Returns the owner before.
    ///
    /// `replaces` is needed if several devices have states.
    pub(crate) fn accept(
        &self,
        new: &DeviceIdentity,
        replaces: Option<&DeviceIdentity>,
    ) -> Result<Owner, AcceptError> {
        let device = self.device.to_string();
        let mut started = None;
        let mut candidates = Vec::new();
        for store in self.states()? {
            let Some(mut owner) = store.owner()? else {
                continue;
            };
            if owner.identity.is_other(new) {
                candidates.push((store, owner));
            } else {
                owner.identity.add(new);
                started = Some((store, owner));
            }
        }
        if let Some(replaced) = replaces {
            candidates.retain(|(_, owner)| !owner.identity.is_other(replaced));
        }
        let count = candidates.len();
        let (into, before) = match (candidates.pop(), count) {
            (Some(only), 1) => only,
            (Some(last), _) => {
                let states = candidates.into_iter().chain([last]);
                let states = states.map(|(_, owner)| owner).collect();
                return Err(AcceptError::Ambiguous { device, states });
            }
            (None, _) if started.is_some() => {
                let identity = new.clone();
                return Err(AcceptError::Known { device, identity });
            }
            (None, _) => return Err(AcceptError::NoState { device }),
        };
        let mut owner = before.clone();
        owner.identity.add(new);
        let mut joined = into;
        if let Some((store, started)) = started {
            owner = Owner {
                identity: owner.identity.clone(),
                ..started.clone()
            };
            owner.identity.add(&started.identity);
            // The first directory has files of people and of Puppet, too: it stays.
            if store.dir == self.dir {
                joined.merge_into(&store, Prevails::Target)?;
                joined = store;
            } else {
                store.merge_into(&joined, Prevails::Source)?;
            }
        }
        joined.save(FILE, VERSION, &owner)?;
        Ok(before)
    }

    /// Moves a state below `others` to another one.
    fn merge_into(&self, target: &DeviceStore, prevails: Prevails) -> Result<(), StoreError> {
        self.move_structures(target, |name| {
            Ok(name == FILE || (prevails == Prevails::Target && target.has(name)?))
        })
    }
}

/// Whose file stays if both states have it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prevails {
    Source,
    Target,
}

/// What was known of a device and what is seen now.
fn owned(store: DeviceStore, known: Option<Owner>, seen: Owner) -> OwnedState {
    let mut owner = seen;
    if let Some(known) = known {
        owner.identity.add(&known.identity);
    }
    OwnedState {
        store,
        owner,
        known: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::names::DeviceName;

    use super::super::Store;
    use super::*;

    const KEY: &str = "SHA256:aaaa";
    const OTHER_KEY: &str = "SHA256:bbbb";
    const CERTIFICATE: &str = "AB:CD:EF:00:11:22:33:44";

    fn identity(serials: &[&str], host_keys: &[&str]) -> DeviceIdentity {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        DeviceIdentity {
            serials: texts(serials),
            host_keys: texts(host_keys),
        }
    }

    fn owner(serials: &[&str], host_keys: &[&str]) -> Owner {
        Owner {
            identity: identity(serials, host_keys),
            address: "192.0.2.1:22".to_owned(),
            inventory: "/a/inventory.toml".to_owned(),
        }
    }

    #[test]
    fn identity_is_the_serial_number_and_else_the_host_key() {
        for (name, one, other, is_other) in [
            ("serial", identity(&["A"], &[]), identity(&["B"], &[]), true),
            (
                "one serial, new key",
                identity(&["A"], &[KEY]),
                identity(&["A"], &[OTHER_KEY]),
                false,
            ),
            (
                "one key, other serial",
                identity(&["A"], &[KEY]),
                identity(&["B"], &[KEY]),
                true,
            ),
            (
                "another master of a stack",
                identity(&["A", "B"], &[]),
                identity(&["B", "C"], &[]),
                false,
            ),
            (
                "a serial that appears later",
                identity(&[], &[KEY]),
                identity(&["A"], &[KEY]),
                false,
            ),
            (
                "a serial and another key",
                identity(&[], &[KEY]),
                identity(&["A"], &[OTHER_KEY]),
                true,
            ),
            (
                "another transport",
                identity(&[], &[KEY]),
                identity(&[], &[CERTIFICATE]),
                false,
            ),
            (
                "nothing",
                identity(&[], &[]),
                identity(&["A"], &[KEY]),
                false,
            ),
            (
                "mock",
                DeviceIdentity::of_mock("sw1"),
                identity(&["A"], &[]),
                true,
            ),
        ] {
            assert_eq!(one.is_other(&other), is_other, "{name}");
            assert_eq!(other.is_other(&one), is_other, "{name}");
        }
    }

    #[test]
    fn words_of_messages_are_identities() {
        for identity in [
            identity(&["FCW1234"], &[]),
            identity(&[], &[KEY]),
            identity(&[], &[CERTIFICATE]),
            identity(&["00:11:22:33:44:55"], &[]),
        ] {
            let word = identity.word().unwrap();
            assert_eq!(DeviceIdentity::parse(word), identity, "{word}");
        }
    }

    #[test]
    fn each_device_with_a_name_has_its_own_state() {
        let dir = tempfile::tempdir().unwrap();
        let device = Store::at(dir.path()).device(&DeviceName::parse("sw1").unwrap());
        let first = device.owned_by(owner(&["A"], &[])).unwrap();
        assert_eq!((&first.store.dir, first.known.len()), (&device.dir, 0));
        first.save_owner().unwrap();
        // A number that is seen later belongs to the same device.
        device
            .owned_by(owner(&["A", "B"], &[]))
            .unwrap()
            .save_owner()
            .unwrap();
        let second = device.owned_by(owner(&["C"], &[])).unwrap();
        assert_eq!(second.known, [owner(&["A", "B"], &[])]);
        assert_ne!(second.store.dir, device.dir);
        second.save_owner().unwrap();
        for (serial, store) in [("B", &first.store), ("C", &second.store)] {
            let again = device.owned_by(owner(&[serial], &[])).unwrap();
            assert_eq!((&again.store.dir, again.known.len()), (&store.dir, 0));
        }
        // Nothing is known: the name decides.
        let unknown = device.owned_by(owner(&[], &[])).unwrap();
        assert_eq!(unknown.store.dir, device.dir);
    }

    #[test]
    fn accepted_device_continues_the_state() {
        for began in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let device = Store::at(dir.path()).device(&DeviceName::parse("sw1").unwrap());
            let new = identity(&["B"], &[]);
            let error = device.accept(&new, None).unwrap_err().to_string();
            assert_eq!(error, "sw1 has no state");
            let first = device.owned_by(owner(&["A"], &[])).unwrap();
            first.save_owner().unwrap();
            first.store.save("memory.json", VERSION, &"of A").unwrap();
            first.store.save("undo/1.json", VERSION, &"of A").unwrap();
            if began {
                let second = device.owned_by(owner(&["B"], &[])).unwrap();
                second.save_owner().unwrap();
                second.store.save("memory.json", VERSION, &"of B").unwrap();
                second.store.save("undo/2.json", VERSION, &"of B").unwrap();
            }
            assert_eq!(device.accept(&new, None).unwrap(), owner(&["A"], &[]));
            for serial in ["A", "B"] {
                let state = device.owned_by(owner(&[serial], &[])).unwrap();
                assert_eq!(state.store.dir, device.dir);
                let memory: Option<String> = state.store.load("memory.json", VERSION).unwrap();
                let expected = if began { "of B" } else { "of A" };
                assert_eq!(memory.as_deref(), Some(expected));
                let runs = state.store.structures("undo").unwrap();
                assert_eq!(runs.len(), if began { 2 } else { 1 });
            }
            assert_eq!(device.states().unwrap().len(), 1);
            let error = device.accept(&new, None).unwrap_err().to_string();
            assert!(error.contains("already"), "{error}");
        }
    }

    #[test]
    fn accept_of_one_of_several_names_the_replaced_device() {
        let dir = tempfile::tempdir().unwrap();
        let device = Store::at(dir.path()).device(&DeviceName::parse("sw1").unwrap());
        for serial in ["A", "B"] {
            let state = device.owned_by(owner(&[serial], &[])).unwrap();
            state.save_owner().unwrap();
        }
        let new = identity(&["C"], &[]);
        let error = device.accept(&new, None).unwrap_err();
        assert!(matches!(error, AcceptError::Ambiguous { .. }), "{error}");
        let replaced = identity(&["B"], &[]);
        device.accept(&new, Some(&replaced)).unwrap();
        let state = device.owned_by(owner(&["C"], &[])).unwrap();
        assert!(state.store.dir.ends_with("others/B"));
    }
}
