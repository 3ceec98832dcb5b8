//! One address that several devices take for themselves.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "shared-address",
    severity: Severity::Warning,
    summary: "one address on several devices",
    explanation: "\
Two catalogs give the same address to a self IP, a virtual server or an interface of two devices of
one site. Both would answer for it. Devices of a cluster may share an address on purpose: give them
the severity \"off\" for this rule, or different sites.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Across,
};
