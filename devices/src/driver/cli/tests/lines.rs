//! Lines: their identity, their defaults, and errors of their templates.

use std::sync::Arc;

use super::{desired, driver_of, files, state};
use crate::change::Change;
use crate::driver::{NoSecretHistory, Registry};
use crate::read::State;
use crate::value::Value;

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

#[test]
fn line_of_two_vrfs_is_selected_by_the_vrf_or_refused() {
    let (registry, driver) = driver_of(SERVER, SERVER_LINE);
    let two = state(&driver, "server vrf A 10.0.0.7\nserver vrf B 10.0.0.7\n");
    let also_global = state(&driver, "server vrf A 10.0.0.7\nserver 10.0.0.7\n");
    let vrf_of = |supplied: &[(&str, Value)], state: &State| {
        let found = driver.instance(&desired(&registry, supplied), state);
        found
            .map(|found| found.and_then(|one| one.attributes.get("vrf")?.scalar_text()))
            .map_err(|error| error.to_string())
    };
    let name = ("name", Value::from("10.0.0.7"));
    let expected = "cannot parse the answer to `config`: 2 lines have the name 10.0.0.7, with vrf A, B; \
                    set vrf to select one";
    assert_eq!(
        vrf_of(&[name.clone(), ("vrf", "B".into())], &two),
        Ok(Some("B".to_owned()))
    );
    assert_eq!(
        vrf_of(std::slice::from_ref(&name), &two),
        Err(expected.to_owned())
    );
    assert_eq!(
        vrf_of(&[name.clone(), ("vrf", "C".into())], &two),
        Err(expected.to_owned())
    );
    assert_eq!(vrf_of(std::slice::from_ref(&name), &also_global), Ok(None));
    assert_eq!(
        vrf_of(&[name.clone(), ("vrf", "A".into())], &also_global),
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
        default_word = "unset"
        title = "{name} {hop}"
        [attr.name]
        role = "namevar"
        [attr.hop]
        role = "namevar"
        [attr.vrf]
        values = ["unset", { name = "text", pattern = '.+' }]
        [attr.distance]
        values = ["unset", { name = "text", pattern = '.+' }]
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
        let supplied = [("name", names[0]), ("hop", names[1]), set[0], set[1]]
            .map(|(name, value)| (name, Value::from(value)));
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
