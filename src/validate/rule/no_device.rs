//! A device's catalog for which the inventory has no device.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "no-device",
    severity: Severity::Warning,
    summary: "a device's catalog without a device in the inventory",
    explanation: "\
With an inventory, each catalog of a device is checked against the platform of the device whose
`certname` it carries. No device has this one: the catalog is applied nowhere, and is checked without
a platform. Often a device is missing in the inventory, or its `certname` is not the node's name.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Across,
};
