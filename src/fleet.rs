//! Many device runs side by side, in one process.
//!
//! One task per device; nothing is shared but limits ([`limits`]). Nothing about one device can
//! stop, block or redirect another: a failure or a panic in one run is that device's alone.

pub mod limits;
pub mod runner;
