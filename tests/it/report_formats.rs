//! What `validate` writes for automation, against the schemas of its readers.
//!
//! JUnit has no standard of its own; what is allowed here is what the schema `junit-10.xsd` of
//! Jenkins' xunit plugin allows, which is the strictest that is in wide use without asking for
//! times and host names. The attributes `file` and `line` of a test case are not in it: the conventions
//! at github.com/testmoapp/junitxml have them, and code hosts link them. SARIF is the OASIS standard 2.1.0. Of both, what concerns the elements
//! that are written here is checked, and that there are no others.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use test_support::program;

/// Where a Puppet Server has the manifests of the catalogs.
const ENVIRONMENT: &str = "/etc/puppetlabs/code/environments/production";

/// A report on catalogs that were damaged in many ways, and on a mixed one.
fn report(format: &str) -> String {
    let output = program::run(&[
        "validate",
        "examples/mixed/printers.json",
        "tests/fixtures/puppetserver/catalogs",
        "tests/fixtures/hostile",
        "--platform",
        "cisco_ios",
        "--host-resources",
        "refuse",
        "--format",
        format,
        "--path-map",
        &format!("{ENVIRONMENT}=."),
    ]);
    assert!(output.code.is_some_and(|code| code <= 2));
    output.stdout
}

/// An element of JUnit: attributes that it must have, that it may have, and what stands in it.
struct Element {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    children: &'static [&'static str],
    text: bool,
}

const JUNIT: [Element; 5] = [
    Element {
        name: "testsuites",
        required: &[],
        optional: &["name", "time", "tests", "failures", "errors"],
        children: &["testsuite"],
        text: false,
    },
    Element {
        name: "testsuite",
        required: &["name", "tests", "failures", "errors"],
        optional: &[
            "disabled",
            "skipped",
            "time",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
        ],
        children: &["testcase", "system-out"],
        text: false,
    },
    Element {
        name: "testcase",
        required: &["name"],
        optional: &["time", "classname", "group", "file", "line"],
        children: &["failure"],
        text: false,
    },
    Element {
        name: "failure",
        required: &[],
        optional: &["type", "message"],
        children: &[],
        text: true,
    },
    Element {
        name: "system-out",
        required: &[],
        optional: &[],
        children: &[],
        text: true,
    },
];

#[test]
fn junit_follows_its_schema() {
    let xml = report("junit");
    let document = roxmltree::Document::parse(&xml).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    for node in root.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let element = JUNIT.iter().find(|element| element.name == name);
        let element = element.unwrap_or_else(|| panic!("<{name}> is no element of JUnit"));
        for desired in element.required {
            assert!(node.has_attribute(*desired), "<{name}> without {desired}");
        }
        for attribute in node.attributes() {
            let attribute = attribute.name();
            let valid = element.required.iter().chain(element.optional);
            assert!(
                valid.into_iter().any(|valid| *valid == attribute),
                "<{name} {attribute}>"
            );
        }
        for child in node.children() {
            if child.is_element() {
                let child = child.tag_name().name();
                assert!(element.children.contains(&child), "<{child}> in <{name}>");
            } else {
                let text = child.text().unwrap_or_default();
                assert!(
                    element.text || text.trim().is_empty(),
                    "{text:?} in <{name}>"
                );
            }
        }
    }
    // The numbers are those of the elements.
    let of = |node: roxmltree::Node<'_, '_>, tag: &str| {
        let inner = node.descendants();
        inner
            .filter(|inner| inner.has_tag_name(tag))
            .count()
            .to_string()
    };
    let suites = root
        .children()
        .filter(|node| node.has_tag_name("testsuite"));
    for node in suites.chain([root]) {
        assert_eq!(node.attribute("tests"), Some(of(node, "testcase").as_str()));
        assert_eq!(
            node.attribute("failures"),
            Some(of(node, "failure").as_str())
        );
        assert_eq!(node.attribute("errors"), Some("0"));
    }
    assert!(of(root, "failure").parse::<usize>().expect("a number") > 9);
}

/// What may be in an object of SARIF: name, kind, whether it must be there.
type Shape = &'static [(&'static str, Kind, bool)];

#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// A reference to a resource, percent-encoded.
    Uri,
    Word(&'static [&'static str]),
    /// An integer, at least this.
    Number(i64),
    Object(Shape),
    List(Shape),
}
use Kind::{List, Number, Object, Text, Uri, Word};

const LEVELS: Kind = Word(&["none", "note", "warning", "error"]);
const MESSAGE: Shape = &[("text", Text, true)];
const REGION: Shape = &[
    ("startLine", Number(1), true),
    ("startColumn", Number(1), false),
    ("endLine", Number(1), false),
    ("endColumn", Number(1), false),
];
const LOCATION: Shape = &[
    ("id", Number(0), false),
    ("message", Object(MESSAGE), false),
    (
        "physicalLocation",
        Object(&[
            (
                "artifactLocation",
                Object(&[
                    ("uri", Uri, true),
                    ("uriBaseId", Word(&["%SRCROOT%"]), false),
                ]),
                true,
            ),
            ("region", Object(REGION), false),
        ]),
        true,
    ),
];
const RULE: Shape = &[
    ("id", Text, true),
    ("shortDescription", Object(MESSAGE), false),
    ("fullDescription", Object(MESSAGE), false),
    (
        "defaultConfiguration",
        Object(&[("level", LEVELS, false)]),
        false,
    ),
];
const DRIVER: Shape = &[
    ("name", Text, true),
    ("version", Text, false),
    ("rules", List(RULE), false),
];
const RESULT: Shape = &[
    ("ruleId", Text, true),
    ("ruleIndex", Number(0), false),
    ("level", LEVELS, true),
    ("message", Object(MESSAGE), true),
    ("locations", List(LOCATION), false),
    ("relatedLocations", List(LOCATION), false),
    (
        "partialFingerprints",
        Object(&[("primaryLocationLineHash", Text, true)]),
        true,
    ),
];
const LOG: Shape = &[
    ("$schema", Uri, false),
    ("version", Word(&["2.1.0"]), true),
    (
        "runs",
        List(&[
            ("tool", Object(&[("driver", Object(DRIVER), true)]), true),
            (
                "columnKind",
                Word(&["utf16CodeUnits", "unicodeCodePoints"]),
                false,
            ),
            (
                "originalUriBaseIds",
                Object(&[(
                    "%SRCROOT%",
                    Object(&[("description", Object(MESSAGE), false)]),
                    true,
                )]),
                true,
            ),
            ("results", List(RESULT), false),
        ]),
        true,
    ),
];

fn assert_shape(at: &str, value: &Value, shape: Shape) {
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("{at}: an object is expected"));
    for name in object.keys() {
        assert!(
            shape
                .iter()
                .any(|(attribute_name, ..)| attribute_name == name),
            "{at}: {name} is not known"
        );
    }
    for (name, kind, required) in shape {
        let at = format!("{at}.{name}");
        let Some(value) = object.get(*name) else {
            assert!(!required, "{at} is missing");
            continue;
        };
        let text = || {
            value
                .as_str()
                .unwrap_or_else(|| panic!("{at}: a text is expected"))
        };
        match kind {
            Text => assert!(!text().is_empty(), "{at} is empty"),
            Uri => {
                let allowed =
                    |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
                assert!(text().chars().all(allowed), "{at}: {}", text());
            }
            Word(words) => assert!(words.contains(&text()), "{at}: {}", text()),
            Number(least) => assert!(value.as_i64() >= Some(*least), "{at}: {value}"),
            Object(shape) => assert_shape(&at, value, shape),
            List(shape) => {
                let items = value
                    .as_array()
                    .unwrap_or_else(|| panic!("{at}: a list is expected"));
                for (index, item) in items.iter().enumerate() {
                    assert_shape(&format!("{at}[{index}]"), item, shape);
                }
            }
        }
    }
}

#[test]
fn sarif_follows_its_schema() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mixed/printers.sarif");
    let example = std::fs::read_to_string(example).expect("the example");
    for text in [report("sarif"), example] {
        let log: Value = serde_json::from_str(&text).expect("JSON");
        assert_shape("log", &log, LOG);
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        let ids: BTreeSet<&str> = rules
            .iter()
            .filter_map(|rule| rule["id"].as_str())
            .collect();
        assert_eq!(ids.len(), rules.len(), "each rule once");
        for result in run["results"].as_array().expect("results") {
            if let Some(index) = result["ruleIndex"].as_u64() {
                let index = usize::try_from(index).expect("small");
                assert_eq!(rules[index]["id"], result["ruleId"]);
            }
            let related = result["relatedLocations"].as_array();
            let ids: Vec<&Value> = related.into_iter().flatten().map(|at| &at["id"]).collect();
            let different: BTreeSet<String> = ids.iter().map(|id| id.to_string()).collect();
            assert_eq!(
                ids.len(),
                different.len(),
                "each place has an id of its own"
            );
            for location in result["locations"].as_array().expect("locations") {
                let uri = &location["physicalLocation"]["artifactLocation"]["uri"];
                let uri = uri.as_str().expect("a text");
                assert!(!uri.contains(ENVIRONMENT), "{uri} is not in the repository");
                let region = &location["physicalLocation"]["region"];
                let end = (region["endLine"].as_u64(), region["endColumn"].as_u64());
                let start = (region["startLine"].as_u64(), region["startColumn"].as_u64());
                assert!(end.0.is_none() || end >= start, "{region}");
            }
        }
    }
}

/// The `file` and `line` of a finding whose manifest is in the environment.
const MANIFEST: &str = "modules/profile/manifests/server_base.pp";

#[test]
fn gitlab_report_has_the_documented_keys() {
    let issues: Value = serde_json::from_str(&report("gitlab")).expect("JSON");
    let issues = issues.as_array().expect("a list");
    const SHAPE: Shape = &[
        ("description", Text, true),
        ("check_name", Text, true),
        ("fingerprint", Text, true),
        (
            "severity",
            Word(&["info", "minor", "major", "critical", "blocker"]),
            true,
        ),
        (
            "location",
            Object(&[
                ("path", Text, true),
                ("lines", Object(&[("begin", Number(1), true)]), true),
            ]),
            true,
        ),
    ];
    for issue in issues {
        assert_shape("issue", issue, SHAPE);
    }
    let fingerprints: BTreeSet<&str> = issues
        .iter()
        .filter_map(|issue| issue["fingerprint"].as_str())
        .collect();
    assert_eq!(fingerprints.len(), issues.len(), "each fingerprint once");
    let in_manifest = issues
        .iter()
        .find(|issue| issue["location"]["path"] == MANIFEST);
    assert!(in_manifest.is_some(), "{issues:#?}");
}

#[test]
fn github_report_has_only_workflow_commands() {
    let text = report("github");
    for line in text.lines() {
        let command = line.strip_prefix("::").expect("a workflow command");
        let (head, _) = command.split_once("::").expect("a command and a message");
        let (name, properties) = head.split_once(' ').expect("a name and properties");
        assert!(["error", "warning", "notice"].contains(&name), "{line}");
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').expect("a name and a value");
            let number = || value.parse::<u64>().is_ok_and(|number| number > 0);
            match name {
                "line" | "col" | "endColumn" => assert!(number(), "{line}"),
                "file" | "title" => assert!(!value.is_empty(), "{line}"),
                _ => panic!("{name} is not documented: {line}"),
            }
        }
    }
    let expected = format!("::error file={MANIFEST},line=3,title=host-resource::");
    assert!(text.contains(&expected), "{text}");
}
