//! A catalog that was compiled for another node.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;
use crate::validate::target::CatalogTarget;

pub(crate) const RULE: Rule = Rule {
    code: "wrong-name",
    severity: Severity::Error,
    effects: Effects::REFUSE_CATALOG,
    summary: "a catalog that was compiled for another node",
    explanation: "\
The name of the catalog is not the certname of the device. Applying it would give the device the
configuration of another one, so the catalog is refused. If the certificate of the device has another
name than its entry in the inventory, set `certname = \"sw1.example.net\"` there.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let CatalogTarget::Device {
        certname: Some(certname),
        ..
    } = context.target
    else {
        return;
    };
    if context.catalog.name != *certname && !context.policy.allow_name_mismatch {
        let is_host = |found: &Destination| matches!(found, Destination::Host);
        let help = if context.destinations.iter().any(is_host) { "set `certname` of the device in the inventory, or use --allow-name-mismatch; hosts are \
        out of scope, apply their catalogs with `puppet apply`" } else { "set `certname` of the device in the inventory, or use --allow-name-mismatch" };
        findings.push(
            RuleFinding::new(
                &RULE,
                Location::CatalogName,
                format!(
                    "the catalog is for `{}`, not for `{certname}`",
                    context.catalog.name
                ),
            )
            .help(help),
        );
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::names::Certname;

    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::assert_marked;

    #[test]
    fn wrong_name_compares_catalog_and_certname() {
        let target = |certname: Option<&str>| CatalogTarget::Device {
            certname: certname.map(|name| Certname::parse(name).unwrap()),
            driver: None,
            running: None,
            max_shutdown: None,
        };
        let right = "node 'sw1' { network_vlan { '40': } }";
        let wrong = "node «'sw1'» { network_vlan { '40': } }";
        for (manifest, certname, allow_name_mismatch) in [
            (wrong, Some("sw2"), false),
            (right, Some("sw1"), false),
            (right, None, false),
            (right, Some("sw2"), true),
        ] {
            let policy = Policy {
                allow_name_mismatch,
                ..Policy::default()
            };
            assert_marked(&RULE, manifest, &target(certname), &policy);
        }
    }
}
