//! A type that neither Puppet nor any model knows.

use switchtender_devices::diagnostic::nearest;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "unknown-type",
    severity: Severity::Error,
    summary: "a type that no model knows",
    explanation: "\
Puppet fails such a catalog with `Resource type 'X' was not found`. Here the resource and what
depends on it fail; it is never taken for a host's resource and skipped. A site's own types are made
known with `switchtender model import FILE.rb`.",
    bad: "
«network_vlna» { '40':
  vlan_name => 'printers',
}
",
    good: "
network_vlan { '40':
  vlan_name => 'printers',
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.for_device() {
        // A host knows the types of its own modules; only it can say.
        return;
    }
    for (index, resource) in subject.resources() {
        if !matches!(subject.destinations[index], Destination::Unknown) {
            continue;
        }
        let name = resource.reference.model_name();
        let known = subject.registry.models().map(|model| model.name.as_str());
        let help = match nearest(&name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`switchtender model import FILE.rb` makes a site's own type known".to_owned(),
        };
        findings.push(
            Finding::new(
                &RULE,
                At::Resource(index, Part::Type),
                format!("{}: there is no type `{name}`", resource.reference),
            )
            .help(help),
        );
    }
}
