//! Reading: what to ask a device for, and what it answered.
//!
//! A driver names its reads (`config`, `vlan_brief`, `GET /mgmt/tm/ltm/pool`); each is sent at
//! most once per run and its text kept in [`Reads`]. Turning text into instances is the driver's
//! part and needs no device.

use indexmap::IndexMap;

/// One thing to ask a device for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadRequest {
    /// The name in the platform's data, unique per platform.
    pub name: String,
    /// The command line (CLI) or the path with query (REST, always by GET).
    pub command: String,
    /// A refusal means "there is nothing of this kind" and reads as empty text.
    pub optional: bool,
}

/// Answers by name of the read: the device's text, echo and prompt removed, lines ended by `\n`.
pub type Reads = IndexMap<String, String>;
