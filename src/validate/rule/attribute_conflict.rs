//! Attributes of one resource that exclude or need each other.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "attribute-conflict",
    severity: Severity::Error,
    summary: "attributes that exclude or need each other",
    explanation: "\
Each value is valid by itself, but not beside the others: a device has no command for the
combination, or would drop one half of it.",
    bad: "
ios_acl { 'branch extended 10':
  permission              => 'permit',
  protocol                => 'ip',
  source_address_any      => true,
  destination_address_any => true,
  log                     => true,
  log_input               => «true»,
}
",
    good: "
ios_acl { 'branch extended 10':
  permission              => 'permit',
  protocol                => 'ip',
  source_address_any      => true,
  destination_address_any => true,
  log_input               => true,
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Value(ValueErrorKind::Rule),
};
