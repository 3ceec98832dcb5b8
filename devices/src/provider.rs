//! The seam between the engine and a device.
//!
//! The transaction asks a [`Provider`] for current state and hands it changes; it knows nothing
//! else of devices. Implementations: driver-based, simulated, read-only.

use std::sync::Arc;

use async_trait::async_trait;

use crate::change::{Change, Wanted};
use crate::model::TypeModel;
use crate::operation::{Operation, OperationResult};
use crate::value::Attributes;

/// What the engine asks of a device.
///
/// # Cancellation
/// None of the futures may be dropped midway; each is bounded in time by the implementation.
#[async_trait]
pub trait Provider: Send {
    /// Announces the types that the run will read, so that one read can serve them all. No I/O.
    fn expect(&mut self, types: &[Arc<TypeModel>]) {
        let _ = types;
    }

    /// Whether resources of the type can be applied on this device; the reason if not.
    fn supports(&self, model: &TypeModel) -> Result<(), String>;

    /// Called once per type before its first resource is read, with all its resources.
    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Wanted],
    ) -> Result<(), ProviderError>;

    /// The current values of a resource's properties, `ensure` included; all absent when the
    /// instance is not there.
    async fn retrieve(&mut self, wanted: &Wanted) -> Result<Attributes, ProviderError>;

    /// Brings the device to the change's wanted state.
    async fn commit(&mut self, change: &Change) -> Committed;

    /// Reacts to a refresh.
    async fn refresh(&mut self, wanted: &Wanted) -> Result<(), ProviderError>;
}

/// What became of a change.
#[derive(Debug)]
pub struct Committed {
    /// Outcome per attribute of the change, in its order (`ensure` alone for create and remove).
    pub attributes: Vec<(String, Result<(), ProviderError>)>,
    /// What was sent, for the report.
    pub operations: Vec<(Operation, OperationResult)>,
    /// Messages for people, as warnings on the resource.
    pub warnings: Vec<String>,
    /// The change as a whole failed after its attributes were told.
    pub failure: Option<ProviderError>,
}

/// A failure on the device side, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub message: String,
}
