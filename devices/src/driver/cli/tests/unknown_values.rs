//! Changes that rewrite or remove what is not understood.

use std::sync::Arc;

use super::{desired, driver_of, state};
use crate::change::{Change, Instance};
use crate::not_understood::Extent;
use crate::value::Value;

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
        let supplied = [("name", name.into()), ("servers", Value::List(servers))];
        let desired = desired(&registry, &supplied);
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

/// Lines of a group, and of an address family, are no neighbors.
#[test]
fn unread_lines_beside_instances_do_not_hinder_changes() {
    let neighbor = r#"
        title = "{asn} {name}"
        [attr.asn]
        role = "namevar"
        [attr.name]
        role = "namevar"
        values = [{ name = "address", pattern = '[\d.]+' }]
        [attr.description]
        "#;
    let lines = r#"
        [instance]
        from = "config"
        block = "router bgp {asn}"
        prefix = "group {asn} neighbor {name}"
        [attr.description]
        line = "description {description:rest}"
        "#;
    let (registry, driver) = driver_of(neighbor, lines);
    let model = registry.model("thing").unwrap();
    let config = "\
router bgp 65000
 group 65000 type external
 group 65000 neighbor SPINES remote-as 1
 group 65000 neighbor 192.0.2.1 remote-as 65001
router bgp 65000 view RED
";
    let state = state(&driver, config);
    let found = driver.not_understood(&[model], &state);
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "router bgp 65000 / group 65000 neighbor SPINES remote-as 1",
            "router bgp 65000 view RED",
        ]
    );
    let desired = desired(
        &registry,
        &[
            ("asn", "65000".into()),
            ("name", "192.0.2.1".into()),
            ("description", "new".into()),
        ],
    );
    let current = driver.instance(&desired, &state).unwrap();
    let change = Change::new(Arc::new(desired), current, vec!["description".into()]);
    assert!(!found.iter().any(|text| text.is_touched_by(&change)));
}
