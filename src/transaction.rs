//! Applying a catalog to one device (`docs/reference/transaction.md`, sections 5 to 15).
//!
//! [`run`] walks the relationship graph, asks a [`Provider`] for current state, computes changes,
//! hands them back, and says what happened as [`RunEvent`]s. It knows no sockets, files or clocks:
//! time, memory of earlier runs, settings and the device are given to it, and whatever is shown,
//! stored or reported is a fold of its events.
//!
//! Begin reading at [`run`]; each step of evaluating a resource is a file of its own.
//!
//! [`Provider`]: switchtender_devices::provider::Provider

mod audit;
mod desired_cache;
mod evaluate;
pub mod event;
mod failures;
mod generate;
pub mod history;
mod log;
mod prefetch;
mod property_event;
mod refresh;
mod run;
mod schedule;
mod settings;
mod skip;
mod status;
mod sync;
mod tags;
mod traverse;

pub use event::{
    Event, EventStatus, LogEntry, OperationRecord, ResourceStatus, RunEvent, Sink, Skip,
};
pub use history::Memory;
pub use run::{Input, TransactionError, refused, run};
pub use settings::{Mixed, Settings};
pub use tags::TagSelection;
