//! A secret that is the title of its resource.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "secret-title",
    severity: Severity::Warning,
    summary: "a secret that is the title of its resource",
    explanation: "\
The name of the resource is a secret by its model and is masked in commands and in what the device
says. But a title is how a resource is told from others: it stands in events, reports, relations,
tags and in PuppetDB, which are joined by it, so it is shown everywhere, as Puppet shows it. Give the
resource a title of its own, and the secret as its name, wrapped in `Sensitive(…)`.",
    bad: "
snmp_community { «'n0t-public'»:
  ensure => 'present',
  group  => 'RO',
}
",
    good: "
snmp_community { 'readers':
  ensure => 'present',
  name   => Sensitive('n0t-public'),
  group  => 'RO',
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource, typed) in subject.typed() {
        let Some(attribute) = subject.secret_title(index, resource) else {
            continue;
        };
        let message = format!(
            "the title of this {} is its {attribute}, which is a secret; titles are shown everywhere",
            typed.model.name
        );
        let help = format!("give it another title, and {attribute} => Sensitive(…)");
        findings.push(Finding::new(&RULE, At::title(index), message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::json;
    use crate::diagnostic::terminal::{Look, render_all};
    use crate::validate::Policy;
    use crate::validate::example::{device, findings};

    #[test]
    fn the_finding_itself_does_not_show_the_title() {
        let manifest = "snmp_community { 'pl4nted': ensure => 'present', group => 'RO' }";
        let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
        assert!(found.iter().any(|found| found.code == RULE.code));
        let shown = format!("{}{}", render_all(&found, Look::PLAIN), json::lines(&found));
        assert!(!shown.contains("pl4nted"), "{shown}");
    }
}
