//! Applies a catalog to one device (`docs/reference/transaction.md`, sections 5 to 15).
//!
//! [`mod@run`] traverses the relationship graph, reads the current state through a [`Provider`],
//! computes changes, commits them, and emits [`RunEvent`]s. It uses no sockets, files or clocks:
//! the caller passes time, memory of earlier runs, settings and provider. Views, stores and reports
//! are folds of its events.
//!
//! Start reading at [`mod@run`]. Each step of the evaluation of a resource has its own file.
//!
//! [`Provider`]: switchtender_devices::provider::Provider

mod audit;
mod bound_object;
mod command_record;
mod desired_cache;
mod displaced;
mod evaluate;
pub(crate) mod event;
mod failures;
mod generate;
pub(crate) mod history;
mod log;
mod missing_object;
mod prefetch;
mod property_event;
mod refresh;
mod resource_json;
mod run;
mod schedule;
mod settings;
mod skip;
mod staged;
mod status;
mod sync;
mod tags;
mod traverse;
mod verify;
mod wording;

pub(crate) use command_record::{CommandKind, CommandOutcome, CommandRecord};
pub use event::{Event, LogEntry, ResourceStatus, RunEvent, Sink};
pub(crate) use event::{EventStatus, LogKind, OperationRecord, ResourceResult, Skip, file_line};
pub use history::Memory;
pub(crate) use resource_json::ResourceJson;
pub use run::{Input, TransactionError, refused, run};
pub use settings::TransactionSettings;
pub use tags::TagSelection;
