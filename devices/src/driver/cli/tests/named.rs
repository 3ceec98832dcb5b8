//! Instances of lines that have the names at any position.

use std::sync::Arc;

use super::{PLATFORM, files_of, holds_on, render_all};
use crate::change::Desired;
use crate::driver::outline::NegativeForm;
use crate::driver::{Driver, Facts, Registry};
use crate::read::{Reads, State};
use crate::value::Value;

const MODEL: &str = r#"
ensurable = true
ensure_default = "present"
[attr.name]
role = "namevar"
values = [{ name = "name", pattern = '[a-z]\w*' }]
[attr.tag]
values = ["unset", { name = "tag", integer = [1, 4094] }]
[attr.routed]
values = [true, false]
[attr.ports]
array = "set"
values = ["unset", { name = "port", integer = [1, 64] }]
[attr.secret]
sensitive = true
values = ["unset", { name = "text", pattern = '\S+' }]
"#;

const LINES: &str = r#"
[instance]
from   = "config"
named  = true
create = "create vlan {name}"
remove = "delete vlan {name}"
[attr.tag]
line   = "configure vlan {name} tag {tag}"
absent = "unset"
[attr.routed]
line = "enable routing vlan {name}"
no   = "disable routing vlan {name}"
[attr.ports]
line   = "configure vlan {name} add ports {ports}"
no     = "configure vlan {name} delete ports {ports}"
codec  = "number-list"
many   = true
absent = "unset"
[attr.secret]
line   = "configure vlan {name} secret {secret}"
absent = "unset"
"#;

fn platform() -> String {
    format!("negate = \"unconfigure\"\nnegate_replaces = \"configure\"\n{PLATFORM}")
}

fn loaded(lines: &str) -> Result<Registry, String> {
    let files = files_of(&platform(), MODEL, lines);
    let registry = Registry::from_files(&[], &files).map_err(|found| render_all(&found))?;
    let findings = registry.check();
    let errors = findings
        .into_iter()
        .filter(|finding| finding.code != "test");
    let errors: Vec<_> = errors.collect();
    match render_all(&errors) {
        found if found.contains("does not begin with") => Err(found),
        _ => Ok(registry),
    }
}

fn state(driver: &Driver, config: &str) -> State {
    let reads = Reads::from_iter([("config".to_owned(), config.to_owned())]);
    driver.platform().parse(&reads).unwrap()
}

#[test]
fn lines_with_different_verbs_are_one_instance() {
    let tests = r#"
[[test]]
name = "reads"
given.config = '''
create vlan users
configure vlan users tag 10
configure vlan users add ports 1-3
configure vlan users add ports 7
configure vlan other option
enable routing vlan users
enable routing
configure vlan 9 tag 9
'''
expect = [
  { name = "users", tag = 10, routed = true, ports = [1, 2, 3, 7], secret = "unset" },
  { name = "other", tag = "unset", routed = false, ports = ["unset"], secret = "unset" },
]
[[test]]
name = "creates"
want = { name = "users", tag = 10, routed = true, ports = [1] }
commands = [
  "create vlan users", "configure vlan users tag 10", "enable routing vlan users",
  "configure vlan users add ports 1",
]
[[test]]
name = "removes values"
given.config = '''
create vlan users
configure vlan users tag 10
configure vlan users add ports 1-3
enable routing vlan users
configure vlan users2 tag 11
'''
want = { name = "users", tag = "unset", routed = false, ports = [1, 3, 4] }
commands = [
  "unconfigure vlan users tag", "disable routing vlan users", "configure vlan users add ports 4",
  "configure vlan users delete ports 2",
]
[[test]]
name = "removes"
given.config = '''
create vlan users
configure vlan users tag 10
create vlan users2
'''
want = { name = "users", ensure = "absent" }
commands = ["delete vlan users"]
"#;
    holds_on(&platform(), MODEL, &format!("{LINES}{tests}"));
}

#[test]
fn lines_with_names_that_are_not_understood_are_those_of_their_instance() {
    let registry = loaded(LINES).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let model = registry.model("thing").unwrap();
    let config = "\
create vlan users extra
configure vlan users tag many
configure vlan users option 1
configure vlan users secret hidden more
configure vlan 9 tag 10
enable routing vlan users now
";
    let found = driver.not_understood(&[model], &state(&driver, config));
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "create vlan users extra",
            "configure vlan users tag many",
            "configure vlan users secret ••••",
            "configure vlan 9 tag 10",
            "enable routing vlan users now",
        ]
    );
}

/// Two types may have lines of one instance, and instances do not conflict.
#[test]
fn setting_of_a_line_has_the_names() {
    let registry = loaded(LINES).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let model = registry.model("thing").unwrap();
    let slots = driver.effect_slots(model);
    let slot = slots.iter().find(|slot| slot.attribute == "tag").unwrap();
    assert_eq!(slot.what, "configure vlan {name} tag");
    let supplied = [("name", Value::from("users")), ("tag", 10.into())];
    let desired = Desired {
        reference: "Thing[x]".into(),
        model: Arc::clone(model),
        attributes: model.resolve("", &supplied.into_iter().collect()).unwrap(),
    };
    let effects = driver.effects(&desired, &["tag"]);
    assert_eq!(effects[0].what, "configure vlan users tag");
}

#[test]
fn line_without_a_name_is_an_error() {
    for (from, to, expected) in [
        (
            "line   = \"configure vlan {name} tag {tag}\"",
            "line   = \"configure tag {tag}\"",
            "`configure tag {tag}` lacks {name}: each line names its instance",
        ),
        (
            "remove = \"delete vlan {name}\"",
            "remove = \"delete vlan\"",
            "`delete vlan` lacks {name}: each line names its instance",
        ),
        (
            "create = \"create vlan {name}\"\n",
            "",
            "instances with `named` need `create`",
        ),
        (
            "remove = \"delete vlan {name}\"\n",
            "",
            "instances with `named` need `remove`",
        ),
        (
            "no   = \"disable routing vlan {name}\"\n",
            "",
            "`enable routing vlan {name}` does not begin with `configure`, which `unconfigure` replaces",
        ),
    ] {
        assert!(LINES.contains(from), "{from}");
        let found = loaded(&LINES.replace(from, to)).expect_err(expected);
        assert!(found.contains(expected), "{found}");
    }
}

/// `no no shutdown` is never sent.
#[test]
fn doubled_negation_is_an_error() {
    for (lines, expected) in [
        (
            "block = \"x {name}\"\n[attr.routed]\nline = \"no routing\"",
            "the line `no no routing` has `no` twice",
        ),
        (
            "block = \"x {name}\"\n[attr.routed]\nline = \"routing\"\nno = \"no no routing\"",
            "the line `no no routing` has `no` twice",
        ),
        (
            "prefix = \"x {name}\"\n[attr.routed]\nset.true = \"routing\"\nset.false = \"no no routing\"",
            "the line `no no routing` has `no` twice",
        ),
        (
            "line = \"no x {name}\"\n[attr.routed]\nunsupported = \"x\"",
            "the line `no no x {name}` has `no` twice",
        ),
    ] {
        let text = format!(
            "unsupported = [\"tag\", \"ports\", \"secret\"]\n[instance]\nfrom = \"config\"\n{lines}\n"
        );
        let files = files_of(PLATFORM, MODEL, &text);
        let found = Registry::from_files(&[], &files).map_or_else(
            |found| render_all(&found),
            |registry| render_all(&registry.check()),
        );
        assert!(found.contains(expected), "{lines}: {found}");
    }
}

/// The mock prints the line that a device prints: the one for the value that is not the default.
#[test]
fn outline_has_the_line_that_is_no_default() {
    for (routed, expected) in [
        (
            "set.true = \"routing\"\nset.false = \"no routing\"\nabsent = true",
            NegativeForm::OnlyPrinted,
        ),
        (
            "set.true = \"routing\"\nset.false = \"no routing\"\nabsent = false",
            NegativeForm::Absent,
        ),
        (
            "set.true = \"routing\"\nset.false = \"no routing\"",
            NegativeForm::Printed,
        ),
        (
            "set.true = \"no off\"\nset.false = \"off\"\nabsent = false",
            NegativeForm::OnlyPrinted,
        ),
        (
            "line = \"routing\"\ndefault = \"on\"",
            NegativeForm::OnlyPrinted,
        ),
    ] {
        let text = format!(
            "unsupported = [\"tag\", \"ports\", \"secret\"]\n[instance]\nfrom = \"config\"\nblock = \"x {{name}}\"\n[attr.routed]\n{routed}\n"
        );
        let platform = PLATFORM.replace("config_mode = \"exec\"\n", "").replace(
            "[mode.exec]",
            "config_mode = \"config\"\nsub_mode = \"sub\"\n[mode.config]\nprompt = '\\S+\\(c\\)#'\n[mode.sub]\nprompt = '\\S+\\(s\\)#'\n[mode.exec]",
        );
        let registry = Registry::from_files(&[], &files_of(&platform, MODEL, &text))
            .unwrap_or_else(|found| panic!("{}", render_all(&found)));
        let platform = registry.platform("box").unwrap();
        let outline = platform.outline("box", &Reads::default()).unwrap();
        let lines = outline.lines.iter().filter(|line| !line.is_header);
        let forms: Vec<NegativeForm> = lines.map(|line| line.negative).collect();
        assert_eq!(forms, [expected], "{routed}");
    }
}
