//! The mock load balancer as its clients see it.

pub(crate) mod client;
mod faults;
mod objects;
mod protocol;
mod refusals;
mod rewriting;
mod site;
