//! The text of files, and the values that the parser reads of it.

use indexmap::IndexSet;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::Registry;

use super::*;
use crate::desired_state::declared::DeclaredState;
use crate::desired_state::document;
use crate::desired_state::tests::merged;
use crate::desired_state::yaml_value::YamlValue;

/// What a text means for a Cisco IOS device, if it differs from a state.
pub(crate) fn expansion_differences(
    text: &str,
    registry: &Registry,
    state: &DeclaredState,
) -> Vec<String> {
    let expanded = merged(&[("device", text.to_owned())], registry);
    let mut differences: Vec<String> = expanded
        .errors
        .iter()
        .map(|error| error.message.clone())
        .collect();
    let declared = state.types.iter();
    let expected: usize = declared.map(|(_, resources)| resources.len()).sum();
    let found: usize = expanded.types.values().map(IndexMap::len).sum();
    if found != expected {
        differences.push(format!("{found} resources, not {expected}"));
    }
    for (type_name, resources) in &state.types {
        for (title, attributes) in resources {
            let found = expanded.types.get(type_name.as_str());
            let Some(found) = found.and_then(|resources| resources.get(title)) else {
                differences.push(format!("{type_name} {title} is missing"));
                continue;
            };
            let is_same = |(name, value): (&Name, &Option<DeclaredValue>)| {
                let found = found.attributes.get(name.as_str());
                found.is_some_and(|found| match value {
                    Some(DeclaredValue::Value(value)) => is_written(value, &found.value),
                    _ => false,
                })
            };
            if found.attributes.len() != attributes.len() || !attributes.iter().all(is_same) {
                differences.push(format!("{type_name} {title} differs"));
            }
        }
    }
    differences
}

/// Whether a value of a file is this one.
fn is_written(value: &Value, written: &YamlValue) -> bool {
    match (value, written) {
        (Value::Sensitive(secret), written) => is_written(secret, written),
        (Value::String(text) | Value::Symbol(text), YamlValue::Text(found)) => {
            literal(text) == *found
        }
        (Value::List(items), YamlValue::List(found)) => {
            let mut pairs = items.iter().zip(found);
            items.len() == found.len() && pairs.all(|(item, node)| is_written(item, &node.value))
        }
        (Value::Hash(entries), YamlValue::Map(found)) => {
            let mut pairs = entries.iter().zip(found);
            entries.len() == found.len()
                && pairs.all(|((key, value), (name, node))| {
                    key.ruby_to_s() == name.name && is_written(value, &node.value)
                })
        }
        (value, YamlValue::Plain(found)) => *value == found.value,
        _ => false,
    }
}

fn attributes(all: &[(&str, Value)]) -> DeclaredAttributes {
    let values = all.iter();
    values
        .map(|(name, value)| ((*name).into(), Some(DeclaredValue::Value(value.clone()))))
        .collect()
}

/// Type, title and attributes.
type Resource<'a> = (&'a str, &'a str, &'a [(&'a str, Value)]);

fn state(all: &[Resource<'_>]) -> DeclaredState {
    let mut state = DeclaredState::default();
    for (type_name, title, values) in all {
        let resources = state.types.entry((*type_name).into()).or_default();
        resources.insert((*title).to_owned(), attributes(values));
    }
    state
}

fn writer() -> StateWriter {
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    let types: Vec<_> = platform.type_drivers().collect();
    StateWriter::new(types.into_iter().map(|definition| &definition.model))
}

#[test]
fn a_file_has_views_ranges_and_one_line_for_an_entry() {
    let port = || -> Vec<(&str, Value)> { vec![("enable", true.into())] };
    let mode = || -> Vec<(&str, Value)> {
        vec![
            ("mode", "access".into()),
            ("access_vlan", Value::Integer(10)),
        ]
    };
    let names: Vec<String> = (1..=4)
        .map(|number| format!("GigabitEthernet1/0/{number}"))
        .collect();
    let (flat, section) = (port(), mode());
    let described = [
        ("enable", true.into()),
        ("description", Value::from("printer")),
    ];
    let mut all: Vec<Resource<'_>> = Vec::new();
    for name in &names {
        let values = if name.ends_with("/3") {
            &described[..]
        } else {
            &flat[..]
        };
        all.push(("network_interface", name, values));
    }
    for name in &names {
        all.push(("ios_network_trunk", name, &section));
    }
    let entry = [
        ("permission", Value::from("permit")),
        ("protocol", "tcp".into()),
        ("source_address_any", true.into()),
        ("destination_address_host", "192.0.2.10".into()),
        (
            "destination_eq",
            Value::List(vec!["80".into(), "443".into()]),
        ),
        ("log", true.into()),
    ];
    all.push(("ios_acl", "WEB extended 10", &entry));
    let vlan = [("vlan_name", Value::from("users"))];
    all.push(("network_vlan", "20", &[]));
    all.push(("network_vlan", "21", &[]));
    all.push(("network_vlan", "10", &vlan));
    let mut file = DeclaredFile {
        complete: Some(DeclaredCompletion {
            types: vec!["network_vlan".into(), "ios_acl".into()],
            version: Some("0.2".to_owned()),
        }),
        unmanaged: vec!["network_interface.description".to_owned()],
        state: state(&all),
        ..DeclaredFile::default()
    };
    let uses = file.uses.entry("interface".to_owned()).or_default();
    uses.insert(names[3].clone(), vec!["desk".to_owned()]);
    let desk: ProfileBody = [
        ("ios_network_trunk".into(), attributes(&mode())),
        ("network_interface".into(), attributes(&port())),
    ]
    .into_iter()
    .collect();
    let profiles = file.profiles.entry("interface".to_owned()).or_default();
    profiles.insert("desk".to_owned(), desk);
    let removed: IndexSet<String> = ["30".to_owned()].into_iter().collect();
    file.removed.insert("network_vlan".into(), removed);
    let expected = "\
complete: {version: \"0.2\", types: [network_vlan, ios_acl]}
unmanaged: [network_interface.description]
profiles:
  interface:
    desk: {enable: true, switchport: {mode: access, access_vlan: 10}}
interface:
  \"GigabitEthernet1/0/[1-2]\": {enable: true, switchport: {mode: access, access_vlan: 10}}
  GigabitEthernet1/0/3:
    description: printer
    enable: true
    switchport: {mode: access, access_vlan: 10}
  GigabitEthernet1/0/4: {use: desk, enable: true, switchport: {mode: access, access_vlan: 10}}
ios_acl:
  WEB extended 10: {permission: permit, protocol: tcp, source_address_any: true, destination_address_host: 192.0.2.10, destination_eq: [\"80\", \"443\"], log: true}
network_vlan:
  \"[20-21]\": {}
  10: {vlan_name: users}
  30: ~
";
    let written = writer().text(&file);
    // The description does not fit into the line of the third port with everything else.
    assert_eq!(
        written.replace(
            "  GigabitEthernet1/0/3: {description: printer, enable: true, switchport: {mode: access, access_vlan: 10}}\n",
            "  GigabitEthernet1/0/3:\n    description: printer\n    enable: true\n    switchport: {mode: access, access_vlan: 10}\n",
        ),
        expected
    );
    assert!(document::parse(&Source::new("a.yaml", written)).is_ok());
}

#[test]
fn titles_in_several_numbers_are_ranges() {
    let titles: Vec<String> = [1, 2]
        .iter()
        .flat_map(|module| (1..=3).map(move |port| format!("Gi{module}/0/{port}")))
        .chain(["Gi01/1".to_owned(), "Po10".to_owned(), "Po12".to_owned()])
        .collect();
    let bodies = titles.iter().map(|title| TitledBody {
        title: title.clone(),
        node: LayoutNode::Map(Vec::new()),
    });
    let joined = title_ranges::joined(bodies.collect());
    let titles: Vec<&str> = joined.iter().map(|body| body.title.as_str()).collect();
    assert_eq!(titles, ["\"Gi[1-2]/0/[1-3]\"", "Gi01/1", "\"Po[10,12]\""]);
}

#[test]
fn texts_are_read_as_they_were() {
    let long = "x".repeat(150);
    for text in [
        "",
        " ",
        "plain",
        "two words",
        "true",
        "No",
        "~",
        "null",
        "10",
        "010",
        "0x1F",
        "1_000",
        "1e5",
        "1.5",
        "192.0.2.1",
        "10-20",
        "2026-11-29",
        "12:30",
        "2001:db8::1/64",
        "a: b",
        "a #b",
        "[x]",
        "{a}",
        "a, b",
        "'quoted'",
        "\"",
        "\\",
        "\u{7f}\u{1b}",
        "ü",
        "\u{feff}x",
        "*",
        "&a",
        "!x",
        "%x",
        "@x",
        "`x`",
        "-",
        "- a",
        "?",
        "line\nline",
        "line\nline\n",
        "line\n\n",
        "line\n\nline\n\n\n",
        " indented\nline",
        "\ttab\nline",
        "line\n  more\n",
        "line \nline",
        "banner ^C\n***\n# not a comment\n",
        "{{ x }}",
        "x\r\ny",
        "---",
        "...",
        &long,
    ] {
        let state = state(&[(
            "thing",
            text,
            &[
                ("a", text.into()),
                ("b", Value::List(vec![text.into(), text.into()])),
            ],
        )]);
        let file = DeclaredFile {
            state,
            ..DeclaredFile::default()
        };
        let written = writer().text(&file);
        let parsed = document::parse(&Source::new("a.yaml", written.clone()));
        let parsed = parsed.unwrap_or_else(|error| panic!("{text:?}: {error:?}\n{written}"));
        let YamlValue::Map(resources) = &parsed.entries[0].1.value else {
            panic!("{written}");
        };
        let (title, resource) = &resources[0];
        assert_eq!(title.name, text, "{written}");
        let YamlValue::Map(attributes) = &resource.value else {
            panic!("{written}");
        };
        let expected = YamlValue::Text(literal(text).into_owned());
        assert_eq!(attributes[0].1.value, expected, "{written}");
        let YamlValue::List(items) = &attributes[1].1.value else {
            panic!("{written}");
        };
        assert!(items.iter().all(|item| item.value == expected), "{written}");
    }
}
