//! Locks of devices for all hosts of a store: two commands on two hosts do not change one device at once. The nodes of
//! a fleet have leases instead, and respect these locks when a run begins.

use std::fmt;

use switchtender_devices::session::fence::Fence;

use super::state_table::StateTableError;

/// Locks devices in a store. Callers block.
pub(crate) trait HostLocks: fmt::Debug + Send + Sync {
    /// Locks a device until the lock is dropped. The check of the lock fails once the store may have given it to another
    /// process.
    ///
    /// # Errors
    /// Another process changes the device, or the store cannot be used.
    fn lock(&self, device: &str) -> Result<Box<dyn Fence>, HostLockError>;
}

/// Why a device cannot be locked in a store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostLockError {
    #[error("another run has locked it ({holder})")]
    Held { holder: String },
    #[error(transparent)]
    Store(#[from] StateTableError),
}
