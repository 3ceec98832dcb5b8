//! One VLAN name with different numbers at one site.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "vlan-names",
    severity: Severity::Warning,
    summary: "one VLAN name with different numbers at one site",
    explanation: "\
Two switches of one site call different VLANs by one name. Nothing breaks at once, but a trunk
between them carries other networks than their names say.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Across,
};
