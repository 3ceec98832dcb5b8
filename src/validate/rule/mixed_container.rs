//! A class or defined type that holds resources of both sides.

use std::collections::BTreeMap;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::route::{Destination, Mixed};
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "mixed-container",
    severity: Severity::Warning,
    summary: "a class or defined type with resources of both sides",
    explanation: "\
On each side half of the class is skipped. What requires the class is told that it is complete, and
a refresh that comes from it comes from one half only. Split it into a class for hosts and one for
devices. (The top scope, where every node's own resources stand, is not reported.)",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if subject.policy.mixed == Mixed::Silent {
        return;
    }
    let mut first: BTreeMap<usize, (Option<usize>, Option<usize>)> = BTreeMap::new();
    for &(container, content) in &subject.catalog.edges {
        let (device, host) = first.entry(container).or_default();
        match subject.destinations[content] {
            Destination::Device(_) => device.get_or_insert(content),
            Destination::Host => host.get_or_insert(content),
            _ => continue,
        };
    }
    for (container, content) in first {
        let (Some(device), Some(host)) = content else {
            continue;
        };
        let reference = |index: usize| &subject.catalog.resources[index].reference;
        let container_name = reference(container);
        let top = match container_name.type_name() {
            "Stage" | "Node" => true,
            "Class" => container_name.title() == "Main",
            _ => false,
        };
        if !top {
            let message = format!(
                "{container_name} holds {} for devices and {} for hosts",
                reference(device),
                reference(host)
            );
            findings.push(
                Finding::new(&RULE, At::title(container), message)
                    .help("split it into one for devices and one for hosts"),
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
    fn the_top_and_what_belongs_to_both_sides_are_fine() {
        for manifest in [
            "file { '/x': } network_vlan { '40': }",
            "class a { notify { 'x': } network_vlan { '40': } }",
            "class a { file { '/x': } class b { network_vlan { '40': } } }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
        }
    }
}
