//! `driver import` drafts types from references of commands.

use std::fs;
use std::path::Path;

use test_support::program::{self, ProgramOutput};

/// The properties of a block, in the form of a reference of commands.
const REFERENCE: &str = r#"
_exclude: [old_os]
_template:
  context:
    - "router box <process>"
    - "(?)vrf <vrf>"
cost: &number
  kind: int
  get_value: '/^cost (\d+)$/'
  set_value: '<state> cost <cost>'
  default_value: 10
label:
  set_value: '<state> label <text>'
  default_value: ''
passive:
  get_value: '/^passive$/'
  set_value: '<state> passive'
  default_value: true
pairs:
  multiple:
  get_value: '/^pair (\S+) with (\S+)$/'
  set_value: '<state> pair <a> with <b>'
depth:
  old_os:
    set_value: 'old-depth <depth>'
  else:
    set_value: 'depth <depth>'
    kind: int
inner:
  set_context:
    - "router box <process>"
    - "(?)vrf <vrf>"
    - "family x"
  set_value: '<state> inner <text>'
other:
  get_value: '/^unlike (\S+)$/'
  set_value: '<state> other <text>'
gone:
  _exclude: [new_os]
  set_value: '<state> gone'
several:
  set_value: ['a <a>', 'b <b>']
"#;

fn run(directory: &Path, arguments: &[&str]) -> ProgramOutput {
    let reference = directory.join("routing.yaml");
    fs::write(&reference, REFERENCE).unwrap();
    let reference = reference.display().to_string();
    let output = directory.join("definitions").display().to_string();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/definitions");
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| match *argument {
            "REFERENCE" => reference.as_str(),
            "DEFINITIONS" => output.as_str(),
            "EXAMPLES" => examples,
            other => other,
        })
        .collect();
    program::run(&arguments)
}

#[test]
fn driver_import_drafts_types_that_pass_their_tests_and_lists_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let imported = run(
        directory.path(),
        &[
            "driver",
            "import",
            "cisco_nxos",
            "REFERENCE",
            "--variant",
            "new_os",
            "--prefix",
            "box_",
            "--definitions",
            "EXAMPLES",
            "--output",
            "DEFINITIONS",
        ],
    );
    imported.assert_code(0);
    for reason in [
        "`gone`: the variant does not have it",
        "`other`: it is read from another line than the one that sets it",
        "`several`: several lines set it",
    ] {
        imported.assert_contains(&format!(
            "not drafted: cisco_nxos/box_routing.toml: {reason}"
        ));
    }
    let read = |path: &str| {
        let path = directory.path().join("definitions").join(path);
        fs::read_to_string(path).unwrap()
    };
    let definition = read("cisco_nxos/box_routing.toml");
    for line in [
        r#"block = ["router box {process}", "router box {process} / vrf {vrf}"]"#,
        "line = \"cost {cost}\"\nabsent = 10",
        "line = \"depth {depth}\"",
        "line = \"label {label:rest}\"\nabsent = \"default\"",
        "line = \"pair {0} with {1}\"\nmany = true",
        "line = \"passive\"\nabsent = true",
        "sub = \"family x\"\nline = \"inner {inner:rest}\"",
    ] {
        assert!(definition.contains(line), "{line}\n{definition}");
    }
    assert!(read("models/box_routing.toml").contains("default_word   = \"default\""));
    run(directory.path(), &["driver", "validate", "DEFINITIONS"]).assert_code(0);
    run(directory.path(), &["driver", "test", "DEFINITIONS"]).assert_code(0);
}

#[test]
fn driver_import_reports_why_nothing_was_drafted() {
    let directory = tempfile::tempdir().unwrap();
    let imported = run(
        directory.path(),
        &[
            "driver",
            "import",
            "cisco_nxos",
            "REFERENCE",
            "--variant",
            "old_os",
            "--definitions",
            "EXAMPLES",
        ],
    );
    imported.assert_code(1);
    imported.assert_contains("the feature: it excludes the variant");
}
