//! A secret in clear text.

use switchtender_devices::value::Value;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "clear-secret",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a secret in clear text",
    explanation: "\
The model declares the attribute as sensitive, and switchtender masks it in all output. But the value is
in clear text in the catalog, so the server stores it in PuppetDB and in logs. Wrap it in `Sensitive(…)`
in the manifest.",
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
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, typed) in context.typed() {
        for attribute in typed.model.attributes.values().filter(|attr| attr.sensitive) {
            let supplied = resource.parameters.get(&attribute.name);
            // The word for the default removes the secret.
            let is_clear = |value: &Value| {
                !matches!(value, Value::Sensitive(_) | Value::Undef) && !attribute.is_unset(value)
            };
            if supplied.is_some_and(is_clear) {
                findings.push(
                    RuleFinding::new(
                        &RULE,
                        Location::parameter(index, &attribute.name),
                        format!("{}: the secret `{}` is in clear text", resource.reference, attribute.name),
                    )
                    .help("wrap the value in Sensitive(…) in the manifest"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::json;
    use crate::diagnostic::terminal::{RenderOptions, render_all};
    use crate::validate::Policy;
    use crate::validate::example::{device, findings};

    #[test]
    fn clear_secret_spares_a_secret_that_is_unset() {
        let manifest = "radius_global { 'default': key => 'unset' }";
        let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn clear_secret_and_other_findings_mask_the_secret() {
        for value in ["'pl4nted'", "Sensitive('pl4nted')"] {
            let manifest = format!(
                "ntp_auth_key {{ '7': algorithm => 'md6', password => {value}, mode => 'x', \
                 require => Ntp_server['x'] }}"
            );
            let (_, found) = findings(&manifest, &device("cisco_ios"), &Policy::default());
            assert!(found.len() >= 3, "{found:#?}");
            let rendered = format!("{}{}", render_all(&found, RenderOptions::PLAIN).as_str(), json::lines(&found));
            assert!(!rendered.contains("pl4nted"), "{rendered}");
        }
    }
}
