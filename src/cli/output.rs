//! What commands print: views of runs, tables, exit codes, errors and hints.
//!
//! Knows neither options nor commands.

pub(crate) mod device_table;
pub(crate) mod log_destination;
pub(crate) mod time_limit;
pub(crate) mod view;
