//! A device resource in a host's catalog.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::route::Mixed;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "device-resource",
    severity: Severity::Warning,
    summary: "a device resource in a host's catalog",
    explanation: "\
An agent on a host skips resources of devices without a word: the VLAN that is declared on a
server is never made anywhere. Declare it on the node of the device.

With `--mixed refuse` this is an error; with `--mixed silent` nothing is said.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let severity = match subject.policy.mixed {
        Mixed::Warn => Severity::Warning,
        Mixed::Refuse => Severity::Error,
        Mixed::Silent => return,
    };
    if subject.for_device() {
        return;
    }
    for (index, resource) in subject.resources() {
        if subject.destinations[index].only_device() {
            let message = format!("{} is for a device and is skipped on a host", resource.reference);
            findings.push(
                Finding::new(&RULE, At::title(index), message)
                    .severity(severity)
                    .help("declare it on the node of the device"),
            );
        }
    }
}
