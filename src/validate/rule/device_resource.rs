//! A device resource in the catalog of a host.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::HostResourcePolicy;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "device-resource",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a device resource in the catalog of a host",
    explanation: "\
The agent of a host skips resources of device types without a message: a VLAN that is declared on a
server is configured nowhere. Declare it on the node of the device.

With `--host-resources refuse` this is an error. With `--host-resources silent` it is not reported.",
    bad: "
package { 'ntp':
  ensure => 'installed',
}
network_vlan { «'40'»:
  vlan_name => 'printers',
}
",
    good: "
package { 'ntp':
  ensure => 'installed',
}
",
    example: Example::Host,
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let severity = match context.policy.host_resources {
        HostResourcePolicy::Warn => Severity::Warning,
        HostResourcePolicy::Refuse => Severity::Error,
        HostResourcePolicy::Silent => return,
    };
    if context.for_device() {
        return;
    }
    for (index, resource) in context.resources() {
        if context.destinations[index].is_device_only() {
            let message = format!("{} is a device resource: hosts skip it", resource.reference);
            findings.push(
                RuleFinding::new(&RULE, Location::title(index), message)
                    .severity(severity)
                    .help("declare it on the node of the device"),
            );
        }
    }
}
