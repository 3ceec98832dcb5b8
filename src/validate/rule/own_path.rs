//! Changes that could cut off the session, or the next login.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "own-path",
    severity: Severity::Error,
    effects: Effects::FAIL_RESOURCES,
    summary: "a change of what the session to the device uses",
    explanation: "\
`apply` and `plan` refuse a resource whose change could cut off the session to the device, or the next login: the
address, interface, VLAN, bundle and VRF of the session, its VLAN on a trunk, the route to the proxy host, access
lists of its interface and of terminal lines, its user, the terminal lines, and methods of login. Other resources
continue. A change that the device reverts by itself (`protect`) is permitted, and so is every change with
`--allow own-path`. `validate` cannot check it, because it does not read the device.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Plan,
};
