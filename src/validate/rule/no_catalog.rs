//! A device of the inventory for which no catalog was given.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "no-catalog",
    severity: Severity::Warning,
    summary: "a device without a catalog",
    explanation: "\
Whole directories of catalogs were given, and none of the catalogs carries the `certname` of this
device: it would not be managed, or its catalog failed to compile.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Across,
};
