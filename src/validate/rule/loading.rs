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
