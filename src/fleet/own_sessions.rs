//! The sessions of this program that write to a device, in its state.
//!
//! They belong to the address, because the device behind it is unknown before the session is open. An entry
//! that is left when a run begins is from a process that crashed or lost the device.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use switchtender_devices::format_version::FormatVersion;
use switchtender_devices::session::ledger::{EarlierSessions, ListedSession, SessionLedger};

use crate::error_chain::chain;
use crate::store::file::state_version;
use crate::store::{DeviceStore, StoreError, blocking_io};

const FILE: &str = "sessions.json";
const VERSION: FormatVersion = state_version(1);

/// The sessions by the address of their device.
type RecordedSessions = BTreeMap<String, Vec<ListedSession>>;

/// The sessions at one address, for one run.
#[derive(Debug)]
pub(crate) struct OwnSessions {
    store: DeviceStore,
    address: String,
    state: Mutex<RunSessions>,
}

#[derive(Debug, Default)]
struct RunSessions {
    earlier: EarlierSessions,
    /// Recorded since the run began.
    own: Vec<ListedSession>,
    /// Earlier sessions that were ended, and are not reported yet.
    ended: Vec<ListedSession>,
    notes: Vec<String>,
}

/// What a run reports about sessions.
#[derive(Debug, Default)]
pub(crate) struct SessionReport {
    /// Earlier sessions that were ended.
    pub(crate) ended: Vec<ListedSession>,
    /// Why sessions were not recorded.
    pub(crate) notes: Vec<String>,
}

impl OwnSessions {
    /// Reads what earlier runs have left. `ends_all`: after them, and after a takeover, all other sessions of the
    /// login end, too.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn load(
        store: &DeviceStore,
        address: String,
        (is_takeover, ends_all): (bool, bool),
    ) -> Result<Self, StoreError> {
        let mut recorded = load(store)?;
        let recorded = recorded.remove(&address).unwrap_or_default();
        let all_of_login = ends_all && (is_takeover || !recorded.is_empty());
        let earlier = EarlierSessions {
            recorded,
            all_of_login,
        };
        Ok(Self {
            store: store.clone(),
            address,
            state: Mutex::new(RunSessions {
                earlier,
                ..RunSessions::default()
            }),
        })
    }

    /// What was not reported yet.
    pub(crate) fn take_report(&self) -> SessionReport {
        let mut state = self.state();
        SessionReport {
            ended: std::mem::take(&mut state.ended),
            notes: std::mem::take(&mut state.notes),
        }
    }

    fn state(&self) -> MutexGuard<'_, RunSessions> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the sessions that may still write: the earlier ones, and those of this run.
    async fn save(&self) -> Result<(), String> {
        let sessions: Vec<ListedSession> = {
            let state = self.state();
            let earlier = state.earlier.recorded.iter();
            earlier.chain(&state.own).cloned().collect()
        };
        let (store, address) = (self.store.clone(), self.address.clone());
        let saved = blocking_io::run(move || {
            let mut recorded = load(&store)?;
            if sessions.is_empty() {
                recorded.remove(&address);
            } else {
                recorded.insert(address, sessions);
            }
            if recorded.is_empty() {
                store.remove(FILE)
            } else {
                store.save_before_change(FILE, VERSION, &recorded)
            }
        });
        saved.await.map_err(|error| chain(&error))
    }
}

fn load(store: &DeviceStore) -> Result<RecordedSessions, StoreError> {
    Ok(store.load(FILE, VERSION)?.unwrap_or_default())
}

#[async_trait]
impl SessionLedger for OwnSessions {
    fn earlier(&self) -> Option<EarlierSessions> {
        Some(self.state().earlier.clone())
    }

    fn is_of_run(&self, session: &ListedSession) -> bool {
        self.state().own.contains(session)
    }

    async fn begin(&self, session: &ListedSession) -> Result<(), String> {
        self.state().own.push(session.clone());
        self.save().await
    }

    async fn end(&self, session: &ListedSession) {
        self.state().own.retain(|own| own != session);
        if let Err(error) = self.save().await {
            let text = format!("cannot remove the record of {session}: {error}");
            self.note(text);
        }
    }

    async fn earlier_ended(&self, ended: Vec<ListedSession>) -> Result<(), String> {
        {
            let mut state = self.state();
            state.earlier = EarlierSessions::default();
            state.ended.extend(ended);
        }
        self.save().await
    }

    fn note(&self, text: String) {
        self.state().notes.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchtender_devices::names::DeviceName;

    use crate::store::Store;

    fn session(id: &str) -> ListedSession {
        ListedSession {
            id: id.to_owned(),
            user: "admin".to_owned(),
            mark: "10.0.0.5".to_owned(),
        }
    }

    fn earlier(store: &DeviceStore, is_takeover: bool, ends_all: bool) -> EarlierSessions {
        let loaded = OwnSessions::load(store, "sw1:22".to_owned(), (is_takeover, ends_all));
        loaded.unwrap().earlier().unwrap()
    }

    #[tokio::test]
    async fn a_session_is_recorded_until_it_ends_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path()).device(&DeviceName::parse("sw1").unwrap());
        let load = || OwnSessions::load(&store, "sw1:22".to_owned(), (false, false)).unwrap();
        let first = load();
        first.begin(&session("2")).await.unwrap();
        first.begin(&session("3")).await.unwrap();
        first.end(&session("3")).await;
        assert_eq!(earlier(&store, false, false).recorded, [session("2")]);
        // Another device with the same name.
        let other = OwnSessions::load(&store, "sw2:22".to_owned(), (false, false)).unwrap();
        assert!(other.earlier().unwrap().recorded.is_empty());
        let second = load();
        second.earlier_ended(vec![session("2")]).await.unwrap();
        assert_eq!(second.take_report().ended, [session("2")]);
        assert!(second.take_report().ended.is_empty());
        assert_eq!(earlier(&store, false, false), EarlierSessions::default());
        assert!(!store.dir().join(FILE).exists());
    }

    #[tokio::test]
    async fn all_sessions_of_the_login_end_only_after_a_takeover_or_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path()).device(&DeviceName::parse("sw1").unwrap());
        assert!(!earlier(&store, false, true).all_of_login);
        assert!(!earlier(&store, true, false).all_of_login);
        assert!(earlier(&store, true, true).all_of_login);
        let crashed = OwnSessions::load(&store, "sw1:22".to_owned(), (false, false)).unwrap();
        crashed.begin(&session("2")).await.unwrap();
        assert!(earlier(&store, false, true).all_of_login);
        assert!(!earlier(&store, false, false).all_of_login);
    }
}
