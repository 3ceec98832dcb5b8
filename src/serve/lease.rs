//! Which node of a fleet runs which devices: leases of shards.
//!
//! Several processes with one PostgreSQL database are a fleet. [`shard`] divides the devices, [`rule`] decides what a
//! node asks for and what an answer means, and a [`lease_store::LeaseStore`] stores it.

pub(crate) mod fleet_status;
pub(crate) mod identity;
pub(crate) mod lease_store;
pub(crate) mod leases;
#[cfg(test)]
mod memory;
pub(crate) mod node_problems;
pub(crate) mod protocol;
pub(crate) mod right;
pub(crate) mod rule;
pub(crate) mod shard;
#[cfg(test)]
mod simulation;
pub(crate) mod times;
