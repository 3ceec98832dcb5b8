//! An unknown type in a catalog without resource kinds.

use std::collections::HashSet;

use switchtender_devices::diagnostic::nearest;
use switchtender_devices::names::TypeName;

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::{CatalogResource, ResourceKind};
use crate::compat::Deviation;
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "kindless-type",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "an unknown type in a catalog without resource kinds",
    explanation: "\
A compiler marks each resource as type, class or defined type (`kind`). Without the mark, an unknown
type counts as a defined type, as in Puppet, and is not applied. A defined type that contains nothing is
probably a misspelled type: it is an error if the name is similar to a type. Add
`\"kind\": \"compilable_type\"` to make each unknown type an error.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": «"Network_vlann"», "title": "40"}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40"}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    if !context.for_device() {
        return;
    }
    let nameless = |(index, resource): &(usize, &CatalogResource)| {
        matches!(resource.kind, ResourceKind::Missing | ResourceKind::Unknown)
            && matches!(context.destinations[*index], Destination::Container)
            && !matches!(resource.reference.type_name(), "Class" | "Stage" | "Node")
    };
    let mut suspects = context.resources().filter(nameless).peekable();
    if suspects.peek().is_none() {
        return;
    }
    let edges = context.catalog.edges.iter();
    let containers: HashSet<usize> = edges.map(|(container, _)| *container).collect();
    for (index, resource) in suspects.filter(|(index, _)| !containers.contains(index)) {
        let name = resource.reference.model_name();
        let models = context.registry.type_names().map(TypeName::as_str);
        let finding = RuleFinding::new(
            &RULE,
            Location::Resource(index, FindingPart::Type),
            format!(
                "{}: unknown type `{name}`: treated as a defined type and not applied (the catalog has no `kind`)",
                resource.reference
            ),
        );
        let is_typed = context.policy.deviations.has(Deviation::KindlessIsTyped);
        findings.push(match nearest(&name, models).map(|near| format!("did you mean `{near}`?")) {
            Some(hint) if is_typed => finding.severity(Severity::Error).help(hint),
            Some(hint) => finding.help(hint),
            None => finding.help("if it is a type, add `\"kind\": \"compilable_type\"`"),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Loading, load};
    use crate::diagnostic::Source;
    use crate::validate::example::{device, registry};
    use crate::validate::{Policy, catalog};

    #[test]
    fn kindless_type_reports_unknown_types_without_content() {
        for format in ["", r#""catalog_format": 2,"#] {
            let text = format!(
                r#"{{"name": "n", {format} "resources": [
                {{"type": "Stage", "title": "main"}}, {{"type": "Class", "title": "main"}},
                {{"type": "Site::Desk", "title": "a"}}, {{"type": "Network_vlann", "title": "77"}},
                {{"type": "Network_vlan", "title": "20"}}],
                "edges": [{{"source": "Stage[main]", "target": "Class[main]"}},
                {{"source": "Class[main]", "target": "Site::Desk[a]"}},
                {{"source": "Site::Desk[a]", "target": "Network_vlan[20]"}}]}}"#
            );
            let loaded = load(&Source::new("c", text), &Loading::default()).unwrap();
            let found = catalog(
                &loaded,
                &registry(),
                &device("cisco_ios"),
                &Policy::default(),
            );
            let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
            let expected = "Network_vlann[77]: unknown type `network_vlann`: treated as a \
                            defined type and not applied (the catalog has no `kind`)";
            assert_eq!(messages, [expected], "{format}");
            assert_eq!(
                found[0].help.as_deref(),
                Some("did you mean `network_vlan`?")
            );
        }
    }
}
