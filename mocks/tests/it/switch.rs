//! The mock switch as its clients see it.

mod answers;
mod archive;
mod faults;
mod reload;
mod running_config;
mod servers;
mod session;
mod shows;
pub(crate) mod terminal;
