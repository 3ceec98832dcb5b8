//! Lines: their identity, their defaults, and errors of their templates.

use std::sync::Arc;

use super::{files, holds, render_all};
use crate::change::{Change, Desired};
use crate::driver::{Driver, Facts, NoSecretHistory, Registry};
use crate::read::{Reads, State};
use crate::value::{Attributes, Value};

const SERVER: &str = r#"
    ensurable = true
    [attr.name]
    role = "namevar"
    [attr.vrf]
    values = ["unset", { name = "text", pattern = '\S+' }]
    "#;

const SERVER_LINE: &str = r#"
    [instance]
    from = "config"
    line = "server [vrf {vrf}] {name}"
    remove = "no server [vrf {vrf}] {name}"
    "#;

fn driver_of(model: &str, implementation: &str) -> (Registry, Driver) {
    let registry = Registry::from_files(&[], &files(model, implementation))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    (registry, driver)
}

fn state(driver: &Driver, config: &str) -> State {
    let reads = Reads::from_iter([("config".to_owned(), config.to_owned())]);
    driver.platform().parse(&reads).unwrap()
}

fn desired(registry: &Registry, supplied: &[(&str, &str)]) -> Desired {
    let model = registry.model("thing").unwrap();
    let supplied: Attributes = supplied
        .iter()
        .map(|(name, value)| (*name, Value::from(*value)))
        .collect();
    Desired {
        reference: "Thing[x]".into(),
        model: Arc::clone(model),
        attributes: model.resolve("", &supplied).unwrap(),
    }
}

#[test]
fn line_of_two_vrfs_is_selected_by_the_vrf_or_refused() {
    let (registry, driver) = driver_of(SERVER, SERVER_LINE);
    let two = state(&driver, "server vrf A 10.0.0.7\nserver vrf B 10.0.0.7\n");
    let also_global = state(&driver, "server vrf A 10.0.0.7\nserver 10.0.0.7\n");
    let vrf_of = |supplied: &[(&str, &str)], state: &State| {
        let found = driver.instance(&desired(&registry, supplied), state);
        found
            .map(|found| found.and_then(|one| one.attributes.get("vrf")?.scalar_text()))
            .map_err(|error| error.to_string())
    };
    let name = ("name", "10.0.0.7");
    let expected = "cannot parse the answer to `config`: 2 lines have the name 10.0.0.7, with vrf A, B; \
                    set vrf to select one";
    assert_eq!(
        vrf_of(&[name, ("vrf", "B")], &two),
        Ok(Some("B".to_owned()))
    );
    assert_eq!(vrf_of(&[name], &two), Err(expected.to_owned()));
    assert_eq!(
        vrf_of(&[name, ("vrf", "C")], &two),
        Err(expected.to_owned())
    );
    assert_eq!(vrf_of(&[name], &also_global), Ok(None));
    assert_eq!(
        vrf_of(&[name, ("vrf", "A")], &also_global),
        Ok(Some("A".to_owned()))
    );
}

#[test]
fn lines_that_no_attribute_expresses_are_notes_of_a_singleton() {
    let model = "[attr.name]\nrole = \"namevar\"\n[attr.source]\nvalues = [\"unset\", { name = \"text\", pattern = '\\S+' }]\n";
    let implementation = r#"
        [instance]
        from = "config"
        singleton = "default"
        other_lines = ["source {*interface} vrf {*vrf}"]
        [attr.source]
        line = "source {source}"
        absent = "unset"
        "#;
    let (registry, driver) = driver_of(model, implementation);
    let state = state(&driver, "source Vlan10 vrf Mgmt\n");
    let found = driver
        .instances(registry.model("thing").unwrap(), &state)
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].attributes.get("source"), Some(&"unset".into()));
    assert_eq!(
        found[0].notes,
        ["no attribute expresses `source Vlan10 vrf Mgmt`"]
    );
}

#[test]
fn default_of_a_list_is_compared_in_the_form_of_its_codec() {
    holds(
        r#"
        [attr.name]
        role = "namevar"
        [attr.vlans]
        array = "set"
        values = [{ name = "list", pattern = '[\d,a-z -]+' }]
        "#,
        r#"
        [instance]
        from = "config"
        block = "interface {name}"
        [attr.vlans]
        line = "allowed vlan {vlans}"
        codec = "vlans"
        absent = "all"
        [[test]]
        name = "reads"
        given.config = "interface a\ninterface b\n allowed vlan 1-3"
        expect = [{ name = "a", vlans = "all" }, { name = "b", vlans = "1-3" }]
        [[test]]
        name = "all is not printed"
        given.config = "interface a"
        want = { name = "a", vlans = "1-4094" }
        commands = []
        [[test]]
        name = "change"
        given.config = "interface a"
        want = { name = "a", vlans = "7" }
        commands = ["interface a", " allowed vlan 7"]
        "#,
    );
}

#[test]
fn template_error_is_reported_alone() {
    let model = "[attr.name]\nrole = \"namevar\"\n[attr.mode]\nvalues = [\"a\", \"b\"]\n";
    let implementation = "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n\
         [attr.mode]\nset.a = \"mode a[\"\nset.b = \"mode b\"\nabsent = \"a\"\nno = \"no mode {x\"\n";
    let findings = Registry::from_files(&[], &files(model, implementation)).unwrap_err();
    let messages: Vec<&str> = findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(messages, ["a `]` is missing", "a `{` has no `}`"]);
}

#[test]
fn attribute_without_which_a_mode_cannot_be_entered_is_named() {
    let model = "ensurable = true\n[attr.name]\nrole = \"namevar\"\n[attr.bridge]\nrole = \"parameter\"\n\
         [attr.tag]\nvalues = [{ name = \"tag\", integer = [1, 9] }]\n";
    let implementation = "[instance]\nfrom = \"config\"\nblock = \"port {name}\"\nmode = \"port {name} of {bridge}\"\n\
         [attr.tag]\nline = \"tag {tag}\"\n";
    let (registry, driver) = driver_of(model, implementation);
    let desired = desired(
        &registry,
        &[("name", "p1"), ("ensure", "present"), ("tag", "7")],
    );
    let problems = driver.check(&desired);
    let problems: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.attribute, problem.message))
        .collect();
    assert_eq!(
        problems,
        ["bridge: is required by the line `port {name} of {bridge}`"]
    );
}

#[test]
fn keys_without_effect_are_errors() {
    let model = "ensurable = true\n[attr.name]\nrole = \"namevar\"\n[attr.ports]\narray = \"set\"\n\
         values = [{ name = \"port\", pattern = '\\w+' }]\n";
    let cases = [
        (
            "block = \"vlan {name}\"\n[attr.ports]\nelsewhere = \"interface {member}\"\nline = \"access {name}\"\nno = \"no access\"\n",
            "`no` has no effect with `elsewhere` (remove it; it belongs to `line`, `set`; `column`, `field`; `exists`)",
        ),
        (
            "line = \"vlan {name}\"\n[attr.ports]\nline = \"vlan {name} ports {ports:words}\"\n",
            "`ports` has lines of its own, but each instance is one line: it would never be read or sent",
        ),
    ];
    for (instance, expected) in cases {
        let implementation = format!("[instance]\nfrom = \"config\"\n{instance}");
        let findings = Registry::from_files(&[], &files(model, &implementation)).unwrap_err();
        let text = render_all(&findings);
        assert!(text.contains(expected), "{instance}\n{text}");
        assert_eq!(findings.len(), 1, "{instance}\n{text}");
    }
}

/// A command line of `set` and `delete` lines removes a line by its words after `set`.
#[test]
fn delete_replaces_set() {
    let negate = "negate = \"delete\"\nnegate_replaces = \"set\"\n[connection]";
    let platform = super::PLATFORM.replacen("[connection]", negate, 1);
    let model = "[attr.name]\nrole = \"namevar\"\n\
                 [attr.domain]\nvalues = [\"unset\", { name = \"text\", pattern = '\\S+' }]\n\
                 [attr.servers]\narray = \"set\"\n\
                 values = [\"unset\", { name = \"text\", pattern = '\\S+' }]\n";
    let implementation = r#"
[instance]
from = "config"
singleton = "default"
[attr.domain]
line = "set system domain-name {domain}"
absent = "unset"
[attr.servers]
line = "set system name-server {servers}"
many = true
absent = "unset"
[[test]]
name = "reads"
given.config = """
set system domain-name example.net
set system name-server 192.0.2.1
"""
expect = [{ name = "default", domain = "example.net", servers = ["192.0.2.1"] }]
[[test]]
name = "change"
given.config = """
set system name-server 192.0.2.1
"""
want = { name = "default", domain = "example.net", servers = ["192.0.2.2"] }
commands = [
  "set system domain-name example.net", "set system name-server 192.0.2.2",
  "delete system name-server 192.0.2.1",
]
[[test]]
name = "removal"
given.config = """
set system domain-name example.net
"""
want = { name = "default", domain = "unset" }
commands = ["delete system domain-name"]
"#;
    let registry = Registry::from_files(&[], &super::files_of(&platform, model, implementation))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let results = registry.test(None);
    assert_eq!(results.len(), 3);
    let failures: Vec<_> = results.into_iter().filter_map(|one| one.failure).collect();
    assert!(failures.is_empty(), "{failures:?}");
}

/// The prediction changes the index of instances instead of reading all lines again.
#[test]
fn predicted_instances_are_those_of_the_predicted_configuration() {
    let line = r#"
        [instance]
        from = "config"
        line = "route {name} {hop} <[vrf {vrf}] [distance {distance}]> [{*}]"
        remove = "no route {name} {hop} [vrf {vrf}]"
        [attr.vrf]
        absent = "unset"
        [attr.distance]
        absent = "unset"
        "#;
    let model = r#"
        ensurable = true
        title = "{name} {hop}"
        [attr.name]
        role = "namevar"
        [attr.hop]
        role = "namevar"
        [attr.vrf]
        [attr.distance]
        "#;
    let (registry, driver) = driver_of(model, line);
    let model = registry.model("thing").unwrap();
    let instances = |state: &State| {
        let found = driver.instances(model, state).unwrap();
        let mut found: Vec<String> = found.iter().map(|one| format!("{one:?}")).collect();
        found.sort();
        found
    };
    let mut state = state(
        &driver,
        "route a 1\nroute a 2 vrf x track 5\nroute b 1\nroute a 1 vrf y\nend\n",
    );
    for (names, set, expected) in [
        (
            ["a", "1"],
            [("ensure", "present"), ("distance", "7")],
            "route a 1 distance 7\n",
        ),
        (
            ["c", "9"],
            [("ensure", "present"), ("distance", "8")],
            "route c 9 distance 8\n",
        ),
        (
            ["a", "2"],
            [("ensure", "present"), ("vrf", "x")],
            "route a 2 vrf x track 5\n",
        ),
        (
            ["a", "2"],
            [("ensure", "present"), ("distance", "3")],
            "distance 3 track 5\n",
        ),
        (
            ["b", "1"],
            [("ensure", "absent"), ("distance", "1")],
            "route c 9",
        ),
        (
            ["c", "9"],
            [("ensure", "absent"), ("distance", "1")],
            "end\n",
        ),
        (
            ["c", "9"],
            [("ensure", "present"), ("vrf", "z")],
            "route c 9 vrf z\n",
        ),
    ] {
        let supplied = [("name", names[0]), ("hop", names[1]), set[0], set[1]];
        let desired = desired(&registry, &supplied);
        let current = driver.instance(&desired, &state).unwrap();
        let differs = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
        if !differs.is_empty() {
            let change = Change::new(Arc::new(desired), current, differs);
            let operations = driver.render(&change, &state).unwrap();
            driver.predict(model, &mut state, &operations);
        }
        let text = driver.configuration(&state).text();
        assert!(text.contains(expected), "{expected}: {text}");
        let parsed = self::state(&driver, &text);
        assert_eq!(instances(&state), instances(&parsed), "{text}");
    }
}

/// The order of options has a meaning: another order than that of the template is the list.
#[test]
fn line_has_options_in_an_order_with_a_meaning() {
    holds(
        r#"
        ensurable = true
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '\S+' }]
        [attr.methods]
        array = "list"
        values = [{ name = "method", pattern = 'group \S+|local|none' }]
        [attr.groups]
        array = "list"
        values = [{ name = "text", pattern = '\S+' }]
        [attr.local]
        values = [true, false]
        [attr.none]
        values = [true, false]
        "#,
        r#"
        [instance]
        from = "config"
        line = "login {name} <{methods} [{groups:each group}] [{local?local}] [{none?none}]>"
        remove = "no login {name}"
        keep_unmanaged = false
        [attr.groups]
        absent = []

        [[test]]
        name = "reads both orders"
        given.config = "login a group x group y local\nlogin b local group x\nlogin c group x local group y"
        expect = [
          { name = "a", groups = ["x", "y"], local = true, none = false },
          { name = "b", methods = ["local", "group x"] },
          { name = "c", methods = ["group x", "local", "group y"] },
        ]

        [[test]]
        name = "writes the order"
        want = { name = "a", ensure = "present", methods = ["none", "group x", "local"] }
        commands = ["login a none group x local"]

        [[test]]
        name = "changes the order"
        given.config = "login a group x local"
        want = { name = "a", ensure = "present", methods = ["local", "group x"] }
        commands = ["login a local group x"]

        [[test]]
        name = "the order of the template is that of the options"
        given.config = "login a group x local"
        want = { name = "a", ensure = "present", methods = ["group x", "local"] }
        commands = []

        [[test]]
        name = "options restore the order of the template"
        given.config = "login a local group x"
        want = { name = "a", ensure = "present", groups = ["x"], local = true }
        commands = ["login a group x local"]
        "#,
    );
}

/// Older images have another form of the type.
#[test]
fn variant_has_all_of_its_sections() {
    holds(
        r#"
        ensurable = true
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '\S+' }]
        [attr.port]
        values = [{ name = "port", integer = [1, 99] }]
        [attr.group]
        values = [{ name = "text", pattern = '\S+' }]
        "#,
        r#"
        [instance]
        from = "config"
        block = "server {name}"
        [attr.port]
        line = "port {port}"
        [attr.group]
        line = "group {group}"

        [[variant]]
        when = { version = "<15" }
        complete = true
        unsupported = ["group"]
        [variant.instance]
        from = "config"
        line = "host {name} [port {port}]"
        remove = "no host {name}"

        [[test]]
        name = "block"
        given.config = "server a\n port 1\nhost b port 2"
        expect = [{ name = "a", port = 1 }]

        [[test]]
        name = "line"
        facts = { operatingsystemrelease = "12.2" }
        given.config = "server a\n port 1\nhost b port 2"
        expect = [{ name = "b", port = 2 }]

        [[test]]
        name = "change of a line"
        facts = { operatingsystemrelease = "12.2" }
        given.config = "host b port 2"
        want = { name = "b", ensure = "present", port = 3 }
        commands = ["host b port 3"]
        "#,
    );
}
