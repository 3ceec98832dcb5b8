//! The record of a run, and its forms.
//!
//! [`RunRecord`] collects the events of a run and computes its result. Every reader renders it: [`page`] as HTML, the
//! command line as text, `serve` as pages. [`puppet_report`] is Puppet's report, format 12, with extensions,
//! in both directions; `last_run_summary.yaml` has the numbers
//! (`docs/reference/transaction.md`, section 17). This module does not write files.

pub(crate) mod alike;
pub(crate) mod command_lines;
mod context;
pub(crate) mod coverage_page;
mod coverage_record;
pub(crate) mod declared_values;
pub(crate) mod difference;
mod finding;
mod html;
mod metrics;
pub(crate) mod page;
pub(crate) mod puppet_report;
mod record;
mod run_counts;
mod run_status;
mod summary;
mod undo_plan;
mod unknown_text;

pub use context::Context;
pub(crate) use coverage_record::CoverageRecord;
pub(crate) use finding::FindingRecord;
pub use metrics::Number;
pub use record::RunRecord;
pub(crate) use record::UNREACHABLE;
pub(crate) use run_counts::RunCounts;
pub(crate) use run_status::RunStatus;
pub(crate) use undo_plan::{ResourceUndo, UndoPlan};
pub(crate) use unknown_text::UnknownText;
