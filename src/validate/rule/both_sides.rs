//! A device resource in a host's catalog and in a device's.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "both-sides",
    severity: Severity::Warning,
    summary: "one device resource in a host's catalog and in a device's",
    explanation: "\
The same resource is declared for a host, where it is skipped, and for a device, where it is applied.
Usually a class for devices is included on hosts too; the host's copy can only mislead.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Across,
};
