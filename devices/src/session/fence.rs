//! The last check before a write: whether this process may still change the device.

use std::fmt;
use std::time::Duration;

/// How long the kernel repeats bytes that nobody acknowledges, if no other process competes.
pub const UNACKNOWLEDGED_LIMIT: Duration = Duration::from_secs(30);

/// Whether this process may still change a device.
///
/// A session asks it after the connection is open, immediately before each flush of lines, each
/// request and each edit that writes. Reads are not asked for.
pub trait Fence: fmt::Debug + Send + Sync {
    /// Checks the right to write.
    ///
    /// # Errors
    /// Another process may change the device. Nothing more is written.
    fn check(&self) -> Result<(), FenceError>;

    /// How long the kernel may repeat bytes that nobody acknowledges. Then the connection ends: what was written before
    /// the right ended must not reach a device that another process changes by then.
    fn unacknowledged_limit(&self) -> Duration {
        UNACKNOWLEDGED_LIMIT
    }
}

/// Why a process may no longer change a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct FenceError {
    /// The cause, such as `the lock PATH was removed`.
    pub reason: String,
}

/// The fence of a session that nobody else competes with.
#[derive(Clone, Copy, Debug)]
pub struct NoFence;

impl Fence for NoFence {
    fn check(&self) -> Result<(), FenceError> {
        Ok(())
    }
}
