//! What is shown in the place of a secret, given as one.

use switchtender_devices::secret::MASK;
use switchtender_devices::value::Value;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "masked-value",
    severity: Severity::Error,
    summary: "what is shown in the place of a secret, given as one",
    explanation: "\
`••••` stands wherever this program shows a secret, also in what `switchtender resource` prints to
begin a manifest with. Applied as it is, it would take the place of the secret on the device, and the
real one would be lost. Look the secret up, or leave the resource or the attribute out.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource, _) in subject.typed() {
        let told = |at: At, what: String| {
            Finding::new(&RULE, at, what).help(
                "this is what is shown of a secret: put the real one there, or leave it out",
            )
        };
        if resource.reference.title().contains(MASK) {
            let what = format!("{}: the title stands for a secret", resource.reference);
            findings.push(told(At::title(index), what));
        }
        for (name, value) in &resource.parameters {
            if is_masked(value) {
                let what = format!("{}: {name} stands for a secret", resource.reference);
                findings.push(told(At::parameter(index, name), what));
            }
        }
    }
}

fn is_masked(value: &Value) -> bool {
    match value {
        Value::String(text) | Value::Symbol(text) => text.contains(MASK),
        Value::List(items) => items.iter().any(is_masked),
        Value::Hash(entries) => entries.iter().any(|(_, value)| is_masked(value)),
        Value::Sensitive(inner) => is_masked(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn a_mask_is_found_wherever_a_secret_can_stand() {
        for manifest in [
            "snmp_community { «'••••'»: ensure => 'present', group => 'RO' }",
            "ntp_auth_key { '7': ensure => 'present', password => Sensitive(«'••••'») }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
        }
    }
}
