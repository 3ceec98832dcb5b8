//! `audit` of an attribute that is not a property.

use switchtender_devices::model::Role;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::relation::strings;
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "audit-parameter",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "`audit` of an attribute that is not a property",
    explanation: "\
`audit` compares the current values of properties between runs. Parameters and names have no current
value on the device, so they cannot be audited.",
    bad: "
network_vlan { '40':
  audit => «'id'»,
}
",
    good: "
network_vlan { '40':
  audit => 'vlan_name',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, typed) in context.typed() {
        let Some(audit) = resource.parameters.get("audit") else {
            continue;
        };
        for name in strings(audit) {
            // The rule `metaparameter` reports names that are not attributes of the type.
            let watched = typed.model.attributes.get(name);
            if watched.is_some_and(|attr| matches!(attr.role, Role::Parameter | Role::Namevar)) {
                let message = format!("{}: cannot audit `{name}`: it is not a property", resource.reference);
                findings.push(
                    RuleFinding::new(&RULE, Location::parameter(index, "audit"), message)
                        .help("list properties, or use `all`"),
                );
            }
        }
    }
}
