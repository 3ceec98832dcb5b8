//! A host resource in a device's catalog.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::route::Mixed;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "host-resource",
    severity: Severity::Warning,
    summary: "a host resource in a device's catalog",
    explanation: "\
A device has no files, packages or services that Puppet could manage: Puppet skips such resources
on a device without a word. They come into the catalog through classes that are meant for
servers, often a role or a profile that is included for every node.

With `--mixed refuse` this is an error and the catalog is not applied; with `--mixed silent`
nothing is said.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let severity = match subject.policy.mixed {
        Mixed::Warn => Severity::Warning,
        Mixed::Refuse => Severity::Error,
        Mixed::Silent => return,
    };
    if !subject.for_device() {
        return;
    }
    for (index, resource) in subject.resources() {
        if subject.destinations[index].only_host() {
            let message = format!("{} is for a host and is skipped on a device", resource.reference);
            findings.push(
                Finding::new(&RULE, At::title(index), message)
                    .severity(severity)
                    .help("declare it on hosts only: move it out of the classes of devices"),
            );
        }
    }
}
