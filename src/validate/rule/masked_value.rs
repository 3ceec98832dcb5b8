//! The mask of a secret instead of the secret.

use switchtender_devices::secret::MASK;
use switchtender_devices::secret_mask::contains_mask;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "masked-value",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "the mask of a secret instead of the secret",
    explanation: "\
`••••` replaces secrets in all output of switchtender, also in the manifests of `switchtender resource`.
Applying it would replace the secret on the device with the mask. Insert the secret, or remove the
attribute or the resource.",
    bad: "
ntp_auth_key { '7':
  ensure   => 'present',
  password => «'••••'»,
}
",
    good: "
ntp_auth_key { '7':
  ensure   => 'present',
  password => Sensitive('s3cret'),
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, _) in context.typed() {
        let finding = |at: Location, message: String| {
            RuleFinding::new(&RULE, at, message).help(
                "replace `••••` with the secret, or remove the attribute",
            )
        };
        if resource.reference.title().contains(MASK) {
            let message = format!("{}: the title contains the mask of a secret", resource.reference);
            findings.push(finding(Location::title(index), message));
        }
        for (name, value) in &resource.parameters {
            if contains_mask(value) {
                let message = format!("{}: `{name}` contains the mask of a secret", resource.reference);
                findings.push(finding(Location::parameter(index, name), message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn masked_value_is_found_in_titles_and_sensitive_values() {
        for manifest in [
            "snmp_community { «'••••'»: ensure => 'present', group => 'RO' }",
            "ntp_auth_key { '7': ensure => 'present', password => Sensitive(«'••••'») }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
        }
    }
}
