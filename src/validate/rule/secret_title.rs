//! A secret as title of a resource.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "secret-title",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a secret as title of a resource",
    explanation: "\
The model declares the name of this type as sensitive, and it is masked in commands and in device output.
A title cannot be masked: it identifies the resource in events, reports, relations, tags and PuppetDB.
Use another title and set the name to `Sensitive(…)`.",
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
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, typed) in context.typed() {
        let Some(attribute) = context.secret_title(index, resource) else {
            continue;
        };
        let message = format!(
            "the title of this {} is its secret {attribute}; titles are not masked",
            typed.model.name
        );
        let help = format!("use another title and set {attribute} => Sensitive(…)");
        findings.push(RuleFinding::new(&RULE, Location::title(index), message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::json;
    use crate::diagnostic::terminal::{RenderOptions, render_all};
    use crate::validate::Policy;
    use crate::validate::example::{device, findings};

    #[test]
    fn secret_title_masks_the_title() {
        let manifest = "snmp_community { 'pl4nted': ensure => 'present', group => 'RO' }";
        let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
        assert!(found.iter().any(|found| found.code == RULE.code));
        let rendered = format!("{}{}", render_all(&found, RenderOptions::PLAIN).as_str(), json::lines(&found));
        assert!(!rendered.contains("pl4nted"), "{rendered}");
    }
}
