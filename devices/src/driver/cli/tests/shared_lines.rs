//! Lines that two types read.

use super::{desired, desired_of, files};
use crate::definitions::DefinitionFile;
use crate::driver::{Driver, Effect, Facts, Registry};
use crate::read::Reads;
use crate::value::Value;

const SHORT: &str = "[attr.name]\nrole = \"namevar\"\n[attr.label]\nvalues = [\"unset\", { name = \"text\", pattern = '.{1,4}' }]\n";

const LONG: &str = "schema = 1\ntype = \"other\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n[attr.label]\nvalues = [\"unset\", { name = \"text\", pattern = '.+' }]\n";

const IMPLEMENTATION: &str = r#"
[instance]
from = "config"
block = "port {name}"
[attr.label]
line = "label {label:rest}"
absent = "unset"
"#;

/// The text is too long for one of the types. Its value is then unknown, and not that of a missing line.
#[test]
fn value_that_only_another_type_understands_is_unknown() {
    let header = "schema = 1\nplatform = \"box\"\ntype = \"other\"\n";
    let own = [
        DefinitionFile::new("models/other.toml", LONG),
        DefinitionFile::new("box/other.toml", format!("{header}{IMPLEMENTATION}")),
    ];
    let registry = Registry::from_files(&files(SHORT, IMPLEMENTATION), &own).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let mut reads = Reads::default();
    reads.insert(
        "config".to_owned(),
        "port 1\n label abcd\nport 2\n label abcde\n".to_owned(),
    );
    let state = driver.platform().parse(&reads).unwrap();
    let listed = |type_name: &str| -> Vec<String> {
        let model = registry.model(type_name).unwrap();
        let found = driver.not_understood(&[model], &state);
        assert!(found.iter().all(|one| one.hides_value()));
        found.iter().map(ToString::to_string).collect()
    };
    assert_eq!(listed("thing"), ["port 2 / label abcde"]);
    assert_eq!(listed("other"), [""; 0]);
}

/// Behind a line without a value, further words are those of another line, if a type reads it.
#[test]
fn longer_line_of_another_type_is_not_listed() {
    let model = "[attr.name]\nrole = \"namevar\"\n[attr.switched]\nvalues = [true, false]\n";
    let implementation = r#"
        [instance]
        from = "config"
        block = "port {name}"
        [attr.switched]
        line = "switch"
        "#;
    let other = "schema = 1\ntype = \"other\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n[attr.guard]\nvalues = [\"unset\", \"on\"]\n";
    let of_other = r#"
        schema = 1
        platform = "box"
        type = "other"
        [instance]
        from = "config"
        block = "port {name}"
        [attr.guard]
        line = "switch guard {guard}"
        absent = "unset"
        "#;
    let own = [
        DefinitionFile::new("models/other.toml", other),
        DefinitionFile::new("box/other.toml", of_other),
    ];
    let registry = Registry::from_files(&files(model, implementation), &own).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let text = "port 1\n switch\n switch guard on\n switch odd\n";
    let reads = Reads::from_iter([("config".to_owned(), text.to_owned())]);
    let state = driver.platform().parse(&reads).unwrap();
    let found = driver.not_understood(&[registry.model("thing").unwrap()], &state);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["port 1 / switch odd"]);
}

/// The members of a bundle stand in the blocks of ports, where the type of ports has the same line.
#[test]
fn line_of_members_and_line_of_the_port_are_one_setting() {
    let bundle = r#"
        [attr.id]
        role = "namevar"
        [attr.members]
        array = "set"
        [attr.mode]
        "#;
    let of_bundle = r#"
        [instance]
        from = "config"
        block = "bundle {id}"
        [attr.members]
        elsewhere = "port {member}"
        line = "group {id} mode {mode}"
        with = ["mode"]
        absent = []
        [attr.mode]
        inside = "members"
        "#;
    let port = "schema = 1\ntype = \"other\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n[attr.group]\n[attr.mode]\n";
    let of_port = "schema = 1\nplatform = \"box\"\ntype = \"other\"\n[instance]\nfrom = \"config\"\nblock = \"port {name}\"\n[attr.group]\nline = \"group {group} mode {mode}\"\nno = \"no group\"\nwith = [\"mode\"]\nabsent = \"unset\"\n[attr.mode]\ninside = \"group\"\n";
    let own = [
        DefinitionFile::new("models/other.toml", port),
        DefinitionFile::new("box/other.toml", of_port),
    ];
    let registry = Registry::from_files(&files(bundle, of_bundle), &own).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let slots = |name: &str| driver.effect_slots(registry.model(name).unwrap());
    let key = |name: &str, attribute: &str| {
        let slots = slots(name).into_iter();
        let mut slots = slots.filter(|slot| slot.attribute == attribute);
        slots.next().map(|slot| (slot.location, slot.what))
    };
    assert_eq!(
        key("thing", "members"),
        Some(("port".to_owned(), "group".to_owned()))
    );
    assert_eq!(key("thing", "members"), key("other", "group"));

    let members = Value::List(vec!["eth1".into(), "eth2".into()]);
    let bundle = desired(
        &registry,
        &[
            ("id", "1".into()),
            ("members", members),
            ("mode", "active".into()),
        ],
    );
    let port = |values: &[(&str, Value)]| {
        let supplied = [&[("name", "eth2".into())], values].concat();
        desired_of(&registry, "other", &supplied)
    };
    let of_bundle = driver.effects(&bundle, &["members"]);
    let of_bundle: Vec<&Effect> = of_bundle
        .iter()
        .filter(|effect| effect.location == "port eth2")
        .collect();
    let compatible = |values: &[(&str, Value)]| {
        let effects = driver.effects(&port(values), &["group"]);
        effects.first().map(|effect| {
            assert_eq!(effect.location, "port eth2");
            of_bundle[0].is_compatible_with(effect)
        })
    };
    let passive = [("group", "2".into()), ("mode", "passive".into())];
    assert_eq!(compatible(&passive), Some(false));
    assert_eq!(compatible(&[("group", "unset".into())]), Some(false));
    let active = [("group", "1".into()), ("mode", "active".into())];
    assert_eq!(compatible(&active), Some(true));
    // The mode on the device is preserved.
    assert_eq!(compatible(&active[..1]), None);
}
