//! An attribute whose value is null.

use switchtender_devices::value::Value;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "null-value",
    severity: Severity::Error,
    summary: "an attribute whose value is null",
    explanation: "\
A compiler leaves out attributes that are undefined. A null that arrives all the same fails the whole
catalog when it is loaded (`Got nil value for x`); the catalog was edited or made by another program.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource) in subject.resources() {
        if matches!(subject.destinations[index], Destination::Container) {
            continue;
        }
        for (name, value) in &resource.parameters {
            if *value == Value::Undef {
                findings.push(
                    Finding::new(
                        &RULE,
                        At::parameter(index, name),
                        format!("{}: {name} is null", resource.reference),
                    )
                    .help("leave the attribute out"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Loading, load};
    use crate::diagnostic::Source;
    use crate::validate::example::{device, registry};
    use crate::validate::{Policy, catalog};

    #[test]
    fn null_is_an_error_for_what_is_applied() {
        let text = r#"{"name": "n", "catalog_format": 2, "resources": [
            {"type": "Class", "title": "a", "kind": "class", "parameters": {"x": null}},
            {"type": "Network_vlan", "title": "40", "kind": "compilable_type",
             "parameters": {"vlan_name": null}}]}"#;
        let loaded = load(&Source::new("c", text), &Loading::default()).unwrap();
        let found = catalog(&loaded, &registry(), &device("cisco_ios"), &Policy::default());
        let told: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(told, ["Network_vlan[40]: vlan_name is null"]);
    }
}
