//! An interface that is shut down because nothing says otherwise.

use switchtender_devices::value::Value;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "shuts-down",
    severity: Severity::Warning,
    summary: "an interface that is shut down by a default",
    explanation: "\
`enable` of network_interface is false unless it is given: a catalog that only sets a description
shuts the port. That is the published behaviour of the type and is kept. Say `enable => true`, or
`enable => false` where the port shall be down.",
    bad: "
network_interface { «'GigabitEthernet1/0/1'»:
  description => 'printer',
}
",
    good: "
network_interface { 'GigabitEthernet1/0/1':
  enable      => true,
  description => 'printer',
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource, wanted) in subject.wanted() {
        if wanted.model.name == "network_interface"
            && !resource.parameters.contains_key("enable")
            && wanted.attributes.get("enable") == Some(&Value::Bool(false))
        {
            findings.push(
                Finding::new(
                    &RULE,
                    At::title(index),
                    format!(
                        "enable is not set on {}; it defaults to false and the interface will be \
                         shut down",
                        resource.reference
                    ),
                )
                .help("add `enable => true`, or `enable => false` if that is meant"),
            );
        }
    }
}
