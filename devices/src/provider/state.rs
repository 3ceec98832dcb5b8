//! What a run knows of its device: the answers, the changes that were previewed, and those that were sent.
//!
//! No function waits for the device. [`DriverProvider`](super::driver_provider::DriverProvider) reads and writes,
//! and records here what it has read and written. Begin reading at [`inspection`] and [`preview`].

mod committed;
mod differences;
mod displaced;
mod found_state;
mod inspection;
mod left_state;
mod not_understood;
mod planned_undo;
mod preview;
mod reads;
mod remarks;
mod rendering;
mod staging;
#[cfg(test)]
mod tests;
mod undoing;

use std::sync::Arc;

use foldhash::HashMap;

use self::committed::CommittedChanges;
pub(super) use self::differences::names_of;
use self::displaced::DisplacedInstances;
pub(super) use self::found_state::{FoundState, is_unknown, report_as_found};
pub(super) use self::inspection::Inspection;
pub use self::left_state::{LeftResource, LeftState};
pub use self::planned_undo::PlannedUndo;
use self::preview::Previewed;
pub use self::preview::{PredictedDiff, PreviewedInstance};
use self::reads::RunReads;
use self::remarks::Remarks;
pub(super) use self::staging::StagedChange;
use self::staging::StagedChanges;
pub(super) use self::undoing::Undoing;
use crate::driver::{Driver, SecretHistory};
use crate::read::State;
use crate::value::Value;

/// Digests of secrets that the device does not print, stored from run to run.
pub trait SecretDigestStore: SecretHistory + Send + Sync {
    /// Stores the digest of a value that was just set.
    fn remember(&self, reference: &str, attribute: &str, value: &Value);
}

/// What one run knows of one device.
pub struct DeviceState {
    pub(super) driver: Driver,
    pub(super) memory: Arc<dyn SecretDigestStore>,
    /// The answers were saved before: their secrets can be masked.
    has_saved_answers: bool,
    /// Text that was not understood may be rewritten and removed.
    pub(super) overwrite_unknown: bool,
    pub(super) reads: RunReads,
    /// The answers from before the run.
    pub(super) before: State,
    /// The answers with the changes of the run.
    pub(super) now: State,
    /// The previewed changes, until a change is committed.
    pub(super) previewed: Option<Previewed>,
    pub(super) committed: CommittedChanges,
    pub(super) undoing: Undoing,
    /// Resources that were retrieved and not yet committed.
    pub(super) inspections: HashMap<Arc<str>, Inspection>,
    displaced: DisplacedInstances,
    pub(super) staged: StagedChanges,
    pub(super) remarks: Remarks,
}

impl DeviceState {
    /// The state before the first read.
    pub(super) fn new(
        driver: Driver,
        memory: Arc<dyn SecretDigestStore>,
        has_saved_answers: bool,
    ) -> Self {
        Self {
            driver,
            memory,
            has_saved_answers,
            overwrite_unknown: false,
            reads: RunReads::default(),
            before: State::default(),
            now: State::default(),
            previewed: None,
            committed: CommittedChanges::default(),
            undoing: Undoing::default(),
            inspections: HashMap::default(),
            displaced: DisplacedInstances::default(),
            staged: StagedChanges::default(),
            remarks: Remarks::default(),
        }
    }
}
