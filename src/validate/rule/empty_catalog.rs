//! A catalog without resources to apply.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "empty-catalog",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a catalog without resources to apply",
    explanation: "\
All resources of the catalog are containers or are skipped for this node. Typical causes are a node
without classes, and a catalog that was compiled for the wrong node.",
    bad: "
node «'sw1'» {
  class base { }
}
",
    good: "
node 'sw1' {
  class base {
    network_vlan { '40': }
  }
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let unknown = |index: usize| matches!(context.destinations[index], Destination::Unknown);
    if (0..context.destinations.len()).any(|index| context.is_applied(index) || unknown(index)) {
        return;
    }
    let is_host = |found: &Destination| matches!(found, Destination::Host);
    if context.for_device() && context.destinations.iter().any(is_host) {
        let name = &context.catalog.name;
        let message = format!("the catalog of {name} has only resources of hosts: hosts are out of scope");
        findings.push(
            RuleFinding::new(&RULE, Location::CatalogName, message)
                .help("apply the catalog of a host with `puppet apply` on that host"),
        );
        return;
    }
    let target = if context.for_device() { "device" } else { "host" };
    findings.push(
        RuleFinding::new(
            &RULE,
            Location::CatalogName,
            format!("the catalog of {} has no resources for a {target}", context.catalog.name),
        )
        .help("check the classes of the node"),
    );
}
