//! A catalog that is for neither a device nor a host.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "empty-catalog",
    severity: Severity::Warning,
    summary: "a catalog in which nothing is applied",
    explanation: "\
Every resource of the catalog is a container, or is skipped where the catalog is going. Often the
node has no classification yet, or the catalog was compiled for the wrong node.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let unknown = |index: usize| matches!(subject.destinations[index], Destination::Unknown);
    if (0..subject.destinations.len()).any(|index| subject.applied(index) || unknown(index)) {
        return;
    }
    let side = if subject.for_device() { "device" } else { "host" };
    findings.push(
        Finding::new(
            &RULE,
            At::Name,
            format!("nothing in the catalog of {} is for a {side}", subject.catalog.name),
        )
        .help("see which classes the node has"),
    );
}
