//! A type without a model.

use switchtender_devices::diagnostic::suggest;
use switchtender_devices::names::TypeName;

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::{CatalogResource, ResourceRef};
use crate::diagnostic::Severity;
use crate::route::{self, Destination};
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "unknown-type",
    severity: Severity::Error,
    effects: Effects::FAIL_RESOURCES,
    summary: "a type without a model",
    explanation: "\
Neither Puppet nor the definitions have this type. Puppet refuses such a catalog with `Resource type 'X'
was not found`. Switchtender fails the resource, skips its dependents and applies the rest. Add the
model of a site's type with `switchtender model import DIR`. If hosts apply the type, add it to `host_types`
in switchtender.toml; runs of `device` also read the type files that Puppet synchronizes.",
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
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    if !context.for_device() {
        // The types of a host are in its modules.
        return;
    }
    for (index, resource) in context.resources() {
        let own = resource.reference.model_name();
        let (name, part) = match &context.destinations[index] {
            Destination::Unknown => (own, FindingPart::Type),
            Destination::Both(None) if purges_unknown_type(context, &own, resource) => {
                (resource.reference.title().to_lowercase(), FindingPart::Title)
            }
            _ => continue,
        };
        let models = context.registry.type_names().map(TypeName::as_str);
        let help = suggest(&name, models, "import its model with `switchtender model import DIR`, or add it to `host_types`");
        findings.push(
            RuleFinding::new(
                &RULE,
                Location::Resource(index, part),
                format!("Resource type '{}' was not found", ResourceRef::new(&name, "").type_name()),
            )
            .help(help),
        );
    }
}

/// Whether a resource removes the undeclared instances of a type without a model.
fn purges_unknown_type(context: &RuleContext<'_>, own: &str, resource: &CatalogResource) -> bool {
    let is_purging = own == "resources"
        && (resource.parameters.get("purge")).is_some_and(|purge| purge.ruby_to_s() == "true");
    let name = resource.reference.title().to_lowercase();
    let find = |name: &str| context.registry.model(name).cloned();
    is_purging && route::destination(&name, find).is_none()
}
