//! Devices of the inventory with one address.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "duplicate-address",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "devices of the inventory with one address",
    explanation: "\
Devices have the same address, port and jump host, so several catalogs configure one device and overwrite
each other. Each command that loads the inventory reports this warning.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Inventory,
};
