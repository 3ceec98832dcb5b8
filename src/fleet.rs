//! Many device runs side by side, in one process.
//!
//! One task per device ([`device_run`]); nothing is shared but limits ([`limits`]). Nothing about
//! one device can stop, block or redirect another: a failure or a panic in one run is that
//! device's alone. Begin at [`device_run::Fleet::run_device`].

mod admission;
pub mod catalog_files;
pub mod device_run;
pub mod limits;
pub mod look;
mod preparation;
pub mod reach;
pub mod runner;
mod saving;
pub mod served_device;
pub mod stand_in;
mod state_files;
pub mod tally;
pub mod turns;
mod typed;
