//! A required attribute without a value.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "missing-attribute",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a required attribute without a value",
    explanation: "\
The type requires this attribute. A name comes from the title or from an attribute; here neither contains it.",
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
    check: RuleCheck::Value(ValueErrorKind::Missing),
};
