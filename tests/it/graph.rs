//! Graphs: the files of a run in the form of `docs/reference/transaction.md`, section 16, and
//! `switchtender graph`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use switchtender::catalog::types::Types;
use switchtender::catalog::{self, Loading, Typing};
use switchtender::compat::Deviations;
use switchtender::graph::{self, cycle, dot};
use test_support::program;

fn resource(type_name: &str, title: &str, parameters: Value) -> Value {
    json!({
        "type": type_name, "title": title, "kind": "compilable_type", "parameters": parameters,
        "file": "/site.pp", "line": 3, "tags": [],
    })
}

fn class(title: &str, parameters: Value) -> Value {
    json!({"type": "Class", "title": title, "kind": "class", "parameters": parameters, "tags": []})
}

/// A stage with two classes, the second requiring the first; an interface in the second that is told
/// of a VLAN in the first, a message with a quotation mark.
fn catalog() -> Value {
    json!({
        "name": "sw1.lab.test", "version": 1, "environment": "production", "catalog_format": 2,
        "resources": [
            {"type": "Stage", "title": "main", "kind": "compilable_type", "tags": []},
            class("Vlans", json!({})),
            class("Ports", json!({"require": "Class[Vlans]"})),
            resource("Network_vlan", "10", json!({"ensure": "present", "vlan_name": "users"})),
            resource("Network_vlan", "20", json!({"ensure": "present", "before": "Network_vlan[10]"})),
            resource("Notify", "\"done\"", json!({"subscribe": "Network_vlan[10]"})),
        ],
        "edges": [
            {"source": "Stage[main]", "target": "Class[Vlans]"},
            {"source": "Stage[main]", "target": "Class[Ports]"},
            {"source": "Class[Vlans]", "target": "Network_vlan[10]"},
            {"source": "Class[Vlans]", "target": "Network_vlan[20]"},
            {"source": "Class[Ports]", "target": "Notify[\"done\"]"},
        ],
    })
}

const INVENTORY: &str = "[device.sw1]\nplatform = \"cisco_ios\"\ncertname = \"sw1.lab.test\"\n\
                         address = \"192.0.2.101\"\nuser = \"ops\"\npassword = { env = \"X\" }\n";

fn switchtender(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = program::switchtender(arguments);
    command.current_dir(dir).output().unwrap()
}

fn with(catalog: &Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("inventory.toml"), INVENTORY).unwrap();
    fs::write(dir.path().join("c.json"), catalog.to_string()).unwrap();
    dir
}

fn stdout_of(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A graph's name, vertices and edges, each written as the specification writes it.
fn parts(text: &str) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (head, rest) = text
        .split_once("\n    label = ")
        .expect("a graph has a label");
    let (label, rest) = rest.split_once('\n').unwrap();
    let mut parts = vec![format!("{} label = {label}", words(head))];
    let mut blocks = rest.split_inclusive("]\n").map(words).collect::<Vec<_>>();
    assert_eq!(blocks.pop().as_deref(), Some("}"), "it ends");
    parts.extend(blocks);
    parts
}

fn vertex(name: &str) -> String {
    format!(r#""{name}" [ fontsize = 8, label = "{name}" ]"#)
}

fn edge(from: &str, to: &str) -> String {
    format!(r#""{from}" -> "{to}" [ fontsize = 8 ]"#)
}

/// What every run has besides the catalog.
const DEFAULTS: [&str; 7] = [
    "Schedule[puppet]",
    "Schedule[hourly]",
    "Schedule[daily]",
    "Schedule[weekly]",
    "Schedule[monthly]",
    "Schedule[never]",
    "Filebucket[puppet]",
];

#[test]
fn graph_files_of_a_run_have_puppets_format() {
    let dir = with(&catalog());
    let arguments = [
        "apply",
        "--mock",
        "--state-dir",
        "state",
        "--catalog",
        "c.json",
        "--graph",
        "graphs",
    ];
    stdout_of(&switchtender(dir.path(), &arguments));
    let graph = |file: &str| {
        let path = dir.path().join("graphs/sw1").join(file);
        parts(&fs::read_to_string(path).unwrap())
    };
    let done = r#"Notify[\"done\"]"#;
    let declared = [
        "Stage[main]",
        "Class[Vlans]",
        "Class[Ports]",
        "Network_vlan[10]",
        "Network_vlan[20]",
        done,
    ];
    let head = |name: &str| format!("digraph {name} {{ label = \"{name}\"");
    let vertices = || declared.iter().chain(&DEFAULTS).map(|name| vertex(name));

    let mut resources = vec![head("Resources")];
    resources.extend(vertices());
    resources.extend([
        edge("Stage[main]", "Class[Vlans]"),
        edge("Stage[main]", "Class[Ports]"),
        edge("Class[Vlans]", "Network_vlan[10]"),
        edge("Class[Vlans]", "Network_vlan[20]"),
        edge("Class[Ports]", done),
    ]);
    assert_eq!(graph("resources.dot"), resources);

    let mut relationships = vec![head("Relationships")];
    relationships.extend(vertices());
    relationships.extend([
        edge("Class[Vlans]", "Class[Ports]"),
        edge("Network_vlan[10]", done),
        edge("Network_vlan[20]", "Network_vlan[10]"),
    ]);
    assert_eq!(graph("relationships.dot"), relationships);

    let expanded = graph("expanded_relationships.dot");
    assert_eq!(expanded[0], head("Expanded_relationships"));
    let (before, after) = (
        |what: &str| format!("Whit[Admissible_{what}]"),
        |what: &str| format!("Whit[Completed_{what}]"),
    );
    let [stage, vlans, ports] = ["stage[main]", "class[Vlans]", "class[Ports]"];
    let mut expected: Vec<String> = [
        ("Network_vlan[10]".to_owned(), done.to_owned()),
        ("Network_vlan[20]".to_owned(), "Network_vlan[10]".to_owned()),
        (before(stage), before(vlans)),
        (after(vlans), after(stage)),
        (before(stage), before(ports)),
        (after(ports), after(stage)),
        (before(vlans), "Network_vlan[10]".to_owned()),
        ("Network_vlan[10]".to_owned(), after(vlans)),
        (before(vlans), "Network_vlan[20]".to_owned()),
        ("Network_vlan[20]".to_owned(), after(vlans)),
        (before(ports), done.to_owned()),
        (done.to_owned(), after(ports)),
        (after(vlans), before(ports)),
    ]
    .iter()
    .map(|(from, to)| edge(from, to))
    .collect();
    let mut edges: Vec<String> = expanded
        .iter()
        .filter(|part| part.contains("->"))
        .cloned()
        .collect();
    edges.sort();
    expected.sort();
    assert_eq!(edges, expected);
    for marked in [stage, vlans, ports] {
        for name in [before(marked), after(marked)] {
            assert!(expanded.contains(&vertex(&name)), "{name} is missing");
        }
    }
}

#[test]
fn graph_of_a_resource_has_its_neighborhood() {
    let dir = with(&catalog());
    let context = |resource: &str, more: &[&str]| {
        let text = stdout_of(&switchtender(
            dir.path(),
            &[&["graph", "c.json", resource], more].concat(),
        ));
        let vertices = parts(&text)
            .into_iter()
            .filter(|part| part.contains("label = "));
        let name = |part: String| part.split('"').nth(1).unwrap().to_owned();
        vertices.skip(1).map(name).collect::<Vec<_>>()
    };
    let cases: [(&str, &[&str], &[&str]); 5] = [
        ("Network_vlan[20]", &["--depth", "0"], &["Network_vlan[20]"]),
        (
            "network_vlan[20]",
            &["--depth", "1"],
            &["Class[Vlans]", "Network_vlan[10]", "Network_vlan[20]"],
        ),
        (
            "Network_vlan[20]",
            &[],
            &[
                "Class[Vlans]",
                "Class[Ports]",
                "Network_vlan[10]",
                "Network_vlan[20]",
                "Notify[\\",
            ],
        ),
        (
            "Class[ports]",
            &["--depth", "1"],
            &["Class[Vlans]", "Class[Ports]", "Notify[\\"],
        ),
        (
            "Stage[main]",
            &["--depth", "1"],
            &["Stage[main]", "Class[Vlans]", "Class[Ports]"],
        ),
    ];
    for (resource, more, expected) in cases {
        assert_eq!(context(resource, more), expected, "{resource} {more:?}");
    }
}

#[test]
fn graph_lines_have_the_style_of_their_relation() {
    let dir = with(&catalog());
    let text = stdout_of(&switchtender(dir.path(), &["graph", "c.json"]));
    let lines = parts(&text);
    let styled = |from: &str, to: &str, style: &str| {
        format!(r#""{from}" -> "{to}" [ fontsize = 8, style = {style} ]"#)
    };
    for line in [
        styled("Class[Vlans]", "Class[Ports]", "solid"),
        styled("Class[Vlans]", "Network_vlan[10]", "dotted"),
        styled("Network_vlan[10]", r#"Notify[\"done\"]"#, "bold"),
    ] {
        assert!(lines.contains(&line), "{line} is missing in {lines:#?}");
    }
    assert!(
        !text.contains("Schedule["),
        "what every run has is left out"
    );
}

/// The picture is well-formed XML with each resource once, and each above what waits for it.
#[test]
fn graph_svg_is_complete() {
    let dir = with(&catalog());
    let text = stdout_of(&switchtender(dir.path(), &["graph", "c.json", "--svg"]));
    assert!(
        text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "),
        "{text}"
    );
    assert!(text.trim_end().ends_with("</svg>"));
    let top = |name: &str| -> f64 {
        let boxes: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(&format!(">{name}</text>")))
            .collect();
        assert_eq!(boxes.len(), 1, "{name} in {text}");
        let y = boxes[0].split(" y=\"").nth(1).unwrap();
        y.split('"').next().unwrap().parse().unwrap()
    };
    let order = [
        "Stage[main]",
        "Class[Vlans]",
        "Network_vlan[20]",
        "Network_vlan[10]",
        "Notify[&quot;done&quot;]",
    ];
    for pair in order.windows(2) {
        assert!(top(pair[0]) < top(pair[1]), "{pair:?}");
    }
    assert!(
        text.contains("(/site.pp:3)</title>"),
        "where it is declared"
    );
    // As many lines as there are edges and contents.
    let lines = text.lines().filter(|line| line.starts_with("<path "));
    assert_eq!(lines.count(), 8);
}

#[test]
fn graph_errors_have_hints() {
    let dir = with(&catalog());
    let mut large = catalog();
    let vlans = (1..400).map(|id| resource("Network_vlan", &format!("1{id:03}"), json!({})));
    large["resources"].as_array_mut().unwrap().extend(vlans);
    fs::write(dir.path().join("large.json"), large.to_string()).unwrap();
    fs::write(dir.path().join("bad.json"), "{\"name\": ").unwrap();
    fs::write(dir.path().join("site.pp"), "node default { }").unwrap();
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["c.json", "Network_vlan[30]"],
            &[
                "the catalog has no Network_vlan[30]",
                "did you mean `Network_vlan[",
            ],
        ),
        (
            &["c.json", "10"],
            &[
                "`10` is not a resource reference",
                "did you mean `Network_vlan[10]`?",
            ],
        ),
        (
            &["c.json", "Class[Prots]"],
            &[
                "the catalog has no Class[Prots]",
                "did you mean `Class[Ports]`?",
            ],
        ),
        (
            &["large.json"],
            &["405 resources and containers", "--depth"],
        ),
        (&["bad.json"], &["cannot read the catalog"]),
        (
            &["site.pp"],
            &[
                "this is a Puppet manifest, not a compiled catalog",
                "--manifest FILE",
            ],
        ),
        (&["none.json"], &["cannot read none.json"]),
    ];
    for (arguments, expected) in cases {
        let output = switchtender(dir.path(), &[&["graph"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        for text in expected {
            assert!(stderr.contains(text), "{arguments:?}: {stderr}");
        }
    }
}

/// A catalog with errors is drawn as far as it can be read; the errors are those of `validate`.
#[test]
fn graph_of_a_broken_catalog_is_drawn_with_its_errors() {
    let mut round = catalog();
    round["resources"][3]["parameters"]["before"] = json!("Network_vlan[20]");
    let mut missing = catalog();
    missing["resources"][4]["parameters"]["notify"] = json!("Network_vlan[99]");
    let mut twice = catalog();
    twice["resources"][4]["title"] = json!("10");
    for (broken, error, drawn) in [
        (round, "error[cycle]", r#"class="upwards""#),
        (
            missing,
            "error[missing-dependency]",
            r#"<g class="missing"><title>Network_vlan[99]"#,
        ),
        (twice, "error[duplicate]", "Network_vlan[10]"),
    ] {
        let dir = with(&broken);
        let output = switchtender(
            dir.path(),
            &["graph", "c.json", "Network_vlan[10]", "--svg"],
        );
        assert_eq!(output.status.code(), Some(1), "{error}");
        let [svg, errors] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(svg.contains(drawn) && svg.ends_with("</svg>\n"), "{svg}");
        assert!(errors.contains(error), "{errors}");
        let validated = switchtender(dir.path(), &["validate", "c.json"]);
        assert_eq!(validated.status.code(), output.status.code(), "{error}");
        let dot = switchtender(dir.path(), &["graph", "c.json"]);
        let dot = String::from_utf8_lossy(&dot.stdout);
        let is_missing = drawn.contains("missing");
        assert_eq!(dot.contains("color = red"), is_missing, "{dot}");
    }
}

/// What the real Puppet writes for the same manifest.
#[test]
fn graph_cycles_file_has_puppets_format() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cycles");
    let bytes = fs::read(fixtures.join("catalog.json")).unwrap();
    let source = catalog::source("catalog.json", bytes).unwrap();
    let typing = Typing {
        types: &Types::new(|_: &str| None),
        canonicalize: &|_, attributes| Ok(attributes),
        default_schedules: false,
        deviations: Deviations::default(),
    };
    let loaded = catalog::load(&source, &Loading::default()).unwrap();
    let resources = catalog::convert(loaded, &typing).unwrap();
    let graph = graph::build(&resources).graph;
    let cycles = cycle::find(&graph, &resources);
    assert_eq!(
        dot::cycles(&cycles, &graph, &resources),
        fs::read_to_string(fixtures.join("cycles.dot")).unwrap()
    );
}

#[test]
fn graph_escapes_titles() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sw1.json");
    let title = "a\u{1b}]0;PWNED\u{7}\u{9b}2J\u{202e}\n\"";
    let mut catalog = catalog();
    catalog["resources"] = json!([resource("Notify", title, json!({}))]);
    catalog["edges"] = json!([]);
    fs::write(&file, catalog.to_string()).unwrap();
    let file = file.display().to_string();
    let escaped = r"a\u{1b}]0;PWNED\u{7}\u{9b}2J\u{202e}\n";
    for (arguments, expected) in [
        (vec!["graph", &file], escaped.replace('\\', r"\\") + "\\\""),
        (vec!["graph", &file, "--svg"], escaped.to_owned() + "&quot;"),
    ] {
        let ran = program::run(&arguments);
        ran.assert_code(0);
        ran.assert_printable();
        ran.assert_contains(&expected);
    }
}
