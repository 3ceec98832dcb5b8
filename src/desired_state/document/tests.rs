//! What is read of a file, and its errors.

use switchtender_devices::value::Value;

use super::*;

/// The excerpt masks secrets; the message has none.
#[test]
fn syntax_errors_quote_no_values() {
    let source = Source::new("sw1.yaml", "tacacs_server:\n  t1: {key: 13061E010803}\n");
    let message = parse(&source).err().map(|error| error.message.clone());
    assert!(message.is_none_or(|message| !message.contains("13061E010803")));
    assert_eq!(
        syntax_error::without_quotations("float `1E9` rejected"),
        "float `••••` rejected"
    );
}

/// The words are those of YAML, not those of the library that reads it.
#[test]
fn syntax_errors_have_no_words_of_the_parser() {
    for (text, expected) in [
        ("network_vlan:\n  : {vlan_name: a}\n", "a key is empty"),
        ("network_vlan:\n  ~: {vlan_name: a}\n", "a key is empty"),
        ("network_vlan: {10: {vlan_name: a}\n", ""),
        ("network_vlan:\n  10: *users\n", ""),
        ("network_vlan:\n  10: !!binary x\n", ""),
        ("a: b: c\n", ""),
        ("a: [1\nb: 2\n", ""),
        ("a: 1\n---\nb: 2\n", ""),
        ("? [a, b]\n: 1\n", ""),
    ] {
        let source = Source::new("sw1.yaml", text);
        let message = parse(&source).expect_err(text).message;
        assert!(message.contains(expected), "{text:?}: {message}");
        for word in ["deserialize", "Option", "Policy", "serde", "struct", "_"] {
            assert!(!message.contains(word), "{text:?}: {message}");
        }
    }
}

#[test]
fn parse_keeps_positions_and_order() {
    let text = "network_vlan:\n  10: {vlan_name: users}\n  9:\n    vlan_name: \"guests\"\n    shutdown: no\n    tags: [a, 1, ~]\n";
    let source = Source::new("common.yaml", text);
    let types = parse(&source).unwrap().entries;
    let YamlValue::Map(vlans) = &types[0].1.value else {
        panic!("{types:?}");
    };
    let titles: Vec<&str> = vlans.iter().map(|(key, _)| key.name.as_str()).collect();
    assert_eq!(titles, ["10", "9"]);
    assert_eq!(&text[vlans[1].0.span.clone()], "9");
    let YamlValue::Map(attributes) = &vlans[1].1.value else {
        panic!("{vlans:?}");
    };
    assert_eq!(&text[attributes[0].0.span.clone()], "vlan_name");
    assert_eq!(&text[attributes[0].1.span.clone()], "\"guests\"");
    assert_eq!(attributes[1].1.value, YamlValue::Text("no".to_owned()));
    let YamlValue::List(tags) = &attributes[2].1.value else {
        panic!("{attributes:?}");
    };
    let tags: Vec<&YamlValue> = tags.iter().map(|tag| &tag.value).collect();
    assert_eq!(tags[0], &YamlValue::Text("a".to_owned()));
    assert!(matches!(tags[1], YamlValue::Plain(plain) if plain.value == Value::Integer(1)));
    assert_eq!(tags[2], &YamlValue::Null);
}

#[test]
fn parse_keeps_plain_scalars_as_written() {
    let cases = [
        "0x1F",
        "0o17",
        "1_000",
        "+5",
        "0123",
        "1e3",
        "13061E010803",
        "-.inf",
        ".nan",
        "18446744073709551615",
        "99999999999999999999999",
        "1.10",
        "True",
    ];
    for written in cases {
        let text = format!("t: &a {written}\nu: [*a, {written} ]\nv: {{w: {written}}}\n");
        let entries = parse(&Source::new("common.yaml", text)).unwrap().entries;
        let mut found = Vec::new();
        fn collect<'a>(value: &'a YamlValue, found: &mut Vec<&'a str>) {
            match value {
                YamlValue::Plain(plain) => found.push(&plain.written),
                YamlValue::List(items) => {
                    items.iter().for_each(|item| collect(&item.value, found));
                }
                YamlValue::Map(entries) => entries
                    .iter()
                    .for_each(|(_, node)| collect(&node.value, found)),
                YamlValue::Null | YamlValue::Text(_) => panic!("a plain scalar: {value:?}"),
            }
        }
        for (_, node) in &entries {
            collect(&node.value, &mut found);
        }
        assert_eq!(found, [written; 4]);
    }
}

#[test]
fn parse_errors_have_a_position() {
    let cases = [
        ("a:\n  b: [\n", (2, 6)),
        ("a:\n  ü: x\n  b: @c\n", (3, 6)),
        ("- a\n", (1, 1)),
    ];
    for (text, position) in cases {
        let source = Source::new("common.yaml", text);
        let error = parse(&source).unwrap_err();
        let label = &error.labels[0];
        assert_eq!(
            source.position(label.span.start),
            position,
            "{text}: {error:?}"
        );
        assert!(error.help.is_some(), "{error:?}");
    }
    let empty = parse(&Source::new("common.yaml", "")).unwrap();
    assert_eq!((empty.entries, empty.repeated), (Vec::new(), Vec::new()));
}

/// The export of a large device can be read; only aliases and levels are limited.
#[test]
fn limits_of_nodes_grow_with_the_file_and_aliases_are_named() {
    let mut large = "prefix_list_entry:\n".to_owned();
    for number in 0..60_000 {
        large += &format!("  p {number}: {{action: permit, prefix: \"10.0.0.0/8\", ge: 9}}\n");
    }
    let source = Source::new("common.yaml", large);
    assert_eq!(parse(&source).unwrap().entries.len(), 1);
    let dense = format!("a: [{}0]\n", "123, ".repeat(400_000));
    let source = Source::new("common.yaml", dense);
    assert!(parse(&source).is_ok());

    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for number in 1..9 {
        let before = number - 1;
        let list = vec![format!("*a{before}"); 9].join(", ");
        bomb += &format!("a{number}: &a{number} [{list}]\n");
    }
    let nested = format!("a: {}{}\n", "[".repeat(100), "]".repeat(100));
    for (text, message) in [
        (bomb, "it has more than 250000 values"),
        (nested, "its values nest deeper than 32 levels"),
    ] {
        let source = Source::new("common.yaml", text);
        let error = parse(&source).unwrap_err();
        assert!(error.message.contains(message), "{error:?}");
        assert!(!error.message.contains("Budget"), "{error:?}");
        assert!(error.help.is_some(), "{error:?}");
    }
}

#[test]
fn repeated_keys_are_errors_at_the_second_one() {
    let text = "network_vlan:\n  10: {}\n  10: {vlan_name: a, vlan_name: b}\nnetwork_vlan: {}\n";
    let source = Source::new("common.yaml", text);
    let found = parse(&source).unwrap().repeated;
    let found: Vec<(&str, usize)> = found
        .iter()
        .map(|error| {
            let line = source.position(error.labels[0].span.start).0;
            (error.message.as_str(), line)
        })
        .collect();
    let expected = [
        ("`10` is declared twice", 3),
        ("`vlan_name` is declared twice", 3),
        ("`network_vlan` is declared twice", 4),
    ];
    assert_eq!(found, expected);
}
