//! `audit` of something that has no current value.

use switchtender_devices::model::Role;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::relation::texts;
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "audit-parameter",
    severity: Severity::Warning,
    summary: "audit of something that is no property",
    explanation: "\
`audit` watches properties: attributes that have a current value on the device. Parameters and names
have none, so there is nothing to watch.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource, typed) in subject.typed() {
        let Some(audit) = resource.parameters.get("audit") else {
            continue;
        };
        for name in texts(audit) {
            // What the type does not have at all is refused when the catalog is loaded.
            let watched = typed.model.attributes.get(name);
            if watched.is_some_and(|attr| matches!(attr.role, Role::Parameter | Role::Namevar)) {
                let message = format!("{}: `{name}` is no property and cannot be audited", resource.reference);
                findings.push(
                    Finding::new(&RULE, At::parameter(index, "audit"), message)
                        .help("name properties, or `all`"),
                );
            }
        }
    }
}
