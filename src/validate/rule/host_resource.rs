//! A host resource in the catalog of a device.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::HostResourcePolicy;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "host-resource",
    severity: Severity::Warning,
    effects: Effects::ERRORS_ONLY,
    summary: "a host resource in the catalog of a device",
    explanation: "\
A device has no files, packages or services that Puppet manages, so resources of these types are
skipped. They usually come from a class for servers, such as a base profile that every node includes.
Include such classes on hosts only.

With `--host-resources refuse` this is an error and the catalog is not applied. With `--host-resources silent` it is not
reported.",
    bad: "
file { «'/etc/motd'»:
  content => 'managed',
}
network_vlan { '40':
  vlan_name => 'printers',
}
",
    good: "
network_vlan { '40':
  vlan_name => 'printers',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let severity = match context.policy.host_resources {
        HostResourcePolicy::Warn => Severity::Warning,
        HostResourcePolicy::Refuse => Severity::Error,
        HostResourcePolicy::Silent => return,
    };
    if !context.for_device() {
        return;
    }
    for (index, resource) in context.resources() {
        if context.destinations[index].is_host_only() {
            let message = format!("{} is a host resource: devices skip it", resource.reference);
            findings.push(
                RuleFinding::new(&RULE, Location::title(index), message)
                    .severity(severity)
                    .help("include its class on hosts only"),
            );
        }
    }
}
