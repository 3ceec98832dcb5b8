//! A name that no model knows, in a catalog that does not say what its resources are.

use std::collections::HashSet;

use switchtender_devices::diagnostic::nearest;

use super::{Check, Example, Rule};
use crate::catalog::{Declared, Kind};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "kindless-type",
    severity: Severity::Warning,
    summary: "a type that no model knows, in a catalog that does not tell types from definitions",
    explanation: "\
Servers say of each resource whether it is of a type, a class or a definition (`kind`). Where that is
left out, as in a catalog that was written by hand, a name that no model knows is taken for a
definition, as Puppet takes it, and does nothing. One that contains nothing is more likely a type that
is misspelt: add `\"kind\": \"compilable_type\"`, and it is an error of its own.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.for_device() {
        return;
    }
    let nameless = |(index, resource): &(usize, &Declared)| {
        matches!(resource.kind, Kind::Missing | Kind::Unknown)
            && matches!(subject.destinations[*index], Destination::Container)
            && !matches!(resource.reference.type_name(), "Class" | "Stage" | "Node")
    };
    let mut suspects = subject.resources().filter(nameless).peekable();
    if suspects.peek().is_none() {
        return;
    }
    let edges = subject.catalog.edges.iter();
    let containers: HashSet<usize> = edges.map(|(container, _)| *container).collect();
    for (index, resource) in suspects.filter(|(index, _)| !containers.contains(index)) {
        let name = resource.reference.model_name();
        let known = subject.registry.models().map(|model| model.name.as_str());
        let finding = Finding::new(
            &RULE,
            At::Resource(index, Part::Type),
            format!(
                "{}: there is no type `{name}`; it is taken for a definition, and does nothing",
                resource.reference
            ),
        );
        findings.push(match nearest(&name, known) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help("add `\"kind\": \"compilable_type\"` if it is a type"),
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
    fn what_may_be_a_misspelt_type_is_told_and_definitions_are_not() {
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
            let told: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
            let expected = "Network_vlann[77]: there is no type `network_vlann`; it is taken for a \
                            definition, and does nothing";
            assert_eq!(told, [expected], "{format}");
            assert_eq!(
                found[0].help.as_deref(),
                Some("did you mean `network_vlan`?")
            );
        }
    }
}
