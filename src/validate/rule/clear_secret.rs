//! A secret that the catalog carries in clear.

use switchtender_devices::value::Value;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "clear-secret",
    severity: Severity::Warning,
    summary: "a secret that is not marked as sensitive",
    explanation: "\
The attribute is a secret by its model and is masked wherever this program shows it. But the
compiler does not know: the server keeps the value in PuppetDB and in its logs. Wrap it in
`Sensitive(…)` in the manifest.",
    bad: "
ntp_auth_key { '7':
  ensure   => 'present',
  password => «'s3cret'»,
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
    for (index, resource, typed) in subject.typed() {
        for attribute in typed.model.attributes.values().filter(|attr| attr.sensitive) {
            let given = resource.parameters.get(&attribute.name);
            if given.is_some_and(|value| !matches!(value, Value::Sensitive(_) | Value::Undef)) {
                findings.push(
                    Finding::new(
                        &RULE,
                        At::parameter(index, &attribute.name),
                        format!("{}: {} is a secret, in clear", resource.reference, attribute.name),
                    )
                    .help("wrap it in the manifest: Sensitive(…)"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::json;
    use crate::diagnostic::terminal::{Look, render_all};
    use crate::validate::Policy;
    use crate::validate::example::{device, findings};

    #[test]
    fn no_finding_shows_a_secret_that_stands_near_its_mark() {
        for value in ["'pl4nted'", "Sensitive('pl4nted')"] {
            let manifest = format!(
                "ntp_auth_key {{ '7': algorithm => 'md6', password => {value}, mode => 'x', \
                 require => Ntp_server['x'] }}"
            );
            let (_, found) = findings(&manifest, &device("cisco_ios"), &Policy::default());
            assert!(found.len() >= 3, "{found:#?}");
            let shown = format!("{}{}", render_all(&found, Look::PLAIN), json::lines(&found));
            assert!(!shown.contains("pl4nted"), "{shown}");
        }
    }
}
