//! A line of a configuration that no declared resource has, in a strict run.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "unmanaged-line",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a line of the configuration that no declared resource has",
    explanation: "\
`--strict all` of `plan` and `apply`, or `strict: all` in a state file, demands that a declared resource has each line of
the configuration that a person wrote. `sections` demands it only in blocks, and of first words, in which something is
declared. The run changes nothing on another device. Lines at their defaults and lines that the device makes are never
findings. Declare the line, name its type or its text under `unmanaged` in a state file, or remove it from the device.
`switchtender coverage` lists all lines with their classes.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Plan,
};
