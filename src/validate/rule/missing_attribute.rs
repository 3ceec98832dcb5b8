//! An attribute that must be given and is not.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "missing-attribute",
    severity: Severity::Error,
    summary: "an attribute that must be given",
    explanation: "\
The type cannot be applied without this attribute, or without a name that neither the title nor
an attribute gives.",
    bad: "
ios_acl { «'branch'»:
  permission => 'permit',
}
",
    good: "
ios_acl { 'branch extended 10':
  permission              => 'permit',
  protocol                => 'ip',
  source_address_any      => true,
  destination_address_any => true,
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Value(ValueErrorKind::Missing),
};
