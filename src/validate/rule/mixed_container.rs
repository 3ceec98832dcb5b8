//! A class or defined type with resources for devices and for hosts.

use std::collections::BTreeMap;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::{Destination, HostResourcePolicy};
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "mixed-container",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a class or defined type with resources for devices and for hosts",
    explanation: "\
A device skips the host resources of the class, and a host skips its device resources. A resource that
requires the class runs although a part of the class is skipped. Split the class into one for devices
and one for hosts. Resources outside of a class are not reported.",
    bad: "
class «time» {
  package { 'ntp': }
  ntp_server { '192.0.2.10': }
}
",
    good: "
class time {
  ntp_server { '192.0.2.10': }
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    if context.policy.host_resources == HostResourcePolicy::Silent {
        return;
    }
    let mut first: BTreeMap<usize, (Option<usize>, Option<usize>)> = BTreeMap::new();
    for &(container, content) in &context.catalog.edges {
        let (device, host) = first.entry(container).or_default();
        match context.destinations[content] {
            Destination::Device(_) => device.get_or_insert(content),
            Destination::Host => host.get_or_insert(content),
            _ => continue,
        };
    }
    for (container, content) in first {
        let (Some(device), Some(host)) = content else {
            continue;
        };
        let reference = |index: usize| &context.catalog.resources[index].reference;
        let container_name = reference(container);
        let top = match container_name.type_name() {
            "Stage" | "Node" => true,
            "Class" => container_name.title() == "Main",
            _ => false,
        };
        if !top {
            let message = format!(
                "{container_name} contains {} for devices and {} for hosts",
                reference(device),
                reference(host)
            );
            findings.push(
                RuleFinding::new(&RULE, Location::title(container), message)
                    .help("split it into a class for devices and a class for hosts"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn mixed_container_accepts_top_scope_and_shared_types() {
        for manifest in [
            "file { '/x': } network_vlan { '40': }",
            "class a { notify { 'x': } network_vlan { '40': } }",
            "class a { file { '/x': } class b { network_vlan { '40': } } }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
        }
    }
}
