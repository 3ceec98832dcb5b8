//! The table of a store with the structures of devices, for several hosts.
//!
//! A structure is the content of a file of a device: its name is that of the file below the directory of the device.
//! A change under a lease has its epoch. After a change with a higher one, the table refuses it: another process has
//! taken the device over.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Stores structures of devices. Callers block.
pub(crate) trait StateTable: fmt::Debug + Send + Sync {
    /// A structure; `None`: there is none.
    fn get(&self, device: &str, file: &str) -> Result<Option<StateRow>, StateTableError>;

    /// Replaces or removes a structure. It is durable when this returns.
    fn change(&self, change: &StateChange) -> Result<(), StateTableError>;

    /// The names of the structures of a device, sorted.
    fn files(&self, device: &str) -> Result<Vec<String>, StateTableError>;

    /// The names of the devices that have structures, sorted.
    fn devices(&self) -> Result<Vec<String>, StateTableError>;

    /// The fingerprint of the key of the hosts; `None`: no host has stored one.
    fn key(&self) -> Result<Option<String>, StateTableError>;

    /// Stores the fingerprint of a key, if there is none. Returns the one that is stored.
    fn use_key(&self, fingerprint: &str) -> Result<String, StateTableError>;
}

/// A stored structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateRow {
    pub(crate) body: Vec<u8>,
    pub(crate) epoch: i64,
}

/// A change of one structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateChange {
    pub(crate) device: String,
    pub(crate) file: String,
    /// `None`: it is removed.
    pub(crate) body: Option<Vec<u8>>,
    /// The epoch of the lease. `None`: without a lease, as a command on a host; the newest epoch stays.
    pub(crate) epoch: Option<i64>,
}

/// Why a structure cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub(crate) enum StateTableError {
    #[error(
        "another process has taken the device over: its state has the epoch {newest}, and this run has {epoch}"
    )]
    Stale { epoch: i64, newest: i64 },
    /// The table cannot be used at the moment.
    #[error("{reason}")]
    Unreachable { reason: String },
    /// This host has no right to the device. That can change.
    #[error("{reason}")]
    Foreign { reason: String },
    #[error("{reason}")]
    Failed { reason: String },
}
