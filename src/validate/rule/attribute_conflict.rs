//! Attributes of one resource that exclude or need each other.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "attribute-conflict",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "attributes that exclude or require each other",
    explanation: "\
Each value is valid, but not in this combination. The device has no command for it, or it would ignore
one of the values.",
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
    check: RuleCheck::Value(ValueErrorKind::Rule),
};
