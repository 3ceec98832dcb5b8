//! Two devices of the inventory with one address; the check is in the inventory.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "duplicate-address",
    severity: Severity::Warning,
    summary: "two devices of the inventory with one address",
    explanation: "\
Two devices of the inventory have the same address, port and jump host: two catalogs would be applied
to one device, in no certain order, each undoing the other.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Across,
};
