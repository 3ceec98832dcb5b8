//! Values of `set` that the definition does not know are not those of missing lines.

use std::sync::Arc;

use super::holds;
use super::prefix::{driver_of, state};
use crate::change::{Change, Desired, Instance};
use crate::not_understood::Extent;
use crate::value::{Name, Value};

const MODEL: &str = r#"
    ensurable = true
    [attr.name]
    role = "namevar"
    values = [{ name = "text", pattern = '\S+' }]
    [attr.mode]
    values = ["access", "trunk", "routed"]
    [attr.duplex]
    values = ["auto", "full"]
    [attr.enable]
    values = [true, false]
    "#;

const BLOCK: &str = r#"
    [instance]
    from = "config"
    block = "port {name}"
    [attr.mode]
    set.access = "switchport mode access"
    set.trunk = "switchport mode trunk"
    set.routed = "no switchport"
    absent = "access"
    [attr.duplex]
    set.auto = "duplex auto"
    set.full = "duplex full"
    absent = "auto"
    [attr.enable]
    set.true = "no shutdown"
    set.false = "shutdown"
    absent = true
    "#;

fn listed(implementation: &str, config: &str) -> Vec<String> {
    let (registry, driver) = driver_of(MODEL, implementation);
    let model = registry.model("thing").unwrap();
    let found = driver.not_understood(&[model], &state(&driver, config));
    let rendered = found.iter().map(|one| {
        let attribute = one.attribute.as_ref().map(ToString::to_string);
        format!("{}: {one}", attribute.unwrap_or_default())
    });
    rendered.collect()
}

#[test]
fn unknown_words_instead_of_known_values_are_listed() {
    let cases: [(&str, &[&str]); 9] = [
        ("port 1\n switchport mode access", &[]),
        ("port 1\n no switchport\n no shutdown", &[]),
        (
            "port 1\n switchport mode hybrid",
            &["mode: port 1 / switchport mode hybrid"],
        ),
        (
            "port 1\n switchport mode dot1q tunnel",
            &["mode: port 1 / switchport mode dot1q tunnel"],
        ),
        (
            "port 1\n switchport mode",
            &["mode: port 1 / switchport mode"],
        ),
        ("port 1\n duplex half", &["duplex: port 1 / duplex half"]),
        // Other lines are unmanaged.
        ("port 1\n switchport voice vlan 5", &[]),
        ("port 1\n no ip redirects", &[]),
        ("duplex half", &[]),
    ];
    for (config, expected) in cases {
        assert_eq!(listed(BLOCK, config), expected, "{config}");
    }
}

#[test]
fn unknown_words_behind_a_common_beginning_are_listed() {
    let prefix = BLOCK
        .replace("block = ", "prefix = ")
        .replace("set.routed = \"no switchport\"", "set.routed = \"routed\"");
    let cases: [(&str, &[&str]); 4] = [
        ("port 1 switchport mode trunk", &[]),
        (
            "port 1 switchport mode hybrid",
            &["mode: port 1 switchport mode hybrid"],
        ),
        ("port 1 duplex half", &["duplex: port 1 duplex half"]),
        ("port 1 speed 10", &[]),
    ];
    for (config, expected) in cases {
        assert_eq!(listed(&prefix, config), expected, "{config}");
    }
}

const SERVER_MODEL: &str = r#"
    ensurable = true
    [attr.name]
    role = "namevar"
    values = [{ name = "text", pattern = '\S+' }]
    [attr.vrf]
    values = ["unset", { name = "text", pattern = '\S+' }]
    [attr.severity]
    values = ["unset", { name = "number", integer = [0, 7] }]
    "#;

const SERVER: &str = r#"
    [instance]
    from = "config"
    line = "log {name} <[vrf {vrf}] [severity {severity}]> [{*}]"
    [attr.vrf]
    absent = "unset"
    [attr.severity]
    absent = 5
    "#;

/// `{*}` takes words without a meaning, and keeps them. An option is no such word.
#[test]
fn option_with_an_unknown_value_belongs_to_no_other_words() {
    let tests = r#"
        [[test]]
        name = "the severity of an unknown word is not the default"
        given.config = """
log a severity foo vrf RED
log b new severity 3
log c new word
"""
        expect = [
          { name = "a", vrf = "RED" },
          { name = "b", vrf = "unset", severity = 3 },
          { name = "c", vrf = "unset", severity = 5 },
        ]
        [[test]]
        name = "other words are repeated"
        given.config = "log b new severity 3"
        want = { name = "b", ensure = "present", severity = 4 }
        commands = ["log b severity 4 new"]
        [[test]]
        name = "the option is not sent twice"
        given.config = "log a severity foo new"
        want = { name = "a", ensure = "present", severity = 4 }
        commands = ["log a severity 4 new"]
        [[test]]
        name = "an option that the device prints twice"
        given.config = "log a severity 3 severity 4"
        want = { name = "a", ensure = "present", severity = 4 }
        commands = ["log a severity 4"]
        "#;
    holds(SERVER_MODEL, &format!("{SERVER}{tests}"));
}

#[test]
fn line_with_an_option_of_an_unknown_value_is_protected() {
    let (registry, driver) = driver_of(SERVER_MODEL, SERVER);
    let model = registry.model("thing").unwrap();
    let config = "log a severity foo\nlog b new\nlog c severity 3 severity 4\nlog d severity 3";
    let found = driver.not_understood(&[model], &state(&driver, config));
    let listed: Vec<(&str, &Extent)> = found
        .iter()
        .map(|one| (one.text.as_str(), &one.extent))
        .collect();
    assert_eq!(
        listed,
        [
            ("log a severity foo", &Extent::Line),
            ("log b new", &Extent::Nothing),
            ("log c severity 3 severity 4", &Extent::Line),
        ]
    );
}

const LISTS: &str = r#"
    [instance]
    from = "config"
    block = "group {name}"
    [attr.servers]
    line = "server {servers} [port {*port}] [{*}]"
    many = true
    absent = "unset"
    "#;

#[test]
fn element_with_words_not_understood_is_removed_only_on_request() {
    let model = r#"
        ensurable = true
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '\S+' }]
        [attr.servers]
        array = "set"
        values = ["unset", { name = "text", pattern = '\S+' }]
        "#;
    let (registry, driver) = driver_of(model, LISTS);
    let model = registry.model("thing").unwrap();
    let config = "group a\n server s1 port 5\n server s2 port 5 weight 3\ngroup b\n server s2";
    let found = driver.not_understood(&[model], &state(&driver, config));
    let listed: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(listed, ["group a / server s2 port 5 weight 3"]);
    for (name, servers, is_touched) in [
        ("a", vec!["s1", "s2", "s3"], false),
        ("a", vec!["s2"], false),
        ("a", vec!["s1"], true),
        ("a", vec!["unset"], true),
        ("b", vec!["s3"], false),
    ] {
        let servers = servers.into_iter().map(Value::from).collect();
        let attributes = [
            (Name::from("name"), Value::from(name)),
            (Name::from("servers"), Value::List(servers)),
        ];
        let desired = Desired {
            reference: "Thing[x]".into(),
            model: Arc::clone(model),
            attributes: attributes.into_iter().collect(),
        };
        let change = Change::new(
            Arc::new(desired),
            Some(Instance::default()),
            vec!["servers".into()],
        );
        assert_eq!(found[0].is_touched_by(&change), is_touched, "{name}");
    }
}

#[test]
fn fixed_options_before_other_words_are_recognized_among_them() {
    let fixed = SERVER.replace(
        "<[vrf {vrf}] [severity {severity}]>",
        "[vrf {vrf}] [severity {severity}]",
    );
    let (registry, driver) = driver_of(SERVER_MODEL, &fixed);
    let model = registry.model("thing").unwrap();
    let config = "log a severity foo\nlog b new\nlog c severity 3 vrf RED";
    let found = driver.not_understood(&[model], &state(&driver, config));
    let protected = found.iter().filter(|one| one.extent == Extent::Line);
    let protected: Vec<&str> = protected.map(|one| one.text.as_str()).collect();
    assert_eq!(
        protected,
        ["log a severity foo", "log c severity 3 vrf RED"]
    );
}

/// A keyword in the place of a number is another line if the type has such keywords.
#[test]
fn keywords_beside_those_of_a_type_are_other_lines() {
    const NUMBERS: &str = r#"
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '\S+' }]
        [attr.process]
        values = ["unset", { name = "number", integer = [1, 9] }]
        [attr.cost]
        values = ["unset", { name = "number", integer = [1, 9] }]
        [attr.mtu]
        values = [{ name = "number", integer = [1, 9] }]
        "#;
    const LINES: &str = r#"
        [instance]
        from = "config"
        block = "port {name}"
        [attr.process]
        line = "ip ospf {process} area 0"
        absent = "unset"
        [attr.cost]
        line = "ip ospf cost {cost}"
        absent = "unset"
        [attr.mtu]
        line = "mtu {mtu}"
        "#;
    let (registry, driver) = driver_of(NUMBERS, LINES);
    let model = registry.model("thing").unwrap();
    let cases: [(&str, &[&str]); 5] = [
        ("port 1\n ip ospf prefix-suppression", &[]),
        ("port 1\n ip ospf 10 area 0", &["process"]),
        ("port 1\n ip ospf 1 area 7", &["process"]),
        ("port 1\n ip ospf cost high", &["cost"]),
        // No other line of the type begins like it.
        ("port 1\n mtu jumbo", &["mtu"]),
    ];
    for (config, expected) in cases {
        let found = driver.not_understood(&[model], &state(&driver, config));
        let attributes: Vec<&str> = found
            .iter()
            .map(|one| one.attribute.as_ref().unwrap().as_str())
            .collect();
        assert_eq!(attributes, expected, "{config}");
    }
}
