//! What is found while a catalog is loaded; the checks are in `catalog::load`.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

const LOADING: Rule = Rule {
    code: "",
    severity: Severity::Error,
    summary: "",
    explanation: "",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Loading,
};

pub const SYNTAX: Rule = Rule {
    code: "catalog-syntax",
    summary: "a text that is no catalog",
    explanation: "\
The text is not JSON, or not the JSON of a catalog. A file that was cut short, an error page of a
server, or a report in the place of a catalog look like this.",
    ..LOADING
};

pub const ENCODING: Rule = Rule {
    code: "catalog-encoding",
    summary: "a text that is not UTF-8",
    explanation: "Catalogs are JSON, and JSON is UTF-8. The message names the first byte that is not.",
    ..LOADING
};

pub const READ: Rule = Rule {
    code: "cannot-read",
    summary: "a file that cannot be read",
    explanation: "\
The file is not there, may not be read, is larger than any catalog, or (facts and running
configurations) holds something else than it should. Nothing is known of what depends on it; the
check ends with exit code 2.",
    ..LOADING
};

pub const CONTAINMENT: Rule = Rule {
    code: "containment-cycle",
    summary: "a container that contains itself",
    explanation: "\
The containment edges of the catalog lead from a class or a defined resource back to itself. A
compiler never writes that; `validate` tells it as a cycle, and a run refuses the catalog.",
    ..LOADING
};

pub const EDGE: Rule = Rule {
    code: "catalog-edge",
    summary: "a containment edge that leads nowhere",
    explanation: "\
An edge of the catalog names a resource that is not in it. A compiler never writes that; the catalog
was edited or damaged.",
    ..LOADING
};

pub const VALUE: Rule = Rule {
    code: "catalog-value",
    summary: "rich data that cannot be read",
    explanation: "\
A value says that it is of a type (`__ptype`) which nobody knows, or its payload does not fit it.
Puppet fails to load such a catalog.",
    ..LOADING
};

pub const DEFERRED: Rule = Rule {
    code: "catalog-deferred",
    summary: "a deferred call that cannot be made",
    explanation: "\
`Deferred('f', …)` is called where the catalog is applied. There is no Ruby here: only the functions
that this program has can be called.",
    ..LOADING
};

pub const DUPLICATE: Rule = Rule {
    code: "duplicate",
    summary: "a resource that is declared twice",
    explanation: "\
Two resources have the same type and title. A compiler refuses that, so the catalog was merged or
edited; Puppet fails with `Duplicate declaration`.",
    ..LOADING
};

pub const ALIAS: Rule = Rule {
    code: "alias",
    summary: "a name that two resources claim",
    explanation: "\
A resource is found by its title, by the value of its namevar and by `alias`. Two resources of one
type cannot share any of these; Puppet fails with `Cannot alias`.",
    ..LOADING
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Loading, load, source};

    /// The codes of what is found while this is loaded.
    fn codes(bytes: &[u8]) -> Vec<&'static str> {
        let loaded = source("c.json", bytes.to_vec());
        match loaded.and_then(|source| load(&source, &Loading::default())) {
            Ok(_) => Vec::new(),
            Err(error) => error.diagnostics.iter().map(|found| found.code).collect(),
        }
    }

    #[test]
    fn each_has_a_text_with_it_and_one_without() {
        let vlan = |title: &str, more: &str| {
            format!(
                r#"{{"type": "Network_vlan", "title": "{title}", "kind": "compilable_type"{more}}}"#
            )
        };
        let catalog = |resources: &[String], edges: &str| {
            let resources = resources.join(",");
            format!(
                r#"{{"name": "n", "catalog_format": 2, "resources": [{resources}], "edges": [{edges}]}}"#
            )
        };
        let parameters = |text: &str| vlan("10", &format!(r#", "parameters": {{{text}}}"#));
        let two = |more: &str| [vlan("10", ""), vlan("11", more)];
        let deferred = |name: &str| {
            let call = format!(
                r#""vlan_name": {{"__ptype": "Deferred", "name": "{name}", "arguments": [["a"], "b"]}}"#
            );
            catalog(&[parameters(&call)], "")
        };
        let edge = |target: &str| {
            let edge = format!(r#"{{"source": "Network_vlan[10]", "target": "{target}"}}"#);
            catalog(&two(""), &edge)
        };
        let cases: [(&Rule, Vec<u8>, Vec<u8>); 7] = [
            (&SYNTAX, b"<html>".to_vec(), catalog(&[], "").into()),
            (&ENCODING, b"\xff".to_vec(), catalog(&[vlan("\u{fc}", "")], "").into()),
            (&EDGE, edge("Network_vlan[12]").into(), edge("Network_vlan[11]").into()),
            (
                &VALUE,
                catalog(&[parameters(r#""vlan_name": {"__ptype": "Odd"}"#)], "").into(),
                catalog(&[parameters(r#""vlan_name": {"__ptype": "Default"}"#)], "").into(),
            ),
            (&DEFERRED, deferred("nobody::knows").into(), deferred("join").into()),
            (
                &DUPLICATE,
                catalog(&[vlan("10", ""), vlan("10", "")], "").into(),
                catalog(&two(""), "").into(),
            ),
            (
                &ALIAS,
                catalog(&two(r#", "parameters": {"alias": "10"}"#), "").into(),
                catalog(&two(r#", "parameters": {"alias": "users"}"#), "").into(),
            ),
        ];
        for (rule, bad, good) in cases {
            assert_eq!(codes(&bad), [rule.code]);
            assert_eq!(codes(&good), [""; 0], "{}", rule.code);
        }
    }
}
